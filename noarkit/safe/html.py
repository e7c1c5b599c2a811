"""HTML as calls, whatever stands in it: Python's parser ends in an `AssertionError` over `<![OCT[`."""

from __future__ import annotations

from html.parser import HTMLParser


class HtmlReader(HTMLParser):
    """Python's parser of HTML, to be given `handle_…` methods; what it does not know is a comment."""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Where a marked section ends that begins at `i`; -1 if it does not."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i, report)

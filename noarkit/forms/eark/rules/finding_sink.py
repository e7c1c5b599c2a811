"""Collects findings with their document and line."""

from __future__ import annotations

from noarkit.forms.findings import Hit, Tally, place_data


class FindingSink:
    """Adds findings of one document of a package, or of the package itself where `file` is empty."""

    def __init__(self, tally: Tally, file: str) -> None:
        self._tally = tally
        self.file = file

    def hit(self, code: str, line: int | None = None, **data: object) -> None:
        """One place where a rule does not hold."""
        if self._tally.has_room(code):
            self._tally.add_hit(Hit(code, self.file, line=line or None, data=place_data(data)))
        else:
            self._tally.count_hits(code, 1)

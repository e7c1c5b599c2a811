"""The text of a web page that is shown, whatever its markup is."""

from __future__ import annotations

from noarkit.safe.html import HtmlReader

_UNSEEN = frozenset({"script", "style", "title", "template", "noscript", "head"})
_VOID = frozenset({"meta", "link", "base", "br", "img", "input", "hr"})
_WITHIN_WORDS = frozenset({"b", "i", "em", "strong", "span", "a", "u", "sub", "sup", "font"})


def text_of_markup(markup: str) -> str:
    """The text of HTML that is shown."""
    return PageText().text_of(markup)


class PageText(HtmlReader):
    """Collects the text that is shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0

    def text_of(self, markup: str) -> str:
        """The text of a page."""
        self.feed(markup)
        self.close()
        return "".join(self.parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "body":
            self._unseen = 0
        if tag not in _WITHIN_WORDS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """It ends."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag not in _VOID and tag not in _WITHIN_WORDS:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        """Some text."""
        if not self._unseen:
            self.parts.append(data)

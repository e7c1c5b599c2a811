"""Takes a stranger's HTML apart and keeps what shows text: nothing that runs, hides, covers or is fetched."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from noarkit.safe.html import HtmlReader

_DROPPED_WHOLE = frozenset({"script", "style", "title", "template", "noscript", "head", "object", "svg", "math"})
_KEPT = frozenset(
    {
        *("p", "div", "span", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "center"),
        *("b", "i", "u", "s", "em", "strong", "small", "big", "sub", "sup", "del", "ins", "font", "tt", "address"),
        *("ul", "ol", "li", "dl", "dt", "dd", "a", "img", "figure", "figcaption"),
        *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"),
    }
)
_VOID = frozenset({"br", "hr", "img", "col"})
_ATTRIBUTES = frozenset(
    {*("colspan", "rowspan", "align", "valign", "start", "type", "color", "face", "size", "border", "bgcolor", "alt")}
)
_STYLES = re.compile(
    r"(?:color|background-color|font(?:-family|-size|-style|-weight)?|text-(?:align|decoration)|vertical-align"
    r"|white-space|list-style-type|border(?:-(?:left|right|top|bottom))?(?:-(?:color|style|width))?|border-collapse)\Z"
)
_ODD_VALUE = re.compile(r"url\s*\(|expression|[\\<>{}@]|-\d|\b0+(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|\Z)", re.IGNORECASE)
_LINK = re.compile(r"(?:https?|mailto|tel):", re.IGNORECASE)
_MOST_DEPTH = 200


def clean_markup(text: str, pictures: Mapping[str, str]) -> str:
    """The body of a mail in HTML, safe to stand in a page of ours. `pictures` are `data:` addresses by content id."""
    cleaner = _Cleaner(pictures)
    cleaner.feed(text)
    cleaner.close()
    cleaner.end_all()
    return "".join(cleaner.parts)


class _Cleaner(HtmlReader):
    """Writes the elements that are kept again, each closed."""

    def __init__(self, pictures: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._pictures = pictures
        self._open: list[str] = []
        self._dropped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._dropped.clear()
        elif tag in _DROPPED_WHOLE:
            self._dropped.append(tag)
        elif not self._dropped and tag in _KEPT and len(self._open) < _MOST_DEPTH:
            self.parts.append(f"<{tag}{''.join(self._attributes(tag, dict(attrs)))}>")
            if tag not in _VOID:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _DROPPED_WHOLE:
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "head":
            self._dropped.clear()
        elif tag in self._dropped:
            del self._dropped[self._dropped.index(tag) :]
        elif not self._dropped and tag in self._open:
            while self._open:
                name = self._open.pop()
                self.parts.append(f"</{name}>")
                if name == tag:
                    return

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self.parts.append(html.escape(data))

    def end_all(self) -> None:
        """Closes what the page left open, so that nothing of ours stands within it."""
        self.parts.extend(f"</{name}>" for name in reversed(self._open))
        self._open.clear()

    def _attributes(self, tag: str, attributes: Mapping[str, str | None]) -> list[str]:
        kept = {name: value or "" for name, value in attributes.items() if name in _ATTRIBUTES}
        if style := _style(attributes.get("style") or ""):
            kept["style"] = style
        address = (attributes.get("href") or "").strip()
        if tag == "a" and _LINK.match(address):
            kept["href"] = address
        source = (attributes.get("src") or "").strip()
        if tag == "img" and source:
            is_content = source[:4].lower() == "cid:"
            kept["src"] = self._pictures.get(source[4:].lower(), source) if is_content else source
        return [f' {name}="{html.escape(value)}"' for name, value in kept.items()]


def _style(text: str) -> str:
    """The declarations that say how text looks; none that moves, hides or fetches."""
    kept = []
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        if _STYLES.match(name.strip().lower()) and not _ODD_VALUE.search(value):
            kept.append(f"{name.strip()}:{value.strip()}")
    return ";".join(kept)

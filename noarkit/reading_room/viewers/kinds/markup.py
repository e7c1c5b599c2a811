"""Web pages as readable text: headings, paragraphs, lists and tables, links with their addresses as text.

Nothing is fetched, run or laid out, and what a page hides with a style is shown. The source is a second way to see it.
"""

from __future__ import annotations

import re

from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.kinds.text import read_whole, show_text
from noarkit.reading_room.viewers.port import Rendering
from noarkit.safe.html import HtmlReader

_MOST_BYTES = 32 * 1024 * 1024
_UNSEEN = frozenset({"script", "style", "template", "head", "object", "svg", "math", "noscript", "iframe", "noembed"})
_BREAKS = frozenset(
    {
        *("p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "address", "blockquote", "pre"),
        *("figure", "figcaption", "form", "fieldset", "hr", "ul", "ol", "dl", "dt", "dd", "center", "body", "option"),
        *("button", "legend"),
    }
)
_HEADING = re.compile(r"h[1-6]\Z")


def show_page(reading: Reading) -> Rendering:
    """A page of the text of a web page."""
    if reading.job.way == "source":
        return show_text(reading)
    text, note = read_whole(reading.job.document, _MOST_BYTES, is_markup=True)
    notes = [*([note] if note else []), *findings_of(reading)]
    rendering = blocks_page(reading, blocks_of_markup(text), notes)
    return Rendering(
        rendering.detected,
        rendering.body,
        rendering.page,
        rendering.pages,
        rendering.more,
        notes=rendering.notes,
        ways=("source",),
    )


def blocks_of_markup(markup: str) -> BlockList:
    """The text of HTML in blocks."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.end()


class _Reader(HtmlReader):
    """Collects text in blocks, whatever the markup is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks = BlockList()
        self._parts: list[str] = []
        self._role, self._level = "paragraph", 0
        self._unseen: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._is_literal = self._lists = 0

    def end(self) -> BlockList:
        """The blocks so far, and the end of what is open."""
        self._flush()
        self._blocks.end_tables()
        return self._blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        if tag == "body":
            self._unseen.clear()
        if tag in _UNSEEN:
            self._unseen.append(tag)
        if self._unseen:
            return
        if _HEADING.match(tag):
            self._flush("heading", int(tag[1]))
        elif tag == "li":
            self._flush("item", max(1, self._lists))
        elif tag in _BREAKS:
            self._flush()
            self._is_literal += tag == "pre"
            self._lists += tag in ("ul", "ol")
        elif tag == "br":
            self._parts.append("\n")
        elif tag in ("table", "tr", "td", "th"):
            self._flush()
            self._blocks.begin(tag)
        self._describe(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
            return
        if self._unseen:
            return
        if tag == "a" and self._links:
            self._end_link()
        elif tag in ("table", "tr", "td", "th"):
            self._flush()
            self._blocks.end(tag)
        elif _HEADING.match(tag) or tag in _BREAKS or tag == "li":
            self._flush()
            self._is_literal = max(0, self._is_literal - (tag == "pre"))
            self._lists = max(0, self._lists - (tag in ("ul", "ol")))

    def handle_data(self, data: str) -> None:
        """Some text."""
        if not self._unseen:
            self._parts.append(data if self._is_literal else re.sub(r"[ \t\r\n\f]+", " ", data))

    def _describe(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "a" and attributes.get("href"):
            self._links.append((str(attributes["href"]).strip(), len(self._parts)))
        elif tag == "img" and (attributes.get("alt") or "").strip():
            self._parts.append(f"[{attributes['alt']}]")
        elif tag == "input" and (attributes.get("value") or "").strip() and attributes.get("type") != "hidden":
            self._parts.append(f"[{attributes['value']}]")

    def _end_link(self) -> None:
        address, start = self._links.pop()
        text = "".join(self._parts[start:]).strip()
        if address and address != text and address.removeprefix("mailto:") != text:
            self._parts.append(f" <{address}>")

    def _flush(self, role: str = "paragraph", level: int = 0) -> None:
        self._links.clear()
        text = "".join(self._parts)
        self._parts.clear()
        lines = text.split("\n") if self._is_literal else [" ".join(line.split()) for line in text.split("\n")]
        self._blocks.add(self._role, "\n".join(lines).strip("\n"), self._level)
        self._role, self._level = role, level

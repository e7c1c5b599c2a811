"""Word documents since 2007 as readable text: headings, paragraphs, lists and tables, and the notes at their end.

Deleted text is left out, as a reader of the pages does not see it; that changes are tracked is told. Fields show what
was stored of them, and nothing is looked up.
"""

from __future__ import annotations

import re
from typing import Any  # Any: elements of lxml

from noarkit.documents.parts import OfficeParts, main_parts
from noarkit.documents.zipped import open_package
from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.port import Rendering

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GONE = frozenset({f"{_W}del", f"{_W}moveFrom", _FALLBACK})
_SPACES = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-", f"{_W}ptab": "\t"}
_TABLES = {f"{_W}tbl": "table", f"{_W}tr": "tr", f"{_W}tc": "td"}
_HEADING = re.compile(r"(?:heading|title)\s*([1-9])?", re.IGNORECASE)


def show_writing(reading: Reading) -> Rendering:
    """A page of the text of a Word document."""
    notes = findings_of(reading)
    text_blocks = BlockList()
    with open_package(reading.job.document) as package:
        parts = main_parts(package)
        styles = _heading_styles(parts)
        for name in (parts.main, *parts.of("footnotes", "endnotes")):
            reader = _Reader(text_blocks, styles, _addresses(parts, name), is_note=name != parts.main)
            for event, element in package.elements(name):
                reader.take(event, element)
            text_blocks.end_tables()
    return blocks_page(reading, text_blocks, notes)


def _heading_styles(parts: OfficeParts) -> dict[str, int]:
    """The levels of the styles of headings, by their identifiers, which are another in each language of Word."""
    levels: dict[str, int] = {}
    style = ""
    for event, element in (event for name in parts.of("styles") for event in parts.package.elements(name)):
        if event != "start":
            continue
        if element.tag == f"{_W}style":
            style = element.get(f"{_W}styleId", "")
        elif element.tag == f"{_W}name" and style:
            match = _HEADING.match(element.get(f"{_W}val", ""))
            if match is not None and style not in levels:
                levels[style] = min(6, int(match[1] or 1))
        elif element.tag == f"{_W}outlineLvl" and style:
            level = element.get(f"{_W}val", "")
            if level in ("0", "1", "2", "3", "4", "5"):
                levels[style] = int(level) + 1
    return levels


def _addresses(parts: OfficeParts, part: str) -> dict[str, str]:
    """The addresses that links of a part lead to."""
    return {relation.id: relation.target for relation in parts.relations(part) if relation.kind == "hyperlink"}


class _Reader:
    """Takes the events of one part."""

    def __init__(self, blocks: BlockList, styles: dict[str, int], addresses: dict[str, str], *, is_note: bool) -> None:
        self._blocks = blocks
        self._styles = styles
        self._addresses = addresses
        self._usual = "note" if is_note else "paragraph"
        self._paragraphs: list[list[str]] = []
        self._role, self._level = self._usual, 0
        self._gone = 0
        self._links: list[tuple[str, int]] = []

    def take(self, event: str, element: Any) -> None:
        """One event."""
        tag = element.tag
        if tag in _GONE:
            self._gone += 1 if event == "start" else -1
        elif tag in _TABLES:
            (self._blocks.begin if event == "start" else self._blocks.end)(_TABLES[tag])
        elif event == "start":
            self._start(tag, element)
        else:
            self._end(tag, element)

    def _start(self, tag: str, element: Any) -> None:
        if tag == f"{_W}p":
            self._paragraphs.append([])
            self._role, self._level = self._usual, 0
        elif tag == f"{_W}pStyle":
            level = self._styles.get(element.get(f"{_W}val", ""))
            if level is not None:
                self._role, self._level = "heading", level
        elif tag == f"{_W}ilvl" and self._role != "heading":
            level = element.get(f"{_W}val", "0")
            self._role, self._level = "item", int(level) + 1 if level.isdigit() and len(level) < 3 else 1
        elif tag == f"{_W}hyperlink" and self._paragraphs:
            self._links.append((self._addresses.get(element.get(_R_ID, ""), ""), len(self._paragraphs[-1])))

    def _end(self, tag: str, element: Any) -> None:
        if tag == f"{_W}p" and self._paragraphs:
            parts = self._paragraphs.pop()
            self._blocks.add(self._role, "".join(parts), self._level)
        elif not self._paragraphs or self._gone:
            return
        elif tag == f"{_W}t":
            self._paragraphs[-1].append(element.text or "")
        elif tag in _SPACES and element.getparent().tag == f"{_W}r":
            self._paragraphs[-1].append(_SPACES[tag])
        elif tag == f"{_W}hyperlink" and self._links:
            address, start = self._links.pop()
            if address and address not in "".join(self._paragraphs[-1][start:]):
                self._paragraphs[-1].append(f" <{address}>")

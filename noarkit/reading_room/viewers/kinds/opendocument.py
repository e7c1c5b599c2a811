"""OpenDocument texts and presentations as readable text: headings, paragraphs, lists, tables, slides and notes."""

from __future__ import annotations

import re
from typing import Any  # Any: elements of lxml

from noarkit.documents.zipped import open_package
from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.port import Rendering

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _OFFICE, _TABLE, _DRAW, _PRESENTATION, _STYLE = (
    _NS % name for name in ("text", "office", "table", "drawing", "presentation", "style")
)
_HEADING = re.compile(r"Heading_20_([1-9])")
_HREF = "{http://www.w3.org/1999/xlink}href"
_TABLES = {f"{_TABLE}table": "table", f"{_TABLE}table-row": "tr", f"{_TABLE}table-cell": "td"}
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_UNSEEN = frozenset({f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_OFFICE}scripts"})
_SPACES = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "}


def show_opendocument(reading: Reading) -> Rendering:
    """A page of the text of a document."""
    notes = findings_of(reading)
    text_blocks = BlockList()
    reader = _Reader(text_blocks)
    with open_package(reading.job.document) as package:
        for event, element in package.elements("content.xml", whole=_PARAGRAPHS):
            reader.take(event, element)
    text_blocks.end_tables()
    return blocks_page(reading, text_blocks, notes)


class _Reader:
    """Takes the events of the content; a paragraph is read whole when it ends."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._headings: dict[str, int] = {}
        self._unseen = self._lists = self._notes = self._slides = self._depth = 0

    def take(self, event: str, element: Any) -> None:
        """One event."""
        tag, step = element.tag, 1 if event == "start" else -1
        if tag in _UNSEEN:
            self._unseen += step
        elif tag in _TABLES:
            (self._blocks.begin if event == "start" else self._blocks.end)(_TABLES[tag])
        elif tag == f"{_STYLE}style" and event == "start":
            match = _HEADING.match(element.get(f"{_STYLE}parent-style-name", ""))
            if match is not None:
                self._headings[element.get(f"{_STYLE}name", "")] = min(6, int(match[1]))
        elif tag == f"{_TEXT}list":
            self._lists += step
        elif tag == f"{_PRESENTATION}notes":
            self._notes += step
        elif tag == f"{_DRAW}page" and event == "start":
            self._slides += 1
            self._blocks.add("part", str(self._slides))
        elif tag in _PARAGRAPHS:
            self._depth += step
            if event == "end" and not self._depth and not self._unseen:
                self._add(element)

    def _add(self, element: Any) -> None:
        text = "".join(_texts(element))
        if element.tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level", "1")
            self._blocks.add("heading", text, min(6, int(level)) if level.isdigit() and level != "0" else 1)
        elif element.get(f"{_TEXT}style-name", "") in self._headings:
            self._blocks.add("heading", text, self._headings[element.get(f"{_TEXT}style-name", "")])
        elif self._notes:
            self._blocks.add("note", text)
        elif self._lists:
            self._blocks.add("item", text, self._lists)
        else:
            self._blocks.add("paragraph", text)


def _texts(element: Any) -> list[str]:
    """The text of a paragraph in its order; what lies in it deeper than any writing does is left out."""
    parts = [element.text or ""]
    for child in element:
        tag = child.tag
        if tag in _SPACES:
            parts.append(_SPACES[tag])
        elif tag in _PARAGRAPHS:
            parts += ["\n", *_texts(child), "\n"]
        elif isinstance(tag, str) and tag not in _UNSEEN:
            texts = _texts(child)
            address = child.get(_HREF, "") if tag == f"{_TEXT}a" else ""
            parts += [*texts, f" <{address}>"] if address and address not in "".join(texts) else texts
        parts.append(child.tail or "")
    return parts

"""Presentations since 2007 as readable text: slide by slide in the order they are rendering, with the notes to each."""

from __future__ import annotations

from noarkit.documents.parts import main_parts, slides_of
from noarkit.documents.zipped import Package, open_package
from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.port import Rendering

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_TABLES = {f"{_A}tbl": "table", f"{_A}tr": "tr", f"{_A}tc": "td"}
_TITLES = ("title", "ctrTitle")


def show_slides(reading: Reading) -> Rendering:
    """A page of the text of a presentation."""
    notes = findings_of(reading)
    text_blocks = BlockList()
    with open_package(reading.job.document) as package:
        parts = main_parts(package)
        for number, name in enumerate(slides_of(parts), start=1):
            text_blocks.add("part", str(number))
            _add(package, name, text_blocks, "paragraph")
            for target in parts.targets(name, "notesSlide").values():
                _add(package, target, text_blocks, "note")
    return blocks_page(reading, text_blocks, notes)


def _add(package: Package, name: str, text_blocks: BlockList, role: str) -> None:
    parts: list[str] = []
    is_title = is_number = False
    for event, element in package.elements(name):
        tag = element.tag
        if tag in _TABLES:
            (text_blocks.begin if event == "start" else text_blocks.end)(_TABLES[tag])
        elif event == "start" and tag == f"{_P}sp":
            is_title = is_number = False
        elif event == "start" and tag == f"{_P}ph":
            is_title = element.get("type") in _TITLES and role != "note"
            is_number = element.get("type") in ("sldNum", "dt", "sldImg", "hdr", "ftr")
        elif event == "end" and tag == f"{_A}t" and not is_number:
            parts.append(element.text or "")
        elif event == "end" and tag == f"{_A}br":
            parts.append("\n")
        elif event == "end" and tag == f"{_A}p":
            text_blocks.add("heading" if is_title else role, "".join(parts), 3)
            parts.clear()
    text_blocks.end_tables()

"""One document as each door of the house shows it: search, the server's full text, the viewer, the words of a copy."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from noarkit.catalogue.text.decoding import DocumentText
from noarkit.catalogue.text.reading import read_document
from noarkit.copies.inspection import inspect, words_of
from noarkit.copies.inspection.passages import passages_of
from noarkit.copies.port import Failure, Identity
from noarkit.reading_room.viewers.child import answer_to
from noarkit.reading_room.viewers.job import Job
from noarkit.reading_room.viewers.port import Answer, Letter, Line, Lines, Prose, Sheet, Way
from noarkit.server.document_text import Unreadable, text_of

OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "docx": f"{OFFICE}wordprocessingml.document",
    "xlsx": f"{OFFICE}spreadsheetml.sheet",
    "pptx": f"{OFFICE}presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "html": "text/html",
    "eml": "message/rfc822",
    "rtf": "text/rtf",
    "msg": "application/vnd.ms-outlook",
    "txt": "text/plain",
}


@dataclass(frozen=True)
class Doors:
    """A document with its name, and what each door makes of it."""

    folder: Path
    content: bytes
    ending: str
    stated_type: str = ""

    @cached_property
    def search_result(self) -> DocumentText:
        """What search keeps of it."""
        return read_document(self._path, f"a.{self.ending}", self._type)

    @property
    def search(self) -> str:
        """The text that search finds it by."""
        return self.search_result.text

    @cached_property
    def server(self) -> str:
        """The text that the embedded archive finds it by; empty where it has none."""
        try:
            return text_of(self._path, f"a.{self.ending}", self._type)
        except Unreadable:
            return ""

    @cached_property
    def view(self) -> str:
        """What is shown of it at first."""
        return self.shown("")

    def shown(self, way: Way, sheet: int = 1) -> str:
        """What is shown of it in some way, a line each."""
        return "\n".join(_texts(self.answer(way, sheet)))

    def answer(self, way: Way = "", sheet: int = 1) -> Answer:
        """What the child that shows documents answers."""
        folder, name = str(self._path.parent), f"a.{self.ending}"
        return answer_to(Job("show", str(self._path), folder, 1, sheet, way, name=name, stated_type=self._type))

    @property
    def ways(self) -> tuple[Way, ...]:
        """The other ways that it can be shown in."""
        rendering = self.answer().rendering
        return rendering.ways if rendering is not None else ()

    @property
    def headers(self) -> dict[str, str]:
        """The headers that are shown of a mail."""
        rendering = self.answer().rendering
        body = rendering.body if rendering is not None else None
        return {header.name: _plain(header.value) for header in body.headers} if isinstance(body, Letter) else {}

    def notes_in(self, way: Way) -> set[str]:
        """The codes of what is told beside it, where it is shown in some way."""
        rendering = self.answer(way).rendering
        return {note.code for note in rendering.notes} if rendering is not None else set()

    @cached_property
    def words(self) -> Counter[str] | None:
        """The words that a copy of it must have."""
        return words_of(self._path, self.identity)

    @property
    def findings(self) -> set[str]:
        """The codes of what a person should know of it."""
        findings = inspect(self._path, self.identity)
        return {str(findings.reason)} if isinstance(findings, Failure) else {finding.code for finding in findings}

    @property
    def passages(self) -> list[tuple[str, str]]:
        """The passages that a copy does not show as they are."""
        return [(passage.kind, passage.text) for passage in passages_of(self._path)]

    @property
    def identity(self) -> Identity:
        """What it is to a gate of copies."""
        return Identity(None, TYPES[self.ending], self.ending, "signature")

    @property
    def _type(self) -> str:
        return self.stated_type or TYPES.get(self.ending, "")

    @cached_property
    def _path(self) -> Path:
        path = Path(tempfile.mkdtemp(dir=self.folder), "document")
        path.write_bytes(self.content)
        return path


def _texts(answer: Answer) -> list[str]:
    body = answer.rendering.body if answer.rendering is not None else None
    if isinstance(body, Prose):
        lines = [block.text for block in body.blocks]
        return [_plain(line) for line in lines] + [
            " | ".join(_plain(cell) for cell in row) for block in body.blocks for row in block.rows
        ]
    if isinstance(body, Sheet):
        return [" | ".join(_plain(cell.text) for cell in row.cells) for row in body.rows]
    if isinstance(body, Lines | Letter):
        return [_plain(line) for line in body.lines]
    return []


def _plain(line: Line) -> str:
    return "".join(piece.text for piece in line)

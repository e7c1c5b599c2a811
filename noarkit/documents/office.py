"""The text of zipped office documents: Word, Excel and PowerPoint since 2007, and OpenDocument.

Their members are bounded in number, size and ratio before any is opened, and their XML is read without entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from noarkit.documents.layers import Layer, Purpose, TextLine, lines_of
from noarkit.documents.opendocument import opendocument_spans
from noarkit.documents.parts import OfficeParts, PartKind, main_parts, slides_of
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.sheets import rows_of_all
from noarkit.documents.word import word_spans
from noarkit.documents.zipped import Package, open_package
from noarkit.errors import PackageFault, TooLarge, UnsafeXml
from noarkit.safe.workplace import temporary_folder

_BESIDE_CELLS: tuple[PartKind, ...] = ("comments", "threadedComment", "drawing")
_OBJECTS = re.compile(r"Object \d+/content\.xml")
_PARAGRAPH_ENDS = frozenset({"p", "h", "table-row", "tr"})
_WORD_ENDS = frozenset({"br", "tab", "tc", "table-cell", "s", "line-break", "cr", "c"})
_NO_TEXT = frozenset({"instrText", "delInstrText", "binary-data", "script"})


def office_text(path: Path, note_gap: Callable[[], None], purpose: Purpose = "search") -> Iterator[TextLine]:
    """The text of an office document, in its order; `note_gap` hears of files within it that are not read. Raises
    `DocumentRefused`, also for another zip."""
    with open_package(path) as package:
        parts = main_parts(package)
        if any("/embeddings/" in name for name in package.names):
            note_gap()
        if parts.format == "xlsb":
            raise DocumentRefused(Refusal.UNKNOWN_FORMAT)
        if parts.format == "xlsx":
            yield from _sheets(parts, path)
            return
        if parts.format == "docx":
            yield from lines_of(word_spans(parts), purpose)
            return
        if parts.format == "pptx":
            yield from _slides(parts)
            return
        yield from lines_of(opendocument_spans(package), purpose)
        for name in package.names:
            if _OBJECTS.fullmatch(name):
                yield from _read(package, name, "body")


def text_within(content: bytes) -> str | None:
    """The words on the pages of an office document that lies in another, without the names of its sheets; None where
    it is none, or cannot be read."""
    with temporary_folder("within") as folder:
        path = folder / "document"
        path.write_bytes(content)
        try:
            with open_package(path) as package:
                is_book = main_parts(package).format == "xlsx"
            if not is_book:
                return " ".join(line.text for line in office_text(path, lambda: None, "words"))
            with path.open("rb") as file:
                return " ".join(cell.value for _, row in rows_of_all(file, hidden=False) for cell in row.cells)
        except (DocumentRefused, PackageFault):
            return None


def _slides(parts: OfficeParts) -> Iterator[TextLine]:
    """Slide by slide in their order, each with its notes; then the comments."""
    without_slide = dict.fromkeys(parts.of("notesSlide"))
    for slide in slides_of(parts):
        yield from _read(parts.package, slide, "body")
        for notes in parts.targets(slide, "notesSlide").values():
            without_slide.pop(notes, None)
            yield from _read(parts.package, notes, "note")
    for notes in without_slide:
        yield from _read(parts.package, notes, "note")
    for comments in parts.of("comments"):
        yield from _read(parts.package, comments, "comment")


def _sheets(parts: OfficeParts, path: Path) -> Iterator[TextLine]:
    """The rows of every sheet as a viewer shows them, with dates and results of formulas; then what lies beside."""
    last = ""
    try:
        with path.open("rb") as file:
            for name, row in rows_of_all(file):
                if name != last:
                    yield TextLine(f"{name}\n")
                    last = name
                yield TextLine(" ".join([cell.value for cell in row.cells if cell.value]) + "\n")
    except (UnsafeXml, TooLarge) as fault:
        raise DocumentRefused(Refusal.BOMB, what=str(fault.data.get("why", ""))) from fault
    except PackageFault as fault:
        raise DocumentRefused(Refusal.DAMAGED, what=str(fault.data.get("why", ""))) from fault
    for kind in _BESIDE_CELLS:
        for name in parts.of(kind):
            yield from _read(parts.package, name, "body" if kind == "drawing" else "comment")


class _Pieces:
    """What reads a member: collects pieces of text, and tells how deep its elements lie."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.depth = 0

    def place(self, line: Callable[[], int], /) -> None:
        """Lines are of no interest."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        self.depth += 1

    def end(self, name: str, /) -> None:
        """It ends."""
        self.depth -= 1

    def data(self, text: str, /) -> None:
        """Some text."""


class _Words(_Pieces):
    """The text of a text, a presentation or an OpenDocument: whatever stands in its elements."""

    def __init__(self) -> None:
        super().__init__()
        self._mute = 0
        self._ends: dict[str, str | None] = {}
        """What the end of an element is in the text, by its name: None where there is no text in it."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        self.depth += 1
        if name not in self._ends:
            self._ends[name] = _end_of(name)
        if self._ends[name] is None:
            self._mute += 1

    def end(self, name: str, /) -> None:
        """It ends, and a word or a paragraph with it."""
        self.depth -= 1
        end = self._ends[name]
        if end:
            self.pieces.append(end)
        elif end is None:
            self._mute -= 1

    def data(self, text: str, /) -> None:
        """Some text."""
        if not self._mute and not (text.isspace() and "\n" in text):  # what a writer indents by is no text
            self.pieces.append(text)


def _end_of(name: str) -> str | None:
    local = name.rpartition("}")[2]
    if local in _NO_TEXT:
        return None
    return "\n" if local in _PARAGRAPH_ENDS else " " if local in _WORD_ENDS else ""


def _read(package: Package, name: str, layer: Layer) -> Iterator[TextLine]:
    """Reads a member, and yields its text block by block."""
    words = _Words()
    for _ in package.feed(name, words):
        yield TextLine("".join(words.pieces), layer)
        words.pieces.clear()

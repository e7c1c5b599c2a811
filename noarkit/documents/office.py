"""The text of zipped office documents: Word, Excel and PowerPoint since 2007, and OpenDocument.

Their members are bounded in number, size and ratio before any is opened, and their XML is read without entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from noarkit.documents.layers import MOST_CHARACTERS, Purpose, TextLine, lines_of
from noarkit.documents.parts import OfficeParts, PartKind, main_parts
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.word import word_spans
from noarkit.documents.zipped import Package, open_package

_WITH_WORDS: tuple[PartKind, ...] = ("slide", "notesSlide", "comments")
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
            yield from _sheets(parts)
            return
        if parts.format == "docx":
            yield from lines_of(word_spans(parts), purpose)
            return
        objects = (name for name in package.names if _OBJECTS.fullmatch(name))
        for name in (*((parts.main,) if parts.format != "pptx" else ()), *parts.of(*_WITH_WORDS), *objects):
            yield from _read(package, name, _Words())


def _sheets(parts: OfficeParts) -> Iterator[TextLine]:
    shared = _SharedTexts()
    for name in parts.of("sharedStrings"):
        for _ in _read(parts.package, name, shared):
            pass
    for name in parts.of("worksheet"):
        yield from _read(parts.package, name, _Cells(shared.texts))
    for name in parts.of("comments", "threadedComment", "drawing"):
        yield from _read(parts.package, name, _Words())


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


class _SharedTexts(_Pieces):
    """The texts that cells of a workbook share, by their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._size = 0
        self._now: list[str] | None = None
        self._phonetic = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        self.depth += 1
        local = name.rpartition("}")[2]
        if local == "si":
            self._now = []
        self._phonetic += local == "rPh"

    def end(self, name: str, /) -> None:
        """It ends."""
        self.depth -= 1
        local = name.rpartition("}")[2]
        self._phonetic -= local == "rPh"
        if local == "si" and self._now is not None:
            text = "".join(self._now)
            self._size += len(text) + 1
            if self._size > 8 * MOST_CHARACTERS:
                raise DocumentRefused(Refusal.TOO_LARGE, characters=self._size)
            self.texts.append(text)
            self._now = None

    def data(self, text: str, /) -> None:
        """Some text."""
        if self._now is not None and not self._phonetic:
            self._now.append(text)


class _Cells(_Pieces):
    """The cells of a sheet: a line for each row."""

    def __init__(self, shared: list[str]) -> None:
        super().__init__()
        self._shared = shared
        self._kind = ""
        self._in: str | None = None
        self._value: list[str] = []

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        self.depth += 1
        local = name.rpartition("}")[2]
        if local == "c":
            self._kind, self._value = attributes.get("t", "n"), []
        elif local in ("v", "t"):
            self._in = local

    def end(self, name: str, /) -> None:
        """It ends: a cell with its value, a row with its line."""
        self.depth -= 1
        local = name.rpartition("}")[2]
        if local in ("v", "t"):
            self._in = None
        elif local == "c":
            text = self._text("".join(self._value).strip())
            if text:
                self.pieces.append(text + " ")
        elif local == "row" and self.pieces:
            self.pieces.append("\n")

    def data(self, text: str, /) -> None:
        """Some text."""
        if self._in is not None:
            self._value.append(text)

    def _text(self, value: str) -> str:
        if self._kind != "s":
            return value
        number = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else -1
        return self._shared[number] if 0 <= number < len(self._shared) else ""


def _read(package: Package, name: str, handler: _Pieces) -> Iterator[TextLine]:
    """Reads a member, and yields its pieces block by block."""
    for _ in package.feed(name, handler):
        yield TextLine("".join(handler.pieces))
        handler.pieces.clear()

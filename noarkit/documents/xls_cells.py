"""Reads the cells of a workbook before 2007 (`.xls`, BIFF8), record by record, to hold copies against it.

Stream:    globals (where each sheet begins, and its texts), then the records of each sheet, from BOF to EOF
Record:    kind, length, data     e.g. fd00 0a00  0200 0100 0f00 07000000: in row 2, column 1, the text number 7
Text:      characters, flags, bytes; it may go on in the next record (CONTINUE), which then begins with flags

A workbook program that meets bytes of nothing in the middle stops there, and saves what it has. So a record that none
can be, and texts that do not end where their list does, are damage here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import olefile

from noarkit.documents.cells import Cell, CellValue
from noarkit.documents.refusal import DocumentRefused, Refusal

_MOST_BYTES = 256 * 1024 * 1024
_LONGEST_RECORD = 8224
_BIFF8 = 0x0600
_BOF, _EOF, _CONTINUE, _SHEET, _TEXTS, _LOCKED = 0x0809, 0x000A, 0x003C, 0x0085, 0x00FC, 0x002F
_FORMULA, _STRING, _LABEL, _RICH, _TEXT, _NUMBER = 0x0006, 0x0207, 0x0204, 0x00D6, 0x00FD, 0x0203
_SHORT, _SHORTS, _TRUTH = 0x027E, 0x00BD, 0x0205
_WIDE, _EXTENDED, _FORMATTED = 0x01, 0x04, 0x08
_WORKSHEET = 0
_NO_NUMBER = b"\xff\xff"


class _Record(NamedTuple):
    kind: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Workbook:
    """A workbook before 2007: the names of its worksheets, and where each begins."""

    stream: bytes
    sheets: tuple[tuple[str, int], ...]
    texts: tuple[str, ...]

    def cells(self) -> Iterator[Cell]:
        """Every cell that holds something, sheet by sheet. Raises `DocumentRefused` where the records end early."""
        for name, place in self.sheets:
            yield from _cells(self, name, place)


def read_workbook(path: Path) -> Workbook | None:
    """The workbook at `path`; None for one of an older kind, which nobody here reads. Raises `DocumentRefused`."""
    stream = _stream(path)
    if stream[:2] != struct.pack("<H", _BOF) or struct.unpack_from("<H", stream, 4)[0] != _BIFF8:
        return None
    try:
        return _workbook(stream)
    except (struct.error, IndexError) as error:
        raise DocumentRefused(Refusal.DAMAGED) from error


def _workbook(stream: bytes) -> Workbook:
    sheets: list[tuple[str, int]] = []
    texts: tuple[str, ...] = ()
    records = list(_records(stream, 0))
    for number, record in enumerate(records):
        if record.kind == _LOCKED:
            raise DocumentRefused(Refusal.PASSWORD)
        if record.kind == _SHEET and record.data[5] == _WORKSHEET:
            name = _Texts([record.data[7:]]).text(record.data[6])
            sheets.append((name, struct.unpack_from("<I", record.data)[0]))
        elif record.kind == _TEXTS:
            texts = _shared_texts([record.data, *_continued(records, number)])
    return Workbook(stream, tuple(sheets), texts)


def _stream(path: Path) -> bytes:
    try:
        with olefile.OleFileIO(str(path)) as container:
            name = next((name for name in ("Workbook", "Book") if container.exists(name)), "")
            if not name or container.get_size(name) > _MOST_BYTES:
                raise DocumentRefused(Refusal.TOO_LARGE if name else Refusal.DAMAGED)
            return bytes(container.openstream(name).read())
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise DocumentRefused(Refusal.DAMAGED) from error


def _records(stream: bytes, place: int) -> Iterator[_Record]:
    """The records from a BOF to its own EOF, those of charts between them too. Raises `DocumentRefused`."""
    depth = 0
    while place + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, place)
        is_record = (kind == _BOF or depth) and kind and size <= _LONGEST_RECORD and place + 4 + size <= len(stream)
        if not is_record:
            raise DocumentRefused(Refusal.DAMAGED, at=place)
        depth += {_BOF: 1, _EOF: -1}.get(kind, 0)
        if depth == 0:
            return
        yield _Record(kind, stream[place + 4 : place + 4 + size])
        place += 4 + size
    raise DocumentRefused(Refusal.DAMAGED, at=place)


def _continued(records: list[_Record], number: int) -> Iterator[bytes]:
    """What goes on of a record in those behind it."""
    for record in records[number + 1 :]:
        if record.kind != _CONTINUE:
            return
        yield record.data


class _Texts:
    """Texts that may go on from one record to the next."""

    def __init__(self, records: list[bytes]) -> None:
        self._records, self._number, self._place = records, 0, 0

    @property
    def is_over(self) -> bool:
        """True where nothing is left."""
        return self._number == len(self._records) - 1 and self._place >= len(self._records[-1])

    def take(self, count: int) -> bytes:
        """So many bytes. Raises `DocumentRefused` where there are fewer."""
        parts: list[bytes] = []
        while count:
            part = self._records[self._number][self._place : self._place + count]
            self._place += len(part)
            count -= len(part)
            parts.append(part)
            if count:
                self._turn()
        return b"".join(parts)

    def text(self, length: int) -> str:
        """A text of so many characters, which begins with its flags. Raises `DocumentRefused`."""
        return self.characters(length, self.take(1)[0])

    def characters(self, length: int, flags: int) -> str:
        """So many characters; in the next record they may be stored in another width."""
        parts: list[str] = []
        while length:
            width = 2 if flags & _WIDE else 1
            available = (len(self._records[self._number]) - self._place) // width
            count = min(length, available)
            parts.append(self.take(count * width).decode("utf-16-le" if width == 2 else "latin-1", "replace"))
            length -= count
            if length:
                self._turn()
                flags = self.take(1)[0]
        return "".join(parts)

    def shared_text(self) -> str:
        """A text with what it may have behind it: formats of single letters, and how it is read aloud."""
        length, flags = struct.unpack("<HB", self.take(3))
        formats = struct.unpack("<H", self.take(2))[0] if flags & _FORMATTED else 0
        extension = struct.unpack("<I", self.take(4))[0] if flags & _EXTENDED else 0
        text = self.characters(length, flags)
        self.take(4 * formats + min(extension, _MOST_BYTES))
        return text

    def _turn(self) -> None:
        self._number, self._place = self._number + 1, 0
        if self._number >= len(self._records):
            raise DocumentRefused(Refusal.DAMAGED)


def _shared_texts(records: list[bytes]) -> tuple[str, ...]:
    texts = _Texts(records)
    _, count = struct.unpack("<II", texts.take(8))
    shared = tuple(texts.shared_text() for _ in range(count))
    if not texts.is_over:
        raise DocumentRefused(Refusal.DAMAGED, texts=count)
    return shared


def _cells(book: Workbook, sheet: str, place: int) -> Iterator[Cell]:
    records = list(_records(book.stream, place))
    depth = 0
    try:
        for number, record in enumerate(records):
            depth += {_BOF: 1, _EOF: -1}.get(record.kind, 0)
            if depth == 1:
                for row, column, value in _values(book, records, number):
                    yield Cell(sheet, row, column, value, record.kind == _FORMULA)
    except (struct.error, IndexError) as error:
        raise DocumentRefused(Refusal.DAMAGED, sheet=sheet) from error


def _values(book: Workbook, records: list[_Record], number: int) -> Iterator[tuple[int, int, CellValue]]:
    """What a record says of one cell, or of several in a row."""
    kind, data = records[number]
    if kind == _SHORTS:
        row, column = struct.unpack_from("<HH", data)
        for at in range((len(data) - 6) // 6):
            yield row, column + at, _short_number(struct.unpack_from("<I", data, 6 + 6 * at)[0])
        return
    if kind not in (_TEXT, _NUMBER, _SHORT, _FORMULA, _LABEL, _RICH, _TRUTH):
        return
    row, column, _ = struct.unpack_from("<HHH", data)
    value: CellValue = ""
    if kind == _TEXT:
        value = book.texts[struct.unpack_from("<I", data, 6)[0]]
    elif kind == _NUMBER:
        value = struct.unpack_from("<d", data, 6)[0]
    elif kind == _SHORT:
        value = _short_number(struct.unpack_from("<I", data, 6)[0])
    elif kind == _TRUTH:
        value = None if data[7] else float(data[6])
    elif kind == _FORMULA:
        value = _result(records, number)
    else:
        value = _Texts([data[8:]]).text(struct.unpack_from("<H", data, 6)[0])
    if value != "":
        yield row, column, value


def _result(records: list[_Record], number: int) -> CellValue:
    """What a formula gave when it was stored: a number, or the text in the record behind it."""
    data = records[number].data
    if data[12:14] != _NO_NUMBER:
        return float(struct.unpack_from("<d", data, 6)[0])
    if data[6] == 0:
        later = next((at for at in range(number + 1, len(records)) if records[at].kind == _STRING), None)
        if later is None:
            return ""
        text = records[later].data
        return _Texts([text[2:], *_continued(records, later)]).text(struct.unpack_from("<H", text)[0])
    return {1: float(data[8]), 2: None}.get(data[6], "")


def _short_number(packed: int) -> float:
    """A number in thirty bits: whole or the upper half of a long one, perhaps times a hundred."""
    if packed & 2:
        number = float(struct.unpack("<i", struct.pack("<I", packed))[0] >> 2)
    else:
        number = float(struct.unpack("<d", struct.pack("<Q", (packed & ~3) << 32))[0])
    return number / 100 if packed & 1 else number

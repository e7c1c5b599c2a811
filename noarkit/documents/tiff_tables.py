"""Whether a TIFF is all there: each of its tables, and each piece of a picture that a table names, lies within it."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

_MOST_TABLES = 10_000
_MOST_PIECES = 1_000_000
_PLACES = {273: 279, 324: 325}
"""The tag of where strips and tiles lie, with the tag of how long they are."""
_FORMS = {3: "H", 4: "I"}
_ENTRY = 12


def is_cut_tiff(path: Path) -> bool:
    """True for a TIFF that names something behind its end. Raises `OSError`."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(8)
        if len(head) < 8 or head[:4] not in (b"II*\0", b"MM\0*"):
            return False
        order = "<" if head[:2] == b"II" else ">"
        try:
            return not all(_lies_within(file, order, at, size) for at in _tables(file, order, head[4:], size))
        except _Cut:
            return True


class _Cut(Exception):
    pass


def _read(file: BinaryIO, at: int, count: int) -> bytes:
    file.seek(at)
    content = file.read(count)
    if len(content) < count:
        raise _Cut
    return content


def _tables(file: BinaryIO, order: str, first: bytes, size: int) -> list[int]:
    """Where each table lies: one names the next."""
    places: list[int] = []
    at = int(struct.unpack(order + "I", first)[0])
    while at and at not in places and len(places) < _MOST_TABLES:
        if at >= size:
            raise _Cut
        places.append(at)
        count = struct.unpack(order + "H", _read(file, at, 2))[0]
        at = int(struct.unpack(order + "I", _read(file, at + 2 + count * _ENTRY, 4))[0])
    return places


def _lies_within(file: BinaryIO, order: str, at: int, size: int) -> bool:
    count = struct.unpack(order + "H", _read(file, at, 2))[0]
    entries = _read(file, at + 2, count * _ENTRY)
    by_tag = {
        struct.unpack_from(order + "H", entries, n * _ENTRY)[0]: entries[n * _ENTRY :][:_ENTRY] for n in range(count)
    }
    for place, length in _PLACES.items():
        if place in by_tag and length in by_tag:
            pieces = zip(_numbers(file, order, by_tag[place]), _numbers(file, order, by_tag[length]), strict=False)
            if any(begin + long > size for begin, long in pieces):
                return False
    return True


def _numbers(file: BinaryIO, order: str, entry: bytes) -> tuple[int, ...]:
    kind, count = struct.unpack_from(order + "HI", entry, 2)
    form = _FORMS.get(kind)
    if form is None or count > _MOST_PIECES:
        return ()
    width = struct.calcsize(form) * count
    content = entry[8 : 8 + width] if width <= 4 else _read(file, struct.unpack_from(order + "I", entry, 8)[0], width)
    return struct.unpack(f"{order}{count}{form}", content)

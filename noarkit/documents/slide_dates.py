"""The dates of a presentation before 2007 that are today's whenever it is shown, by the records of its main stream."""

from __future__ import annotations

import struct
from collections.abc import Iterator

STREAM = "PowerPoint Document"
"""The stream of the container that the records stand in."""

_HEAD = struct.Struct("<HHI")
_CONTAINER = 0xF
"""The version of a record that holds others."""
_DATE_IN_TEXT, _FORMATTED_DATE_IN_TEXT, _HEADERS = 0x0FF7, 0x1015, 0x0FDA
_HAS_DATE, _IS_TODAY = 0x01, 0x02


def count_automatic_dates(stream: bytes) -> int:
    """How many there are: dates within text, and slides whose header or footer bears the day. What a damaged record
    holds is not counted."""
    return sum(_is_automatic_date(kind, stream[place : place + size]) for kind, place, size in _records(stream))


def _records(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Every record: its kind, where its data begin, and how long they are. One that holds others is gone into."""
    place = 0
    while place + _HEAD.size <= len(stream):
        version, kind, size = _HEAD.unpack_from(stream, place)
        place += _HEAD.size
        yield kind, place, size
        place += 0 if version & 0xF == _CONTAINER else size


def _is_automatic_date(kind: int, data: bytes) -> bool:
    if kind == _HEADERS and len(data) >= 4:
        return data[2] & (_HAS_DATE | _IS_TODAY) == _HAS_DATE | _IS_TODAY
    return kind in (_DATE_IN_TEXT, _FORMATTED_DATE_IN_TEXT)

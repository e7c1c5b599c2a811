"""What the runs of a Word document before 2007 are marked with, read from the tables that hold their properties.

The file information block at the beginning of the stream `WordDocument` says where in the table stream two lists lie:
one of pages of 512 bytes with the properties of each run, one of the pieces of the text, which may bear some too. The
same three bytes anywhere else (in a picture, in the text) are no property.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

DELETED, INSERTED, HIDDEN = 0x0800, 0x0801, 0x083C
REFORMATTED = (0xCA57, 0xCA89)
"""Properties of characters that a tracked change replaced, as Word wrote them before 2002 and since."""

_WORD_97 = 0xC1
_VERSION, _FLAGS, _RUN_PAGES, _PIECES = 0x02, 0x0A, 0xFA, 0x1A2
_SECOND_TABLE = 0x0200
_PAGE_BYTES = 512
_PAGE_NUMBER = 0x3FFFFF
_OPERAND_BYTES = (1, 1, 2, 4, 2, 2, 0, 3)
"""By the upper three bits of a property; of the seventh kind it is the byte that comes next."""
_LIST, _TABLE_OF_PIECES = 1, 2
_SHORT = {0x41: DELETED, 0x42: INSERTED, 0x5C: HIDDEN}
"""What a piece names by one byte."""
_ON = frozenset({0x01, 0x81})
"""Switched on, or the other way than in the style."""


class RunsUnreadable(Exception):
    """The tables of a document are not where it says."""


def table_name(stream: bytes) -> str:
    """The name of the stream that holds the tables."""
    return "1Table" if int.from_bytes(stream[_FLAGS : _FLAGS + 2], "little") & _SECOND_TABLE else "0Table"


def marked_runs(stream: bytes, table: bytes) -> Counter[int]:
    """How many runs bear each property that is switched on. Raises `RunsUnreadable`, also for Word before 97."""
    try:
        if int.from_bytes(stream[_VERSION : _VERSION + 2], "little") < _WORD_97:
            raise RunsUnreadable
        lists = [*_lists_of_runs(stream, table), *_lists_of_pieces(stream, table)]
        return Counter(code for each in lists for code in set(_switched_on(each)))
    except (struct.error, IndexError) as error:
        raise RunsUnreadable from error


def _lists_of_runs(stream: bytes, table: bytes) -> Iterator[bytes]:
    """The list of properties of each run that has one."""
    start, size = struct.unpack_from("<II", stream, _RUN_PAGES)
    if size < 12:  # every document has one page of them
        raise RunsUnreadable
    count = (size - 4) // 8
    for number in struct.unpack_from(f"<{count}I", table, start + 4 * (count + 1)):
        at = (number & _PAGE_NUMBER) * _PAGE_BYTES
        yield from _lists_on_page(stream[at : at + _PAGE_BYTES])


def _lists_on_page(page: bytes) -> Iterator[bytes]:
    """`page` begins with the places of its runs; behind them stands for each where on the page its properties are."""
    count = page[_PAGE_BYTES - 1]
    places = struct.unpack_from(f"<{count + 1}I", page)
    for number in range(count):
        at = 2 * page[4 * (count + 1) + number]
        if at and places[number] < places[number + 1]:
            yield page[at + 1 : at + 1 + page[at]]


def _lists_of_pieces(stream: bytes, table: bytes) -> Iterator[bytes]:
    """The list of properties of each piece of the text: its own, or one of those before the pieces."""
    at, size = struct.unpack_from("<II", stream, _PIECES)
    end, lists = at + size, list[bytes]()
    while at < end and table[at] == _LIST:
        (length,) = struct.unpack_from("<H", table, at + 1)
        lists.append(table[at + 3 : at + 3 + length])
        at += 3 + length
    if at >= end or table[at] != _TABLE_OF_PIECES:
        return
    count = (struct.unpack_from("<I", table, at + 1)[0] - 4) // 12
    for number in range(count):
        (modifier,) = struct.unpack_from("<H", table, at + 5 + 4 * (count + 1) + 8 * number + 6)
        if modifier & 1:
            yield lists[modifier >> 1]
        elif (code := _SHORT.get(modifier >> 1 & 0x7F)) is not None:
            yield struct.pack("<HB", code, modifier >> 8)


def _switched_on(properties: bytes) -> Iterator[int]:
    """The properties of a list that are on: each is a code of two bytes, and its operand."""
    at = 0
    while at + 2 < len(properties):
        (code,) = struct.unpack_from("<H", properties, at)
        at += 2
        size = _OPERAND_BYTES[code >> 13]
        if not size:
            size, at = properties[at], at + 1
        if size and properties[at] in _ON:
            yield code
        at += size

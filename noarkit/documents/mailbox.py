"""Finds the mails of a mailbox (mbox) by their offsets, in constant memory, however large it is.

A mail begins after a line `From … 12:00:00 2020` that stands first or behind an empty line, and ends before the next.
Its bytes are as they stand in the mailbox, quoted `>From ` lines too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from noarkit.safe.descriptors import read_at

_BLOCK_BYTES = 1024 * 1024
_LONGEST_LINE = 2048
_SEPARATOR = re.compile(rb"(?:\A|(?<=\n)\r?\n)From [^\n]{0,800}?\d\d:\d\d[^\n]{0,200}?\d{4}[^\n]{0,80}\n")


class Span(NamedTuple):
    """Where a mail stands in its mailbox."""

    offset: int
    length: int


def spans(descriptor: int, *, block_bytes: int = _BLOCK_BYTES) -> Iterator[Span]:
    """The mails of an open mailbox in order. None at all where the file is no mailbox."""
    begin: int | None = None
    for start, end in _separators(descriptor, block_bytes):
        if begin is None and start > 0:
            return
        if begin is not None:
            yield Span(begin, start - begin)
        begin = end
    if begin is not None:
        size = os.fstat(descriptor).st_size
        yield Span(begin, max(size - begin - _closing_line(descriptor, begin, size), 0))


def _separators(descriptor: int, block_bytes: int) -> Iterator[tuple[int, int]]:
    """Start (at the empty line before, if any) and end of each separating line."""
    buffer, base, position = b"", 0, 0
    while True:
        block = read_at(descriptor, block_bytes, base + len(buffer))
        buffer += block
        for match in _SEPARATOR.finditer(buffer, position - base):
            if base and match.start() == 0:
                continue  # `\A` is the start of the file alone
            yield base + match.start(), base + match.end()
            position = base + match.end()
        if not block:
            return
        keep = max(position - base, len(buffer) - _LONGEST_LINE)
        # one byte more stays, so that the line end before an empty line is seen
        cut = max(keep - 1, 0)
        buffer, base = buffer[cut:], base + cut
        position = max(position, base)


def _closing_line(descriptor: int, begin: int, size: int) -> int:
    tail = read_at(descriptor, min(3, size - begin), max(size - 3, begin))
    if tail.endswith(b"\n\r\n"):
        return 2
    return 1 if tail.endswith(b"\n\n") else 0

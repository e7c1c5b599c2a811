"""Takes the plain rows of a table's XML out of the parser's way: one pattern reads them, many at a time.

A portion is plain where its rows hold cells without attributes and elements, in their order, and nothing stands between
them but blanks. The parser is given as many empty lines in its place, so that it goes on at the right line; every other
portion, and all that could be anything else, is the parser's own, so that what is told of a table is always the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from noarkit.errors import UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.plain_xml import plain_text, resolve

LESS_THAN = "\0"
"""Stands for `<` in a plain portion: no text of XML has it."""
BLANKS = " \t\n"
"""What may stand between rows."""
MOST_COLUMNS = 400
"""The pattern of a wider row would take longer to make than it saves."""

_MOST_BYTES = 2**44
_MOST_HEAD = 64 * 1024
_MOST_DOUBTS = 8
_ROW, _ROW_END = b"<row>", b"</row>"
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ATTRIBUTE = rb"\s++[\w:.-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+')"
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?:<\?xml\s++version=[\"']1\.0[\"'](?:\s++encoding=[\"'](?i:utf-8)[\"'])?+"
    rb"(?:\s++standalone=[\"'](?:yes|no)[\"'])?+\s*+\?>)?+\s*+"
    rb"<[A-Za-z_][\w:.-]*+(?:" + _ATTRIBUTE + rb")*+\s*+>\s*+"
)

Take = Callable[[str], bool]
"""Takes the rows of a portion; False, and nothing taken, where they are not what they should be."""


def plain_pattern(cells: Sequence[tuple[str, str, bool]]) -> re.Pattern[str] | None:
    """A row of cells in this order: the tag of each, the pattern of its text, and whether it may be missing. None for a
    row that is no case for a pattern."""
    tags = [tag for tag, _, _ in cells]
    if len(tags) > MOST_COLUMNS or len(set(tags)) < len(tags) or not all(map(_TAG.fullmatch, tags)):
        return None
    elements = (
        f"(?:<{tag}>{text}</{tag}>)?+" if is_optional else f"<{tag}>{text}</{tag}>" for tag, text, is_optional in cells
    )
    return re.compile(f"<row>{''.join(elements)}</row>")


class PlainPortions:
    """A table's XML as its parser shall get it, once `take` has taken the portions that are plain.

    `parser_at` says where the parser is: how many elements are open, and at which of the bytes that it was given the
    last thing began. `is_whole` is True while nothing of the blocks that were read is held back from the parser: what
    it told of them may be passed on, for nothing in them is broken.
    """

    def __init__(self, source: Readable, where: str, take: Take, parser_at: Callable[[], tuple[int, int]]) -> None:
        self.is_whole = True
        self._source = source
        self._where = where
        self._take = take
        self._parser_at = parser_at
        self._has_begun = False
        self._gives_up = False
        self._unread = b""  # of the block with the head
        self._rest = b""  # of the block before, behind its last row
        self._next = b""  # what the parser gets after what it got
        self._read_bytes = 0
        self._given_bytes = 0
        self._ends_in_row = False
        self._doubts = 0
        self._fault: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes for the parser; `size` is what is read of the source at a time."""
        portion = self._next_portion(size)
        self._given_bytes += len(portion)
        return portion

    def _next_portion(self, size: int) -> bytes:
        if self._next:
            self.is_whole = self._gives_up
            portion, self._next = self._next, b""
            return portion
        while not self._gives_up:
            block = self._read_block(size)
            before, self._rest = self._rest, b""
            portion = self._portion(before, block) if block else self._give_up(before, b"")
            if portion:
                return portion
        self.is_whole = True
        return self._read_block(size)

    def _read_block(self, size: int) -> bytes:
        if self._unread:
            block, self._unread = self._unread, b""
            return block
        if self._fault is not None:
            raise self._fault
        try:
            block = self._source.read(size)
        except Exception as fault:
            if not self._rest:
                raise
            self._fault = fault  # raised again once the parser has read all that came before
            return b""
        self._read_bytes += len(block)
        if self._read_bytes > _MOST_BYTES:
            raise UnsafeXml(where=self._where, why="size")
        return block

    def _portion(self, before: bytes, block: bytes) -> bytes:
        """What the parser gets of a block, and of what was held back `before`; nothing where more must be read."""
        if not self._has_begun:
            return self._head(before, block)
        end = block.rfind(_ROW_END) + len(_ROW_END)
        if end < len(_ROW_END) or not self._is_between_rows():  # the end, or a row so long that a parser is as quick
            return self._give_up(before, block)
        return self._judge(before, block[:end], block[end:])

    def _head(self, before: bytes, block: bytes) -> bytes:
        """What stands before the first row."""
        content = before + block
        end = content.find(_ROW)
        if end < 0 and len(content) <= _MOST_HEAD:
            self._rest = content
            return b""
        if end < 0 or _HEAD.fullmatch(content, 0, end) is None:
            return self._give_up(before, block)
        self._has_begun = True
        end = content.rfind(b">", 0, end) + 1  # a carriage return may be half an end of line: it goes with its row
        self._unread = content[end:]
        self.is_whole = False
        return content[:end]

    def _is_between_rows(self) -> bool:
        """True if the parser is where rows may stand, and has not put off reading the end of what it was given."""
        depth, at = self._parser_at()
        return depth == 1 and (not self._ends_in_row or at == self._given_bytes - len(_ROW_END))

    def _judge(self, before: bytes, rows: bytes, tail: bytes) -> bytes:
        content = before + rows
        if b"<!" in content or b"<?" in content:  # a comment, say, which may hold what looks like rows
            return self._give_up(before, rows + tail)
        text = _text(content)
        if text is not None and self._take(text):
            self._rest = tail
            self._doubts = 0
            self._ends_in_row = False
            self.is_whole = True
            return b"\n" * text.count("\n") or b" "
        self._doubts += 1
        if self._doubts >= _MOST_DOUBTS:
            return self._give_up(before, rows + tail)
        self._rest = tail
        self._ends_in_row = True
        return self._in_turn(before, rows)

    def _give_up(self, before: bytes, content: bytes) -> bytes:
        """All of it, and whatever follows, is the parser's."""
        self._gives_up = True
        return self._in_turn(before, content)

    def _in_turn(self, before: bytes, content: bytes) -> bytes:
        """First what was held back of the block before, then what was read since."""
        self.is_whole = bool(before) or self._gives_up
        self._next = content if before else b""
        return before or content


def _text(portion: bytes) -> str | None:
    """A portion as a parser would tell its texts, but for `LESS_THAN`; None where only the parser can say."""
    text = None if b"]]>" in portion else plain_text(portion)
    return resolve(text, LESS_THAN) if text is not None and "&" in text else text

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

LESS_THAN = "\0"
"""Stands for `<` in a plain portion: no text of XML has it."""
BLANKS = " \t\n"
"""What may stand between rows."""
MOST_COLUMNS = 400
"""The pattern of a wider row would take longer to make than it saves."""

_MOST_BYTES = 2**44
_MOST_PORTION = 4 * 1024 * 1024
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
# what XML does not allow becomes a space, so that a portion without it stays the very same object
_ALLOWED = bytes(byte if byte >= 0x20 or byte in b"\t\n\r" else 0x20 for byte in range(256))
_OTHER_ENTITY = re.compile("&(?!(?:amp|lt|gt|quot|apos);)")

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

    `is_between_rows` says whether the parser, which has read all that it was given, is inside the table and no row.
    """

    def __init__(self, source: Readable, where: str, take: Take, is_between_rows: Callable[[], bool]) -> None:
        self._source = source
        self._where = where
        self._take = take
        self._is_between_rows = is_between_rows
        self._rest = b""
        self._read_bytes = 0
        self._has_begun = False
        self._gives_up = False
        self._doubts = 0
        self._fault: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes for the parser; `size` is what is read of the source at a time."""
        while not self._gives_up:
            block = self._read_block(size)
            content, self._rest = self._rest + block, b""
            portion = self._portion(content) if block else self._give_up(content)
            if portion:
                return portion
        return self._read_block(size)

    def _read_block(self, size: int) -> bytes:
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

    def _give_up(self, content: bytes) -> bytes:
        """All of it, and whatever follows, is the parser's."""
        self._gives_up = True
        return content

    def _portion(self, content: bytes) -> bytes:
        """What the parser gets of it; nothing where more must be read first. The rest is kept."""
        if not self._has_begun:
            return self._head(content)
        end = content.rfind(_ROW_END) + len(_ROW_END)
        if end < len(_ROW_END):
            if len(content) > _MOST_PORTION:
                return self._give_up(content)
            self._rest = content
            return b""
        if not self._is_between_rows():
            return self._give_up(content)
        portion, self._rest = content[:end], content[end:]
        return self._judge(portion)

    def _head(self, content: bytes) -> bytes:
        """What stands before the first row."""
        end = content.find(_ROW)
        if end < 0 and len(content) <= _MOST_HEAD:
            self._rest = content
            return b""
        if end < 0 or _HEAD.fullmatch(content, 0, end) is None:
            return self._give_up(content)
        self._has_begun = True
        end = content.rfind(b">", 0, end) + 1  # a carriage return may be half an end of line: it goes with its row
        self._rest = content[end:]
        return content[:end]

    def _judge(self, portion: bytes) -> bytes:
        if b"<!" in portion or b"<?" in portion:  # a comment, say, which may hold what looks like rows
            self._gives_up = True
            return portion + self._flush()
        text = _text(portion)
        if text is not None and self._take(text):
            self._doubts = 0
            return b"\n" * text.count("\n") or b" "
        self._doubts += 1
        self._gives_up = self._doubts >= _MOST_DOUBTS
        return portion + self._flush() if self._gives_up else portion

    def _flush(self) -> bytes:
        rest, self._rest = self._rest, b""
        return rest


def _text(portion: bytes) -> str | None:
    """A portion as a parser would tell its texts, but for `LESS_THAN`; None where only the parser can say."""
    if portion.translate(_ALLOWED) is not portion or b"]]>" in portion or b"\xef\xbf" in portion:
        return None
    try:
        text = portion.decode()
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "&" in text:
        if _OTHER_ENTITY.search(text):
            return None
        text = text.replace("&lt;", LESS_THAN).replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
        text = text.replace("&amp;", "&")
    return text

"""The door for XML too large for a tree: a parser that calls back, without entities, document type or network.

It is for whoever must see every element once and keep nothing. A document type is refused at its first letter;
malformed XML is `PackageFault` with its line, a tag that never ends `UnsafeXml`. Depth is the handler's own to watch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.xml import LIMITS, XmlLimits

BLOCK_BYTES = 1024 * 1024
_SMALL_BLOCK_BYTES = 64 * 1024
MAX_TOKEN_BYTES = 16 * 1024 * 1024
"""No tag, comment or attribute of an honest document is longer."""

MAX_TEXT = 10_000_000
"""No text of an honest document has more signs."""

_TEXT_BYTES = 65536


def event_parser(where: str) -> expat.XMLParserType:
    """A parser whose names come as `namespace local`, and texts in few pieces; set its handlers, then `feed`."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.buffer_size = _TEXT_BYTES

    def refuse(name: str, system: str | None, public: str | None, internal: bool) -> None:
        raise UnsafeXml(where=where, why="doctype", line=parser.CurrentLineNumber)

    parser.StartDoctypeDeclHandler = refuse
    return parser


def feed(
    parser: expat.XMLParserType,
    source: Readable,
    where: str,
    *,
    limits: XmlLimits = LIMITS,
    first_bytes: int = BLOCK_BYTES,
) -> Iterator[int]:
    """Gives the whole of `source` to the parser; yields after each block how many bytes went in so far."""
    fed = 0
    while block := source.read(BLOCK_BYTES if fed else first_bytes):
        fed += len(block)
        if fed > limits.max_bytes:
            raise UnsafeXml(where=where, why="size")
        _parse_block(parser, block, where, last=False)
        if fed - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
            raise UnsafeXml(where=where, why="limits", line=parser.CurrentLineNumber)
        yield fed
    _parse_block(parser, b"", where, last=True)


def check_text(pieces: Sequence[str], parser: expat.XMLParserType, where: str) -> None:
    """Refuses a text that grows without end; asked after each block, of the pieces that came so far."""
    if len(pieces) > 8 and sum(map(len, pieces)) > MAX_TEXT:
        raise UnsafeXml(where=where, why="limits", line=parser.CurrentLineNumber)


def _parse_block(parser: expat.XMLParserType, block: bytes, where: str, *, last: bool) -> None:
    try:
        parser.Parse(block, last)
    except expat.ExpatError as error:
        detail = expat.ErrorString(error.code)
        if "entity" in detail:
            raise UnsafeXml(where=where, why="limits", line=error.lineno) from error
        raise PackageFault(where=where, why="malformed-xml", line=error.lineno, detail=detail) from error
    except (LookupError, ValueError) as error:
        if type(error) not in (LookupError, ValueError):  # a handler's own
            raise
        raise PackageFault(where=where, why="malformed-xml", line=1, detail=str(error)) from error  # its encoding


class SmallBlockReader:
    """A stream that gives small blocks, and larger ones while a tag does not end.

    expat scans an unfinished tag from its start again with each block; small blocks would make that quadratic.
    """

    def __init__(self, source: Readable, parser: expat.XMLParserType) -> None:
        self._source = source
        self._parser = parser
        self._read_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        pending = self._read_bytes - max(0, self._parser.CurrentByteIndex)
        block = self._source.read(min(size, max(_SMALL_BLOCK_BYTES, pending)))
        self._read_bytes += len(block)
        return block

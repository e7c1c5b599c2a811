"""Reads large XML as a tree that is built and emptied block by block, safely and in little memory.

For readers that must see every element of a document of any size, and quickly: the tree is built in C, without a call
into Python for each tag. After each block of bytes `follow` hands over the elements that are complete and deletes them:

    <a><b>1</b><b>2</b><b>3 …        after this block: b 1 and b 2 are told and deleted; b 3 may still grow

Call `read_prologue` first: it refuses a document type. What is too deep or never ends is refused on the way. Elements
have no line here, only a number (1 for the root, in the order of the tags); `lines_of` finds the lines of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Generic, NoReturn, Protocol, TypeVar
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.sax import MAX_TOKEN_BYTES, event_parser, feed
from noarkit.safe.xml import LIMITS, XmlLimits

BLOCK_BYTES = 128 * 1024
"""So much is read at once; more would only make the tree larger."""

_PROLOGUE_BYTES = 4096


Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class Prologue:
    """How a document says it is written; None if it does not say."""

    version: str | None = None
    encoding: str | None = None


def read_prologue(file: BinaryIO, where: str) -> Prologue:
    """What stands before the root, which has to be there; goes back to the beginning. A document type is refused."""
    prologue, has_begun = Prologue(), False

    def on_declaration(version: str, encoding: str | None, standalone: int) -> None:
        nonlocal prologue
        prologue = Prologue(version, encoding)

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal has_begun
        has_begun = True

    parser = event_parser(where)
    parser.XmlDeclHandler, parser.StartElementHandler = on_declaration, begin
    blocks = feed(parser, file, where, first_bytes=_PROLOGUE_BYTES)
    while not has_begun and next(blocks, None) is not None:
        pass
    file.seek(0)
    return prologue


class TooDeep(Exception):
    """Whoever reads meets an element deeper than it may be; `follow` tells with its line."""


class Reader(Protocol[Place]):
    """A reader of a growing tree, called by `follow`. `Place` is what it remembers of an open element."""

    def enter(self, above: Place, element: Element, /) -> Place:
        """An element begins that has children already, and may get more."""
        ...

    def fill(self, at: Place, children: Sequence[Element], depth: int, /) -> None:
        """The next children of an open element are whole; `depth` is theirs."""
        ...

    def leave(self, at: Place, /) -> None:
        """An element that was entered is whole, and all its children were told."""
        ...


class Source(Protocol):
    """What is read: a file, or what makes one lighter on the way."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; none at the end."""
        ...

    def seek(self, offset: int, /) -> int:
        """Goes back to the beginning, where all is read again as it stands."""
        ...


def follow(
    file: Source, where: str, reader: Reader[Place], outside: Place, *, limits: XmlLimits = LIMITS
) -> Iterator[int]:
    """Passes every element of a document to a reader, once and in order; yields the bytes read after each block.

    `outside` is the place of the document itself, whose only child is the root. Names are `{namespace}local`.
    """
    path = _Path(reader, outside)
    try:
        for top, fed in _parse_growing(file, where, limits):
            path.follow(top)
            yield fed
        path.finish()
    except TooDeep:
        _refuse_depth(file, where, limits)


def lines_of(file: BinaryIO, where: str, numbers: Iterable[int]) -> dict[int, int]:
    """The lines on which elements begin, by their numbers. Reads no further than the last of them."""
    targets = iter(sorted(set(numbers)))
    lines: dict[int, int] = {}
    parser = event_parser(where)
    element_count, following = 0, next(targets, 0)

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal element_count, following
        element_count += 1
        if element_count == following:
            lines[element_count] = parser.CurrentLineNumber
            following = next(targets, 0)

    parser.StartElementHandler = start
    try:
        blocks = feed(parser, file, where)
        while following and next(blocks, None) is not None:
            pass
    except (PackageFault, UnsafeXml):
        return lines  # whoever read it told what is wrong
    return lines


class _Path(Generic[Place]):
    """The open elements from the root to the one that was begun last."""

    def __init__(self, reader: Reader[Place], outside: Place) -> None:
        self._reader = reader
        self._outside = outside
        self._open: list[tuple[Element, Place]] = []

    def follow(self, top: Element) -> None:
        """Tells all that became whole; the last child of the last open element may still grow, and is kept."""
        # Only the last child of the last open element can still change: the parser appends at the end alone. Everything
        # before it is complete.
        if not self._open:
            self._open.append((top, self._outside))
        self._close_from(self._first_closed())
        while True:
            element, place = self._open[-1]
            # Deleting is what keeps memory flat; what is told is never asked for again.
            if len(element) > 1:
                self._reader.fill(place, element[:-1], len(self._open))
                del element[:-1]
            # An element without children is not entered: it may still be a leaf, told whole by `fill` later.
            if not len(element) or not len(element[0]):
                return
            self._open.append((element[0], self._reader.enter(place, element[0])))

    def finish(self) -> None:
        """All is whole."""
        self._close_from(1)
        top, outside = self._open[0]
        self._reader.fill(outside, list(top), 1)

    def _first_closed(self) -> int:
        """How many of the open elements are still the last of their parent."""
        places = self._open
        for number in range(1, len(places)):
            # A younger brother has come after it, so the element has ended, and all that is open below it.
            if places[number - 1][0][-1] is not places[number][0]:
                return number
        return len(places)

    def _close_from(self, first: int) -> None:
        while len(self._open) > first:
            element, place = self._open.pop()
            self._reader.fill(place, list(element), len(self._open) + 1)
            self._reader.leave(place)
            del self._open[-1][0][0]  # those before it were told, and taken away when it was entered


def _parse_growing(file: Source, where: str, limits: XmlLimits) -> Iterator[tuple[Element, int]]:
    """The element that holds the root, and how much was read, after each block; once more when it is whole."""
    builder = TreeBuilder()
    top = builder.start("document", {})
    parser = XMLParser(target=builder)  # noqa: S314  # the prologue was read; it alone could hold a document type
    fed = still = 0
    newest = top
    while block := file.read(BLOCK_BYTES):
        fed += len(block)
        if fed > limits.max_bytes:
            raise UnsafeXml(where=where, why="size")
        _feed_block(parser, block, where)
        end = _last_begun(top, limits.max_depth)
        # Megabytes in which no element begins are one endless text, tag or comment, which the parser would hoard in
        # memory.
        still = still + len(block) if end is newest else 0
        newest = end
        if still > MAX_TOKEN_BYTES:
            raise UnsafeXml(where=where, why="limits")
        yield top, fed
    _feed_block(parser, None, where)
    yield top, fed


def _refuse_depth(file: Source, where: str, limits: XmlLimits) -> NoReturn:
    """Says where a document is deeper than it may be."""
    parser = event_parser(where)
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > limits.max_depth:
            raise UnsafeXml(where=where, why="depth", line=parser.CurrentLineNumber)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    file.seek(0)
    for _ in feed(parser, file, where):
        pass
    raise UnsafeXml(where=where, why="depth")


def _last_begun(top: Element, deepest: int) -> Element:
    """The element that was begun last."""
    depth = 0
    while len(top):
        top = top[-1]
        depth += 1
        # Walked after each block and not with each tag: a block can nest only as deep as its bytes allow, which is
        # harmless.
        if depth > deepest:
            raise TooDeep
    return top


def _feed_block(parser: XMLParser, block: bytes | None, where: str) -> None:
    try:
        if block is None:
            parser.close()
        else:
            parser.feed(block)
    except ParseError as error:
        detail, line = expat.ErrorString(error.code), error.position[0]
        # Without a document type no entity can be declared; what is left are the parser's own limits.
        if "entity" in detail:
            raise UnsafeXml(where=where, why="limits", line=line) from error
        raise PackageFault(where=where, why="malformed-xml", line=line, detail=detail) from error

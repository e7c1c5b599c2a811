"""Reads the rows of a table's XML as they stand, in constant memory: each cell a text, None, or what is more than that.

Only names of elements count, not namespaces. A cell that stands nowhere in its row is NULL; `xsi:nil` says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.siard.escapes import text_of
from noarkit.forms.siard.read.places import with_name
from noarkit.forms.siard.read.plain import BLANKS, LESS_THAN, PlainPortions, Take, plain_pattern
from noarkit.safe.digest import Readable
from noarkit.safe.sax import event_parser, feed
from noarkit.safe.xml import XmlLimits

MOST_TEXT = 256 * 1024 * 1024
"""No cell has more signs in its element; what is larger stands in a file."""

_LIMITS = XmlLimits(max_bytes=2**44, max_depth=40)


@dataclass(frozen=True, slots=True)
class Large:
    """A cell whose value stands in a file."""

    file: str
    length: int | None
    digest_type: str = ""
    digest: str = ""


@dataclass(slots=True)
class Nested:
    """A cell that holds elements: of an array, or of a structure."""

    text: str = ""
    parts: dict[str, Raw] = field(default_factory=dict)


Raw = str | Large | Nested | None
"""A cell as it stands: a text (escapes are undone), a file, elements, or NULL."""

RawRow = list[Raw]


@dataclass(frozen=True, slots=True)
class Stray:
    """An element that is no cell of the table: its line and name."""

    line: int
    name: str


Strays = Callable[[Stray], None]


def raw_rows(
    source: Readable, where: str, tags: Sequence[str], *, stray: Strays | None = None
) -> Iterator[list[RawRow]]:
    """The rows of a table whose cells are called `tags`, many at a time; those that were handed on are not kept.

    An element that is none of the cells is told to `stray`; without it, it is `PackageFault`.
    """
    rows: list[RawRow] = []
    handler = _Handler(rows, {tag: number for number, tag in enumerate(tags)})
    parser = event_parser(where)

    def complain(name: str) -> None:
        if stray is None:
            raise PackageFault(where=where, why="stray-element", line=parser.CurrentLineNumber, detail=name)
        stray(Stray(parser.CurrentLineNumber, name))

    handler.install(parser, complain)
    take = _take_plain(rows, tags)
    if take is not None:
        source = PlainPortions(source, where, take, lambda: (handler.depth(), parser.CurrentByteIndex))
    for _ in feed(parser, with_name(source, where), where, limits=_LIMITS):
        if handler.pending_characters() > MOST_TEXT:
            raise UnsafeXml(where=where, why="limits", line=parser.CurrentLineNumber)
        if handler.depth() > _LIMITS.max_depth:
            raise UnsafeXml(where=where, why="depth", line=parser.CurrentLineNumber)
        if rows:
            yield rows.copy()
            rows.clear()
    if rows:
        yield rows


def _take_plain(rows: list[RawRow], tags: Sequence[str]) -> Take | None:
    """What takes the rows of a plain portion; None where a row is no case for a pattern."""
    pattern = plain_pattern([(tag, "([^<]*+)", True) for tag in tags])
    if pattern is None:
        return None
    width = len(tags)

    def take(text: str) -> bool:
        parts: list[Raw] = list(pattern.split(text))  # what stands before a row, its cells, and so on
        if "".join(parts[:: width + 1]).strip(BLANKS):  # type: ignore[arg-type]  # these are texts
            return False
        if LESS_THAN in text:
            parts = [part and part.replace(LESS_THAN, "<") for part in parts]  # type: ignore[union-attr]  # or None
        if "\\" in text:
            parts = [part and text_of(part) for part in parts]  # type: ignore[arg-type]  # the same
        rows.extend([parts[at : at + width] for at in range(1, len(parts), width + 1)])
        return True

    return take


class _Handler:
    """Closures over plain lists: of all ways to listen to the parser, the quickest."""

    def __init__(self, rows: list[RawRow], places: Mapping[str, int]) -> None:
        self._rows = rows
        self._places = dict(places)
        self._depth = [0]
        self._pieces: list[str] = []

    def depth(self) -> int:
        """How many elements are open."""
        return self._depth[0]

    def pending_characters(self) -> int:
        """How many signs of an unfinished cell are in memory."""
        return sum(map(len, self._pieces)) if len(self._pieces) > 8 else 0

    def install(self, parser: object, complain: Callable[[str], None]) -> None:
        """Sets the handlers of a parser."""
        rows, pieces = self._rows, self._pieces
        width = len(self._places)
        numbers: dict[str, int] = {}  # by the name as the parser tells it, namespace and all
        state = _State()
        level = self._depth
        add = pieces.append

        def number_of(name: str) -> int:
            local = name.rpartition(" ")[2]
            number = self._places.get(local, -1)
            if len(numbers) < 100_000:
                numbers[name] = number
            return number

        def start(name: str, attributes: dict[str, str]) -> None:
            level[0] = depth = level[0] + 1
            if depth == 3:
                pieces.clear()
                number = numbers.get(name)
                if number is None:
                    number = number_of(name)
                state.column = number
                state.attributes = attributes
                if number < 0:
                    complain(name.rpartition(" ")[2])
            elif depth == 2:
                state.row = [None] * width
                if name.rpartition(" ")[2] != "row":
                    complain(name.rpartition(" ")[2])
            elif depth > 3:
                _open_nested(state, pieces, name)
                state.inner_attributes.append(attributes)

        def end(name: str) -> None:
            depth = level[0]
            level[0] = depth - 1
            if depth == 3:
                column = state.column
                if column >= 0:
                    if state.attributes or state.nested:
                        state.row[column] = _cell_value(state, "".join(pieces))
                    else:
                        text = "".join(pieces)
                        state.row[column] = text_of(text) if "\\" in text else text
                state.nested.clear()
                pieces.clear()
            elif depth == 2:
                rows.append(state.row)
            elif depth > 3:
                _close_nested(state, pieces, name)

        def data(text: str) -> None:
            if level[0] > 2:
                add(text)

        parser.StartElementHandler = start  # type: ignore[attr-defined]  # an expat parser, whose type has no name
        parser.EndElementHandler = end  # type: ignore[attr-defined]  # the same
        parser.CharacterDataHandler = data  # type: ignore[attr-defined]  # the same


class _State:
    """The row that is being read."""

    __slots__ = ("attributes", "column", "inner_attributes", "nested", "row")

    def __init__(self) -> None:
        self.row: RawRow = []
        self.column = -1
        self.attributes: dict[str, str] = {}
        self.inner_attributes: list[dict[str, str]] = []
        self.nested: list[Nested] = []


def _open_nested(state: _State, pieces: list[str], name: str) -> None:
    """An element inside a cell: the first one makes the cell a nested one. What stood between the tags is blank."""
    if not state.nested:
        state.nested.append(Nested())
    pieces.clear()
    state.nested.append(Nested())


def _close_nested(state: _State, pieces: list[str], name: str) -> None:
    nested = state.nested.pop()
    attributes = state.inner_attributes.pop()
    text = "".join(pieces)
    pieces.clear()
    tag = name.rpartition(" ")[2]
    state.nested[-1].parts[tag] = nested if nested.parts else _raw_value(text, attributes)


def _cell_value(state: _State, text: str) -> Raw:
    if state.nested:
        return state.nested[0]
    return _raw_value(text, state.attributes)


def _raw_value(text: str, attributes: Mapping[str, str]) -> Raw:
    if attributes:
        local_attributes = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        if local_attributes.get("nil") in ("true", "1"):
            return None
        if "file" in local_attributes:
            length = local_attributes.get("length", "").strip()
            known_length = int(length) if length.isdecimal() and len(length) < 20 else None
            return Large(
                text_of(local_attributes["file"]),
                known_length,
                local_attributes.get("digestType", ""),
                local_attributes.get("digest", ""),
            )
    return text_of(text)

"""Checks the rows of a table's XML against its schema, in one pass and constant memory: order, presence and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from xml.parsers.expat import XMLParserType

from noarkit.errors import UnsafeXml
from noarkit.forms.siard.read.places import with_name
from noarkit.forms.siard.read.plain import PlainPortions
from noarkit.forms.siard.read.rows import MOST_TEXT
from noarkit.forms.siard.rules.expected import Expected
from noarkit.forms.siard.rules.plain import LONE_BACKSLASH, PlainRows
from noarkit.safe.digest import Readable
from noarkit.safe.sax import event_parser, feed
from noarkit.safe.xml import XmlLimits

_LIMITS = XmlLimits(max_bytes=2**44, max_depth=40)
_LARGE = frozenset({"clobType", "blobType"})

Complain = Callable[..., None]
"""Adds a finding: takes a rule's code, a line, and the data of the place."""


@dataclass(frozen=True, slots=True)
class LargeCell:
    """A cell that names a file: of which column (from 0), on which line, and all it says."""

    column: int
    line: int
    attributes: Mapping[str, str]


@dataclass(slots=True)
class _Open:
    """An element that is open: what it is to be, how far its own elements have come, and its text."""

    expected: Expected | None
    next: int = 0
    pieces: list[str] = field(default_factory=list)
    attributes: Mapping[str, str] = field(default_factory=dict)


class RowCheck:
    """The rows of one table."""

    def __init__(self, columns: Sequence[Expected], complain: Complain) -> None:
        self._parsed_rows = 0
        self._plain = PlainRows(columns)
        self._row = Expected("row", "", False, tuple(columns))
        self._complain = complain
        self._stack: list[_Open] = []
        self._large: list[LargeCell] = []
        self._places: dict[int, dict[str, int]] = {}
        self._column = -1

    @property
    def rows(self) -> int:
        """How many there were so far."""
        return self._parsed_rows + self._plain.count

    def run(self, source: Readable, location: str) -> Iterator[list[LargeCell]]:
        """Reads it all; yields the cells that name files, some at a time. Raises what `safe` refuses."""
        parser = event_parser(location)
        stack = self._stack
        short = self._listen(parser)
        take = self._plain.take
        portions = None
        if take is not None:
            portions = source = PlainPortions(source, location, take, lambda: (len(stack), parser.CurrentByteIndex))
        for _ in feed(parser, with_name(source, location), location, limits=_LIMITS):
            if len(stack) > _LIMITS.max_depth:
                raise UnsafeXml(where=location, why="depth", line=parser.CurrentLineNumber)
            if sum(map(len, short)) > MOST_TEXT or (stack and sum(map(len, stack[-1].pieces)) > MOST_TEXT):
                raise UnsafeXml(where=location, why="limits", line=parser.CurrentLineNumber)
            if self._large and (portions is None or portions.is_whole):
                yield self._large
                self._large = []
        if self._large:
            yield self._large

    def _listen(self, parser: XMLParserType) -> list[str]:
        """Sets the handlers. A plain cell that stands where it should needs no more than its text, which is returned
        as it grows; everything else takes the long way."""
        stack, parts = self._stack, self._row.parts
        names = [part.name for part in parts]  # as the parser tells them, once it has
        simple = [bool(part.type) for part in parts]
        pieces: list[str] = []
        open_at = -1

        def line() -> int:
            return parser.CurrentLineNumber

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal open_at
            if open_at >= 0:  # an element inside what looked plain
                stack.append(_Open(parts[open_at], pieces=pieces.copy()))
                self._column, open_at = open_at, -1
            elif len(stack) == 2 and not attributes and stack[1].expected is self._row:
                index = stack[1].next
                if index < len(names) and simple[index] and (names[index] == name or _is_local(names, index, name)):
                    stack[1].next = index + 1
                    open_at = index
                    pieces.clear()
                    return
            self._start(name.rpartition(" ")[2], attributes, line)

        def end(name: str) -> None:
            nonlocal open_at
            if open_at >= 0:
                index, open_at = open_at, -1
                self._judge(parts[index], pieces[0] if len(pieces) == 1 else "".join(pieces), line)
                pieces.clear()
            else:
                self._end(line)

        def data(text: str) -> None:
            (pieces if open_at >= 0 else stack[-1].pieces).append(text)

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = data
        return pieces

    def _start(self, name: str, attributes: dict[str, str], line: Callable[[], int]) -> None:
        depth = len(self._stack)
        if depth == 0:
            if name != "table":
                self._complain("SIARD-T_6.4-2", line(), name=name)
            self._stack.append(_Open(None))
        elif depth == 1:
            self._stack[0].pieces.clear()
            if name != "row":
                self._complain("SIARD-T_6.4-2", line(), name=name)
            self._parsed_rows += 1
            self._stack.append(_Open(self._row if name == "row" else None))
        else:
            above = self._stack[-1]
            expected = self._expected(above, name, line)
            if depth == 2:
                self._column = -1 if expected is None else above.next - 1
            self._stack.append(_Open(expected, attributes=attributes))

    def _expected(self, above: _Open, name: str, line: Callable[[], int]) -> Expected | None:
        """What the element is to be, held against those before it."""
        outer = above.expected
        if outer is None or outer.loose:
            return None
        parts = outer.parts
        if above.next < len(parts) and parts[above.next].name == name:  # as it nearly always is
            above.next += 1
            return parts[above.next - 1]
        places = self._places.get(id(outer))
        if places is None:
            places = self._places[id(outer)] = {part.name: number for number, part in enumerate(parts)}
        number = places.get(name)
        if number is None:
            self._complain("SIARD-T_6.4-2", line(), name=name)
            return None
        if number < above.next:
            self._complain("SIARD-T_6.0-1", line(), why="cell-order", name=name)
            return parts[number]
        self._missing(parts[above.next : number], line)
        above.next = number + 1
        return parts[number]

    def _missing(self, skipped: Sequence[Expected], line: Callable[[], int]) -> None:
        for part in skipped:
            if not part.optional:
                self._complain("SIARD-T_6.0-1", line(), why="cell-missing", name=part.name)

    def _end(self, line: Callable[[], int]) -> None:
        element = self._stack.pop()
        expected = element.expected
        if expected is None:
            return
        if not expected.type:
            if not expected.loose:
                self._missing(expected.parts[element.next :], line)
            elif element.attributes and len(self._stack) == 2:  # a cell of a table without a schema of its own
                self._is_external(element, expected, line)
            return
        if element.attributes and self._is_external(element, expected, line):
            return
        self._judge(expected, "".join(element.pieces), line)

    def _judge(self, expected: Expected, text: str, line: Callable[[], int]) -> None:
        judge = JUDGES.get(expected.type)
        if judge is not None:
            if not judge(text):
                self._complain(_code(expected.type, text), line(), name=expected.name, type=expected.type)
        elif "\\" in text and LONE_BACKSLASH.search(text):
            self._complain("SIARD-ESCAPE", line(), name=expected.name)

    def _is_external(self, element: _Open, expected: Expected, line: Callable[[], int]) -> bool:
        """True for a cell whose value stands in a file, or that is NULL by its attribute."""
        attributes = {name.rpartition(" ")[2]: value for name, value in element.attributes.items()}
        if attributes.get("nil") in ("true", "1"):
            return True
        if "file" not in attributes:
            return False
        if expected.type not in _LARGE and not expected.loose:
            self._complain("SIARD-T_6.0-1", line(), why="file-in-small-cell", name=expected.name)
        self._large.append(LargeCell(self._column, line(), attributes))
        return True


def _is_local(names: list[str], index: int, name: str) -> bool:
    """True if the name is the one that is expected; it is remembered as the parser tells it."""
    if name.rpartition(" ")[2] != names[index].rpartition(" ")[2]:
        return False
    names[index] = name
    return True


def _code(type_: str, text: str) -> str:
    """A date that is one, but of another year or zone, breaks a rule of its own."""
    plain = {"dateType": "xs:date", "timeType": "xs:time", "dateTimeType": "xs:dateTime"}
    if type_ in MOMENTS and (JUDGES[plain[type_]](text) or _FAR.match(text)):
        return "SIARD-T_6.3-1"
    return "SIARD-T_6.0-1-VALUE"


_FAR = re.compile(r"(?:-[0-9]{4,}|[0-9]{5,}|0000)-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+)?(?:Z|[+-][0-9:]+)?$")


Judge = Callable[[str], bool]

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
_DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*")
_FLOAT = re.compile(r"\s*(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?|NaN|-?INF)\s*")
_BOOLEAN = re.compile(r"\s*(?:true|false|1|0)\s*")
_HEX = re.compile(r"\s*(?:[0-9A-Fa-f]{2})*\s*")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})Z?")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z?|24:00:00(?:\.0+)?Z?")
_MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})T(?:{_TIME.pattern})")
_DURATION = re.compile(
    r"\s*-?P(?=.)(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?\s*"
)
_ANY_ZONE = re.compile(r"(.*?)(?:Z|[+-][0-9]{2}:[0-9]{2})?", re.DOTALL)


def _is(pattern: re.Pattern[str]) -> Judge:
    match = pattern.fullmatch
    return lambda text: match(text) is not None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _dated(pattern: re.Pattern[str]) -> Judge:
    def judge(text: str) -> bool:
        match = pattern.fullmatch(text)
        return match is not None and _is_day(match[1])

    return judge


def _zoned(judge: Judge) -> Judge:
    """As XML itself has it: with any zone."""

    def judge_without_zone(text: str) -> bool:
        match = _ANY_ZONE.fullmatch(text.strip())
        return match is not None and judge(match[1])

    return judge_without_zone


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(("xs:integer", "xs:int", "xs:long", "xs:short", "xs:byte"), _is(_INTEGER)),
    "xs:decimal": _is(_DECIMAL),
    "xs:float": _is(_FLOAT),
    "xs:double": _is(_FLOAT),
    "xs:boolean": _is(_BOOLEAN),
    "xs:hexBinary": _is(_HEX),
    "blobType": _is(_HEX),
    "dateType": _dated(_DATE),
    "timeType": _is(_TIME),
    "dateTimeType": _dated(_MOMENT),
    "xs:date": _zoned(_dated(_DATE)),
    "xs:time": _zoned(_is(_TIME)),
    "xs:dateTime": _zoned(_dated(_MOMENT)),
    "xs:duration": _is(_DURATION),
}
"""Types of texts are not here: every text is one."""

MOMENTS = frozenset({"dateType", "timeType", "dateTimeType"})
"""SIARD's own types for dates and times: from the year 1 to 9999, and in UTC."""

"""The reading of each type, compiled for one package: element name → field, and a function from texts to its value.

Most elements stand once and hold plain text: these take a short way. Times and codes that were met are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from noarkit.graph.entity import FieldValue
from noarkit.packages.noark5 import values
from noarkit.packages.noark5.fields import JOINED, Row, reading
from noarkit.packages.noark5.nodes import Value, exact, text
from noarkit.packages.noark5.read import UUID

Reader = Callable[[list[Value]], FieldValue]
_BETWEEN: Mapping[str, str] = {"many": JOINED, "lines": "\n"}
_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class Compiled:
    """How elements of one type are read; `absent` and `codes` as in `Reading`; of the elements in `single`
    one alone is read."""

    readers: Mapping[str, tuple[str, Reader]]
    structural: frozenset[str]
    absent: Mapping[str, str]
    codes: Mapping[str, str]
    single: frozenset[str]


class Readers:
    """The compiled reading of every type that was asked for."""

    def __init__(self, zone: ZoneInfo, codes: values.Codes) -> None:
        self._codes = codes
        self._compiled: dict[str, Compiled] = {}
        self._ways: Mapping[str, Callable[[str], FieldValue]] = {
            "time": lambda found: values.timestamp(found, zone),
            "day": values.day,
            "number": values.number,
            "uuid": _uuid,
        }

    def of(self, kind: str) -> Compiled:
        """The reading of a type."""
        found = self._compiled.get(kind)
        if found is None:
            how = reading(kind)
            readers = {name: (row.field, self._reader(row)) for name, row in how.rows.items()}
            single = frozenset(name for name, row in how.rows.items() if row.how not in _BETWEEN)
            found = self._compiled[kind] = Compiled(readers, how.structural, how.absent, how.codes, single)
        return found

    def value(self, row: Row, held: list[Value]) -> FieldValue:
        """One value, read once. Raises `values.Unreadable`."""
        return self._reader(row)(held)

    def _reader(self, row: Row) -> Reader:
        if row.how == "text":
            return _text_reader(row.empty)
        if row.how in _BETWEEN:
            return _joined_reader(row.empty, _BETWEEN[row.how])
        if row.how == "code":
            codes, list_name = self._codes, row.code_list
            return _remembering(_single_reader(row.empty, lambda found: codes.code(list_name, found)))
        reader = _single_reader(row.empty, self._ways[row.how])
        return _remembering(reader) if row.how in ("time", "day") else reader


def _text_reader(empty: str) -> Reader:
    def read(held: list[Value]) -> FieldValue:
        value = held[0]
        if isinstance(value, str) and value and value != empty and not value.isspace():
            return value
        told = exact({"": held}, "")
        return told[0] if told and told[0] != empty else None

    return read


def _joined_reader(empty: str, between: str) -> Reader:
    def read(held: list[Value]) -> FieldValue:
        told = exact({"": held}, "")
        return between.join(told) if told and told[0] != empty else None

    return read


def _single_reader(empty: str, convert: Callable[[str], FieldValue]) -> Reader:
    def read(held: list[Value]) -> FieldValue:
        value = held[0]
        found = value.strip() if isinstance(value, str) else None
        if not found:
            found = text({"": held}, "")
        return None if found is None or found == empty else convert(found)

    return read


def _remembering(read: Reader) -> Reader:
    """A reader that remembers what it made of a text."""
    known: dict[str, FieldValue] = {}

    def remembered(held: list[Value]) -> FieldValue:
        told = held[0]
        if not isinstance(told, str):
            return read(held)
        value = known.get(told)
        if value is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            value = known[told] = read(held)
        return value

    return remembered


def _uuid(found: str) -> FieldValue:
    return found.lower() if UUID.fullmatch(found) else None

"""The reading of each type, compiled for one package: element name → field, and a function from texts to its value.

Most elements stand once and hold plain text: these take a short way. Times and codes that were met are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from noarkit.forms.noark5.nodes import Value, exact_texts, text
from noarkit.forms.noark5.read import values
from noarkit.forms.noark5.read.fields import JOINED, Row, read_plan_of
from noarkit.forms.noark5.read.structure import UUID
from noarkit.graph.entity import FieldValue

Reader = Callable[[list[Value]], FieldValue]
_BETWEEN: Mapping[str, str] = {"many": JOINED, "lines": "\n"}
_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """How elements of one type are read; `absent` and `codes` as in `ReadPlan`; of the elements in `single`
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
        self._compiled: dict[str, CompiledPlan] = {}
        self._converters: Mapping[str, Callable[[str], FieldValue]] = {
            "time": lambda found: values.timestamp(found, zone),
            "day": values.day,
            "number": values.number,
            "uuid": _uuid,
        }

    def plan_for(self, kind: str) -> CompiledPlan:
        """The reading of a type."""
        plan = self._compiled.get(kind)
        if plan is None:
            read_plan = read_plan_of(kind)
            readers = {name: (row.field, self._reader(row)) for name, row in read_plan.rows.items()}
            single = frozenset(name for name, row in read_plan.rows.items() if row.kind not in _BETWEEN)
            plan = self._compiled[kind] = CompiledPlan(
                readers, read_plan.structural, read_plan.absent, read_plan.codes, single
            )
        return plan

    def value(self, row: Row, raw_values: list[Value]) -> FieldValue:
        """One value, read once. Raises `values.Unreadable`."""
        return self._reader(row)(raw_values)

    def _reader(self, row: Row) -> Reader:
        if row.kind == "text":
            return _text_reader(row.empty)
        if row.kind in _BETWEEN:
            return _joined_reader(row.empty, _BETWEEN[row.kind])
        if row.kind == "code":
            codes, list_name = self._codes, row.code_list
            return _cached_reader(_single_reader(row.empty, lambda found: codes.code(list_name, found)))
        reader = _single_reader(row.empty, self._converters[row.kind])
        return _cached_reader(reader) if row.kind in ("time", "day") else reader


def _text_reader(empty: str) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        value = raw_values[0]
        if isinstance(value, str) and value and value != empty and not value.isspace():
            return value
        texts = exact_texts({"": raw_values}, "")
        return texts[0] if texts and texts[0] != empty else None

    return read


def _joined_reader(empty: str, between: str) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        texts = exact_texts({"": raw_values}, "")
        return between.join(texts) if texts and texts[0] != empty else None

    return read


def _single_reader(empty: str, convert: Callable[[str], FieldValue]) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        value = raw_values[0]
        stripped = value.strip() if isinstance(value, str) else None
        if not stripped:
            stripped = text({"": raw_values}, "")
        return None if stripped is None or stripped == empty else convert(stripped)

    return read


def _cached_reader(read: Reader) -> Reader:
    """A reader that remembers what it made of a text."""
    cache: dict[str, FieldValue] = {}

    def read_cached(raw_values: list[Value]) -> FieldValue:
        key = raw_values[0]
        if not isinstance(key, str):
            return read(raw_values)
        value = cache.get(key)
        if value is None:
            if len(cache) >= _REMEMBERED:
                cache.clear()
            value = cache[key] = read(raw_values)
        return value

    return read_cached


def _uuid(value: str) -> FieldValue:
    return value.lower() if UUID.fullmatch(value) else None

"""For each Noark type: which field an element fills, and the function that converts its texts.

Compiled once per package. The common case, one element with plain text, has a fast path; converted times, days and
codes are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from noarkit.forms.noark5.nodes import Value, exact_texts, text
from noarkit.forms.noark5.read import values
from noarkit.forms.noark5.read.fields import JOINED, Row, rows_of
from noarkit.forms.noark5.read.structure import UUID
from noarkit.graph.entity import FieldValue

Reader = Callable[[list[Value]], FieldValue]
"""Converts the values of all elements of one name to one field. Raises `values.Unreadable`."""
_SEPARATORS: Mapping[str, str] = {"many": JOINED, "lines": "\n"}
_MAX_CACHED = 50_000


@dataclass(frozen=True, slots=True)
class TypeReaders:
    """The readers of one type, by element. `absent` and `codes` as in `TypeRows`; of several elements whose name is in
    `single`, only one is read."""

    readers: Mapping[str, tuple[str, Reader]]
    structural: frozenset[str]
    absent: Mapping[str, str]
    codes: Mapping[str, str]
    single: frozenset[str]


class ReaderCompiler:
    """Compiles the readers of each type when they are first asked for."""

    def __init__(self, zone: ZoneInfo, codes: values.Codes) -> None:
        self.zone = zone
        self._codes = codes
        self._compiled: dict[str, TypeReaders] = {}
        self._converters: Mapping[str, Callable[[str], FieldValue]] = {
            "time": lambda found: values.timestamp(found, zone),
            "day": values.day,
            "number": values.number,
            "uuid": _uuid,
        }

    def readers_for(self, kind: str) -> TypeReaders:
        """Returns the readers of a type."""
        type_readers = self._compiled.get(kind)
        if type_readers is None:
            type_rows = rows_of(kind)
            readers = {name: (row.field, self._reader(row)) for name, row in type_rows.rows.items()}
            single = frozenset(name for name, row in type_rows.rows.items() if row.kind not in _SEPARATORS)
            type_readers = self._compiled[kind] = TypeReaders(
                readers, type_rows.structural, type_rows.absent, type_rows.codes, single
            )
        return type_readers

    def value(self, row: Row, raw_values: list[Value]) -> FieldValue:
        """Converts one value without a compiled type. Raises `values.Unreadable`."""
        return self._reader(row)(raw_values)

    def _reader(self, row: Row) -> Reader:
        if row.kind == "text":
            return _text_reader(row.placeholder)
        if row.kind in _SEPARATORS:
            return _joined_reader(row.placeholder, _SEPARATORS[row.kind])
        if row.kind == "code":
            codes, list_name = self._codes, row.code_list
            return _cached_reader(_single_reader(row.placeholder, lambda found: codes.code(list_name, found)))
        reader = _single_reader(row.placeholder, self._converters[row.kind])
        return _cached_reader(reader) if row.kind in ("time", "day") else reader


def _texts_of(raw_values: list[Value]) -> list[str]:
    return exact_texts({"": raw_values}, "")


def _text_reader(placeholder: str) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        value = raw_values[0]
        if isinstance(value, str) and value and value != placeholder and not value.isspace():
            return value
        texts = _texts_of(raw_values)
        return texts[0] if texts and texts[0] != placeholder else None

    return read


def _joined_reader(placeholder: str, separator: str) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        texts = _texts_of(raw_values)
        return separator.join(texts) if texts and texts[0] != placeholder else None

    return read


def _single_reader(placeholder: str, convert: Callable[[str], FieldValue]) -> Reader:
    def read(raw_values: list[Value]) -> FieldValue:
        value = raw_values[0]
        stripped = value.strip() if isinstance(value, str) else None
        if not stripped:
            stripped = text({"": raw_values}, "")
        return None if stripped is None or stripped == placeholder else convert(stripped)

    return read


def _cached_reader(read: Reader) -> Reader:
    """A reader that caches what it made of an element that stands once. Where several stand, a blank one gives way to
    the next, so the first text alone would not be a key."""
    cache: dict[str, FieldValue] = {}

    def read_cached(raw_values: list[Value]) -> FieldValue:
        key = raw_values[0]
        if not isinstance(key, str) or len(raw_values) > 1:
            return read(raw_values)
        value = cache.get(key)
        if value is None:  # a miss, or a text that has no value: that is rare, and converted again
            if len(cache) >= _MAX_CACHED:
                cache.clear()
            value = cache[key] = read(raw_values)
        return value

    return read_cached


def _uuid(value: str) -> FieldValue:
    return value.lower() if UUID.fullmatch(value) else None

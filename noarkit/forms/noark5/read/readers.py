"""For each Noark type: which field an element fills, and the function that converts its texts.

Compiled once per package. The common case, one element with plain text, has a fast path; times, days and codes that
were converted before are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from zoneinfo import ZoneInfo

from noarkit.forms.noark5.nodes import Node, Value, exact_texts, text
from noarkit.forms.noark5.read import values
from noarkit.forms.noark5.read.fields import JOINED, Row, TypeRows, rows_of
from noarkit.forms.noark5.read.structure import UUID
from noarkit.graph.entity import FieldValue

Reader = Callable[[list[Value]], FieldValue]
"""Converts the values of all elements of one name to one field. Raises `values.Unreadable`."""
_SEPARATORS: Mapping[str, str] = {"many": JOINED, "lines": "\n"}
_OFTEN_THE_SAME = ("code", "time", "day")
_MAX_KNOWN = 50_000


class FieldReader(NamedTuple):
    """How one element fills a field. `known` are texts that were converted before and lost nothing on the way; what
    `is_text` is its own value, unless it is the `placeholder`. Of several elements that are not all of one value,
    `is_single` reads one."""

    field: str
    read: Reader
    known: dict[str, FieldValue] | None
    is_text: bool
    is_number: bool
    placeholder: str
    code_list: str | None
    is_single: bool


class UnreadableElement(Exception):
    """An element whose text is no value of its kind."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(name)
        self.name = name
        self.kind = kind


@dataclass(frozen=True, slots=True)
class TypeReaders:
    """The readers of one type, by element. `absent` and `codes` as in `TypeRows`."""

    readers: Mapping[str, FieldReader]
    structural: frozenset[str]
    absent: tuple[tuple[str, str], ...]
    codes: Mapping[str, str]


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
            readers = {name: self._field_reader(row, type_rows) for name, row in type_rows.rows.items()}
            type_readers = self._compiled[kind] = TypeReaders(
                readers, type_rows.structural, tuple(type_rows.absent.items()), type_rows.codes
            )
        return type_readers

    def fields(
        self, type_readers: TypeReaders, node: Node, lose: Callable[[str, list[Value]], None]
    ) -> dict[str, FieldValue]:
        """The fields that a node fills; `lose` is told what has no place in them. Raises `UnreadableElement`.

        Most texts are their own values, or were converted before: those are put into their field without a call.
        """
        readers = type_readers.readers
        fields: dict[str, FieldValue] = {}
        for name, raw_values in node.items():
            reader = readers.get(name)
            if reader is None:
                if name not in type_readers.structural:
                    lose(name, raw_values)
                continue
            field, _, known, is_text, is_number, placeholder, _, _ = reader
            raw = raw_values[0]
            if isinstance(raw, str) and len(raw_values) == 1:
                if is_text:
                    if raw != placeholder and not raw.isspace():
                        fields[field] = raw
                        continue
                elif known is not None:
                    value = known.get(raw)
                    if value is not None:
                        fields[field] = value
                        continue
                elif is_number and raw.isdecimal() and raw.isascii():
                    fields[field] = int(raw)
                    continue
            self._read_element(reader, name, raw_values, fields, lose)
        return fields

    def _read_element(
        self,
        reader: FieldReader,
        name: str,
        raw_values: list[Value],
        fields: dict[str, FieldValue],
        lose: Callable[[str, list[Value]], None],
    ) -> None:
        try:
            value = reader.read(raw_values)
        except values.Unreadable as fault:
            raise UnreadableElement(name, str(fault)) from None
        if value is not None:
            fields[reader.field] = value
        raw, has_others = raw_values[0], len(raw_values) > 1
        if has_others and reader.is_single:
            lose(name, raw_values[1:])
        if reader.code_list and isinstance(value, str) and not self._codes.matches_text(reader.code_list, value, raw):
            lose(name, raw_values[:1])
        elif reader.known is not None and isinstance(raw, str) and not has_others:
            if len(reader.known) >= _MAX_KNOWN:
                reader.known.clear()
            reader.known[raw] = value

    def value(self, row: Row, raw_values: list[Value]) -> FieldValue:
        """Converts one value without a compiled type. Raises `values.Unreadable`."""
        return self._reader(row)(raw_values)

    def _field_reader(self, row: Row, type_rows: TypeRows) -> FieldReader:
        code_list = type_rows.codes.get(row.field)
        known: dict[str, FieldValue] | None = {} if row.kind in _OFTEN_THE_SAME else None
        return FieldReader(
            row.field,
            self._reader(row),
            known,
            is_text=row.kind == "text" and code_list is None,
            is_number=row.kind == "number" and code_list is None,
            placeholder=row.placeholder,
            code_list=code_list,
            is_single=row.kind not in _SEPARATORS,
        )

    def _reader(self, row: Row) -> Reader:
        if row.kind == "text":
            return _text_reader(row.placeholder)
        if row.kind in _SEPARATORS:
            return _joined_reader(row.placeholder, _SEPARATORS[row.kind])
        if row.kind == "code":
            codes, list_name = self._codes, row.code_list
            return _single_reader(row.placeholder, lambda found: codes.code(list_name, found))
        return _single_reader(row.placeholder, self._converters[row.kind])


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


def _uuid(value: str) -> FieldValue:
    return value.lower() if UUID.fullmatch(value) else None

"""Reads a table's own schema as data: the expected elements of its rows.

The archive's schema is never run as a schema, because a hostile one can make a validator run for hours. Only the
constructs of SIARD's table schemas are understood; anything else is a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from lxml import etree

from noarkit.errors import PackageFault
from noarkit.safe import xml

_XS = "{http://www.w3.org/2001/XMLSchema}"
_LIMITS = xml.XmlLimits(max_bytes=256 * 1024 * 1024, max_depth=80)
_MOST_PARTS = 100_000


@dataclass(frozen=True, slots=True)
class Expected:
    """An element of a row: its name, its type (`xs:integer`, `clobType`; empty if it has elements), whether it may
    be missing, and its child elements. `loose` is True if any content is allowed."""

    name: str
    type: str
    optional: bool
    parts: tuple[Expected, ...] = ()
    loose: bool = False


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The elements of a row, how many rows there may be, and the bounds of the types for dates."""

    columns: tuple[Expected, ...]
    least: int
    most: int | None
    bounds: Mapping[str, tuple[str, str]]


def read_table_schema(source: BinaryIO) -> TableSchema:
    """The schema of a table. Raises `PackageFault` for what is no XML or no such schema."""
    location = str(getattr(source, "name", ""))
    root = xml.parse(source, limits=_LIMITS)
    if root.tag != f"{_XS}schema":
        raise PackageFault(where=location, why="no-table-schema")
    complex_types = {str(complex_type.get("name")): complex_type for complex_type in root.findall(f"{_XS}complexType")}
    row = _row_of(root)
    inner = None if row is None else row.find(f"{_XS}complexType")
    if row is not None and inner is None:
        inner = complex_types.get(_local(row.get("type", "")))
    sequence = None if inner is None else inner.find(f"{_XS}sequence")
    if row is None or sequence is None:
        raise PackageFault(where=location, why="no-table-schema")
    reader = _Reader(location, complex_types)
    most = row.get("maxOccurs", "1")
    return TableSchema(
        tuple(reader.elements(sequence, 0)),
        _count(row.get("minOccurs", "1")) or 0,
        None if most == "unbounded" else _count(most),
        dict(_bounds(root)),
    )


class _Reader:
    def __init__(self, location: str, complex_types: Mapping[str, etree._Element]) -> None:
        self._location = location
        self._complex = complex_types
        self._count = 0

    def elements(self, sequence: etree._Element, depth: int) -> Iterator[Expected]:
        """The elements of a sequence, in order."""
        for child in sequence:
            if not isinstance(child.tag, str) or child.tag == f"{_XS}annotation":
                continue
            self._count += 1
            if child.tag != f"{_XS}element" or depth > 20 or self._count > _MOST_PARTS:
                raise PackageFault(where=self._location, why="no-table-schema", line=child.sourceline)
            yield self._element(child, depth)

    def _element(self, element: etree._Element, depth: int) -> Expected:
        name = element.get("name", "")
        optional = _count(element.get("minOccurs", "1")) == 0
        type_name = element.get("type", "")
        inner = element.find(f"{_XS}complexType")
        if inner is None and _local(type_name) in self._complex and _local(type_name) not in ("clobType", "blobType"):
            inner = self._complex[_local(type_name)]
        if inner is None:
            return Expected(name, _spelt(element, type_name), optional)
        sequence = inner.find(f"{_XS}sequence")
        if sequence is None or sequence.find(f"{_XS}any") is not None:
            return Expected(name, "", optional, loose=True)
        return Expected(name, "", optional, tuple(self.elements(sequence, depth + 1)))


def _row_of(root: etree._Element) -> etree._Element | None:
    for element in root.findall(f"{_XS}element"):
        if element.get("name") == "table":
            for inner in element.iter(f"{_XS}element"):
                if inner.get("name") == "row":
                    return inner
    return None


def _spelt(element: etree._Element, type_name: str) -> str:
    prefix, _, local = type_name.rpartition(":")
    if element.nsmap.get(prefix or None) == _XS.strip("{}"):
        return f"xs:{local}"
    return local


def _local(type_name: str) -> str:
    return type_name.rpartition(":")[2]


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 20 else None


def _bounds(root: etree._Element) -> Iterator[tuple[str, tuple[str, str]]]:
    for simple_type in root.findall(f"{_XS}simpleType"):
        name = simple_type.get("name", "")
        if name in ("dateType", "dateTimeType"):
            facets = {str(facet.tag).removeprefix(_XS): facet.get("value", "") for facet in simple_type.iter()}
            least = facets.get("minInclusive") or facets.get("minExclusive") or ""
            yield name, (least, facets.get("maxExclusive") or facets.get("maxInclusive") or "")

"""The shape of a column's cells: one value, an array, or a structure, down to predefined types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from noarkit.errors import PackageFault
from noarkit.packages.siard.model import Archive, Attribute, Column, Table, UserType
from noarkit.packages.siard.types import LARGE, SqlType, sql_type

_DEEPEST = 20
Shape = Literal["value", "array", "structure"]
UserTypes = Mapping[tuple[str, str], UserType]


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell. `parts` are those of a structure, or the one that an array repeats; `cardinality` is how
    many elements an array has at most, where that is said."""

    tag: str
    shape: Shape
    type: SqlType | None = None
    nullable: bool = True
    parts: tuple[Cell, ...] = ()
    cardinality: int | None = None

    @property
    def large(self) -> bool:
        """True where values may stand in files of their own."""
        return self.shape == "value" and self.type is not None and self.type.kind in LARGE

    def elements(self, count: int | None = None) -> Iterator[Cell]:
        """An array's elements, as many as are said or as `count`."""
        for number in range(1, (count or self.cardinality or 0) + 1):
            yield replace(self.parts[0], tag=f"a{number}", nullable=True)


def user_types(archive: Archive) -> UserTypes:
    """The types that a database defines, by schema and name."""
    return {(schema.name, one.name): one for schema in archive.schemas for one in schema.types}


def cells_of(table: Table, schema_name: str, types: UserTypes) -> tuple[Cell, ...]:
    """The cells of a table's rows. Raises `PackageFault` for a type that nobody knows."""
    where = f"{schema_name}.{table.name}"
    return tuple(
        _cell(column, f"c{number}", schema_name, types, f"{where}.{column.name}")
        for number, column in enumerate(table.columns, start=1)
    )


def _cell(column: Column | Attribute, tag: str, schema_name: str, types: UserTypes, where: str, depth: int = 0) -> Cell:
    if depth > _DEEPEST:
        raise PackageFault(where=where, why="type-without-end")
    nullable = column.nullable is not False
    one = _single(column, tag, schema_name, types, where, depth)
    if column.cardinality is None:
        return replace(one, nullable=nullable)
    return Cell(tag, "array", None, nullable, (replace(one, tag="a1", nullable=True),), column.cardinality)


def _single(column: Column | Attribute, tag: str, schema_name: str, types: UserTypes, where: str, depth: int) -> Cell:
    if not column.type_name:
        return Cell(tag, "value", _predefined(column.type, where))
    found = types.get((column.type_schema or schema_name, column.type_name))
    if found is None:
        raise PackageFault(where=where, why="unknown-sql-type", detail=column.type_name)
    if found.category == "distinct":
        return Cell(tag, "value", _predefined(found.base, where))
    inner = (column.type_schema or schema_name, types, where, depth + 1)
    parts = tuple(_cell(part, f"u{number}", *inner) for number, part in enumerate(_attributes(found, types), start=1))
    return Cell(tag, "structure", None, True, parts)


def _attributes(found: UserType, types: UserTypes) -> tuple[Attribute, ...]:
    """Those of the types above come first."""
    above: tuple[Attribute, ...] = ()
    seen = {found.name}
    one = found
    while one.under_type and one.under_type not in seen:
        seen.add(one.under_type)
        parent = types.get((one.under_schema, one.under_type))
        if parent is None:
            break
        above = parent.attributes + above
        one = parent
    return above + found.attributes


def _predefined(name: str, where: str) -> SqlType:
    found = sql_type(name)
    if found is None:
        raise PackageFault(where=where, why="unknown-sql-type", detail=name)
    return found

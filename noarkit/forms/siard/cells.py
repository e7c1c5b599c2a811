"""The shape of a column's cells: one value, an array, or a structure, down to predefined types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from noarkit.errors import PackageFault
from noarkit.forms.siard.model import Archive, Attribute, Column, Table, UserType
from noarkit.forms.siard.types import LARGE, SqlType, likely_type, sql_type

_DEEPEST = 20
Shape = Literal["value", "array", "structure"]
UserTypes = Mapping[tuple[str, str], UserType]
Unknown = Callable[[str, str], None]
"""Told of a column and the name of its type, where nobody knows that."""


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
        """True if values may stand in files of their own."""
        return self.shape == "value" and self.type is not None and self.type.kind in LARGE

    def elements(self, count: int | None = None) -> Iterator[Cell]:
        """An array's elements: `count` of them, else as many as are said; one by one, for anybody may say anything."""
        for number in range(1, ((self.cardinality or 0) if count is None else count) + 1):
            yield replace(self.parts[0], tag=f"a{number}", nullable=True)


def user_types(archive: Archive) -> UserTypes:
    """The types that a database defines, by schema and name."""
    return {(schema.name, user_type.name): user_type for schema in archive.schemas for user_type in schema.types}


def cells_of(table: Table, schema_name: str, types: UserTypes, unknown: Unknown | None = None) -> tuple[Cell, ...]:
    """The cells of a table's rows. A type that nobody knows is told to `unknown`, and its cells are what its name
    suggests; without it, it is `PackageFault`."""
    structures: dict[tuple[str, str], _Structure] = {}
    return tuple(
        _Reader(types, structures, unknown, f"{schema_name}.{table.name}.{column.name}").cell(
            column, f"c{number}", schema_name, 0
        )
        for number, column in enumerate(table.columns, start=1)
    )


@dataclass(frozen=True, slots=True)
class _Structure:
    """The parts of a type, and how deep they go."""

    parts: tuple[Cell, ...]
    height: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """The types of an archive, what is known of their parts, and who hears of types that nobody knows.

    Types that are made of each other may have more parts than anybody can write down: what one is made of is read once,
    and shared by all that have it.
    """

    types: UserTypes
    structures: dict[tuple[str, str], _Structure]
    unknown: Unknown | None
    where: str

    def cell(self, column: Column | Attribute, tag: str, schema_name: str, depth: int) -> Cell:
        """A column, or a part of a structure."""
        if depth > _DEEPEST:
            raise PackageFault(where=self.where, why="type-without-end")
        nullable = column.nullable is not False
        single_cell = self._single(column, tag, schema_name, depth)
        if column.cardinality is None:
            return replace(single_cell, nullable=nullable)
        return Cell(tag, "array", None, nullable, (replace(single_cell, tag="a1", nullable=True),), column.cardinality)

    def _single(self, column: Column | Attribute, tag: str, schema_name: str, depth: int) -> Cell:
        if not column.type_name:
            return Cell(tag, "value", self._predefined(column.type or column.type_original))
        home = column.type_schema or schema_name
        user_type = self.types.get((home, column.type_name))
        if user_type is None:
            return Cell(tag, "value", self._predefined(column.type_name, is_known=False))
        if user_type.category == "distinct":
            return Cell(tag, "value", self._predefined(user_type.base))
        structure = self._structure(user_type, home, depth)
        return Cell(tag, "structure", None, True, structure.parts)

    def _structure(self, user_type: UserType, home: str, depth: int) -> _Structure:
        structure = self.structures.get((home, user_type.name))
        if structure is None:
            attributes = _attributes(user_type, self.types)
            parts = tuple(
                self.cell(part, f"u{number}", home, depth + 1) for number, part in enumerate(attributes, start=1)
            )
            inner = [self.structures.get((part.type_schema or home, part.type_name)) for part in attributes]
            height = 1 + max((part.height for part in inner if part), default=0)
            structure = self.structures[home, user_type.name] = _Structure(parts, height)
        if depth + structure.height > _DEEPEST:
            raise PackageFault(where=self.where, why="type-without-end")
        return structure

    def _predefined(self, name: str, *, is_known: bool = True) -> SqlType:
        parsed_type = sql_type(name) if is_known else None
        if parsed_type is not None:
            return parsed_type
        if self.unknown is None:
            raise PackageFault(where=self.where, why="unknown-sql-type", detail=name)
        self.unknown(self.where, name)
        return likely_type(name)


def _attributes(user_type: UserType, types: UserTypes) -> tuple[Attribute, ...]:
    """Those of the types above come first."""
    above: tuple[Attribute, ...] = ()
    visited = {user_type.name}
    current = user_type
    while current.under_type and current.under_type not in visited:
        visited.add(current.under_type)
        parent = types.get((current.under_schema, current.under_type))
        if parent is None:
            break
        above = parent.attributes + above
        current = parent
    return above + user_type.attributes

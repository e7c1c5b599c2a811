"""Checks the schema of a table against the columns in the metadata."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.forms.findings import Tally
from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.model import Column, Table
from noarkit.forms.siard.rules.expected import Expected, TableSchema
from noarkit.forms.siard.types import ALSO, XSD_TYPES

_BOUNDS = {"dateType": ("0001-01-01", "10000-01-01"), "dateTimeType": ("0001-01-01T", "10000-01-01T")}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A column as the metadata has it, and as the table's schema has it."""

    column: Column
    cell: Cell
    expected: Expected


def check_table_schema(file: str, table: Table, cells: tuple[Cell, ...], schema: TableSchema, tally: Tally) -> None:
    """Columns in number, order, type and presence; how many rows there may be; what dates there may be."""
    if len(schema.columns) != len(table.columns):
        tally.add("SIARD-P_4.3-2", file, expected=len(table.columns), found=len(schema.columns))
    for number, expected in enumerate(schema.columns, start=1):
        if expected.name != f"c{number}":
            tally.add("SIARD-P_4.3-8", file, expected=f"c{number}", found=expected.name)
    for column, cell, expected in zip(table.columns, cells, schema.columns, strict=False):
        _check_column(file, _Pair(column, cell, expected), tally)
    if table.rows < schema.least or (schema.most is not None and table.rows > schema.most):
        tally.add("SIARD-P_4.3-10", file, expected=f"{schema.least}-{schema.most or ''}", found=table.rows)
    used_types = {expected.type for expected in schema.columns}
    for name, (least, most) in schema.bounds.items():
        first, last = _BOUNDS[name]
        if name in used_types and not (least.startswith(first) and most.startswith((last, "9999-12-31"))):
            tally.add("SIARD-T_6.3-1", file, type=name, name=f"{least}-{most}")


def _check_column(file: str, pair: _Pair, tally: Tally) -> None:
    cell, expected = pair.cell, pair.expected
    if cell.nullable != expected.optional:
        is_nullable = "true" if cell.nullable else "false"
        tally.add(
            "SIARD-P_4.3-7", file, name=expected.name, expected=is_nullable, found="false" if cell.nullable else "true"
        )
    if cell.shape == "value":
        code = "SIARD-P_4.3-4" if pair.column.type_name else "SIARD-P_4.3-3"
        _check_type(file, cell, expected, code, tally)
    else:
        _check_parts(file, cell, expected, tally)


def _check_parts(file: str, cell: Cell, expected: Expected, tally: Tally) -> None:
    """An array's elements, or the parts of a structure, as deep as they go."""
    if expected.loose:
        return
    is_array = cell.shape == "array"
    expected_parts = tuple(cell.elements(len(expected.parts))) if is_array else cell.parts
    code = "SIARD-P_4.3-5" if is_array else "SIARD-P_4.3-6"
    if len(expected_parts) != len(expected.parts):
        tally.add("SIARD-P_4.3-9", file, name=expected.name, expected=len(expected_parts), found=len(expected.parts))
    for part, part_schema in zip(expected_parts, expected.parts, strict=False):
        if part.tag != part_schema.name:
            tally.add("SIARD-P_4.3-9", file, name=expected.name, expected=part.tag, found=part_schema.name)
        elif part.shape == "value":
            _check_type(file, part, part_schema, code, tally)
        else:
            _check_parts(file, part, part_schema, tally)


def _check_type(file: str, cell: Cell, expected: Expected, code: str, tally: Tally) -> None:
    if cell.type is None:
        return
    kind = cell.type.kind
    if expected.type != XSD_TYPES[kind] and expected.type not in ALSO.get(kind, frozenset()):
        expected_type = XSD_TYPES[kind]
        tally.add(
            code, file, name=expected.name, type=cell.type.name, expected=expected_type, found=expected.type or "-"
        )

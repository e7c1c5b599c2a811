"""The tables that a SIARD archive becomes in SQLite: their columns, keys and relations, and tables of the rest.

What SQLite has no word for (types, conditions and triggers of another server, routines with their parameters, views,
descriptions) stands in tables `siard_*`, so that nothing the archive says is lost.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.model import Archive, Column, ForeignKey, Schema, Table
from noarkit.forms.siard.spec import CODES
from noarkit.forms.siard.types import CellKind, SqlType

_EXACT_FIGURES = 15
MOST_COLUMNS = 1_900
"""SQLite has 2,000, as it is built nearly everywhere; whoever asks for a row asks for a few things beside."""
_MORE = "siard_more"


@dataclass(frozen=True, slots=True)
class Shape:
    """One table as it shall be: what it is called here, its cells, and what all tables of the archive are called.

    With `exact` every decimal is a text."""

    schema: Schema
    table: Table
    name: str
    cells: Sequence[Cell]
    names: dict[tuple[str, str], str]
    exact: bool


def create_statement(shape: Shape, archive: Archive) -> str:
    """The statement that makes a table, with its keys and what they do."""
    columns = column_names(shape.table)
    by_name = {column.name: name for column, name in zip(shape.table.columns, columns, strict=True)}
    own = is_sqlite(archive)
    kinds = [
        _column_type(cell, column.type_original, exact=shape.exact, doubles=own)
        for cell, column in zip(shape.cells, shape.table.columns, strict=True)
    ]
    lines = [
        f"{quoted(name)} {kind}{'' if cell.nullable else ' NOT NULL'}"
        for name, kind, cell in zip(columns, kinds, shape.cells, strict=True)
    ]
    if len(lines) > MOST_COLUMNS:
        columns = columns[: MOST_COLUMNS - 1]
        by_name = {column: name for column, name in by_name.items() if name in columns}
        lines = [*lines[: MOST_COLUMNS - 1], f"{quoted(_free_name(_MORE, columns))} JSON"]
    inner = ",\n  ".join([*lines, *_keys(shape.table, by_name), *_foreign_keys(shape, by_name, archive)])
    return f"CREATE TABLE {quoted(shape.name)} (\n  {inner}\n)"


def _free_name(name: str, columns: Sequence[str]) -> str:
    """The name, with a stroke where a column has it."""
    used_names = {column.lower() for column in columns}
    while name.lower() in used_names:
        name += "_"
    return name


def _keys(table: Table, by_name: dict[str, str]) -> Iterator[str]:
    primary = () if table.primary_key is None else table.primary_key.columns
    for key in (table.primary_key, *table.candidate_keys):
        if key is None or not key.columns or not all(column in by_name for column in key.columns):
            continue
        word = "PRIMARY KEY" if key is table.primary_key else "UNIQUE"
        if word == "UNIQUE" and key.columns == primary:
            continue
        yield f"{_constraint(key.name)}{word} ({', '.join(quoted(by_name[column]) for column in key.columns)})"


def _foreign_keys(shape: Shape, by_name: dict[str, str], archive: Archive) -> Iterator[str]:
    tables = {(schema.name, table.name): shape.names[schema.folder, table.folder] for schema, table in archive.tables()}
    for foreign in shape.table.foreign_keys:
        target = tables.get((foreign.referenced_schema or shape.schema.name, foreign.referenced_table))
        if target is not None and all(reference.column in by_name for reference in foreign.references):
            ours = ", ".join(quoted(by_name[reference.column]) for reference in foreign.references)
            theirs = ", ".join(quoted(reference.referenced) for reference in foreign.references)
            start = f"{_constraint(foreign.name)}FOREIGN KEY ({ours}) REFERENCES {quoted(target)} ({theirs})"
            yield f"{start}{_actions(foreign)}"


def _actions(foreign: ForeignKey) -> str:
    allowed_actions = CODES["referentialActionType"]
    clauses = (("DELETE", foreign.delete_action), ("UPDATE", foreign.update_action))
    return "".join(f" ON {event} {action}" for event, action in clauses if action in allowed_actions)


def _constraint(name: str) -> str:
    return f"CONSTRAINT {quoted(name)} " if name else ""


_REST = {
    "siard_archive": "name TEXT, value TEXT",
    "siard_views": "schema TEXT, name TEXT, query TEXT",
    "siard_routines": "schema TEXT, name TEXT, source TEXT, specific_name TEXT, characteristic TEXT, return_type TEXT,"
    " description TEXT",
    "siard_parameters": "schema TEXT, specific_name TEXT, position INTEGER, name TEXT, mode TEXT, type TEXT,"
    " type_original TEXT",
    "siard_types": "schema TEXT, name TEXT, category TEXT, base TEXT, description TEXT",
    "siard_attributes": "schema TEXT, type_name TEXT, position INTEGER, name TEXT, type TEXT, type_original TEXT",
    "siard_tables": "name TEXT, schema TEXT, table_name TEXT, description TEXT",
    "siard_columns": "table_name TEXT, name TEXT, type TEXT, type_original TEXT, default_value TEXT, description TEXT",
    "siard_checks": "table_name TEXT, name TEXT, condition TEXT, description TEXT",
    "siard_triggers": "table_name TEXT, name TEXT, time TEXT, event TEXT, action TEXT",
    "siard_users": "name TEXT, description TEXT",
}
_FACTS = ("version", "dbname", "description", "data_owner", "data_origin_timespan", "database_product")
Row = tuple[object, ...]


def fill_siard_tables(db: sqlite3.Connection, archive: Archive, names: dict[tuple[str, str], str]) -> None:
    """What SQLite has no place for, as rows."""
    for place, columns in _REST.items():
        db.execute(f"CREATE TABLE {place} ({columns})")
    rows: list[tuple[str, Row]] = [("siard_archive", (fact, getattr(archive, fact))) for fact in _FACTS]
    rows += [("siard_users", (user.name, user.description)) for user in archive.users]
    for schema in archive.schemas:
        rows += _schema_rows(schema)
    for schema, table in archive.tables():
        rows += _table_rows(schema, table, names[schema.folder, table.folder])
    for place, row in rows:
        placeholders = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {place} VALUES ({placeholders})", row)  # noqa: S608  # ours


def _schema_rows(schema: Schema) -> Iterator[tuple[str, Row]]:
    for view in schema.views:
        yield "siard_views", (schema.name, view.name, view.query_original or view.query)
    for routine in schema.routines:
        identity = (schema.name, routine.name, routine.source or routine.body, routine.specific_name)
        yield "siard_routines", (*identity, routine.characteristic, routine.return_type, routine.description)
        for number, part in enumerate(routine.parameters, start=1):
            typed = (part.type or part.type_name, part.type_original)
            yield "siard_parameters", (schema.name, routine.specific_name, number, part.name, part.mode, *typed)
    for kind in schema.types:
        yield "siard_types", (schema.name, kind.name, kind.category, kind.base, kind.description)
        for number, attribute in enumerate(kind.attributes, start=1):
            typed = (attribute.type or attribute.type_name, attribute.type_original)
            yield "siard_attributes", (schema.name, kind.name, number, attribute.name, *typed)


def _table_rows(schema: Schema, table: Table, name: str) -> Iterator[tuple[str, Row]]:
    yield "siard_tables", (name, schema.name, table.name, table.description)
    for column, column_name in zip(table.columns, column_names(table), strict=True):
        yield "siard_columns", (name, column_name, *_type_pair(column), column.default, column.description)
    for check in table.checks:
        yield "siard_checks", (name, check.name, check.condition, check.description)
    for trigger in table.triggers:
        yield "siard_triggers", (name, trigger.name, trigger.action_time, trigger.event, trigger.action)


def _type_pair(column: Column) -> tuple[str, str]:
    return column.type or column.type_name, column.type_original


def is_decimal(cell: Cell) -> bool:
    """True for a cell of decimals."""
    return cell.shape == "value" and cell.type is not None and cell.type.kind == "decimal"


def is_sqlite(archive: Archive) -> bool:
    """True for an archive of a SQLite database: its numbers were integers and doubles before."""
    return archive.database_product.startswith("SQLite ")


def column_names(table: Table) -> list[str]:
    """Names that SQLite can tell apart."""
    names: list[str] = []
    used_names: set[str] = set()
    for number, column in enumerate(table.columns, start=1):
        name = column.name or f"c{number}"
        while name.lower() in used_names:
            name += "_"
        used_names.add(name.lower())
        names.append(name)
    return names


_DECLARED: dict[CellKind, str] = {
    "integer": "BIGINT",  # INTEGER would make a key column an alias of the row's number
    "float": "REAL",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "hex": "BLOB",
    "blob": "BLOB",
    "datalink": "BLOB",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
}
_SIZED = {"hex": "BLOB", "text": "VARCHAR"}
_JSON = ("json", "jsonb")


def _column_type(cell: Cell, original: str = "", *, exact: bool = False, doubles: bool = False) -> str:
    """The type a column is declared with: what others make of it, and its affinity. With `doubles` no decimal is more
    than SQLite's own numbers hold."""
    if cell.shape != "value" or original.lower() in _JSON:
        return "JSON"
    if cell.type is None:
        return "TEXT"
    if cell.type.kind == "decimal":
        return "NUMERIC" if (doubles or _is_short(cell.type)) and not exact else "TEXT"
    if cell.type.kind in _SIZED and cell.type.figures:
        return f"{_SIZED[cell.type.kind]}({cell.type.figures[0]})"
    return _DECLARED.get(cell.type.kind, "TEXT")


def _is_short(type_: SqlType) -> bool:
    """True for a decimal that a double holds whole."""
    return bool(type_.figures) and type_.figures[0] <= _EXACT_FIGURES


def quoted(name: str) -> str:
    """A name as SQL takes it. NUL cannot stand in SQL text."""
    return '"' + name.replace("\0", "\ufffd").replace('"', '""') + '"'

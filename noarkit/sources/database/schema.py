"""What a database holds: schemas, tables, views, columns, keys and relations, as its own catalogue tells them.

Only what the account may see is there. Names are kept as they stand, whatever signs they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Inspector
from sqlalchemy.exc import NoSuchTableError

from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.catalogue import (
    DeclaredColumn,
    ForeignKeyActions,
    TableInheritance,
    declared_columns,
    foreign_key_actions,
    list_inheritance,
    statements,
)
from noarkit.sources.database.columns import Column, read_column, unescaped
from noarkit.sources.database.quiet import without_warnings
from noarkit.sources.database.session import Session
from noarkit.sources.database.sqlite_statement import Statement
from noarkit.sources.database.values import expression

_SYSTEM = {
    POSTGRESQL: re.compile(r"information_schema|pg_.*"),
    MYSQL: re.compile(r"information_schema|mysql|performance_schema|sys"),
}


class TableName(NamedTuple):
    """A table by its schema (None: the one that needs no naming) and its name."""

    schema: str | None
    name: str

    @property
    def label(self) -> str:
        """How recipes call it."""
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Relation:
    """A foreign key: `columns` here hold what `referred` hold in `table`. `name` is what recipes call the row there."""

    name: str
    columns: tuple[str, ...]
    table: TableName
    referred: tuple[str, ...]
    constraint: str = ""
    actions: ForeignKeyActions = field(default_factory=ForeignKeyActions)


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view. `key` is its primary key, else a unique key without NULLs, else empty. `candidates` are all
    unique keys by their names, which are empty if they have none; `notes` is what else its server says of it.

    A table that others inherit from `has_heirs`: without ONLY it gives their rows, too.
    """

    name: TableName
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    relations: tuple[Relation, ...] = ()
    is_view: bool = False
    comment: str = ""
    key_name: str = ""
    candidates: tuple[tuple[str, tuple[str, ...]], ...] = ()
    has_heirs: bool = False
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How recipes call it."""
        return self.name.label

    def column(self, name: str) -> Column:
        """A column by its name. Raises `KeyError`."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def has(self, name: str) -> bool:
        """True if it has a column of this name."""
        return any(column.name == name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables and views, tables that others refer to first. `schemas` are those that were looked into."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    default_schema: str | None = None
    schemas: tuple[str | None, ...] = ()

    def referring(self, table: TableName) -> Iterator[tuple[Table, Relation]]:
        """The foreign keys that lead to a table."""
        for child in self.tables.values():
            for relation in child.relations:
                if relation.table == table:
                    yield child, relation


def reflect(session: Session, only: Sequence[str] = ()) -> Schema:
    """Reads the catalogue. `only` names schemas; without it all that are not the server's own.

    Raises the faults of a session.
    """
    with session.faults(), without_warnings():  # of types it does not know: ours are told by the declared name
        inspector = session.inspector
        default = inspector.default_schema_name
        tables: dict[TableName, Table] = {}
        schemas = tuple(_schemas(session, inspector, only))
        for name in schemas:
            home = name or default
            catalogue = _Catalogue(
                declared_columns(session, home), foreign_key_actions(session, home), statements(session)
            )
            for table in _tables(session, inspector, name, catalogue):
                tables[table.name] = table
        tables = apply_inheritance(tables, list_inheritance(session), default)
    named_tables = {name: replace(table, relations=_name_relations(table, tables)) for name, table in tables.items()}
    ordered = _parents_first(named_tables)
    return Schema({table.label: table for table in ordered}, default, schemas)


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """What the catalogue says of a schema's columns and foreign keys."""

    columns: Mapping[tuple[str, str], DeclaredColumn]
    key_actions: Mapping[tuple[str, object], ForeignKeyActions]
    statements: Mapping[str, Statement]


def apply_inheritance(
    tables: Mapping[TableName, Table], inheritance: Iterable[TableInheritance], default: str | None
) -> dict[TableName, Table]:
    """The tables with each row once: a partition's rows are those of the table it is a part of, and so is it; one that
    others inherit from keeps its own."""
    heirs: set[TableName] = set()
    parts: dict[TableName, list[str]] = {}
    notes: dict[TableName, list[str]] = {}
    remaining = dict(tables)
    for link in inheritance:
        own, parent = (
            TableName(None if schema == default else schema, name)
            for schema, name in ((link.schema, link.name), (link.parent_schema, link.parent))
        )
        if not link.is_partition:
            heirs.add(parent)
            notes.setdefault(own, []).append(parent.label)
        elif own in tables and parent in tables:
            parts.setdefault(parent, []).append(f"{own.label} {link.bounds}".strip())
            remaining.pop(own, None)
    return {
        name: replace(
            table,
            has_heirs=name in heirs,
            notes=(
                *([f"INHERITS ({', '.join(notes[name])})"] if name in notes else []),
                *([f"PARTITIONS: {'; '.join(parts[name])}"] if name in parts else []),
            ),
        )
        for name, table in remaining.items()
    }


def source_of(session: Session, table: Table) -> str:
    """What rows are selected from: the table, quoted; of one that others inherit from, only its own rows."""
    return f"{'ONLY ' if table.has_heirs else ''}{session.quote(table.name.schema, table.name.name)}"


def select_expression(family: str, column: Column, quoted: str) -> str:
    """What is selected to read a column."""
    return expression(family, column.declared_type, column.kind, quoted)


def _schemas(session: Session, inspector: Inspector, only: Sequence[str]) -> Iterator[str | None]:
    """The schemas to read; the default one as None, so that its tables go by their names alone."""
    if session.family in (SQLITE, MYSQL):
        yield None
        return
    default = inspector.default_schema_name
    system = _SYSTEM.get(session.family)
    for name in sorted(inspector.get_schema_names()):
        if (only and name not in only) or (system is not None and system.fullmatch(name)):
            continue
        yield None if name == default else name


def _tables(session: Session, inspector: Inspector, schema: str | None, catalogue: _Catalogue) -> Iterator[Table]:
    names = [(name, False) for name in sorted(inspector.get_table_names(schema=schema))]
    names += [(name, True) for name in sorted(inspector.get_view_names(schema=schema))]
    if session.family == POSTGRESQL:
        names += [(name, True) for name in sorted(inspector.get_materialized_view_names(schema=schema))]
    for name, is_view in names:
        if session.family == SQLITE and name.startswith("sqlite_"):
            continue
        try:
            yield _table(session, inspector, TableName(schema, name), catalogue, is_view=is_view)
        except NoSuchTableError:
            continue  # dropped while the catalogue was read, or a view over what is no more


def _table(session: Session, inspector: Inspector, name: TableName, catalogue: _Catalogue, *, is_view: bool) -> Table:
    columns = tuple(
        read_column(session, info, catalogue.columns.get((name.name, unescaped(session.family, info["name"]))))
        for info in inspector.get_columns(name.name, schema=name.schema)
    )
    if is_view:
        return Table(name, columns, is_view=True)
    family = session.family
    keyed = inspector.get_pk_constraint(name.name, schema=name.schema)
    primary = _key_columns(family, keyed.get("constrained_columns"))
    statement = catalogue.statements.get(name.name, Statement())
    candidates = _candidates(session, inspector, name, statement)
    uniques = tuple(dict.fromkeys(columns for _, columns in candidates))
    required = {column.name for column in columns if not column.nullable}
    usable = [unique for unique in uniques if set(unique) <= required]
    if session.family == SQLITE and primary and not _key_has_no_null(session, name, primary, columns):
        key: tuple[str, ...] = next(iter(usable), ())
    else:
        key = primary or next(iter(usable), ())
    relations = tuple(_with_actions(relation, name, catalogue) for relation in _relations(session, inspector, name))
    key_name = str(keyed.get("name") or ("PRIMARY" if family == MYSQL else ""))
    if family == SQLITE:
        key_name = statement.primary
    comment = _comment(inspector, name)
    table = Table(name, columns, key, primary, uniques, relations, candidates=candidates)
    return replace(table, key_name=key_name, comment=comment)


def _key_has_no_null(session: Session, name: TableName, primary: tuple[str, ...], columns: tuple[Column, ...]) -> bool:
    """SQLite lets NULL stand in a primary key that says nothing against it."""
    nullable = [
        column for column in primary if next(candidate for candidate in columns if candidate.name == column).nullable
    ]
    if not nullable:
        return True
    condition = " OR ".join(f"{session.quote(column)} IS NULL" for column in nullable)
    row = session.first_row(f"SELECT EXISTS (SELECT 1 FROM {session.quote(name.name)} WHERE {condition})")  # noqa: S608  # quoted by the dialect
    return not (row and row[0])


def _key_columns(family: str, columns: Iterable[str] | None) -> tuple[str, ...]:
    """Columns of a key, by their own names."""
    return tuple(unescaped(family, column) for column in columns or ())


def _candidates(
    session: Session, inspector: Inspector, name: TableName, statement: Statement
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The unique keys of a table with their names, shortest first; one that has no name stands only where no other is
    of the same columns."""
    unique_keys: list[tuple[str, tuple[str, ...]]] = []
    if session.family == SQLITE:  # the library reads a statement here, too
        rows = session.rows(
            "SELECT l.name, i.name FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i"
            " WHERE l.origin = 'u' AND NOT l.partial ORDER BY l.seq, i.seqno",
            (name.name,),
        )
        names = {
            tuple(column.lower() for column in columns): named_keys
            for named_keys, columns in statement.unique
            if named_keys
        }
        for _, index_rows in groupby(rows, key=itemgetter(0)):
            key = tuple(str(column) for _, column in index_rows)
            unique_keys.append((names.get(tuple(column.lower() for column in key), ""), key))
    else:
        constraints = inspector.get_unique_constraints(name.name, schema=name.schema)
        unique_keys += [(str(entry["name"] or ""), tuple(entry["column_names"])) for entry in constraints]
    for index in inspector.get_indexes(name.name, schema=name.schema):
        columns = index["column_names"]
        options = index.get("dialect_options") or {}
        partial = options.get("postgresql_where") or options.get("sqlite_where")
        if index.get("unique") and partial is None and None not in columns:
            unique_keys.append((str(index["name"] or ""), tuple(str(column) for column in columns)))
    family = session.family
    keys = {(unescaped(family, key), _key_columns(family, columns)) for key, columns in unique_keys}
    named_keys = {columns for key, columns in keys if key}
    remaining = (entry for entry in keys if entry[0] or entry[1] not in named_keys)
    return tuple(sorted(remaining, key=lambda one: (len(one[1]), one[1], one[0])))


def _relations(session: Session, inspector: Inspector, name: TableName) -> Iterator[Relation]:
    if session.family != MYSQL:
        yield from (_relation(info, session) for info in inspector.get_foreign_keys(name.name, schema=name.schema))
        return
    rows = session.rows(  # the library reads a statement here, and misses keys whose names have quotes in them
        "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name"
        " FROM information_schema.key_column_usage WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
        " AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position",
        (name.schema, name.name),
    )
    for constraint, columns in groupby(rows, key=itemgetter(0)):
        _, here, schemas, tables, there = zip(*columns, strict=True)
        yield _relation(
            {
                "name": constraint,
                "constrained_columns": here,
                "referred_columns": there,
                "referred_schema": schemas[0],
                "referred_table": tables[0],
            },
            session,
        )


def _relation(info: Any, session: Session) -> Relation:  # Any: the inspector's own mapping
    schema = info.get("referred_schema")
    if session.family == MYSQL and schema is not None and schema == session.address.url.database:
        schema = None
    table = TableName(schema, info["referred_table"])
    return Relation(
        name="",
        columns=tuple(info["constrained_columns"]),
        table=table,
        referred=tuple(info.get("referred_columns") or ()),
        constraint=str(info.get("name") or ""),
        actions=ForeignKeyActions(
            "", *(str((info.get("options") or {}).get(name) or "") for name in ("ondelete", "onupdate"))
        ),
    )


def _with_actions(relation: Relation, table: TableName, catalogue: _Catalogue) -> Relation:
    """The relation with what it does, as the catalogue says; else as the library read it."""
    by_columns = (relation.table.name, relation.columns)
    for key in ((table.name, relation.constraint), (table.name, by_columns)):
        if key in catalogue.key_actions:
            return replace(relation, actions=catalogue.key_actions[key])
    return relation


def _comment(inspector: Inspector, name: TableName) -> str:
    try:
        return str(inspector.get_table_comment(name.name, schema=name.schema).get("text") or "")
    except NotImplementedError:
        return ""


def _name_relations(table: Table, tables: Mapping[TableName, Table]) -> tuple[Relation, ...]:
    """The relations to tables we see, each with a name that no column and no other relation has."""
    used_names = {column.name for column in table.columns}
    relations = []
    for relation in table.relations:
        target = tables.get(relation.table)
        if target is None:
            continue
        referred = relation.referred or target.primary_key
        if len(referred) != len(relation.columns):
            continue
        name = next(name for name in _proposals(relation) if name not in used_names)
        used_names.add(name)
        relations.append(replace(relation, name=name, referred=referred))
    return tuple(relations)


def _proposals(relation: Relation) -> Iterator[str]:
    """`"customer"` for a column `"customer_id"`, else the table's name, else the column with `"_row"`."""
    if len(relation.columns) == 1:
        stem = re.sub(r"(?i)(?:_?id|_?nr|_?ref|_?fk|_?no|_?key)$", "", relation.columns[0])
        if stem and stem != relation.columns[0]:
            yield stem
    yield relation.table.name
    base = "_".join((*relation.columns, "row"))
    yield base
    number = 2
    while True:
        yield f"{base}{number}"
        number += 1


def _parents_first(tables: Mapping[TableName, Table]) -> Iterable[Table]:
    """Tables in an order where what others refer to comes first; circles are cut where they begin."""
    ordered: dict[TableName, Table] = {}
    for name in sorted(tables, key=lambda one: (one.schema or "", one.name)):
        waiting: list[tuple[TableName, bool]] = [(name, False)]
        on_the_way: set[TableName] = set()
        while waiting:
            current, ready = waiting.pop()
            if current in ordered:
                continue
            if ready:
                ordered[current] = tables[current]
                continue
            on_the_way.add(current)
            waiting.append((current, True))
            for relation in reversed(tables[current].relations):
                if relation.table not in ordered and relation.table not in on_the_way:
                    waiting.append((relation.table, False))
    return ordered.values()

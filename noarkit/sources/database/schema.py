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
from sqlalchemy.types import NullType, TypeEngine

from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.quiet import without_warnings
from noarkit.sources.database.session import Session
from noarkit.sources.database.values import Kind, expression, kind_of

_SYSTEM = {
    POSTGRESQL: re.compile(r"information_schema|pg_.*"),
    MYSQL: re.compile(r"information_schema|mysql|performance_schema|sys"),
}
_SIZE = re.compile(r"\((\d+)\)")


class TableName(NamedTuple):
    """A table by its schema (None: the one that needs no naming) and its name."""

    schema: str | None
    name: str

    @property
    def label(self) -> str:
        """How recipes call it."""
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `declared` is the type in the server's words; `size` its length or bits, where it has one."""

    name: str
    declared: str
    kind: Kind
    nullable: bool = True
    default: str | None = None
    comment: str = ""
    size: int | None = None
    precision: int | None = None
    scale: int | None = None
    choices: tuple[str, ...] = ()
    generated: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A foreign key: `columns` here hold what `referred` hold in `table`. `name` is what recipes call the row there."""

    name: str
    columns: tuple[str, ...]
    table: TableName
    referred: tuple[str, ...]
    constraint: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view. `key` is its primary key, else a unique key without NULLs, else empty."""

    name: TableName
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    relations: tuple[Relation, ...] = ()
    is_view: bool = False
    comment: str = ""

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
        """True where it has a column of this name."""
        return any(column.name == name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables and views, tables that others refer to first."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    default_schema: str | None = None

    def referring(self, table: TableName) -> Iterator[tuple[Table, Relation]]:
        """The foreign keys that lead to a table."""
        for other in self.tables.values():
            for relation in other.relations:
                if relation.table == table:
                    yield other, relation


def reflect(session: Session, only: Sequence[str] = ()) -> Schema:
    """Reads the catalogue. `only` names schemas; without it all that are not the server's own.

    Raises the faults of a session.
    """
    with session.faults(), without_warnings():  # of types it does not know: ours are told by the declared name
        inspector = session.inspector
        default = inspector.default_schema_name
        tables: dict[TableName, Table] = {}
        for name in _schemas(session, inspector, only):
            declared = _declared_types(session, name or default)
            for table in _tables(session, inspector, name, declared):
                tables[table.name] = table
    known = {name: replace(table, relations=_named(table, tables)) for name, table in tables.items()}
    ordered = _parents_first(known)
    return Schema({table.label: table for table in ordered}, default)


def selection(family: str, column: Column, quoted: str) -> str:
    """What is selected to read a column."""
    return expression(family, column.declared, column.kind, quoted)


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


def _tables(
    session: Session, inspector: Inspector, schema: str | None, declared: Mapping[tuple[str, str], str]
) -> Iterator[Table]:
    names = [(name, False) for name in sorted(inspector.get_table_names(schema=schema))]
    names += [(name, True) for name in sorted(inspector.get_view_names(schema=schema))]
    if session.family == POSTGRESQL:
        names += [(name, True) for name in sorted(inspector.get_materialized_view_names(schema=schema))]
    for name, is_view in names:
        if session.family == SQLITE and name.startswith("sqlite_"):
            continue
        try:
            yield _table(session, inspector, TableName(schema, name), declared, is_view=is_view)
        except NoSuchTableError:
            continue  # dropped while the catalogue was read, or a view over what is no more


def _table(
    session: Session, inspector: Inspector, name: TableName, declared: Mapping[tuple[str, str], str], *, is_view: bool
) -> Table:
    columns = tuple(
        _column(session.family, found, declared.get((name.name, _unescaped(session.family, found["name"]))))
        for found in inspector.get_columns(name.name, schema=name.schema)
    )
    if is_view:
        return Table(name, columns, is_view=True)
    family = session.family
    keyed = inspector.get_pk_constraint(name.name, schema=name.schema)
    primary = _key_columns(family, keyed.get("constrained_columns"))
    uniques = tuple(_key_columns(family, columns) for columns in _uniques(session, inspector, name))
    required = {column.name for column in columns if not column.nullable}
    usable = [unique for unique in uniques if set(unique) <= required]
    if session.family == SQLITE and primary and not _sqlite_key_is_whole(session, name, primary, columns):
        key: tuple[str, ...] = next(iter(usable), ())
    else:
        key = primary or next(iter(usable), ())
    relations = tuple(_relations(session, inspector, name))
    return Table(name, columns, key, primary, uniques, relations, comment=_comment(inspector, name))


def _sqlite_key_is_whole(
    session: Session, name: TableName, primary: tuple[str, ...], columns: tuple[Column, ...]
) -> bool:
    """SQLite lets NULL stand in a primary key that says nothing against it."""
    nullable = [column for column in primary if next(one for one in columns if one.name == column).nullable]
    if not nullable:
        return True
    wanted = " OR ".join(f"{session.quote(column)} IS NULL" for column in nullable)
    row = session.one(f"SELECT EXISTS (SELECT 1 FROM {session.quote(name.name)} WHERE {wanted})")  # noqa: S608  # quoted by the dialect
    return not (row and row[0])


def _column(family: str, found: Any, declared: str | None) -> Column:  # Any: the inspector's own mapping
    reflected: TypeEngine[Any] = found["type"]
    words = declared or _words_of(reflected)
    kind = kind_of(family, words, reflected)
    size = getattr(reflected, "length", None)
    if size is None and (told := _SIZE.search(words)):
        size = int(told[1])
    return Column(
        name=_unescaped(family, found["name"]),
        declared=words,
        kind=kind,
        nullable=bool(found.get("nullable", True)),
        default=None if found.get("default") is None else str(found["default"]),
        comment=str(found.get("comment") or ""),
        size=size,
        precision=getattr(reflected, "precision", None),
        scale=getattr(reflected, "scale", None),
        choices=tuple(str(one) for one in getattr(reflected, "enums", ()) or getattr(reflected, "values", ()) or ()),
        generated=bool(found.get("computed")),
    )


def _unescaped(family: str, name: str) -> str:
    """The library reads MySQL's names from a statement, and leaves doubled quotes in them as they stand there."""
    return name.replace("``", "`") if family == MYSQL else name


def _key_columns(family: str, columns: Iterable[str] | None) -> tuple[str, ...]:
    """Columns of a key, by their own names."""
    return tuple(_unescaped(family, column) for column in columns or ())


def _words_of(reflected: TypeEngine[Any]) -> str:
    if isinstance(reflected, NullType):
        return ""
    return str(reflected)


def _declared_types(session: Session, schema: str | None) -> dict[tuple[str, str], str]:
    """The types in the server's own words, by table and column, where it can be asked at once."""
    if session.family == POSTGRESQL:
        rows = session.rows(
            "SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)"
            " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
            " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','v','m','f')",
            (schema,),
        )
    elif session.family == MYSQL:
        rows = session.rows(
            "SELECT table_name, column_name, column_type FROM information_schema.columns"
            " WHERE table_schema = DATABASE()"
        )
        rows += _json_of_mariadb(session)
    elif session.family == SQLITE:
        rows = session.rows(
            "SELECT m.name, p.name, p.type FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) p"
            " WHERE m.type IN ('table', 'view')"
        )
    else:
        return {}
    return {(str(table), str(column)): str(declared) for table, column, declared in rows}


def _json_of_mariadb(session: Session) -> list[Sequence[object]]:
    """There JSON is a long text that is checked."""
    if not getattr(session.dialect, "is_mariadb", False):
        return []
    return session.rows(
        "SELECT table_name, constraint_name, 'json' FROM information_schema.check_constraints"
        " WHERE constraint_schema = DATABASE() AND check_clause = CONCAT('json_valid(`', constraint_name, '`)')"
    )


def _uniques(session: Session, inspector: Inspector, name: TableName) -> Iterator[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    if session.family == SQLITE:  # the library reads a statement here, too
        told = session.rows(
            "SELECT l.name, i.name FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i"
            " WHERE l.origin = 'u' AND NOT l.partial ORDER BY l.seq, i.seqno",
            (name.name,),
        )
        seen |= {tuple(str(column) for _, column in columns) for _, columns in groupby(told, key=itemgetter(0))}
    for constraint in inspector.get_unique_constraints(name.name, schema=name.schema):
        seen.add(tuple(constraint["column_names"]))
    for index in inspector.get_indexes(name.name, schema=name.schema):
        columns = index["column_names"]
        partial = (index.get("dialect_options") or {}).get("postgresql_where") or (
            index.get("dialect_options") or {}
        ).get("sqlite_where")
        if index.get("unique") and partial is None and None not in columns:
            seen.add(tuple(str(column) for column in columns))
    yield from sorted(seen, key=lambda columns: (len(columns), columns))


def _relations(session: Session, inspector: Inspector, name: TableName) -> Iterator[Relation]:
    if session.family != MYSQL:
        yield from (_relation(one, session) for one in inspector.get_foreign_keys(name.name, schema=name.schema))
        return
    told = session.rows(  # the library reads a statement here, and misses keys whose names have quotes in them
        "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name"
        " FROM information_schema.key_column_usage WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
        " AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position",
        (name.schema, name.name),
    )
    for constraint, columns in groupby(told, key=itemgetter(0)):
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


def _relation(found: Any, session: Session) -> Relation:  # Any: the inspector's own mapping
    schema = found.get("referred_schema")
    if session.family == MYSQL and schema is not None and schema == session.address.url.database:
        schema = None
    table = TableName(schema, found["referred_table"])
    return Relation(
        name="",
        columns=tuple(found["constrained_columns"]),
        table=table,
        referred=tuple(found.get("referred_columns") or ()),
        constraint=str(found.get("name") or ""),
    )


def _comment(inspector: Inspector, name: TableName) -> str:
    try:
        return str(inspector.get_table_comment(name.name, schema=name.schema).get("text") or "")
    except NotImplementedError:
        return ""


def _named(table: Table, tables: Mapping[TableName, Table]) -> tuple[Relation, ...]:
    """The relations to tables we see, each with a name that no column and no other relation has."""
    taken = {column.name for column in table.columns}
    named = []
    for relation in table.relations:
        other = tables.get(relation.table)
        if other is None:
            continue
        referred = relation.referred or other.primary_key
        if len(referred) != len(relation.columns):
            continue
        name = next(name for name in _proposals(relation) if name not in taken)
        taken.add(name)
        named.append(replace(relation, name=name, referred=referred))
    return tuple(named)


def _proposals(relation: Relation) -> Iterator[str]:
    """`customer` for a column `customer_id`, else the table's name, else the column with `_row`."""
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
    done: dict[TableName, Table] = {}
    for name in sorted(tables, key=lambda one: (one.schema or "", one.name)):
        waiting: list[tuple[TableName, bool]] = [(name, False)]
        on_the_way: set[TableName] = set()
        while waiting:
            current, ready = waiting.pop()
            if current in done:
                continue
            if ready:
                done[current] = tables[current]
                continue
            on_the_way.add(current)
            waiting.append((current, True))
            for relation in reversed(tables[current].relations):
                if relation.table not in done and relation.table not in on_the_way:
                    waiting.append((relation.table, False))
    return done.values()

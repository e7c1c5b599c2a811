"""A database as a place: its schemas, tables and rows, with foreign keys as links, and documents that columns hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from itertools import groupby
from pathlib import Path

import orjson

from noarkit.catalogue.places.fingerprints import fingerprint_of
from noarkit.catalogue.places.noark_objects import json_fields, plain_fields
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.events import Listener, ignore_event
from noarkit.graph.entity import Content, SetAside
from noarkit.records import ContentStream, SourceItem, SourceRecord
from noarkit.safe.scratch import scratch
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.rows import label_text
from noarkit.sources.database.schema import Schema, Table, reflect
from noarkit.sources.database.source import DatabaseSource
from noarkit.sources.database.streams import SessionPool
from noarkit.sources.database.values import Kind, text_of

SCHEMA, TABLE, ROW = "schema", "table", "row"
_AGE_S = 3_600
_LONGEST_TITLE = 200
_TITLE_WORDS = ("tittel", "title", "navn", "name", "emne", "subject", "overskrift", "beskrivelse", "description")
_DAYS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE})
# what a server says of changes to its tables without reading them
_CHANGE_MARKS = {
    POSTGRESQL: "SELECT coalesce(sum(n_tup_ins), 0), coalesce(sum(n_tup_upd), 0), coalesce(sum(n_tup_del), 0)"
    " FROM pg_stat_user_tables",
    MYSQL: "SELECT count(*), max(update_time), sum(auto_increment) FROM information_schema.tables"
    " WHERE table_schema = DATABASE()",
}


class DatabasePlace:
    """The tables of a database, read from one snapshot."""

    def __init__(self, source: DatabaseSource, now_s: Callable[[], float]) -> None:
        self._source = source
        address = source.address
        self._pool = SessionPool(address)
        fingerprint = fingerprint_of(*self._evidence(now_s))
        self._identity = PlaceIdentity("database", address.name, address.where, fingerprint)

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `database`. Its fingerprint follows the file of an SQLite database; of a server what that says of
        changes to its tables, and the hour."""
        return self._identity

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        address = self._source.address
        return address.file if address.family == SQLITE else None

    def items(self, emit: Listener) -> Iterator[Item]:
        """Schemas, tables and their rows; tables that others refer to first. Raises `SourceGone`, `SourceAway`,
        `SourceDenied`."""
        with closing(self._pool.new_session()) as session:
            schema = reflect(session)
        for name in dict.fromkeys(table.name.schema for table in schema.tables.values()):
            title = name or schema.default_schema or self._source.address.name
            yield Item(_schema_reference(name), None, SCHEMA, title)
        for table in schema.tables.values():
            yield _table(table)
        links = _RowLinks(schema)
        for label, rows in groupby(self._source.records(ignore_event), key=_label):
            found_table = schema.tables.get(label)
            if found_table is not None:
                for found_row in rows:
                    yield _row(found_row, found_table, links)

    def open(self, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens a document that a column holds. Raises `ItemVanished`, `ItemChanged`, `ItemUnreadable`."""
        inner, size, modified_ns = orjson.loads(locator)
        return self._source.open(Content(inner, inner, size, modified_ns))

    def close(self) -> None:
        """Lets the connections go."""
        self._pool.close()
        self._source.release()

    def _evidence(self, now_s: Callable[[], float]) -> Iterator[str | Path]:
        address = self._source.address
        if address.family == SQLITE:
            yield address.file
            yield address.file.with_name(address.file.name + "-wal")
            return
        yield f"hour {int(now_s() // _AGE_S)}"
        statement = _CHANGE_MARKS.get(address.family)
        if statement is not None:
            with closing(self._pool.new_session()) as session:
                yield repr(session.first_row(statement))


class _RowLinks:
    """Where foreign keys lead. A key that does not refer to the key of its table is looked up among the rows that have
    come."""

    def __init__(self, schema: Schema) -> None:
        self._tables = schema.tables
        self._sought: dict[str, set[tuple[str, ...]]] = {}
        self._db = scratch()
        self._db.execute("CREATE TABLE alias (place TEXT PRIMARY KEY, ref TEXT) WITHOUT ROWID")
        self._db.execute("BEGIN")
        for table in schema.tables.values():
            for relation in table.relations:
                target = schema.tables.get(relation.table.label)
                if target is not None and relation.referred != target.key:
                    self._sought.setdefault(target.label, set()).add(relation.referred)

    def remember(self, table: Table, ref: str, fields: Mapping[str, object]) -> None:
        """Takes a row, where others refer to it by what is not its key."""
        for columns in self._sought.get(table.label, ()):
            values = [_own_value(fields, column) for column in columns]
            if None not in values:
                place = _place(table.label, columns, values)
                self._db.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (place, ref))

    def of(self, table: Table, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """The links of a row, each under the name of its relation."""
        for relation in table.relations:
            target = self._tables.get(relation.table.label)
            values = [_own_value(fields, column) for column in relation.columns]
            if target is None or None in values:
                continue
            if relation.referred == target.key:
                yield relation.name, f"{label_text(target.label)}:{','.join(map(_key_text, values))}"
                continue
            place = _place(target.label, relation.referred, values)
            row = self._db.execute("SELECT ref FROM alias WHERE place = ?", (place,)).fetchone()
            if row is not None:
                yield relation.name, str(row[0])


def _own_value(fields: Mapping[str, object], column: str) -> object:
    """What a row itself holds: asked as a mapping, it would look up what its keys lead to."""
    return dict.get(fields, column) if isinstance(fields, dict) else fields.get(column)


def _place(label: str, columns: tuple[str, ...], values: list[object]) -> str:
    return repr((label, columns, [text_of(value) for value in values]))


def _key_text(value: object) -> str:
    return text_of(value).replace("%", "%25").replace(",", "%2C")


def _label(found_row: SourceItem) -> str:
    if isinstance(found_row, SourceRecord):
        return found_row.kind
    assert isinstance(found_row, SetAside)  # noqa: S101  # a database yields nothing else
    return found_row.record_key.partition(":")[0].replace("%3A", ":").replace("%25", "%")


def _schema_reference(name: str | None) -> str:
    return f"schema:{name or ''}"


def _table_reference(label: str) -> str:
    return f"table:{label}"


def _table(table: Table) -> Item:
    """A table or view with its columns, keys and relations."""
    columns = [
        {"name": column.name, "type": column.declared_type, "required": not column.nullable, "comment": column.comment}
        for column in table.columns
    ]
    relations = [
        {"name": relation.name, "columns": list(relation.columns), "table": relation.table.label}
        for relation in table.relations
    ]
    facts = {"comment": table.comment, "key": list(table.key), "columns": columns, "relations": relations}
    links = tuple((relation.name, _table_reference(relation.table.label)) for relation in table.relations)
    return Item(
        *(_table_reference(table.label), _schema_reference(table.name.schema), TABLE, table.name.name),
        status="view" if table.is_view else "",
        fields=plain_fields(facts),
        links=links,
    )


def _row(found_row: SourceItem, table: Table, links: _RowLinks) -> Item:
    parent = _table_reference(table.label)
    if isinstance(found_row, SetAside):
        key = found_row.record_key
        return Item(key, parent, ROW, key, fault=found_row.code, fields=plain_fields(found_row.data))
    assert isinstance(found_row, SourceRecord)  # noqa: S101  # a database yields nothing else
    key, values = found_row.key, {name: _own_value(found_row.fields, name) for name in found_row.fields}
    links.remember(table, key, found_row.fields)
    documents = tuple(_document(key, content) for content in found_row.contents)
    return Item(
        *(key, parent, ROW, _title(table, values) or key),
        ident=key.partition(":")[2] if table.key else "",
        day=_day(table, values),
        fields=json_fields(values),
        links=tuple(links.of(table, found_row.fields)),
        documents=documents,
    )


def _document(key: str, content: Content) -> Document:
    column = content.locator.removeprefix(f"{key}#").partition("@")[0]
    return Document(
        f"{key}#{column}",
        title=content.name,
        name=content.name,
        media_type=content.media_type or "",
        puid=content.puid or "",
        size_bytes=content.size_bytes,
        sha256=content.sha256 or "",
        locator=orjson.dumps([content.locator, content.size_bytes, content.modified_ns]).decode(),
        fields={"column": column},
    )


def _title(table: Table, values: Mapping[str, object]) -> str:
    """What a row is called: by the column that is named like a title, else by its first text."""
    texts = [column for column in table.columns if column.kind is Kind.TEXT and values.get(column.name)]
    texts.sort(key=_likeness)
    return str(values[texts[0].name])[:_LONGEST_TITLE] if texts else ""


def _likeness(column: Column) -> int:
    name = column.name.lower()
    return next((at for at, word in enumerate(_TITLE_WORDS) if word in name), len(_TITLE_WORDS))


def _day(table: Table, values: Mapping[str, object]) -> str:
    days = (values.get(column.name) for column in table.columns if column.kind in _DAYS)
    return next((str(day)[:10] for day in days if day), "")

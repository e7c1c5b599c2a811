"""Which columns hold documents, and how a recipe says so.

[source]
kind = "database"
tables = ["sak", "brev"]            # in this order; left out: all tables, those that others refer to first
views = ["oversikt"]                # views to be read as tables; left out: none
schemas = ["public"]                # left out: all that are not the server's own
base = "/srv/filer"                 # where file names in columns begin
[source.keys]
oversikt = ["id"]                   # the columns that tell the rows of a view apart
[source.changed]
brev = "endret"                     # a column that every change of a row changes; left out: the whole row is compared
[source.text_without]
brev = ["tittel", "avsender"]       # columns with fields of their own, which record.row_text does not repeat
[[source.documents.brev]]           # a document column of a table, in the order their documents shall have
column = "innhold"
as = "bytes"                        # or "text", "large-object", "file"
name = "filnavn"                    # the columns that hold its file name and media type
media_type = "mimetype"
extension = "pdf"                   # where no column holds a name
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain

from noarkit.errors import PlanFault
from noarkit.recipes.read import SOURCE_KEYS
from noarkit.sources.database.columns import Column
from noarkit.sources.database.schema import Schema, Table
from noarkit.sources.database.values import Kind

AS = ("bytes", "text", "large-object", "file")
_NAMES = ("kind", *SOURCE_KEYS["database"])
SMALL_BYTES = 255
_OF_DOCUMENT = ("column", "as", "name", "media_type", "extension")


@dataclass(frozen=True, slots=True)
class DocumentColumn:
    """A column whose values are documents; `name` and `media_type` are columns that tell of them."""

    column: str
    form: str
    name: str = ""
    media_type: str = ""
    extension: str = ""


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """What a recipe says of a database. `documents` None: nobody has said, so that the columns are judged by us.

    `text_without` are columns that have a field of their own, so that the text of their row does not repeat them."""

    tables: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    base: str = ""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    text_without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: Mapping[str, tuple[DocumentColumn, ...]] | None = None

    def settings(self) -> dict[str, object]:
        """The same as plain data, as `read_settings` reads it."""
        data: dict[str, object] = {
            "tables": list(self.tables),
            "views": list(self.views),
            "schemas": list(self.schemas),
            "base": self.base,
            "keys": {table: list(columns) for table, columns in self.keys.items()},
            "changed": dict(self.changed),
            "text_without": {table: list(columns) for table, columns in self.text_without.items()},
        }
        data = {name: value for name, value in data.items() if value}
        if self.documents is not None:
            data["documents"] = {
                table: [_plain(column) for column in columns] for table, columns in self.documents.items()
            }
        return data

    def columns_of(self, table: str) -> tuple[DocumentColumn, ...]:
        """The document columns of a table."""
        return (self.documents or {}).get(table, ())


def read_settings(data: Mapping[str, object]) -> DatabaseSettings:
    """The terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
    for name in data:
        if name not in _NAMES:
            raise PlanFault(where="[source]", why="unknown-key", name=name, near=_closest(name, _NAMES))
    documents = data.get("documents")
    return DatabaseSettings(
        tables=_texts(data, "tables"),
        views=_texts(data, "views"),
        schemas=_texts(data, "schemas"),
        base=_text(data.get("base", ""), "base"),
        keys=_columns_by_table(data, "keys"),
        changed={table: _text(column, table) for table, column in _table(data, "changed").items()},
        text_without=_columns_by_table(data, "text_without"),
        documents=None if documents is None else _documents(_table(data, "documents")),
    )


def check_settings(settings: DatabaseSettings, schema: Schema) -> None:
    """Raises `PlanFault` where the terms name a table or column that is not there."""
    by_table = (settings.keys, settings.changed, settings.text_without, settings.documents or {})
    table_labels = [*settings.tables, *settings.views, *chain(*by_table)]
    for label in table_labels:
        if label not in schema.tables:
            raise PlanFault(where="[source]", why="no-such-table", name=label, near=_closest(label, schema.tables))
    for label, columns in chain(settings.keys.items(), settings.text_without.items()):
        _check_columns(schema.tables[label], columns)
    for label, column in settings.changed.items():
        _check_columns(schema.tables[label], (column,))
    for label, documents in (settings.documents or {}).items():
        for document in documents:
            _check_columns(
                schema.tables[label],
                tuple(name for name in (document.column, document.name, document.media_type) if name),
            )


def _check_columns(table: Table, columns: tuple[str, ...]) -> None:
    for name in columns:
        if not table.has(name):
            column_names = [column.name for column in table.columns]
            raise PlanFault(
                where=f"[source] {table.label}", why="no-such-column", name=name, near=_closest(name, column_names)
            )


def _documents(tables: Mapping[str, object]) -> dict[str, tuple[DocumentColumn, ...]]:
    columns_by_table: dict[str, tuple[DocumentColumn, ...]] = {}
    for table, columns in tables.items():
        if not isinstance(columns, list):
            raise PlanFault(where=f"[[source.documents.{table}]]", why="wrong-kind", name=table)
        columns_by_table[table] = tuple(_document(table, entry) for entry in columns)
    return columns_by_table


def _document(table: str, entry: object) -> DocumentColumn:
    where = f"[[source.documents.{table}]]"
    if not isinstance(entry, Mapping) or not all(isinstance(value, str) for value in entry.values()):
        raise PlanFault(where=where, why="wrong-kind", name=table)
    column = entry.get("column", "")
    for name in entry:
        if name not in _OF_DOCUMENT:
            raise PlanFault(where=where, why="unknown-key", name=name, near=_closest(name, _OF_DOCUMENT))
    form = entry.get("as", "bytes")
    if form not in AS:
        raise PlanFault(where=where, why="no-such-form", name=form, near=_closest(form, AS))
    options = {name: entry.get(name, "") for name in ("name", "media_type", "extension")}
    return DocumentColumn(column, form, **options)


def _plain(document: DocumentColumn) -> dict[str, str]:
    data = {
        "column": document.column,
        "as": document.form,
        "name": document.name,
        "media_type": document.media_type,
        "extension": document.extension,
    }
    return {name: value for name, value in data.items() if value}


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = data.get(name, {})
    if not isinstance(value, Mapping):
        raise PlanFault(where=f"[source.{name}]", why="wrong-kind", name=name)
    return value


def _columns_by_table(data: Mapping[str, object], name: str) -> dict[str, tuple[str, ...]]:
    tables = _table(data, name)
    return {table: _texts(tables, table) for table in tables}


def _texts(data: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PlanFault(where="[source]", why="wrong-kind", name=name)
    return tuple(value)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise PlanFault(where="[source]", why="wrong-kind", name=name)
    return value


def _closest(name: str, candidates: object) -> str:
    return next(iter(get_close_matches(name, list(candidates), 1)), "")  # type: ignore[call-overload]  # any collection


def usual_documents(table: Table) -> tuple[DocumentColumn, ...]:
    """The columns that hold documents by their type alone: bytes without a small limit, and large objects."""
    documents = []
    for column in table.columns:
        if column.kind is Kind.BYTES and (column.size is None or column.size > SMALL_BYTES) and not _is_small(column):
            documents.append(DocumentColumn(column.name, "bytes"))
        elif column.kind is Kind.LARGE_OBJECT:
            documents.append(DocumentColumn(column.name, "large-object"))
    return tuple(documents)


def _is_small(column: Column) -> bool:
    return column.declared_type.lower().startswith(("binary", "varbinary", "tinyblob"))

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

from noarkit.errors import PlanFault
from noarkit.sources.database.columns import Column
from noarkit.sources.database.schema import Schema, Table
from noarkit.sources.database.values import Kind

AS = ("bytes", "text", "large-object", "file")
_NAMES = ("kind", "tables", "views", "schemas", "base", "keys", "changed", "documents")
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
class Terms:
    """What a recipe says of a database. `documents` None: nobody has said, so that the columns are judged by us."""

    tables: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    base: str = ""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, tuple[DocumentColumn, ...]] | None = None

    def settings(self) -> dict[str, object]:
        """The same as plain data, as `read_terms` reads it."""
        told: dict[str, object] = {
            "tables": list(self.tables),
            "views": list(self.views),
            "schemas": list(self.schemas),
            "base": self.base,
            "keys": {table: list(columns) for table, columns in self.keys.items()},
            "changed": dict(self.changed),
        }
        told = {name: value for name, value in told.items() if value}
        if self.documents is not None:
            told["documents"] = {table: [_plain(one) for one in columns] for table, columns in self.documents.items()}
        return told

    def of(self, table: str) -> tuple[DocumentColumn, ...]:
        """The document columns of a table."""
        return (self.documents or {}).get(table, ())


def read_terms(data: Mapping[str, object]) -> Terms:
    """The terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
    for name in data:
        if name not in _NAMES:
            raise PlanFault(where="[source]", why="unknown-key", name=name, near=_near(name, _NAMES))
    documents = data.get("documents")
    return Terms(
        tables=_texts(data, "tables"),
        views=_texts(data, "views"),
        schemas=_texts(data, "schemas"),
        base=_text(data.get("base", ""), "base"),
        keys={table: _texts(_table(data, "keys"), table) for table in _table(data, "keys")},
        changed={table: _text(column, table) for table, column in _table(data, "changed").items()},
        documents=None if documents is None else _documents(_table(data, "documents")),
    )


def check_terms(terms: Terms, schema: Schema) -> None:
    """Raises `PlanFault` where the terms name a table or column that is not there."""
    named = [*terms.tables, *terms.views, *terms.keys, *terms.changed, *(terms.documents or {})]
    for label in named:
        if label not in schema.tables:
            raise PlanFault(where="[source]", why="no-such-table", name=label, near=_near(label, schema.tables))
    for label, columns in terms.keys.items():
        _have(schema.tables[label], columns)
    for label, column in terms.changed.items():
        _have(schema.tables[label], (column,))
    for label, documents in (terms.documents or {}).items():
        for one in documents:
            _have(schema.tables[label], tuple(name for name in (one.column, one.name, one.media_type) if name))


def _have(table: Table, columns: tuple[str, ...]) -> None:
    for name in columns:
        if not table.has(name):
            known = [column.name for column in table.columns]
            raise PlanFault(where=f"[source] {table.label}", why="no-such-column", name=name, near=_near(name, known))


def _documents(tables: Mapping[str, object]) -> dict[str, tuple[DocumentColumn, ...]]:
    made: dict[str, tuple[DocumentColumn, ...]] = {}
    for table, columns in tables.items():
        if not isinstance(columns, list):
            raise PlanFault(where=f"[[source.documents.{table}]]", why="wrong-kind", name=table)
        made[table] = tuple(_document(table, told) for told in columns)
    return made


def _document(table: str, given: object) -> DocumentColumn:
    where = f"[[source.documents.{table}]]"
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise PlanFault(where=where, why="wrong-kind", name=table)
    column = given.get("column", "")
    for name in given:
        if name not in _OF_DOCUMENT:
            raise PlanFault(where=where, why="unknown-key", name=name, near=_near(name, _OF_DOCUMENT))
    form = given.get("as", "bytes")
    if form not in AS:
        raise PlanFault(where=where, why="no-such-form", name=form, near=_near(form, AS))
    rest = {name: given.get(name, "") for name in ("name", "media_type", "extension")}
    return DocumentColumn(column, form, **rest)


def _plain(one: DocumentColumn) -> dict[str, str]:
    told = {
        "column": one.column,
        "as": one.form,
        "name": one.name,
        "media_type": one.media_type,
        "extension": one.extension,
    }
    return {name: value for name, value in told.items() if value}


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = data.get(name, {})
    if not isinstance(found, Mapping):
        raise PlanFault(where=f"[source.{name}]", why="wrong-kind", name=name)
    return found


def _texts(data: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise PlanFault(where="[source]", why="wrong-kind", name=name)
    return tuple(found)


def _text(found: object, name: str) -> str:
    if not isinstance(found, str):
        raise PlanFault(where="[source]", why="wrong-kind", name=name)
    return found


def _near(name: str, known: object) -> str:
    return next(iter(get_close_matches(name, list(known), 1)), "")  # type: ignore[call-overload]  # any collection


def usual_documents(table: Table) -> tuple[DocumentColumn, ...]:
    """The columns that hold documents by their type alone: bytes without a small limit, and large objects."""
    found = []
    for column in table.columns:
        if column.kind is Kind.BYTES and (column.size is None or column.size > SMALL_BYTES) and not _is_small(column):
            found.append(DocumentColumn(column.name, "bytes"))
        elif column.kind is Kind.LARGE_OBJECT:
            found.append(DocumentColumn(column.name, "large-object"))
    return tuple(found)


def _is_small(column: Column) -> bool:
    return column.declared.lower().startswith(("binary", "varbinary", "tinyblob"))

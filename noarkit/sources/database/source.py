"""A database as a source: every row of every table is a record, its documents are its contents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from noarkit.errors import SourceAway, SourceFault, SourceGone, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.graph.entity import Content, SetAside
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.spill import KeySet
from noarkit.sources.database import KIND, local
from noarkit.sources.database.address import SQLITE, Address, Connections, read_address, with_password_source
from noarkit.sources.database.contents import Documents
from noarkit.sources.database.documents import (
    DatabaseSettings,
    DocumentColumn,
    check_settings,
    read_settings,
    usual_documents,
)
from noarkit.sources.database.keys import content_key, with_keys
from noarkit.sources.database.rows import Tables
from noarkit.sources.database.schema import Schema, Table, reflect
from noarkit.sources.database.session import Session
from noarkit.sources.database.streams import PooledSession, SessionPool, open_document
from noarkit.sources.item_stream import with_progress

_SHAPES = "shapes"
_AS_IT_STANDS = DatabaseSettings()


def find_database(where: str) -> DatabaseSource | None:
    """The database behind a URL; None for what is none. Raises `SecretOnTheLine`, `UsageFault`."""
    address = read_address(where)
    return None if address is None else DatabaseSource(address)


def reopen_database(identity: SourceIdentity) -> DatabaseSource:
    """The database that a plan was made from, on the same terms. Raises `UsageFault`, `PlanFault`."""
    address = read_address(identity.where)
    if address is None:
        raise UsageFault(what="unknown-source", where=identity.where)
    settings = {name: value for name, value in identity.settings.items() if name != _SHAPES}
    shapes = identity.settings.get(_SHAPES)
    return DatabaseSource(address, read_settings(settings), shapes if isinstance(shapes, Mapping) else None)


class DatabaseSource:
    """The tables at an address, on a recipe's terms. `shapes` are those of the tables when a plan was made."""

    def __init__(
        self, address: Address, settings: DatabaseSettings = _AS_IT_STANDS, shapes: Mapping[str, object] | None = None
    ) -> None:
        self.address = address
        self.settings = settings
        self._shapes = dict(shapes or {})
        self._seen: dict[str, object] = {}
        self._pool = SessionPool(address)

    def __reduce__(self) -> tuple[object, ...]:
        return DatabaseSource, (self.address, self.settings, self._shapes)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `"database"`, the URL, the terms, and what the tables looked like when they were last read."""
        settings = self.settings.settings()
        shapes = self._seen or self._shapes
        if shapes:
            settings[_SHAPES] = dict(shapes)
        return SourceIdentity(KIND, self.address.where, settings)

    def fitted(self, settings: Mapping[str, object]) -> DatabaseSource:
        """The same database on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        read = read_settings(settings)
        if read.base:
            read = replace(read, base=str(Path(read.base).absolute()))
        source = DatabaseSource(self.address, read, self._shapes)
        source._pool.home = self._pool.home
        return source

    def keyed(self, connections: Connections) -> DatabaseSource:
        """The same database, with the password that one of these connections keeps for its URL."""
        source = DatabaseSource(with_password_source(self.address, connections), self.settings, self._shapes)
        source._pool.home = self._pool.home
        return source

    def settle(self, folder: Path) -> None:
        """A copy of an SQLite file that is in use is made in this folder, of a run."""
        self._pool.home = folder

    def digest(self, emit: Listener) -> str:
        """A checksum of an SQLite file as it looks from outside; empty for a server. Of that only reading tells whether
        a row has changed: counts and highest keys do not tell it of a row that was changed in place."""
        del emit
        return local.digest_of_file(self.address.file) if self.address.family == SQLITE else ""

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every row of every table once, tables that others refer to first, from one snapshot.

        Raises `SourceGone` (no database, or tables that are not as planned), `SourceAway`, `SourceDenied`.
        """
        with closing(self._pool.new_session()) as session:
            before = self._pool.file_states()
            pooled = self._pooled_session(session)
            labels = self.read_order(pooled.schema)
            tables = (self._table(pooled, pooled.schema.tables[label]) for label in labels)
            yield from with_progress(chain.from_iterable(tables), emit)
            if self._pool.file_states() != before:
                raise SourceAway(where=self.address.where, why="changed-while-read")

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document by its locator.

        Raises `ItemVanished`, `ItemChanged`, `ItemUnreadable`, and what concerns the whole: `SourceAway`, `SourceGone`,
        `SourceDenied`.
        """
        return self._open_stream(content)

    def release(self) -> None:
        """Closes the connections that are kept for the next document."""
        self._pool.close()

    def default_recipe(self) -> str:
        """The proposal: tables differ too much for one recipe to fit them all."""
        return self.proposal(ignore_event)

    def proposal(self, emit: Listener, *, lang: str = "en", here: Path | None = None) -> str:
        """A recipe fitted to tables, keys, and what their columns hold. Files that columns name are looked for from
        `here`, too."""
        from noarkit.sources.database.profile import profile, words_in
        from noarkit.sources.database.proposal import propose

        with closing(self._pool.new_session()) as session:
            schema = self._schema(session)
            stats = profile(session, schema, emit)
            return propose(self.address, schema, stats, partial(words_in, session), here, lang=lang)

    def profile(self, emit: Listener) -> Mapping[str, object]:
        """What a scan tells of tables, keys, relations and columns, as plain JSON values."""
        from noarkit.sources.database.profile import as_json, profile

        with closing(self._pool.new_session()) as session:
            schema = self._schema(session)
            return as_json(schema, profile(session, schema, emit))

    def read_order(self, schema: Schema) -> list[str]:
        """The tables that are read: in the order that the terms have them, else those that others refer to first."""
        labels = self.settings.tables or tuple(label for label, table in schema.tables.items() if not table.is_view)
        return list(dict.fromkeys((*labels, *self.settings.views)))

    def documents_of(self, table: Table) -> tuple[DocumentColumn, ...]:
        """The document columns of a table: as the terms say, else all that may hold bytes of any length."""
        return usual_documents(table) if self.settings.documents is None else self.settings.columns_of(table.label)

    def _schema(self, session: Session) -> Schema:
        """The tables as they are now. Raises `PlanFault` where the terms do not fit them, `SourceGone` where a plan was
        made of other tables."""
        schema = with_keys(reflect(session, self.settings.schemas), self.settings.keys)
        check_settings(self.settings, schema)
        self._seen = {label: _shape(schema.tables[label]) for label in self.read_order(schema)}
        for label, shape in self._shapes.items():
            if self._seen.get(label) != shape:
                raise SourceGone(where=self.address.where, why="table-altered", what=label)
        return schema

    def _pooled_session(self, session: Session) -> PooledSession:
        schema = self._schema(session)
        hidden = {
            label: frozenset(column.column for column in documents if column.form in ("bytes", "text"))
            for label, table in schema.tables.items()
            if (documents := self.documents_of(table))
        }
        return PooledSession(session, schema, Tables(session, schema, hidden, self.settings.text_without))

    def _documents(self, tables: Tables, table: Table) -> Documents:
        base = Path(self.settings.base or ".")
        documents = Documents(tables.session, tables.reader(table.label), self.documents_of(table), base)
        documents.set_change_column(self.settings.changed.get(table.label, ""))
        return documents

    def _table(self, pooled: PooledSession, table: Table) -> Iterator[SourceItem]:
        reader = pooled.tables.reader(table.label)
        documents = self._documents(pooled.tables, table)
        label = table.label
        value_count = len(reader.columns) + 2 * len(documents.columns)
        with KeySet() as row_digests:
            for batch in reader.batches(documents.extra):
                contents = documents.contents(batch.raw, batch.fields)
                keys = reader.keys_of(batch.raw)
                for row, row_key, fields, outcome in zip(batch.raw, keys, batch.fields, contents, strict=True):
                    key = row_key or content_key(table, row[:value_count], row_digests)
                    if not isinstance(outcome, SourceFault):
                        yield SourceRecord(label, key, fields, outcome)
                    elif outcome.exit_code == SourceFault.exit_code:
                        yield SetAside(
                            key, outcome.code, {**outcome.data, "key": key, "what": str(outcome.data.get("key"))}
                        )
                    else:
                        raise outcome

    @contextmanager
    def _open_stream(self, content: Content) -> Iterator[ContentStream]:
        pooled = self._pool.acquire(self._pooled_session)
        broken = True
        try:
            with open_document(pooled, self._documents, content, Path(self.settings.base or ".")) as stream:
                yield stream
            broken = False
        except SourceFault as fault:
            broken = fault.exit_code != SourceFault.exit_code
            raise
        finally:
            self._pool.release(pooled, broken=broken)


def _shape(table: Table) -> str:
    """A digest of what a plan relies on: columns, their types, and the key."""
    text = repr(([(column.name, column.declared_type) for column in table.columns], table.key))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

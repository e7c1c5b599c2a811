"""A database as a source: every row of every table is a record, its documents are its contents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from noarkit.errors import SourceAway, SourceFault, SourceGone, UsageFault
from noarkit.events import Event, Listener, nobody
from noarkit.graph.entity import Content, SetAside
from noarkit.sources.database import KIND
from noarkit.sources.database.address import Address, Connections, kept_in, read_address
from noarkit.sources.database.contents import Documents
from noarkit.sources.database.documents import DocumentColumn, Terms, check_terms, read_terms, usual_documents
from noarkit.sources.database.keys import keyed, repeated
from noarkit.sources.database.rows import Tables
from noarkit.sources.database.schema import Schema, Table, reflect
from noarkit.sources.database.session import Session
from noarkit.sources.database.streams import Desk, Desks, opened
from noarkit.sources.files.tally import Tally
from noarkit.sources.port import ContentStream, SourceIdentity, SourceItem, SourceRecord

_TELL_EVERY = 10_000
_SHAPES = "shapes"
_AS_IT_STANDS = Terms()


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
    return DatabaseSource(address, read_terms(settings), shapes if isinstance(shapes, Mapping) else None)


class DatabaseSource:
    """The tables at an address, on a recipe's terms. `shapes` are those of the tables when a plan was made."""

    def __init__(
        self, address: Address, terms: Terms = _AS_IT_STANDS, shapes: Mapping[str, object] | None = None
    ) -> None:
        self.address = address
        self.terms = terms
        self._shapes = dict(shapes or {})
        self._seen: dict[str, object] = {}
        self._desks = Desks(address)

    def __reduce__(self) -> tuple[object, ...]:
        return DatabaseSource, (self.address, self.terms, self._shapes)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `database`, the URL, the terms, and what the tables looked like when they were last read."""
        settings = self.terms.settings()
        shapes = self._seen or self._shapes
        if shapes:
            settings[_SHAPES] = dict(shapes)
        return SourceIdentity(KIND, self.address.where, settings)

    def fitted(self, terms: Mapping[str, object]) -> DatabaseSource:
        """The same database on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        read = read_terms(terms)
        if read.base:
            read = replace(read, base=str(Path(read.base).absolute()))
        source = DatabaseSource(self.address, read, self._shapes)
        source._desks.home = self._desks.home
        return source

    def keyed(self, connections: Connections) -> DatabaseSource:
        """The same database, with the password that one of these connections keeps for its URL."""
        source = DatabaseSource(kept_in(self.address, connections), self.terms, self._shapes)
        source._desks.home = self._desks.home
        return source

    def settle(self, folder: Path) -> None:
        """A copy of an SQLite file that is in use is made in this folder, of a run."""
        self._desks.home = folder

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """Every row of every table once, tables that others refer to first, from one snapshot.

        Raises `SourceGone` (no database, or tables that are not as planned), `SourceAway`, `SourceDenied`.
        """
        with closing(self._desks.session()) as session:
            before = self._desks.marks()
            desk = self._desk(session)
            count = 0
            for label in self.read_order(desk.schema):
                for item in self._table(desk, desk.schema.tables[label]):
                    yield item
                    count += 1
                    if count % _TELL_EVERY == 0:
                        tell(Event("source_read", {"items": count}))
            if self._desks.marks() != before:
                raise SourceAway(where=self.address.where, why="changed-while-read")

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document by its locator.

        Raises `ItemVanished`, `ItemChanged`, `ItemUnreadable`, and what concerns the whole: `SourceAway`, `SourceGone`,
        `SourceDenied`.
        """
        return self._opened(content)

    def default_recipe(self) -> str:
        """The proposal: tables differ too much for one recipe to fit them all."""
        return self.proposal(nobody)

    def proposal(self, tell: Listener) -> str:
        """A recipe fitted to tables, keys, and what their columns hold."""
        from noarkit.sources.database.profile import profile
        from noarkit.sources.database.proposal import propose

        with closing(self._desks.session()) as session:
            schema = self._schema(session)
            return propose(self.address, schema, profile(session, schema, tell))

    def profile(self, tell: Listener) -> Mapping[str, object]:
        """What a scan tells of tables, keys, relations and columns, as plain JSON values."""
        from noarkit.sources.database.profile import as_json, profile

        with closing(self._desks.session()) as session:
            schema = self._schema(session)
            return as_json(schema, profile(session, schema, tell))

    def read_order(self, schema: Schema) -> list[str]:
        """The tables that are read: in the order that the terms have them, else those that others refer to first."""
        chosen = self.terms.tables or tuple(label for label, table in schema.tables.items() if not table.is_view)
        return list(dict.fromkeys((*chosen, *self.terms.views)))

    def documents_of(self, table: Table) -> tuple[DocumentColumn, ...]:
        """The document columns of a table: as the terms say, else all that may hold bytes of any length."""
        return usual_documents(table) if self.terms.documents is None else self.terms.of(table.label)

    def _schema(self, session: Session) -> Schema:
        """The tables as they are now. Raises `PlanFault` where the terms do not fit them, `SourceGone` where a plan was
        made of other tables."""
        schema = keyed(reflect(session, self.terms.schemas), self.terms.keys)
        check_terms(self.terms, schema)
        self._seen = {label: _shape(schema.tables[label]) for label in self.read_order(schema)}
        for label, shape in self._shapes.items():
            if self._seen.get(label) != shape:
                raise SourceGone(where=self.address.where, why="table-altered", what=label)
        return schema

    def _desk(self, session: Session) -> Desk:
        schema = self._schema(session)
        hidden = {
            label: frozenset(one.column for one in documents if one.form in ("bytes", "text"))
            for label, table in schema.tables.items()
            if (documents := self.documents_of(table))
        }
        return Desk(session, schema, Tables(session, schema, hidden))

    def _documents(self, tables: Tables, table: Table) -> Documents:
        base = Path(self.terms.base or ".")
        documents = Documents(tables.session, tables.reader(table.label), self.documents_of(table), base)
        documents.marked_by(self.terms.changed.get(table.label, ""))
        return documents

    def _table(self, desk: Desk, table: Table) -> Iterator[SourceItem]:
        reader = desk.tables.reader(table.label)
        documents = self._documents(desk.tables, table)
        told = len(reader.columns) + 2 * len(documents.columns)
        with Tally() as tally:
            for batch in reader.batches(documents.extra):
                contents = documents.contents(batch.raw, batch.fields)
                for row, fields, held in zip(batch.raw, batch.fields, contents, strict=True):
                    key = reader.key_of(row) or repeated(table, row[:told], tally)
                    if not isinstance(held, SourceFault):
                        yield SourceRecord(table.label, key, fields, held)
                    elif held.exit_code == SourceFault.exit_code:
                        yield SetAside(key, held.code, {**held.data, "key": key, "what": str(held.data.get("key"))})
                    else:
                        raise held

    @contextmanager
    def _opened(self, content: Content) -> Iterator[ContentStream]:
        desk = self._desks.take(self._desk)
        broken = True
        try:
            with opened(desk, self._documents, content, Path(self.terms.base or ".")) as stream:
                yield stream
            broken = False
        except SourceFault as fault:
            broken = fault.exit_code != SourceFault.exit_code
            raise
        finally:
            self._desks.give_back(desk, broken=broken)


def _shape(table: Table) -> str:
    """A digest of what a plan relies on: columns, their types, and the key."""
    told = repr(([(column.name, column.declared) for column in table.columns], table.key))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

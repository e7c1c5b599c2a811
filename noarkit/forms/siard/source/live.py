"""A live database as what a SIARD archive is written from: one read-only snapshot, rows in constant memory.

    with live_source("postgresql://host/records") as source:
        write_siard(source, Path("records.siard"), SiardOrder())

Tables are asked twice: whether their columns hold anything their SIARD types cannot, and for their rows. Large values
of PostgreSQL and SQLite are fetched piece by piece; those of other servers come whole, one row at a time.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, Self

from noarkit.errors import UsageFault
from noarkit.forms.siard import model
from noarkit.forms.siard.copied import CopiedRows
from noarkit.forms.siard.source.catalogue import checks, routines, triggers, user_types
from noarkit.forms.siard.source.fetching import Fetch, copied_rows, inspect_columns, rows_of
from noarkit.forms.siard.source.types import ColumnContents, is_fallback, siard_column
from noarkit.forms.siard.spec import CODES
from noarkit.sources.database.address import (
    POSTGRESQL,
    SQLITE,
    Address,
    Connections,
    read_address,
    with_password_source,
)
from noarkit.sources.database.catalogue import versioned_tables
from noarkit.sources.database.columns import Column
from noarkit.sources.database.quiet import without_warnings
from noarkit.sources.database.schema import Relation, Table, reflect, source_of
from noarkit.sources.database.session import Session
from noarkit.sources.database.streams import SessionPool

Facts = Mapping[str, str]
"""What nobody but people know of a database: `description`, `archiver`, `archiver_contact`, `data_owner`,
`data_origin_timespan`."""


def live_source(
    url: str, facts: Facts | None = None, *, schemas: Sequence[str] = (), connections: Connections | None = None
) -> LiveSource:
    """The database behind a URL; `connections` of a config may keep its password.

    Raises `SecretOnTheLine`, `UsageFault`, `SourceAway`, `SourceDenied`, `SourceGone`.
    """
    address = read_address(url)
    if address is None:
        raise UsageFault(what="unknown-source", where=url)
    if connections is not None:
        address = with_password_source(address, connections)
    return LiveSource(address, facts or {}, schemas)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What an archive does not hold: a table or view, why, and how many rows that is."""

    name: str
    kind: Literal["no-columns", "earlier-rows"]
    rows: int


class LiveSource(AbstractContextManager["LiveSource"]):
    """One database in one snapshot. Close it, or use `with`. `as_text` names the columns that became texts or bytes,
    since they hold what their own types in SIARD cannot; `left_out` what SIARD has no place for."""

    def __init__(self, address: Address, facts: Facts, schemas: Sequence[str] = ()) -> None:
        self._desks = SessionPool(address)
        self._address = address
        self._session: Session = self._desks.new_session()
        self._facts = facts
        try:
            self._tables = reflect(self._session, schemas)
            self._contents = {
                label: inspect_columns(self._session, table) if not table.is_view else {}
                for label, table in self._tables.tables.items()
            }
            with without_warnings():  # of types it does not know: ours are told by the name
                self.archive = self._archive()
        except BaseException:
            self._session.close()
            raise
        self.as_text = tuple(self._text_columns())
        self.left_out = tuple(self._left_out())
        self.stamp = self._stamp()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the session go."""
        self._session.close()

    def _text_columns(self) -> Iterator[str]:
        """Columns that hold what their types in SIARD cannot, by table."""
        for label, table in self._tables.tables.items():
            for column in table.columns if not table.is_view else ():
                if is_fallback(self._address.family, column, self._contents[label].get(column.name, ColumnContents())):
                    yield f"{table.name.name}.{column.name}"

    def _left_out(self) -> Iterator[LeftOut]:
        """Tables and views without columns, and earlier states of rows that MariaDB keeps beside those that hold."""
        for label, table in self._tables.tables.items():
            if not table.columns:
                yield LeftOut(label, "no-columns", self._count(source_of(self._session, table)))
        for name in versioned_tables(self._session):
            source = self._session.quote(name)
            earlier = self._count(f"{source} FOR SYSTEM_TIME ALL") - self._count(source)
            if earlier > 0:
                yield LeftOut(name, "earlier-rows", earlier)

    def _count(self, source: str) -> int:
        row = self._session.first_row(f"SELECT count(*) FROM {source}")  # noqa: S608  # quoted by the dialect
        return int(str(row[0])) if row else 0

    def _archive(self) -> model.Archive:
        """What the catalogue tells, in SIARD's words."""
        default = self._default()
        names = dict.fromkeys(table.name.schema or default for table in self._tables.tables.values())
        schema_names = dict.fromkeys([*names, *(name or default for name in self._tables.schemas)])
        candidates = [self._schema(name, default) for name in schema_names or {default: None}]
        schemas = tuple(
            schema for schema in candidates if schema.name in names or schema.routines or schema.types
        ) or tuple(candidates[:1])
        facts = self._facts
        return model.Archive(
            dbname=self._address.name,
            producer_application="noarkit",
            archival_date=datetime.now(UTC).date().isoformat(),
            client_machine=socket.gethostname(),
            database_product=self._product(),
            connection=self._address.where if self._address.family != SQLITE else "",
            schemas=schemas,
            users=tuple(model.User(name) for name in self._users()),
            description=facts.get("description", ""),
            archiver=facts.get("archiver", ""),
            archiver_contact=facts.get("archiver_contact", ""),
            data_owner=facts.get("data_owner", ""),
            data_origin_timespan=facts.get("data_origin_timespan", ""),
        )

    def _schema(self, name: str, default: str) -> model.Schema:
        return model.Schema(
            name,
            types=user_types(self._session, name),
            tables=tuple(self._tables_of(name, default)),
            views=tuple(self._view(table) for table in self._tables_in(name, default) if table.is_view),
            routines=routines(self._session, name),
        )

    def rows(self, schema: model.Schema, table: model.Table) -> Iterator[Sequence[object]]:
        """The rows of a table, in XML's own forms."""
        return rows_of(self._fetch(schema, table))

    def copied(self, schema: model.Schema, table: model.Table) -> Iterator[CopiedRows] | None:
        """The same as COPY writes them, where the server has it."""
        return copied_rows(self._fetch(schema, table))

    def _fetch(self, schema: model.Schema, table: model.Table) -> Fetch:
        source_table = self._find_table(schema.name, table.name)
        types = {column.name: column.type for column in table.columns}
        return Fetch(self._session, source_table, types, self._contents[source_table.label])

    def _find_table(self, schema: str, name: str) -> Table:
        for table in self._tables.tables.values():
            if (table.name.schema or self._default(), table.name.name) == (schema, name) and not table.is_view:
                return table
        raise UsageFault(what="no-such-table", where=f"{schema}.{name}")

    def _default(self) -> str:
        return self._tables.default_schema or ("main" if self._address.family == SQLITE else self._address.name)

    def _tables_in(self, name: str, default: str) -> list[Table]:
        return [
            table for table in self._tables.tables.values() if (table.name.schema or default) == name and table.columns
        ]

    def _tables_of(self, name: str, default: str) -> Iterator[model.Table]:
        triggers_by_table = triggers(self._session, name)
        for table in self._tables_in(name, default):
            if not table.is_view:
                yield replace(
                    self._table(table, default),
                    triggers=triggers_by_table.get(table.name.name, ()),
                    checks=checks(self._session, table.name),
                )

    def _table(self, table: Table, default: str) -> model.Table:
        contents = self._contents[table.label]
        key_name = table.key_name or f"pk_{table.name.name}"
        primary = model.Key(key_name, table.primary_key) if table.primary_key else None
        return model.Table(
            table.name.name,
            description="\n".join(text for text in (table.comment, *table.notes) if text),
            columns=tuple(
                self._column(column, contents.get(column.name, ColumnContents())) for column in table.columns
            ),
            primary_key=primary,
            foreign_keys=tuple(_foreign(relation, default) for relation in table.relations),
            candidate_keys=tuple(
                model.Key(name or f"unique_{number}", names)
                for number, (name, names) in enumerate(table.candidates, start=1)
            ),
        )

    def _column(self, column: Column, contents: ColumnContents) -> model.Column:
        return siard_column(self._address.family, column, contents)

    def _view(self, table: Table) -> model.View:
        inspector = self._session.inspector
        with self._session.faults():
            try:
                query = str(inspector.get_view_definition(table.name.name, schema=table.name.schema) or "")
            except NotImplementedError:
                query = ""
        columns = tuple(self._column(column, ColumnContents()) for column in table.columns)
        return model.View(table.name.name, query_original=query, columns=columns)

    def _product(self) -> str:
        if self._address.family == SQLITE:
            return f"SQLite {(self._session.first_row('SELECT sqlite_version()') or ('',))[0]}"
        name = {POSTGRESQL: "PostgreSQL"}.get(self._address.family, self._address.family)
        row = self._session.first_row(_VERSION.get(self._address.family, "SELECT VERSION()"))
        return f"{name} {row[0] if row else ''}".strip()

    def _users(self) -> list[str]:
        """Who may log in, where the account may see it; else who we are."""
        if self._address.family == POSTGRESQL:
            rows = self._session.rows("SELECT rolname FROM pg_catalog.pg_roles WHERE rolcanlogin ORDER BY rolname")
            return [str(row[0]) for row in rows]
        return [self._address.url.username] if self._address.url.username else []

    def _stamp(self) -> str:
        """An SQLite file that nobody writes to is the same as long as it looks the same."""
        file_state = self._desks.file_states()
        return f"{self._address.where} {file_state}" if file_state else ""


_VERSION = {POSTGRESQL: "SELECT current_setting('server_version')"}


def _foreign(relation: Relation, default: str) -> model.ForeignKey:
    pairs = zip(relation.columns, relation.referred, strict=False)
    return model.ForeignKey(
        relation.constraint or f"fk_{relation.name}",
        relation.table.schema or default,
        relation.table.name,
        tuple(model.Reference(ours, theirs) for ours, theirs in pairs),
        match_type=relation.actions.match,
        delete_action=_action(relation.actions.on_delete),
        update_action=_action(relation.actions.on_update),
        description=relation.actions.definition,
    )


def _action(action: str) -> str:
    """What is done, where SIARD has a word for it."""
    return action.upper() if action.upper() in CODES["referentialActionType"] else ""

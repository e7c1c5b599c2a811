"""A register that is a table or view of a database: its address with the table behind a `#`, and its rows as texts.

    full_address("saker.db#sak")                    ->   "sqlite:////srv/saker.db#sak"
    table_rows("postgresql://arkiv@db/sak#saker")   ->   (1, {"saksnr": "2014/7", "tittel": "Høring", …}), …

A password never stands in the address; it lies where that of any database does (see `noarkit help databases`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.errors import ItemMalformed, PlanFault, UsageFault
from noarkit.events import ignore_event
from noarkit.records import SourceRecord
from noarkit.sources.database import find_database

if TYPE_CHECKING:
    from noarkit.sources.database.source import DatabaseSource

Row = Mapping[str, object]
BEFORE_TABLE = "#"


def full_address(where: str) -> str:
    """The address from wherever one stands, of a URL or of the file of an SQLite database. Raises `UsageFault` where it
    is none, `SecretOnTheLine` where a password stands in it."""
    database, sign, table = where.partition(BEFORE_TABLE)
    if not find_database(database) and os.path.lexists(database):
        database = f"sqlite:///{Path(database).absolute()}"
    return f"{_source(database).identity.where}{sign}{table}"


def tables_at(where: str) -> Iterator[str]:
    """The address of each table and view that may be meant: the one that is named, or all."""
    from noarkit.sources.database.schema import reflect
    from noarkit.sources.database.streams import SessionPool

    database, _, table = where.partition(BEFORE_TABLE)
    if table:
        yield where
        return
    with closing(SessionPool(_source(database).address).new_session()) as session:
        labels = list(reflect(session).tables)
    yield from (f"{database}{BEFORE_TABLE}{label}" for label in labels)


def table_rows(where: str) -> Iterator[tuple[int, Row]]:
    """The rows of the table, in the order in which a database is always read, each with its number from 1.

    Raises `PlanFault` where there is no such table, `ItemMalformed` for a row that cannot be read, and what concerns
    the database: `SourceGone`, `SourceAway`, `SourceDenied`.
    """
    from noarkit.sources.database.values import text_of

    database, _, table = where.partition(BEFORE_TABLE)
    if not table:
        raise PlanFault(where="[register]", why="register-without-table", name=where)
    source = _source(database).fitted({"tables": [table]})
    try:
        for number, record in enumerate(source.records(ignore_event), start=1):
            if not isinstance(record, SourceRecord):
                raise ItemMalformed(key=f"{where} {number}", why="unreadable")
            yield number, {name: text_of(value) for name, value in record.fields.items()}
    except PlanFault as fault:
        raise PlanFault(**{**fault.data, "where": "[register]"}) from fault


def _source(database: str) -> DatabaseSource:
    source = find_database(database)
    if source is None:
        raise UsageFault(what="not-a-database-address", where=database)
    return source

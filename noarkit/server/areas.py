"""Lists the areas of the archive service and opens an archive folder with all of them.

`open_service` creates the tables of every area in a new folder, or opens an existing one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from noarkit.errors import ConfigFault
from noarkit.server import (
    DATABASE_FILE,
    access,
    bulk,
    business_metadata,
    change_export,
    change_import,
    code_lists,
    downloads,
    fulltext,
    logs,
    query,
    schema,
    transaction,
    uploads,
    whoami,
)
from noarkit.server.calling import Route
from noarkit.server.clients import open_clients
from noarkit.server.database import Database
from noarkit.server.files import Files
from noarkit.server.fulltext.documents import read_documents
from noarkit.server.fulltext.documents import tables as documents_tables
from noarkit.server.identity import Identity
from noarkit.server.read_log import ReadLog
from noarkit.server.service import Service
from noarkit.server.settings import Settings, read_settings


class Area(Protocol):
    """The interface of an area: its tables and its routes."""

    def statements(self) -> Iterable[str]:
        """The statements that make the area's tables in a new archive."""
        ...

    def routes(self) -> list[Route]:
        """The area's calls."""
        ...


# Each area is a module with `statements()` (its own tables, may be none) and `routes()`.
AREAS: tuple[Area, ...] = (
    transaction,
    query,
    uploads,
    downloads,
    code_lists,
    business_metadata,
    whoami,
    access,
    fulltext,
    logs,
    change_export,
    change_import,
    bulk,
)


def open_service(data_dir: Path, settings: Settings | None = None, now_s: Callable[[], float] = time.time) -> Service:
    """Opens the archive in `data_dir` and creates it first if it is new. Raises ConfigFault where it is no archive."""
    data_dir.mkdir(parents=True, exist_ok=True)
    settings = settings or read_settings(data_dir)
    clients = open_clients(data_dir)
    path = data_dir / DATABASE_FILE
    db = Database(path)
    version = _schema_version(db)
    if version is None:
        db.create_tables(_all_statements())
    elif version != schema.SCHEMA_VERSION:
        db.close()
        raise ConfigFault(where=str(path), why=f"made by another version of the archive service (tables {version})")
    db.create_tables(documents_tables())
    files = Files(data_dir, db, ttl_s=settings.upload_ttl_s, now_s=now_s)
    identity = Identity(db, clients, settings, lambda: int(now_s() * 1000))
    return Service(
        data_dir, settings, db, files, ReadLog(data_dir, db.clock), now_s, identity, bulk.run_next, read_documents
    )


def all_routes() -> list[Route]:
    """The routes of every area."""
    return [route for area in AREAS for route in area.routes()]


def _schema_version(db: Database) -> int | None:
    with db.snapshot() as reader:
        table_row = reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'archive_schema'").fetchone()
        return None if table_row is None else int(reader.execute("SELECT version FROM archive_schema").fetchone()[0])


def _all_statements() -> Iterator[str]:
    yield "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"
    yield "CREATE TABLE archive_schema (version INTEGER NOT NULL)"
    yield f"INSERT INTO archive_schema VALUES ({schema.SCHEMA_VERSION:d})"  # noqa: S608  # a number of our own
    yield from schema.statements()
    for area in AREAS:
        yield from area.statements()

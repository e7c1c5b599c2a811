"""One running archive: its settings, databases, files, clock, and the areas it is made of.

`open_service` makes the tables of every area in a new folder, or opens the folder as it was left. `start` begins the
work that nobody waits for: sweeping, writing logs, bulk jobs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from noarkit.errors import ConfigFault
from noarkit.server import (
    access,
    bulk,
    business_metadata,
    change_export,
    change_import,
    code_lists,
    downloads,
    fulltext,
    identity,
    logs,
    query,
    schema,
    transaction,
    uploads,
)
from noarkit.server.clients import open_clients
from noarkit.server.database import Database
from noarkit.server.files import Files
from noarkit.server.identity import Identity
from noarkit.server.read_log import ReadLog
from noarkit.server.settings import Settings, read_settings
from noarkit.server.wire import Route
from noarkit.server.workers import Worker


class Area(Protocol):
    """What the service asks of an area."""

    def statements(self) -> Iterable[str]:
        """The statements that make the area's tables in a new archive."""
        ...

    def routes(self) -> list[Route]:
        """The area's calls."""
        ...


LOGGER = logging.getLogger("noarkit.server")

# Each area is a module with `statements()` (its own tables, may be none) and `routes()`.
AREAS: tuple[Area, ...] = (
    transaction,
    query,
    uploads,
    downloads,
    code_lists,
    business_metadata,
    identity,
    access,
    fulltext,
    logs,
    change_export,
    change_import,
    bulk,
)
_SWEEP_EVERY_S = 60.0
_FLUSH_EVERY_S = 0.5
_BULK_EVERY_S = 30.0
_STRAYS_EVERY_S = 24 * 3600.0


@dataclass(slots=True)
class Service:
    """What every call can reach."""

    data_dir: Path
    settings: Settings
    db: Database
    files: Files
    read_log: ReadLog
    now_s: Callable[[], float]
    identity: Identity
    workers: dict[str, Worker] = field(default_factory=dict)

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970 UTC."""
        return int(self.now_s() * 1000)

    def start(self, *, after_crash: bool = False) -> None:
        """Begins the background work; close() ends it. After a crash, stray files are looked for once."""
        if after_crash:
            self.workers["strays"] = Worker("archive-strays", self.files.sweep_strays, _STRAYS_EVERY_S)
        self.workers["sweep"] = Worker("archive-sweep", self.files.sweep, _SWEEP_EVERY_S)
        self.workers["read-log"] = Worker("archive-read-log", self.read_log.flush, _FLUSH_EVERY_S)
        self.workers["bulk"] = Worker("archive-bulk", self._run_bulk, _BULK_EVERY_S)
        for worker in self.workers.values():
            worker.start()

    @property
    def stopping(self) -> bool:
        """True once the service is to end; long background work looks at it and ends early."""
        return any(worker.stopping for worker in self.workers.values())

    def wake_bulk(self) -> None:
        """Says that a bulk job was queued."""
        if "bulk" in self.workers:
            self.workers["bulk"].wake()

    def _run_bulk(self) -> None:
        while not self.stopping and bulk.run_next(self):
            pass

    def close(self) -> None:
        """Ends the background work and the connections."""
        for worker in self.workers.values():
            worker.tell_to_stop()
        for worker in self.workers.values():
            worker.stop()
        self.read_log.close()
        self.files.close()
        self.db.close()


def open_service(data_dir: Path, settings: Settings | None = None, now_s: Callable[[], float] = time.time) -> Service:
    """Opens the archive in `data_dir`, making it first where it is new. Raises ConfigFault where it is no archive."""
    data_dir.mkdir(parents=True, exist_ok=True)
    settings = settings or read_settings(data_dir)
    clients = open_clients(data_dir)
    path = data_dir / "archive.db"
    db = Database(path)
    version = _schema_version(db)
    if version is None:
        db.make(_all_statements())
    elif version != schema.SCHEMA_VERSION:
        db.close()
        raise ConfigFault(where=str(path), why=f"made by another version of the archive service (tables {version})")
    files = Files(data_dir, db, ttl_s=settings.upload_ttl_s, now_s=now_s)
    identity = Identity(db, clients, settings, lambda: int(now_s() * 1000))
    return Service(data_dir, settings, db, files, ReadLog(data_dir), now_s, identity)


def all_routes() -> list[Route]:
    """The routes of every area."""
    return [route for area in AREAS for route in area.routes()]


def _schema_version(db: Database) -> int | None:
    with db.reading() as reader:
        made = reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'archive_schema'").fetchone()
        return None if made is None else int(reader.execute("SELECT version FROM archive_schema").fetchone()[0])


def _all_statements() -> Iterator[str]:
    yield "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"
    yield "CREATE TABLE archive_schema (version INTEGER NOT NULL)"
    yield f"INSERT INTO archive_schema VALUES ({schema.SCHEMA_VERSION:d})"  # noqa: S608  # a number of our own
    yield from schema.statements()
    for area in AREAS:
        yield from area.statements()

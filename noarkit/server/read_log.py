"""The access log and the download log: buffered in memory, written in batches to `logs.db` beside the archive.

Rows are written a moment later, so a crash may lose the last of them; an orderly stop loses none, and a call that reads
the logs flushes the buffer first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from noarkit.server import LOGS_FILE
from noarkit.server.database import Database
from noarkit.server.deadline import CallClock

_TABLES = (
    "CREATE TABLE IF NOT EXISTS access (number INTEGER PRIMARY KEY, created_ms INTEGER NOT NULL,"
    " user_name TEXT NOT NULL, user_id TEXT NOT NULL, type TEXT NOT NULL, uuid TEXT NOT NULL,"
    " version INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS access_uuid ON access (uuid)",
    "CREATE TABLE IF NOT EXISTS download (number INTEGER PRIMARY KEY, created_ms INTEGER NOT NULL,"
    " user_name TEXT NOT NULL, user_id TEXT NOT NULL, uuid TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS download_uuid ON download (uuid)",
)
_BATCH = 5000
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Access:
    """One object that one account read."""

    created_ms: int
    user_name: str
    user_id: str
    type: str
    uuid: str
    version: int


@dataclass(frozen=True, slots=True)
class Download:
    """One document version whose file one account downloaded."""

    created_ms: int
    user_name: str
    user_id: str
    uuid: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a search: SQL over our own columns, and the values of its parameters."""

    sql: str
    values: tuple[str | int, ...]


class ReadLog:
    """The access log and the download log of one archive."""

    def __init__(self, data_dir: Path, clock: CallClock | None = None, wake: Callable[[], None] = lambda: None) -> None:
        self._db = Database(data_dir / LOGS_FILE, clock, synchronous="NORMAL")
        self._db.create_tables(_TABLES)
        self._wake = wake
        self._lock = threading.Lock()
        self._accesses: list[Access] = []
        self._downloads: list[Download] = []

    def note_reads(self, entries: Sequence[Access]) -> None:
        """Notes objects that were read."""
        with self._lock:
            self._accesses.extend(entries)
        if len(self._accesses) > _BATCH:
            self.flush()

    def note_download(self, entry: Download) -> None:
        """Notes a download."""
        with self._lock:
            self._downloads.append(entry)
        if len(self._downloads) > _BATCH:
            self.flush()

    def flush(self) -> None:
        """Writes what was noted."""
        with self._lock:
            accesses, self._accesses = self._accesses, []
            downloads, self._downloads = self._downloads, []
            if not accesses and not downloads:
                return
            try:
                with self._db.transaction() as db:
                    db.executemany("INSERT INTO access VALUES (NULL, ?, ?, ?, ?, ?, ?)", map(astuple, accesses))
                    db.executemany("INSERT INTO download VALUES (NULL, ?, ?, ?, ?)", map(astuple, downloads))
            except BaseException:
                self._accesses, self._downloads = accesses, downloads
                raise

    def accesses(self, conditions: Sequence[Condition]) -> Iterator[Access]:
        """The entries that fit, oldest first, so that pages stay as they are while entries are added."""
        for row in self._rows("access", conditions):
            yield Access(*row)  # type: ignore[arg-type]  # the columns of the table, in order

    def downloads(self, conditions: Sequence[Condition]) -> Iterator[Download]:
        """The entries that fit, oldest first, so that pages stay as they are while entries are added."""
        for row in self._rows("download", conditions):
            yield Download(*row)  # type: ignore[arg-type]  # the columns of the table, in order

    def close(self) -> None:
        """Writes what was noted and ends the connections."""
        self.flush()
        self._db.close()

    def _rows(self, table: str, conditions: Sequence[Condition]) -> Iterator[tuple[str | int, ...]]:
        self.flush()
        where_sql = " AND ".join(["number > ?", *(condition.sql for condition in conditions)])
        values = [value for condition in conditions for value in condition.values]
        last_number = 0
        while True:
            with self._db.snapshot() as db:
                rows = db.execute(
                    f"SELECT * FROM {table} WHERE {where_sql} ORDER BY number LIMIT {_PAGE}",  # noqa: S608  # our own words
                    (last_number, *values),
                ).fetchall()
            self._db.clock.check()
            for row in rows:
                yield row[1:]
            if len(rows) < _PAGE:
                return
            last_number = rows[-1][0]

"""One SQLite database: one writer at a time, readers beside it, nothing half written.

`writing()` is the only way to change anything: it holds the lock, begins, and commits or rolls back as a whole.
`reading()` sees one snapshot from its first statement to its end.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32000",
    "PRAGMA mmap_size = 0",
    "PRAGMA wal_autocheckpoint = 4000",
)


class Database:
    """The connections of one archive folder; close() ends them all."""

    def __init__(self, path: Path, *, synchronous: str = "FULL") -> None:
        self._path = path
        self._synchronous = synchronous
        self._lock = threading.Lock()
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._opened_lock = threading.Lock()
        self._writer = self._open()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The one writer, inside a transaction that commits when the block ends well."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's reader, in one snapshot; blocks may nest and then share it."""
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._open()
        if reader.in_transaction:
            yield reader
            return
        reader.execute("BEGIN")
        try:
            yield reader
        finally:
            if reader.in_transaction:  # SQLite has rolled back by itself where a write to a temporary table was cut off
                reader.execute("ROLLBACK")

    def make(self, statements: Iterable[str]) -> None:
        """Runs statements that make tables, in one transaction."""
        with self.writing() as db:
            for statement in statements:
                db.execute(statement)

    def close(self) -> None:
        """Ends every connection; the folder may then be opened by another process."""
        with self._opened_lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=30.0, cached_statements=512
        )
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        with self._opened_lock:
            self._opened.append(connection)
        return connection


def allocate(db: sqlite3.Connection, name: str, count: int = 1) -> int:
    """The first of `count` new numbers of the sequence `name`; inside the writer's transaction, never given twice."""
    row = db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value",
        (name, count),
    ).fetchone()
    return int(row[0]) - count + 1

"""The connections of one SQLite database: one writer at a time, and readers that see consistent snapshots.

`transaction()` is the only way to change anything: it takes the lock, begins, and commits or rolls back as a whole.
`snapshot()` sees one state from its first statement to its end. Both are interrupted when the call's time is over, and
nothing of the call is committed afterwards.

What was committed is moved from the write-ahead log into the database file by a background worker (`checkpoint`), so
that no call waits for it; a writer helps where the log has become long all the same.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.server.deadline import CallClock
from noarkit.server.fair_queues import FairLock
from noarkit.server.wire import Refusal

# Steps of SQLite's machine between two looks at the clock: about a millisecond.
_STEPS_BETWEEN_LOOKS = 10_000
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32000",
    "PRAGMA mmap_size = 0",
)


class Database:
    """The connections of one archive folder; close() ends them all."""

    def __init__(
        self, path: Path, clock: CallClock | None = None, *, synchronous: str = "FULL", checkpoint_pages: int = 16_000
    ) -> None:
        self.clock = clock or CallClock()
        self._path = path
        self._checkpoint_pages = checkpoint_pages
        self._checkpointer: sqlite3.Connection | None = None
        self._checkpoint_lock = threading.Lock()
        self._commits = 0
        self._moved_commits = 0
        self._synchronous = synchronous
        self._lock = FairLock()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._connections_lock = threading.Lock()
        self._writer = self._connect()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The single writer connection, in a transaction that commits when the block ends without an exception.

        Waiting accounts take turns; a call whose time runs out while it waits is refused with 503.
        """
        deadline = self.clock.deadline
        account, timeout_s = ("", None) if deadline is None else (deadline.account, deadline.remaining_s)
        if not self._lock.acquire(account, timeout_s):
            raise Refusal(503, "the archive is busy")
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self.clock.check()
                self._end_transaction(self._writer, "COMMIT")
                self._commits += 1
            except BaseException:
                self._end_transaction(self._writer, "ROLLBACK")
                raise
        finally:
            self._lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """This thread's reader connection, in one snapshot; nested blocks share it."""
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._connect()
        if reader.in_transaction:
            yield reader
            return
        reader.execute("BEGIN")
        try:
            yield reader
        finally:
            # SQLite has rolled back by itself where a write to a temporary table was cut off
            self._end_transaction(reader, "ROLLBACK")

    def create_tables(self, statements: Iterable[str]) -> None:
        """Runs statements that make tables, in one transaction."""
        with self.transaction() as db:
            for statement in statements:
                db.execute(statement)

    def close(self) -> None:
        """Ends every connection; the folder may then be opened by another process."""
        with self._checkpoint_lock, self._connections_lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
            if self._checkpointer is not None:
                self._checkpointer.close()
                self._checkpointer = None

    def checkpoint(self) -> None:
        """Moves the write-ahead log into the database file, beside whoever reads and writes; for a worker, now and
        then. Does nothing where nothing was committed since."""
        commits = self._commits
        if commits == self._moved_commits:
            return
        with self._checkpoint_lock:
            if self._checkpointer is None:
                self._checkpointer = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._checkpointer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._moved_commits = commits

    def _end_transaction(self, connection: sqlite3.Connection, word: str) -> None:
        """Commits or rolls back, and is never interrupted while doing so.

        SQLite rolls back by itself after some faults; a commit of such a transaction must fail, not pass silently.
        """
        self._local.ending = True
        try:
            if connection.in_transaction:
                connection.execute(word)
            elif word == "COMMIT":
                raise sqlite3.OperationalError("the transaction was ended before its commit")
        finally:
            self._local.ending = False

    def _check_clock(self) -> int:
        """SQLite's progress handler: 1 interrupts the running statement because its call's time is over."""
        return int(self.clock.is_over() and not getattr(self._local, "ending", False))

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=30.0, cached_statements=512
        )
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._checkpoint_pages:d}")
        connection.set_progress_handler(self._check_clock, _STEPS_BETWEEN_LOOKS)
        with self._connections_lock:
            self._connections.append(connection)
        return connection


def allocate(db: sqlite3.Connection, name: str, count: int = 1) -> int:
    """The first of `count` new numbers of the sequence `name`; inside the writer's transaction, never given twice."""
    row = db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value",
        (name, count),
    ).fetchone()
    return int(row[0]) - count + 1

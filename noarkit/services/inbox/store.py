"""The inbox database: stores each message once, durably, before it is answered, until a plan has used it. Old ones are
kept as long as a service may resend them, so that a replay is recognised."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import JournalFault
from noarkit.safe.owners import user_state
from noarkit.services.watermarks import Hints

RETENTION_S = 7 * 86_400.0
MOST = 1_000_000
MAX_HINTED_IDS = 100_000  # ids that one run asks for by hint; what is beyond them comes with the next sweep
_NAMED = (
    "SELECT DISTINCT each.value FROM message, json_each(message.ids) AS each"
    " WHERE connection = ? AND NOT taken ORDER BY 1 LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Hint:
    """A stored message: which records to fetch. `number` is its place in the inbox."""

    number: int
    connection: str
    event: str
    ids: tuple[str, ...]
    received_s: float


class Inbox:
    """The messages of all connections. Safe for threads."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS message (number INTEGER PRIMARY KEY, connection TEXT NOT NULL,"
            " id TEXT NOT NULL, event TEXT NOT NULL, ids TEXT NOT NULL, received REAL NOT NULL,"
            " taken INTEGER NOT NULL DEFAULT 0, UNIQUE (connection, id))"
        )

    def add(self, connection: str, message_id: str, event: str, ids: tuple[str, ...], now_s: float) -> bool:
        """Stores a message; False for one that came before. Raises `JournalFault` if it cannot be stored, or the inbox
        is full: the service will send it again."""
        try:
            with self._lock:
                if self._db.execute("SELECT count(*) FROM message WHERE NOT taken").fetchone()[0] >= MOST:
                    raise JournalFault(where="inbox", why="full")
                row = (connection, message_id, event, json.dumps(ids), now_s)
                cursor = self._db.execute(
                    "INSERT OR IGNORE INTO message (connection, id, event, ids, received) VALUES (?, ?, ?, ?, ?)", row
                )
                return cursor.rowcount > 0
        except sqlite3.Error as error:
            raise JournalFault(where="inbox", why=type(error).__name__) from error

    def hints(self, connection: str) -> Iterator[Hint]:
        """Yields the messages of a connection that are not used yet, oldest first."""
        query = "SELECT number, event, ids, received FROM message WHERE connection = ? AND NOT taken ORDER BY number"
        with self._lock:
            rows = self._db.execute(query, (connection,)).fetchall()
        for number, event, ids, received_s in rows:
            yield Hint(number, connection, event, tuple(json.loads(ids)), received_s)

    def waiting_hints(self, connection: str) -> Hints | None:
        """Returns the waiting messages of a connection, counted by event; None if there are none."""
        query = (
            "SELECT event, count(*), max(number), min(received) FROM message"
            " WHERE connection = ? AND NOT taken GROUP BY event"
        )
        with self._lock:
            rows = self._db.execute(query, (connection,)).fetchall()
            id_rows = self._db.execute(_NAMED, (connection, MAX_HINTED_IDS)).fetchall() if rows else []
        if not rows:
            return None
        events = {str(event): int(count) for event, count, _, _ in rows}
        ids = tuple(str(hinted_id) for (hinted_id,) in id_rows)
        return Hints(max(row[2] for row in rows), min(row[3] for row in rows), events, ids)

    def take(self, connection: str, up_to: int, now_s: float) -> int:
        """Marks messages as used, once their records are archived; returns how many. Those too old to be resent are
        deleted."""
        with self._lock:
            query = "UPDATE message SET taken = 1 WHERE connection = ? AND number <= ? AND NOT taken"
            cursor = self._db.execute(query, (connection, up_to))
            self._db.execute("DELETE FROM message WHERE taken AND received < ?", (now_s - RETENTION_S,))
            return cursor.rowcount

    def counts(self) -> Mapping[str, int]:
        """Counts the waiting messages by connection."""
        query = "SELECT connection, count(*) FROM message WHERE NOT taken GROUP BY connection"
        with self._lock:
            return dict(self._db.execute(query).fetchall())

    def close(self) -> None:
        """Closes the database."""
        self._db.close()


def inbox_place(environment: Mapping[str, str]) -> Path:
    """Returns the path of this user's inbox."""
    return user_state(environment) / "inbox.db"


def waiting_hints(environment: Mapping[str, str], connection: str) -> Hints | None:
    """Returns the waiting messages of a connection; None if there are none. Raises `JournalFault` for a broken
    inbox."""
    path = inbox_place(environment)
    if not path.is_file():
        return None
    try:
        with closing(Inbox(path)) as inbox:
            return inbox.waiting_hints(connection)
    except sqlite3.Error as error:
        raise JournalFault(where=str(path), why=type(error).__name__) from error


def take_hints(environment: Mapping[str, str], connection: str, hints: Hints, now_s: float) -> int:
    """Marks messages as used, once their records are archived; returns how many were still waiting. Raises
    `JournalFault`."""
    path = inbox_place(environment)
    if not path.is_file():
        return 0
    try:
        with closing(Inbox(path)) as inbox:
            return inbox.take(connection, hints.up_to, now_s)
    except sqlite3.Error as error:
        raise JournalFault(where=str(path), why=type(error).__name__) from error

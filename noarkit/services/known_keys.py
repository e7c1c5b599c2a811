"""The keys of a connection that one archive holds, as its runs proved them: a stream is compared with them, whatever
the times of its records say.

They lie beside the watermarks, and are a cache as those are: without them every key counts as new, is read, and is
found in the archive. A key that the service deleted stays, as gone, so that its deletion is reported once.

Each key has the times at which what is known of it changed, so that a run that is verified is compared with what was
known when it was planned.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from noarkit.safe.disk import translate_sqlite_errors

_A_PAGE = 1_000
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS key_state (key TEXT NOT NULL, at_s REAL NOT NULL, is_gone INTEGER NOT NULL,"
    " PRIMARY KEY (key, at_s)) WITHOUT ROWID",
)
_ADD_STATE = (  # where it is another than the last one
    "INSERT OR REPLACE INTO key_state SELECT ?1, ?2, ?3 WHERE ?3 IS NOT"
    " (SELECT is_gone FROM key_state WHERE key = ?1 ORDER BY at_s DESC LIMIT 1)"
)


class KnownKeys:
    """The keys in a file, as they were known before a time; none without a file. Safe for threads."""

    def __init__(self, path: Path | None = None, before_s: float = float("inf")) -> None:
        self._before_s = before_s
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self.path = path
        if path is not None and path.exists():
            with translate_sqlite_errors(path):
                address = f"{path.resolve().as_uri()}?mode=ro"
                self._db = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=30)

    @property
    def is_kept(self) -> bool:
        """True if there are keys to compare with: without them nothing is known, whatever the archive holds."""
        return self._db is not None

    def has(self, key: str) -> bool:
        """True if the archive holds this key, and its deletion was not reported."""
        return self._is_gone(key) is False

    def is_gone(self, key: str) -> bool:
        """True if the archive holds this key, and its deletion was reported."""
        return self._is_gone(key) is True

    def under(self, prefix: str) -> Iterator[str]:
        """Yields the keys that begin so, in their order, without those that are gone."""
        # of columns beside max(), SQLite gives those of the row that has it
        query = (
            "SELECT key, is_gone, max(at_s) FROM key_state WHERE key >= ? AND key < ? AND at_s < ?"
            " GROUP BY key ORDER BY key LIMIT ?"
        )
        begin, row_count = prefix, _A_PAGE
        while row_count == _A_PAGE:
            rows = self._rows(query, begin, f"{prefix}\U0010ffff", self._before_s, _A_PAGE)
            yield from (str(key) for key, is_gone, _ in rows if not is_gone)
            row_count = len(rows)
            if rows:
                # the next page begins where this one ended: SQLite seeks one lower bound, and reads all above it
                begin = f"{rows[-1][0]}\0"

    def has_any(self, prefix: str) -> bool:
        """True if there is a key that begins so."""
        return next(self.under(prefix), None) is not None

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _is_gone(self, key: str) -> bool | None:
        query = "SELECT is_gone FROM key_state WHERE key = ? AND at_s < ? ORDER BY at_s DESC LIMIT 1"
        return next((bool(is_gone) for (is_gone,) in self._rows(query, key, self._before_s)), None)

    def _rows(self, query: str, *values: str | float) -> list[tuple[object, ...]]:
        with self._lock:
            if self._db is None or self.path is None:
                return []
            with translate_sqlite_errors(self.path):
                return self._db.execute(query, values).fetchall()


NOTHING_KNOWN = KnownKeys()


def document_key(key: str, identity: str) -> str:
    """Builds the key of a document of the item with this key; none of an item begins so."""
    return f"document:{key}:{identity}"


def place_key(key: str, folder_key: str) -> str:
    """Builds the key that says in which folder of the archive the item with this key lies."""
    return f"place:{key}:{folder_key}"


def add_known_keys(
    path: Path, archive: str, held_keys: Iterable[str], gone_keys: Iterable[str], at_s: float = 0.0
) -> None:
    """Adds keys that the archive of this identity holds since a time, and those of which the service said that they are
    gone. Keys of another archive that stood at the same place are forgotten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with translate_sqlite_errors(path), closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            db.execute(statement)
        if db.execute("SELECT value FROM meta WHERE name = 'archive'").fetchone() not in (None, (archive,)):
            db.execute("DELETE FROM key_state")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('archive', ?)", (archive,))
        for keys, is_gone in ((held_keys, 0), (gone_keys, 1)):
            db.executemany(_ADD_STATE, ((key, at_s, is_gone) for key in keys))
        db.execute("COMMIT")

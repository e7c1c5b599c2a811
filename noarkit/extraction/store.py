"""The store of an extract: one SQLite file in the work folder with all that was fetched, and the progress.

`unit` holds what has a place of its own in the structure, `document` and `version` the files, `part` what belongs to
one of these, `link` what leads from one to another. A page and the mark how far its fetch has come are one commit, so
that nothing is asked for twice and nothing is missed, whenever the process ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from noarkit.errors import DiskFull, JournalFault
from noarkit.safe.disk import is_full

FILE_NAME = "fetched.db"
_FORMAT = "1"

_CLOSING_TABLE = (
    "CREATE TABLE IF NOT EXISTS closing (uuid TEXT NOT NULL, field TEXT NOT NULL, at TEXT NOT NULL,"
    " actor TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL)"
)
_TABLES = (
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE progress (task TEXT PRIMARY KEY, last TEXT NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE unit (kind TEXT NOT NULL, parent, sort TEXT NOT NULL, id, uuid TEXT NOT NULL, type TEXT NOT NULL,"
    " open INTEGER NOT NULL, klasse, data TEXT NOT NULL)",
    "CREATE TABLE part (family TEXT NOT NULL, parent, type TEXT NOT NULL, id, uuid TEXT NOT NULL, data TEXT NOT NULL)",
    "CREATE TABLE document (parent, sort INTEGER NOT NULL, id, uuid TEXT NOT NULL, open INTEGER NOT NULL,"
    " data TEXT NOT NULL)",
    "CREATE TABLE version (parent, sort INTEGER NOT NULL, id, uuid TEXT NOT NULL, path TEXT NOT NULL,"
    " file TEXT NOT NULL, sha256 TEXT, size INTEGER NOT NULL, done INTEGER NOT NULL, data TEXT NOT NULL)",
    "CREATE TABLE link (source, name TEXT NOT NULL, target, uuid TEXT NOT NULL, data TEXT NOT NULL,"
    " PRIMARY KEY (source, name, uuid)) WITHOUT ROWID",
    "CREATE TABLE change (uuid TEXT NOT NULL, field TEXT NOT NULL, at TEXT NOT NULL, actor TEXT NOT NULL,"
    " old TEXT NOT NULL, new TEXT NOT NULL)",
    # what a load closed, which is a change too: the same columns. A store begun by an older version gets it when it is
    # opened again.
    _CLOSING_TABLE,
)
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS unit_place ON unit (parent, kind, sort, uuid)",
    "CREATE INDEX IF NOT EXISTS unit_id ON unit (id)",
    "CREATE INDEX IF NOT EXISTS unit_journal ON unit (sort, uuid) WHERE type = 'Journalpost'",
    "CREATE INDEX IF NOT EXISTS part_place ON part (parent, family)",
    "CREATE INDEX IF NOT EXISTS document_place ON document (parent, sort, uuid)",
    "CREATE INDEX IF NOT EXISTS version_place ON version (parent, sort, uuid)",
    "CREATE INDEX IF NOT EXISTS part_id ON part (id)",
    "CREATE INDEX IF NOT EXISTS document_id ON document (id)",
    "CREATE INDEX IF NOT EXISTS version_id ON version (id)",
)
# Seldom moved from its log into the file: each time waits for the disk, which may be busy with the documents.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "wal_autocheckpoint=100000",
    "cache_size=-65536",
    "temp_store=FILE",
)
Key = int | str
Row = tuple[str | int | None, ...]
COLUMNS: Mapping[str, int] = {"unit": 9, "part": 6, "document": 6, "version": 10, "link": 5, "change": 6, "closing": 6}


def _places(count: int) -> str:
    return f"({', '.join('?' * count)})"


_INSERTS = {table: f"INSERT OR IGNORE INTO {table} VALUES {_places(n)}" for table, n in COLUMNS.items()}  # noqa: S608  # our own names
# Many rows in one step of the database: other threads go on while it takes it, and none waits for each row.
_ROWS_AT_ONCE = 100
_MANY = {
    table: f"INSERT OR IGNORE INTO {table} VALUES {', '.join([_places(n)] * _ROWS_AT_ONCE)}"  # noqa: S608  # our own names
    for table, n in COLUMNS.items()
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task of the fetch has come: the last id stored, and whether that was the end."""

    last: str
    is_done: bool


class ExtractStore:
    """The store of one extract; belongs to the thread that opened it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        fresh = not path.exists()
        self.db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        try:
            for pragma in _PRAGMAS:
                self.db.execute(f"PRAGMA {pragma}")
            if fresh or not self._has_tables():
                self._make()
            else:
                self.db.execute(_CLOSING_TABLE)
        except sqlite3.Error as error:
            self.db.close()
            if is_full(error, path.parent):
                raise DiskFull(where=str(path)) from error
            raise JournalFault(where=str(path), why=str(error)) from error

    def close(self) -> None:
        """Ends it."""
        self.db.close()

    def __enter__(self) -> ExtractStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fact(self, name: str) -> str | None:
        """What was remembered under a name."""
        row = self.db.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, name: str, value: str) -> str:
        """Remembers a value the first time; ever after, the first one is given back."""
        self.db.execute("INSERT OR IGNORE INTO fact VALUES (?, ?)", (name, value))
        return self.fact(name) or value

    def progress(self, task: str) -> Progress:
        """How far a task has come."""
        row = self.db.execute("SELECT last, done FROM progress WHERE task = ?", (task,)).fetchone()
        return Progress("", False) if row is None else Progress(str(row[0]), bool(row[1]))

    def add(self, rows: Mapping[str, Sequence[Row]], task: str, progress: Progress) -> None:
        """Stores rows by table, and how far the task has come, in one commit."""
        with self._transaction():
            for table, table_rows in rows.items():
                for start in range(0, len(table_rows), _ROWS_AT_ONCE):
                    self._insert(table, table_rows[start : start + _ROWS_AT_ONCE])
            progress_row = (task, progress.last, int(progress.is_done))
            self.db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?)", progress_row)

    def _insert(self, table: str, rows: Sequence[Row]) -> None:
        if len(rows) == _ROWS_AT_ONCE:
            self.db.execute(_MANY[table], tuple(chain.from_iterable(rows)))
        else:
            self.db.executemany(_INSERTS[table], rows)

    def index(self) -> None:
        """Makes the indexes that assembling walks along; they are no use while rows come in."""
        for statement in _INDEXES:
            self.db.execute(statement)
        self.db.execute("ANALYZE")

    def rows(self, sql: str, values: Iterable[str | int | None] = ()) -> Iterator[Row]:
        """Rows of a statement, streamed."""
        return iter(self.db.execute(sql, tuple(values)))

    def number(self, sql: str, values: Iterable[str | int | None] = ()) -> int:
        """The one number that a statement gives; 0 if it gives none."""
        row = self.db.execute(sql, tuple(values)).fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One commit. Raises `DiskFull`, and `JournalFault` for whatever else the disk refuses."""
        try:
            self.db.execute("BEGIN")
            yield
            self.db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if is_full(error, self.path.parent):
                raise DiskFull(where=str(self.path)) from error
            raise JournalFault(where=str(self.path), why=str(error)) from error

    def _has_tables(self) -> bool:
        return self.number("SELECT count(*) FROM sqlite_master WHERE name = 'change'") == 1

    def _make(self) -> None:
        self.db.execute("BEGIN")
        for statement in _TABLES:
            self.db.execute(statement)
        self.db.execute("INSERT INTO fact VALUES ('format', ?)", (_FORMAT,))
        self.db.execute("COMMIT")


def key_of(object_id: str) -> Key:
    """An id as it is stored: short where it is a number."""
    return int(object_id) if object_id.isascii() and object_id.isdigit() and len(object_id) < 19 else object_id

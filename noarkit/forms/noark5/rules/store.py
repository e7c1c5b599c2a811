"""The temporary database of a validation: ids, references, documents, files and journal entries, to check at the end.

One private SQLite database that the system removes with the process, however it ends. UUIDs are stored as 16 bytes;
rows are inserted by thousands, and indexes are created when all rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from noarkit.safe.scratch import scratch

Value = int | str | bytes | None
Row = Sequence[Value]

_BATCH = 5_000
_UUID_BYTES = 16
_TABLES = {
    "units": "id BLOB, kind INTEGER, at INTEGER, form TEXT",
    "refs": "kind INTEGER, target BLOB, at INTEGER, owner BLOB",
    "posts": "id BLOB, year INTEGER, sequence INTEGER, number INTEGER, day TEXT, written TEXT, title INTEGER,"
    " hidden INTEGER, case_file INTEGER, parties BLOB, secret BLOB, answers BLOB, ident INTEGER, at INTEGER",
    "objects": "path BLOB, sum BLOB, algorithm TEXT, size TEXT, owner BLOB, at INTEGER, ending TEXT, made_as TEXT,"
    " document INTEGER, variant TEXT, version TEXT",
    "files": "name BLOB, kind TEXT, size INTEGER, sum BLOB, ending TEXT, fits INTEGER, claim INTEGER,"
    " whole INTEGER, puid TEXT",
    "entries": "journal INTEGER, id BLOB, year INTEGER, sequence INTEGER, number INTEGER, day TEXT, written TEXT,"
    " title INTEGER, ident INTEGER, case_year INTEGER, case_sequence INTEGER, case_title INTEGER,"
    " case_ident INTEGER, class INTEGER, class_title INTEGER, parties BLOB, answer BLOB, at INTEGER",
    "cases": "case_file INTEGER PRIMARY KEY, id BLOB, year INTEGER, sequence INTEGER, series INTEGER, unit TEXT,"
    " title INTEGER, hidden INTEGER, ident INTEGER, class INTEGER, class_title INTEGER, hidden_class INTEGER,"
    " hidden_class_title INTEGER",
    "numbers": "name TEXT, scope INTEGER, number TEXT, at INTEGER",
    "changes": "target BLOB, field TEXT, day TEXT, old TEXT, new TEXT, at INTEGER",
    "standing": "target BLOB, field TEXT, text TEXT",
    "classes": "name TEXT, title TEXT, folders INTEGER, records INTEGER",
}
_INDEXES = (
    "CREATE INDEX units_id ON units (id, kind)",
    "CREATE INDEX files_name ON files (name)",
    "CREATE INDEX objects_path ON objects (path)",
    "CREATE INDEX objects_document ON objects (document)",
    "CREATE INDEX posts_id ON posts (id)",
)
_ON_DEMAND = {
    "entries": "CREATE INDEX IF NOT EXISTS entries_id ON entries (journal, id)",
    "changes": "CREATE INDEX IF NOT EXISTS changes_target ON changes (target)",
}


class Store:
    """Rows in, answers out. Every table is read only after `finish`."""

    def __init__(self) -> None:
        self._db = scratch(48 * 1_024)
        self._waiting: dict[str, list[Row]] = {name: [] for name in _TABLES}
        self._insert: dict[str, str] = {}
        for name, columns in _TABLES.items():
            self._db.execute(f"CREATE TABLE {name} ({columns})")
            placeholders = ",".join("?" * (columns.count(",") + 1))
            self._insert[name] = f"INSERT INTO {name} VALUES ({placeholders})"  # noqa: S608  # names of our own table of tables

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def add(self, table: str, row: Row) -> None:
        """One row more."""
        waiting = self._waiting[table]
        waiting.append(row)
        if len(waiting) >= _BATCH:
            self._flush(table)

    def add_all(self, table: str, rows: Sequence[Row]) -> None:
        """Many rows at once."""
        self._db.execute("BEGIN")
        self._db.executemany(self._insert[table], rows)
        self._db.execute("COMMIT")

    def finish(self) -> None:
        """All rows are in: makes them findable."""
        for table in _TABLES:
            self._flush(table)
        for index in _INDEXES:
            self._db.execute(index)

    def make_findable(self, table: str) -> None:
        """The rows of a table that is seldom searched will be."""
        self._db.execute(_ON_DEMAND[table])

    def ask(self, sql: str, values: Row = ()) -> Iterator[tuple[Value, ...]]:
        """The rows of an answer."""
        yield from self._db.execute(sql, values)

    def number(self, sql: str, values: Row = ()) -> int:
        """An answer that is one number."""
        value = self._db.execute(sql, values).fetchone()[0]
        return int(value or 0)

    def _flush(self, table: str) -> None:
        waiting = self._waiting[table]
        if waiting:
            self.add_all(table, waiting)
            waiting.clear()


_TEXT = b"=" * 17
"""What begins the key of an id that is no UUID: longer than any UUID, so that none is taken for the other."""


def pack_id(text: str) -> bytes:
    """An id as it is kept: 16 bytes where it is a UUID (of either case), else its text."""
    if len(text) == 36 and text[8:24:5] == "----":
        try:
            key = bytes.fromhex(text.replace("-", ""))
        except ValueError:
            key = b""
        if len(key) == _UUID_BYTES:
            return key
    return _TEXT + text.encode("utf-8", "surrogatepass")


def unpack_id(value: Value) -> str | None:
    """An id as it is shown."""
    if not isinstance(value, bytes):
        return None
    if not is_uuid(value):
        return value.removeprefix(_TEXT).decode("utf-8", "replace")
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_uuid(key: bytes) -> bool:
    """True for a packed id that was a UUID."""
    return len(key) == _UUID_BYTES

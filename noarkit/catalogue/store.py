"""The SQLite file of a catalogue: written once from the items of a place, then only read.

It appears whole or not at all: it is filled under a temporary name and moved into place when the last item stands. It
lies beside the place, never inside a package, and only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import orjson

from noarkit.catalogue import journal, veil
from noarkit.catalogue.port import Item, PlaceIdentity
from noarkit.catalogue.rows import Numbers, RowBatch, RowStream, StartOver
from noarkit.errors import JournalFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.safe import atomic
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.safe.shared_connection import open_shared

EVENTS: EventFields = {"cataloguing": {"items": "count"}}
FORMAT = "11"
_BATCH = 5_000

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # numbers follow the order of the place; `screened` is one of `entries`, and holds for all below a screened one
    "CREATE TABLE item (n INTEGER PRIMARY KEY, ref TEXT NOT NULL, parent INTEGER NOT NULL, type TEXT NOT NULL,"
    " title TEXT NOT NULL, ident TEXT NOT NULL, day TEXT NOT NULL, year INTEGER, status TEXT NOT NULL,"
    " class TEXT NOT NULL, screened INTEGER NOT NULL, fault TEXT NOT NULL, state TEXT NOT NULL,"
    " documents INTEGER NOT NULL, formats TEXT NOT NULL, fields TEXT NOT NULL)",
    "CREATE TABLE document (n INTEGER PRIMARY KEY, item INTEGER NOT NULL, ref TEXT NOT NULL, title TEXT NOT NULL,"
    " name TEXT NOT NULL, variant TEXT NOT NULL, version INTEGER NOT NULL, media_type TEXT NOT NULL,"
    " puid TEXT NOT NULL, size INTEGER, sha256 TEXT NOT NULL, locator TEXT, fields TEXT NOT NULL,"
    " custody TEXT NOT NULL, screened INTEGER NOT NULL)",
    "CREATE TABLE link (item INTEGER NOT NULL, name TEXT NOT NULL, ref TEXT NOT NULL)",
    "CREATE TABLE change (item INTEGER NOT NULL, at TEXT NOT NULL, actor TEXT NOT NULL, field TEXT NOT NULL,"
    " before TEXT NOT NULL, after TEXT NOT NULL)",
    journal.TABLE,
    veil.TABLE,
    # `filters` holds a token for the type, year, class … of an item, so that words and filters are matched at once
    "CREATE VIRTUAL TABLE words USING fts5 (title, metadata, filters, content='',"
    ' tokenize="unicode61 remove_diacritics 0")',
)
# the words of titles and metadata with the number of items that hold them: what a beginning of a word may be
_TERMS = (
    "CREATE TABLE term (term TEXT PRIMARY KEY, items INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, col)",
    "INSERT INTO term SELECT term, sum(doc) FROM temp.vocabulary WHERE col != 'filters' GROUP BY term",
    "DROP TABLE temp.vocabulary",
)
# how many items lie directly in each, so that no list counts a million of them
_INSIDE = (
    "CREATE TABLE inside (parent INTEGER PRIMARY KEY, items INTEGER NOT NULL)",
    "INSERT INTO inside SELECT parent, count(*) FROM item GROUP BY parent",
)
# made when the rows stand, which is far quicker than beside them
_INDEXES = (
    "CREATE INDEX item_parent ON item (parent, n)",
    "CREATE INDEX item_year ON item (parent, year, n) WHERE year IS NOT NULL",
    "CREATE INDEX item_ident ON item (ident, n) WHERE ident != ''",
    "CREATE INDEX item_day ON item (day, n) WHERE day != ''",
    "CREATE INDEX document_item ON document (item)",
    "CREATE INDEX document_sha256 ON document (sha256) WHERE sha256 != ''",
    "CREATE INDEX link_item ON link (item)",
    "CREATE INDEX link_ref ON link (ref, item)",
    "CREATE INDEX change_item ON change (item, at)",
    journal.INDEX,
)
_PRAGMAS = (*("page_size=8192", "journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "cache_size=-65536"),)
_MOST_RECENT = 50_000
_INSERT_ITEM = "INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_DOCUMENT = "INSERT INTO document VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_WORDS = "INSERT INTO words (rowid, title, metadata, filters) VALUES (?,?,?,?)"


def write_catalogue(
    path: Path, identity: PlaceIdentity, items: Iterable[Item], emit: Listener = ignore_event
) -> dict[str, int]:
    """Writes the catalogue of a place to `path`, whole or not at all, and counts its items by type.

    Emits `cataloguing` with the count so far. Raises `DiskFull`, `JournalFault`, and what reading the items raises.
    """
    part = path.parent / atomic.temporary_name()
    try:
        with translate_sqlite_errors(path):
            part.touch(mode=0o600, exist_ok=False)
            db = sqlite3.connect(part, isolation_level=None)
            try:
                counts = _Filling(db, emit).fill(identity, items)
            finally:
                db.close()
        part.replace(path)
        atomic.sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return counts


def open_catalogue(path: Path) -> sqlite3.Connection:
    """Opens the catalogue at `path` for reading. Raises `JournalFault` if it is none of this version."""
    if not path.is_file():
        raise JournalFault(where=str(path), why="missing")
    with translate_sqlite_errors(path):
        db = open_shared(f"{path.resolve().as_uri()}?mode=ro")
        row = db.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    if row is None or row[0] != FORMAT:
        db.close()
        raise JournalFault(where=str(path), why="unknown-version", detail=row and row[0])
    return db


def is_current(path: Path, identity: PlaceIdentity) -> bool:
    """True if a whole catalogue of the place, as it is now, stands at `path`."""
    try:
        db = open_catalogue(path)
    except JournalFault:
        return False
    try:
        row = db.execute("SELECT value FROM meta WHERE name = 'fingerprint'").fetchone()
        return row is not None and row[0] == identity.fingerprint
    finally:
        db.close()


class _Filling:
    """A catalogue that is being written. Keeps no item in memory but refs that may still become parents."""

    def __init__(self, db: sqlite3.Connection, emit: Listener) -> None:
        self._db = db
        self._emit = emit
        self._numbers = Numbers()
        self._n = 0
        # the last refs in memory, those before them in a table
        self._recent: dict[str, tuple[int, bool]] = {}

    def fill(self, identity: PlaceIdentity, items: Iterable[Item]) -> dict[str, int]:
        db = self._db
        for pragma in _PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        for table in _TABLES:
            db.execute(table)
        db.execute("INSERT INTO words (words, rank) VALUES ('automerge', 0)")  # merged when it is complete
        db.execute("CREATE TEMP TABLE place_of (ref TEXT PRIMARY KEY, n INTEGER, screened INTEGER) WITHOUT ROWID")
        db.execute("BEGIN")
        self._take(items.batches() if isinstance(items, RowStream) else iter(items))
        self._finish(identity)
        db.execute("COMMIT")
        db.execute("ANALYZE")
        return self._numbers.types

    def _take(self, stream: Iterator[Item | RowBatch | StartOver]) -> None:
        waiting = RowBatch()
        for entry in stream:
            if isinstance(entry, Item):
                self._add(entry, waiting)
                if len(waiting.items) >= _BATCH:
                    self._write(waiting)
                    waiting = RowBatch()
            elif isinstance(entry, RowBatch):
                self._write(entry)
            else:
                self._forget()
                waiting = RowBatch()
        self._write(waiting)

    def _add(self, item: Item, batch: RowBatch) -> None:
        self._n += 1
        parent, screened = self._parent(item)
        screened = screened or item.screened
        if len(self._recent) >= _MOST_RECENT:
            rows = ((ref, *place) for ref, place in self._recent.items())
            self._db.executemany("INSERT OR IGNORE INTO place_of VALUES (?,?,?)", rows)
            self._recent.clear()
        self._recent.setdefault(item.ref, (self._n, screened))
        batch.add(item, self._n, parent, screened=screened)

    def _parent(self, item: Item) -> tuple[int, bool]:
        """The number of what an item lies in (0 at the top), and whether that is screened."""
        if item.parent is None:
            return 0, False
        place = self._recent.get(item.parent)
        if place is None:
            row = self._db.execute("SELECT n, screened FROM place_of WHERE ref = ?", (item.parent,)).fetchone()
            place = (0, False) if row is None else (int(row[0]), bool(row[1]))
            if row is not None:
                self._recent[item.parent] = place
        return place

    def _write(self, batch: RowBatch) -> None:
        if not batch.items:
            return
        db = self._db
        db.executemany(_INSERT_ITEM, batch.items)
        db.executemany(_INSERT_DOCUMENT, batch.documents)
        db.executemany("INSERT INTO link VALUES (?,?,?)", batch.links)
        db.executemany("INSERT INTO change VALUES (?,?,?,?,?,?)", batch.changes)
        db.executemany(_INSERT_WORDS, batch.words)
        self._numbers.add_all(batch.numbers)
        self._n = max(self._n, max(int(str(row[0])) for row in batch.items))
        self._emit(Event("cataloguing", {"items": sum(self._numbers.types.values())}))

    def _forget(self) -> None:
        """Takes everything out that was written so far."""
        for table in ("item", "document", "link", "change"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608  # our own tables
        self._db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        self._numbers = Numbers()
        self._n = 0
        self._recent.clear()

    def _finish(self, identity: PlaceIdentity) -> None:
        db = self._db
        facts = {"format": FORMAT, **{name: str(value) for name, value in asdict(identity).items()}}
        summary = asdict(self._numbers)
        facts["counts"] = orjson.dumps(summary.pop("types")).decode()
        facts["summary"] = orjson.dumps(summary).decode()
        db.executemany("INSERT INTO meta VALUES (?,?)", facts.items())
        for table in ("item", "document"):
            _index_refs(db, table)
        for statement in (*_INDEXES, *_INSIDE, *_TERMS):
            db.execute(statement)
        db.execute(journal.FILL)
        veil.fill_veils(db)


def _index_refs(db: sqlite3.Connection, table: str) -> None:
    """Makes refs findable. Those that a place gives twice, against its promise, are told apart by a number.

    (Not by a unique index: a statement that fails leaves a file without a journal in pieces.)
    """
    db.execute(f"CREATE INDEX {table}_ref ON {table} (ref)")
    repeated = db.execute(f"SELECT ref FROM {table} GROUP BY ref HAVING count(*) > 1").fetchall()  # noqa: S608  # our own tables
    for (ref,) in repeated:
        number = 1
        for (n,) in db.execute(f"SELECT n FROM {table} WHERE ref = ? ORDER BY n", (ref,)).fetchall()[1:]:  # noqa: S608  # the same
            number += 1
            while db.execute(f"SELECT 1 FROM {table} WHERE ref = ?", (f"{ref}~{number}",)).fetchone():  # noqa: S608  # the same
                number += 1
            db.execute(f"UPDATE {table} SET ref = ? WHERE n = ?", (f"{ref}~{number}", n))  # noqa: S608  # the same


def catalogue_path(beside: Path) -> Path:
    """Where the catalogue of a place lies: beside it, under its name."""
    return beside.parent / f"{beside.name}.noarkit-catalogue{os.extsep}db"

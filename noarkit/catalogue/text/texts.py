"""The file that the texts of documents are kept in, beside the catalogue: each once, by its sha256, with an index.

Copies share a text, and a catalogue that is made again finds the texts of before. What is committed stands: whoever is
killed while documents are read goes on behind the last commit. Only its owner may read the file.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from pathlib import Path
from typing import Self

from orjson import dumps

from noarkit.catalogue.index_words import index_text
from noarkit.catalogue.text.decoding import DocumentText
from noarkit.errors import JournalFault
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.safe.side_files import open_side_file, refuse_foreign

FORMAT = "4"
_EARLIER = frozenset({"1", "2", "3"})
"""Formats before, whose texts do not say what of a document could not be read, or where in it a word stands: their
documents are read again."""
_CATALOGUE_ENDING = ".noarkit-catalogue.db"
_ENDING = ".noarkit-text.db"
_MOST_BYTES = 16 * 1024 * 1024
"""More no text unpacks to."""
STAMP = "CASE d.sha256 WHEN '' THEN coalesce(d.size, '') || ' ' || i.day || ' ' || i.fields ELSE d.sha256 END"
"""What says whether the bytes of a document have changed: where no checksum is stated, size, day and fields."""
UNREAD = (
    " FROM document d JOIN item i ON i.n = d.item"
    f" LEFT JOIN texts.read t ON t.ref = d.ref AND t.stamp = {STAMP}"
    " WHERE d.locator IS NOT NULL AND t.ref IS NULL"
)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS text (n INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, reason TEXT NOT NULL,"
    " is_cut INTEGER NOT NULL, has_gaps INTEGER NOT NULL,"
    " characters INTEGER NOT NULL, packed BLOB, stretches TEXT NOT NULL)",
    # `stamp` says which bytes of the document were read: it is read again when they have changed
    "CREATE TABLE IF NOT EXISTS read (ref TEXT PRIMARY KEY, stamp TEXT NOT NULL, text INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS read_text ON read (text)",
    "CREATE TABLE IF NOT EXISTS term (term TEXT PRIMARY KEY, items INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE IF NOT EXISTS spoken USING fts5 (body, content='',"
    ' tokenize="unicode61 remove_diacritics 0")',
)
_SPEAK = "INSERT INTO spoken (rowid, body) VALUES (?,?)"


def texts_path(catalogue: Path) -> Path:
    """Where the texts of the documents of a catalogue lie."""
    return catalogue.with_name(catalogue.name.removesuffix(_CATALOGUE_ENDING) + _ENDING)


class TextStore:
    """The texts, open to be added to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with translate_sqlite_errors(path):
            for ending in ("-wal", "-shm", "-journal"):
                refuse_foreign(path.with_name(path.name + ending))
            os.close(open_side_file(path, os.O_RDWR | os.O_CREAT))
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-32768"):
                self._db.execute(f"PRAGMA {pragma}")
            for table in _TABLES:
                self._db.execute(table)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (FORMAT,))
            version = self._db.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()[0]
            if version in _EARLIER:
                self._begin_anew()
            elif version != FORMAT:
                self._db.close()
                raise JournalFault(where=str(path), why="unknown-version", detail=version)
            self._db.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commits what was added, and lets the file go."""
        try:
            self.commit()
        finally:
            self._db.close()

    def commit(self) -> None:
        """Puts what was added on the disk."""
        with translate_sqlite_errors(self.path):
            self._db.execute("COMMIT")
            self._db.execute("BEGIN")

    def note_unread(self, fingerprint: str, unread: int) -> None:
        """Says how many documents of a catalogue are not read yet, which is dear to count."""
        with translate_sqlite_errors(self.path):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('unread', ?)", (f"{unread} {fingerprint}",))

    def count_terms(self) -> None:
        """Counts the texts of every word, where there are more than when it was done last: a word that begins as
        another is found the quicker."""
        db = self._db
        newest = db.execute("SELECT coalesce(max(n), 0) FROM text").fetchone()[0]
        last_count = db.execute("SELECT value FROM meta WHERE name = 'counted'").fetchone()
        if last_count is not None and int(last_count[0]) == newest:
            return
        with translate_sqlite_errors(self.path):
            db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, spoken, row)")
            db.execute("DELETE FROM term")
            db.execute("INSERT INTO term SELECT term, doc FROM temp.vocabulary")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('counted', ?)", (str(newest),))
            self.commit()

    def number_of(self, sha256: str) -> int | None:
        """The number of the text of a document with this checksum, if it was read."""
        row = self._db.execute("SELECT n FROM text WHERE sha256 = ?", (sha256,)).fetchone()
        return None if row is None else int(row[0])

    def add_text(self, sha256: str, text: DocumentText) -> int:
        """Keeps a text, and returns its number."""
        with translate_sqlite_errors(self.path):
            packed = zlib.compress(text.text.encode(), 1) if text.text else None
            stretches = dumps([[stretch.begin, stretch.end, stretch.layer] for stretch in text.stretches]).decode()
            cursor = self._db.execute(
                "INSERT INTO text (sha256, reason, is_cut, has_gaps, characters, packed, stretches)"
                " VALUES (?,?,?,?,?,?,?)",
                (sha256, text.reason, text.is_cut, text.has_gaps, len(text.text), packed, stretches),
            )
            n = int(cursor.lastrowid or 0)
            if text.text:
                self._db.execute(_SPEAK, (n, index_text([text.searched])))
        return n

    def _begin_anew(self) -> None:
        db = self._db
        db.execute("BEGIN")
        for name in ("text", "read", "term", "spoken"):
            db.execute(f"DROP TABLE {name}")
        for table in _TABLES:
            db.execute(table)
        db.execute("DELETE FROM meta WHERE name IN ('counted', 'unread')")
        db.execute("UPDATE meta SET value = ? WHERE name = 'format'", (FORMAT,))
        db.execute("COMMIT")

    def add_document(self, ref: str, stamp: str, text: int) -> None:
        """Says which text a document has."""
        with translate_sqlite_errors(self.path):
            self._db.execute("INSERT OR REPLACE INTO read VALUES (?,?,?)", (ref, stamp, text))


def attach_texts(db: sqlite3.Connection, catalogue: Path) -> bool:
    """Makes the texts of a catalogue readable through its connection, as `texts`. False where there are none yet."""
    path = texts_path(catalogue)
    if not path.is_file():
        return False
    with translate_sqlite_errors(path):
        db.execute("ATTACH ? AS texts", (f"{path.resolve().as_uri()}?mode=ro",))
        row = db.execute("SELECT value FROM texts.meta WHERE name = 'format'").fetchone()
        if row is None or row[0] != FORMAT:
            db.execute("DETACH texts")
            return False
    return True


def count_unread(db: sqlite3.Connection) -> int:
    """The number of documents that are not read yet, in a catalogue whose texts are attached."""
    return int(db.execute(f"SELECT count(*){UNREAD}").fetchone()[0])


def unread_as_noted(db: sqlite3.Connection) -> int | None:
    """What was noted of this number, if that was of the catalogue as it is now."""
    row = db.execute(
        "SELECT t.value FROM texts.meta t, main.meta m WHERE t.name = 'unread' AND m.name = 'fingerprint'"
        " AND substr(t.value, instr(t.value, ' ') + 1) = m.value"
    ).fetchone()
    return None if row is None else int(row[0].partition(" ")[0])


def unpack_text(packed: bytes | None) -> str:
    """A text as it was packed."""
    if packed is None:
        return ""
    return zlib.decompressobj().decompress(packed, _MOST_BYTES).decode("utf-8", "replace")

"""Uploads and stored files: who uploaded what, which files document versions refer to, and which can be removed.

Uploads are rows of `uploads.db`, private to their uploader, and expire. Files that a committed document version refers
to are rows of `stored_file` in the archive's own database, written in the same transaction as the version: this table
alone decides what must be kept. A content is removed when neither an upload nor a stored file has its SHA-256.

A transaction that links files calls `claim` for each, `make_durable` just before it commits, and `release` for the
files of the versions that it deletes; nothing needs to be undone where it rolls back.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from noarkit.server import STORE_FOLDER, UPLOADS_FILE
from noarkit.server.database import Database, allocate
from noarkit.server.file_store import FileStore, IncomingFile
from noarkit.server.wire import Refusal

# How long a transaction may take from its claim to its commit, at the most.
_CLAIM_S = 900
_IDS_AT_ONCE = 16_384
_SWEPT_AT_ONCE = 5000
_OCTETS = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_MORE_MEDIA_TYPES = (
    (f"{_OFFICE}.wordprocessingml.document", ".docx"),
    (f"{_OFFICE}.spreadsheetml.sheet", ".xlsx"),
    (f"{_OFFICE}.presentationml.presentation", ".pptx"),
    ("application/vnd.oasis.opendocument.text", ".odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", ".ods"),
    ("application/vnd.ms-outlook", ".msg"),
    ("message/rfc822", ".eml"),
)
# No index but the id: a row then costs one page. Ids rise with time, and contents are looked for in large batches.
_UPLOAD_TABLE = (
    "CREATE TABLE IF NOT EXISTS upload (file_id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, size_bytes INTEGER NOT NULL,"
    " name TEXT NOT NULL, media_type TEXT NOT NULL, account TEXT NOT NULL, uploaded_s REAL NOT NULL,"
    " durable INTEGER NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The properties of a file; `durable` is True once it needs no flush any more."""

    file_id: int
    sha256: str
    size_bytes: int
    name: str
    media_type: str
    account: str
    durable: bool = True


@dataclass(frozen=True, slots=True)
class UploadInfo:
    """The file name, media type and account of an upload."""

    name: str
    media_type: str
    account: str


def statements() -> Iterator[str]:
    """The tables of files that document versions refer to, of their light PDFs, and of what may go."""
    yield (
        "CREATE TABLE stored_file (file_id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, size_bytes INTEGER NOT NULL,"
        " name TEXT NOT NULL, media_type TEXT NOT NULL, account TEXT NOT NULL)"
    )
    yield "CREATE INDEX stored_file_sha256 ON stored_file (sha256)"
    yield "CREATE TABLE light_pdf (file_id INTEGER PRIMARY KEY, light_file_id INTEGER NOT NULL)"
    yield "CREATE TABLE released_file (file_id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL)"


class Files:
    """The files of one archive, and the uploads that are not yet part of it."""

    def __init__(self, data_dir: Path, archive: Database, *, ttl_s: float, now_s: Callable[[], float]) -> None:
        self.store = FileStore(data_dir / STORE_FOLDER)
        # small uploads are recorded on the event loop, which must not wait for a disk
        self._uploads = Database(data_dir / UPLOADS_FILE, archive.clock, synchronous="NORMAL", checkpoint_pages=0)
        self._uploads.create_tables((_UPLOAD_TABLE,))
        self._archive = archive
        self._ttl_s = ttl_s
        self._now_s = now_s
        self._ids: list[range] = []
        self._ids_lock = threading.Lock()
        # held while an upload's row is written and while a content is removed, so that a sweep cannot remove a content
        # between the moment its new row is committed and the moment the sweep learns of that row
        self._presence_lock = threading.Lock()
        self._arrived_during_sweep: set[str] = set()
        self._sweeping = False

    def close(self) -> None:
        """Ends the connections."""
        self._uploads.close()

    # -- arriving

    def remaining_ids(self) -> int:
        """How many file ids can be given out without the archive's database."""
        with self._ids_lock:
            return sum(map(len, self._ids))

    def reserve_ids(self) -> None:
        """Takes a block of file ids from the archive's database; they are never given twice, not even after a crash."""
        with self._archive.transaction() as db:
            first = allocate(db, "file", _IDS_AT_ONCE)
        with self._ids_lock:
            self._ids.append(range(first, first + _IDS_AT_ONCE))

    def keep(self, content: bytes, upload_info: UploadInfo) -> int:
        """Keeps a small upload; returns its file id. Quick enough for the event loop while `remaining_ids()` > 0."""
        sha256 = hashlib.sha256(content).hexdigest()
        temporary = self.store.write(content)
        file_id = self._record(sha256, len(content), upload_info, durable=False)
        self.store.place(temporary, sha256)
        return file_id

    def finish(self, incoming: IncomingFile, upload_info: UploadInfo) -> int:
        """Keeps a large upload whose blocks have all been written; returns its file id."""
        sha256 = incoming.close()
        file_id = self._record(sha256, incoming.size_bytes, upload_info, durable=True)
        incoming.place()
        return file_id

    def _record(self, sha256: str, size_bytes: int, upload_info: UploadInfo, *, durable: bool) -> int:
        # the row comes before the name: from then on no sweep removes the content
        file_id = self._next_id()
        info_columns = (upload_info.name, upload_info.media_type, upload_info.account)
        with self._presence_lock, self._uploads.transaction() as db:
            db.execute(
                "INSERT INTO upload VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (file_id, sha256, size_bytes, *info_columns, self._now_s(), durable),
            )
            if self._sweeping:
                self._arrived_during_sweep.add(sha256)
        return file_id

    def _next_id(self) -> int:
        while True:
            with self._ids_lock:
                if self._ids:
                    block = self._ids[0]
                    self._ids[:1] = [block[1:]] if len(block) > 1 else []
                    return block[0]
            self.reserve_ids()

    # -- being referred to

    def claim(self, db: sqlite3.Connection, file_id: str, account: str) -> FileFacts:
        """Makes an upload a file of the archive, in the writer's transaction `db`.

        Refuses with 400 where the id is unknown, its upload has gone, or it is another account's, without saying which.
        The uploader may refer to one file from several versions.
        """
        number = int(file_id) if file_id.isascii() and file_id.isdigit() and len(file_id) < 19 else -1
        stored_facts = self.find_stored(db, number)
        facts = stored_facts or self.find_upload(number)
        if facts is None or facts.account != account or self.is_released(db, number):
            raise Refusal(400, f"referanseDokumentfil: this account has uploaded no file {file_id}")
        if stored_facts is None:
            facts_row = (number, facts.sha256, facts.size_bytes, facts.name, facts.media_type, account)
            db.execute("INSERT INTO stored_file VALUES (?, ?, ?, ?, ?, ?)", facts_row)
        return facts

    def make_durable(self, claims: Collection[FileFacts]) -> None:
        """Returns when the claimed files would survive a loss of power; called just before the commit."""
        unflushed = {facts.sha256 for facts in claims if not facts.durable}
        if not unflushed:
            return
        try:
            self.store.make_durable(unflushed)
        except FileNotFoundError as fault:
            raise Refusal(400, "referanseDokumentfil: an uploaded file has gone; upload it again") from fault

    def release(self, db: sqlite3.Connection, file_ids: Collection[str]) -> None:
        """Lets go of files whose versions are gone, in the writer's transaction; those still referred to stay."""
        for file_id in file_ids:
            number = int(file_id)
            version_row = db.execute(
                "SELECT 1 FROM o_dokumentversjon WHERE referanseDokumentfil = ? LIMIT 1", (file_id,)
            ).fetchone()
            if version_row is None:
                light = db.execute("DELETE FROM light_pdf WHERE file_id = ? RETURNING light_file_id", (number,))
                for released_id in (number, *(row[0] for row in light.fetchall())):
                    self._release(db, released_id)

    def set_light_pdf(self, db: sqlite3.Connection, file_id: int, light: FileFacts | None) -> None:
        """Gives a stored file its light PDF (claimed before), or takes it away."""
        row = db.execute("DELETE FROM light_pdf WHERE file_id = ? RETURNING light_file_id", (file_id,)).fetchone()
        if light is not None:
            db.execute("INSERT INTO light_pdf VALUES (?, ?)", (file_id, light.file_id))
        if row is not None and (light is None or row[0] != light.file_id):
            self._release(db, row[0])

    @staticmethod
    def _release(db: sqlite3.Connection, number: int) -> None:
        row = db.execute("DELETE FROM stored_file WHERE file_id = ? RETURNING sha256", (number,)).fetchone()
        if row is not None:
            db.execute("INSERT OR REPLACE INTO released_file VALUES (?, ?)", (number, row[0]))

    # -- being read

    @staticmethod
    def find_stored(db: sqlite3.Connection, file_id: int) -> FileFacts | None:
        """A file that the archive refers to."""
        row = db.execute("SELECT * FROM stored_file WHERE file_id = ?", (file_id,)).fetchone()
        return None if row is None else FileFacts(*row)

    @staticmethod
    def is_released(db: sqlite3.Connection, file_id: int) -> bool:
        """True for a file that the archive referred to and let go: gone, though a sweep may still have to come."""
        return db.execute("SELECT 1 FROM released_file WHERE file_id = ?", (file_id,)).fetchone() is not None

    @staticmethod
    def find_light_pdf(db: sqlite3.Connection, file_id: int) -> FileFacts | None:
        """The light PDF of a file that the archive refers to."""
        row = db.execute(
            "SELECT stored_file.* FROM light_pdf JOIN stored_file ON stored_file.file_id = light_pdf.light_file_id"
            " WHERE light_pdf.file_id = ?",
            (file_id,),
        ).fetchone()
        return None if row is None else FileFacts(*row)

    def find_own_upload(self, file_id: int, account: str) -> FileFacts | None:
        """An upload of that account that is still there."""
        facts = self.find_upload(file_id)
        return facts if facts is not None and facts.account == account else None

    def find_upload(self, file_id: int) -> FileFacts | None:
        """Anyone's upload that is still there."""
        with self._uploads.snapshot() as db:
            row = db.execute("SELECT * FROM upload WHERE file_id = ?", (file_id,)).fetchone()
        if row is None or row[6] + self._ttl_s < self._now_s():
            return None
        number, sha256, size_bytes, name, media_type, account, _, durable = row
        known_type = _media_type(media_type, name)
        return FileFacts(number, sha256, size_bytes, name, known_type, account, bool(durable))

    # -- going

    def checkpoint(self) -> None:
        """Lets the list of uploads be flushed; for a worker, now and then."""
        self._uploads.checkpoint()

    def sweep(self) -> None:
        """Removes uploads whose time is over and the contents that nothing refers to any more."""
        self._sweep_uploads()
        self._sweep_released()

    def sweep_strays(self) -> None:
        """Removes contents without a row, which a loss of power can leave between a file's rename and its row."""
        oldest_s = self._now_s() - self._ttl_s - _CLAIM_S
        old = (path.name for path in self.store.contents() if path.stat().st_mtime < oldest_s)
        while batch := list(islice(old, _SWEPT_AT_ONCE)):
            self._remove_unwanted(batch)

    def _sweep_uploads(self) -> None:
        # a claim made at the last moment has until then to commit
        before_s = self._now_s() - self._ttl_s - _CLAIM_S
        while True:
            with self._uploads.snapshot() as db:
                rows = db.execute(
                    "SELECT file_id, sha256, uploaded_s FROM upload ORDER BY file_id LIMIT ?", (_SWEPT_AT_ONCE,)
                ).fetchall()
            expired = [(number, sha256) for number, sha256, uploaded_s in rows if uploaded_s < before_s]
            self._remove_uploads(expired)
            if len(expired) < _SWEPT_AT_ONCE:
                return

    def _sweep_released(self) -> None:
        with self._archive.snapshot() as db:
            released = db.execute("SELECT file_id, sha256 FROM released_file LIMIT ?", (_SWEPT_AT_ONCE,)).fetchall()
        if released:
            self._remove_uploads(released)
            with self._archive.transaction() as db:
                db.executemany("DELETE FROM released_file WHERE file_id = ?", [(number,) for number, _ in released])

    def _remove_uploads(self, uploads: Collection[tuple[int, str]]) -> None:
        if uploads:
            with self._uploads.transaction() as db:
                db.executemany("DELETE FROM upload WHERE file_id = ?", [(number,) for number, _ in uploads])
            self._remove_unwanted({sha256 for _, sha256 in uploads})

    def _remove_unwanted(self, contents: Collection[str]) -> None:
        """Removes the contents that no upload and no stored file has, nor an upload that arrives during the sweep."""
        with self._presence_lock:
            self._sweeping = True
        for sha256 in set(contents) - self._find_referenced(contents):
            with self._presence_lock:
                if sha256 not in self._arrived_during_sweep:
                    self.store.remove(sha256)
        with self._presence_lock:
            self._sweeping = False
            self._arrived_during_sweep.clear()

    def _find_referenced(self, contents: Collection[str]) -> set[str]:
        contents_json = json.dumps(list(contents))
        condition = "sha256 IN (SELECT value FROM json_each(?))"
        referenced: set[str] = set()
        for database, table in ((self._uploads, "upload"), (self._archive, "stored_file")):
            with database.snapshot() as db:
                sql = f"SELECT sha256 FROM {table} WHERE {condition}"  # noqa: S608  # our own words
                referenced.update(row[0] for row in db.execute(sql, (contents_json,)))
        return referenced


@cache
def _media_types() -> mimetypes.MimeTypes:
    registry = mimetypes.MimeTypes()
    for media_type, suffix in _MORE_MEDIA_TYPES:
        registry.add_type(media_type, suffix)
    return registry


def _media_type(media_type: str, name: str) -> str:
    """The declared media type of an upload, else the one of its file name's ending; the same on every machine."""
    if media_type not in ("", _OCTETS):
        return media_type
    return _media_types().guess_type(name)[0] or _OCTETS

"""Documents that were made of listings, kept with the run: what is uploaded is what was planned, whatever the service
says later. One SQLite file; equal bytes are kept once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path

from noarkit.errors import ItemVanished
from noarkit.graph.entity import Content
from noarkit.safe.fixity import BY_PLAN, checked, sha256_stated
from noarkit.services.port import GeneratedDocument

NAME = "fetched.db"
SCHEME = "made:"
_BATCH = 500
_BATCH_BYTES = 4 * 1024 * 1024


def content_of(key: str, document: GeneratedDocument) -> Content:
    """The content that stands for a made document. Its locator names its bytes, so that they can be found again."""
    sha256 = hashlib.sha256(document.data).hexdigest()
    return Content(
        f"{SCHEME}{sha256}",
        document.name,
        len(document.data),
        sha256=sha256,
        media_type=document.media_type,
        identity=document.identity or document.name,
    )


class DocumentStore:
    """Takes in made documents while a source is read."""

    def __init__(self, folder: Path) -> None:
        place = folder / NAME
        place.touch(mode=0o600)  # what services told is for the run's owner alone
        self._db = sqlite3.connect(place, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS piece (sha256 TEXT PRIMARY KEY, bytes BLOB) WITHOUT ROWID")
        self._waiting: list[tuple[str | None, bytes]] = []
        self._waiting_bytes = 0

    def add(self, content: Content, data: bytes) -> None:
        """One document."""
        self._waiting.append((content.sha256, data))
        self._waiting_bytes += len(data)
        if len(self._waiting) >= _BATCH or self._waiting_bytes >= _BATCH_BYTES:
            self._write()

    def close(self) -> None:
        """All of it is on disk, in one file."""
        self._write()
        self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()

    def _write(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO piece VALUES (?, ?)", self._waiting)
        self._db.execute("COMMIT")
        self._waiting.clear()
        self._waiting_bytes = 0


class DocumentStream:
    """The bytes of one made document."""

    def __init__(self, data: bytes) -> None:
        self._view = memoryview(data)

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        size = len(self._view) if size < 0 else size
        block, self._view = bytes(self._view[:size]), self._view[size:]
        return block

    def still_the_same(self) -> bool:
        """It cannot change: its name is its checksum."""
        return True


@contextmanager
def open_document(folder: Path, content: Content) -> Iterator[DocumentStream]:
    """Opens a made document. Raises `ItemVanished` where it is not with the run, or is not what it was."""
    sha256 = content.locator.removeprefix(SCHEME)
    path = folder / NAME
    if not path.is_file():
        raise ItemVanished(key=content.locator, why="not-with-the-run")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
        row = db.execute("SELECT bytes FROM piece WHERE sha256 = ?", (sha256,)).fetchone()
    if row is None or checked(BytesIO(row[0]), *sha256_stated(sha256, BY_PLAN)).read_through().differences():
        raise ItemVanished(key=content.locator, why="not-with-the-run")
    yield DocumentStream(row[0])

"""Keeps the progress of building a package in a SQLite file beside it, so that a killed build can be resumed.

The folder `.noarkit-….part` beside the target holds this database and the growing package. A row says that a file
stands in the package; for an archive file it was on disk before the row was. The database is locked as long as a
process holds it, and the file `hands` as long as any of its children may still write.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from noarkit.errors import RunLocked, UnsafeMember
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.locks import try_lock
from noarkit.safe.paths import twin_key

Kind = Literal["payload", "tag"]
_PATIENCE = 1_000
_TABLES = (
    "CREATE TABLE IF NOT EXISTS job (key TEXT PRIMARY KEY, value TEXT)",
    "CREATE TABLE IF NOT EXISTS done (number INTEGER PRIMARY KEY, name TEXT UNIQUE, kind TEXT, stamp TEXT,"
    " size INTEGER, place INTEGER, crc INTEGER, base INTEGER, digests TEXT, seen INTEGER)",
)
_INSERT = (
    "INSERT INTO done (name, kind, stamp, size, place, crc, base, digests, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)"
)


class PackagedFile(NamedTuple):
    """A file that stands in the package. `place` and `crc` serve a zip, `base` is the mark before its batch."""

    name: str
    kind: Kind
    stamp: str
    size_bytes: int
    digests: tuple[str, ...]
    place: int = 0
    crc: int = 0
    base: int = 0


class Progress:
    """The state of one build. `folder` is ours alone."""

    def __init__(self, target: Path, job: str) -> None:
        self.folder = _folder_of(target)
        self._db, self.lock_fd = self._open()
        if self.get("job") not in (None, job):
            self._start_over()
        self.put_fact("job", job)
        self.resumed = self.count() > 0
        self.same_boot = self.get("boot") in (None, _boot())
        self.put_fact("boot", _boot())

    def _open(self) -> tuple[sqlite3.Connection, int]:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        db = sqlite3.connect(self.folder / "state.db", isolation_level=None, timeout=0.2)
        try:
            # EXCLUSIVE is the lock of the build: a second one gets SQLITE_BUSY. NORMAL is enough here: a lost row only
            # means that a file is copied again.
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL", "cache_size=-16384"):
                db.execute(f"PRAGMA {pragma}")
            db.execute("BEGIN EXCLUSIVE")
            for table in _TABLES:
                db.execute(table)
            db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            db.close()
            if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise
            raise RunLocked(where=str(self.folder)) from error
        # The children of a build that was killed write on until they see that their input ended. They hold this lock by
        # the descriptor they inherited, so the next build waits for the last of them.
        lock_fd = open_descriptor(self.folder / "hands", os.O_RDWR | os.O_CREAT)
        try:
            _wait_for_lock(lock_fd, str(self.folder))
        except BaseException:
            os.close(lock_fd)
            db.close()
            raise
        return db, lock_fd

    @classmethod
    def open_existing(cls, target: Path) -> Progress | None:
        """What an earlier build of `target` left; None if there is nothing. Raises `RunLocked`."""
        folder = _folder_of(target)
        return cls(target, "") if folder.is_dir() else None

    def begin_anew(self) -> None:
        """Forgets all of it: what was built is no longer here."""
        job = self.get("job") or ""
        self._start_over()
        self.put_fact("job", job)
        self.put_fact("boot", _boot())
        self.resumed, self.same_boot = False, True

    def _start_over(self) -> None:
        """Deletes an earlier build that was made with other settings: it cannot be resumed."""
        self.close()
        shutil.rmtree(self.folder)
        self._db, self.lock_fd = self._open()

    def get(self, key: str) -> str | None:
        """A fact about the build."""
        row = self._db.execute("SELECT value FROM job WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put_fact(self, key: str, value: str) -> None:
        """Keeps a fact."""
        self._db.execute("INSERT OR REPLACE INTO job VALUES (?, ?)", (key, value))

    def put_facts(self, facts: Mapping[str, str]) -> None:
        """Keeps facts that only hold together: all of them, or none."""
        self._db.execute("BEGIN")
        for key, value in facts.items():
            self.put_fact(key, value)
        self._db.execute("COMMIT")

    def put_first_fact(self, key: str, value: str) -> None:
        """Keeps a fact that a build which goes on shall not change."""
        self._db.execute("INSERT OR IGNORE INTO job VALUES (?, ?)", (key, value))

    def count(self) -> int:
        """How many files stand in the package."""
        return int(self._db.execute("SELECT count(*) FROM done").fetchone()[0])

    def add(self, rows: Sequence[PackagedFile], length: int = 0) -> None:
        """Files that stand now, up to a mark at `length`. Raises `UnsafeMember` for a name that is there."""
        self._db.execute("BEGIN")
        try:
            self._db.executemany(_INSERT, map(_row, rows))
            self.put_fact("length", str(length))
        # The UNIQUE name is what finds a source that lists a file twice, over millions of names and across restarts.
        except sqlite3.IntegrityError as error:
            self._db.execute("ROLLBACK")
            raise UnsafeMember(where=self._repeated_name(rows), why="duplicate") from error
        self._db.execute("COMMIT")

    def _repeated_name(self, rows: Sequence[PackagedFile]) -> str:
        names = [row.name for row in rows]
        return next((name for name in names if names.count(name) > 1 or self.find(name)), "")

    def find(self, name: str) -> tuple[PackagedFile, bool] | None:
        """A file by its name, and whether this build has met it in its source already."""
        row = self._db.execute(f"SELECT {_COLUMNS}, seen FROM done WHERE name = ?", (name,)).fetchone()  # noqa: S608  # ours
        return (_packaged_file(row), bool(row[-1])) if row else None

    def forget_seen(self) -> None:
        """A new build begins to go through its source."""
        self._db.execute("UPDATE done SET seen = 0")

    def mark_seen(self, name: str) -> None:
        """The source still has it."""
        self._db.execute("UPDATE done SET seen = 1 WHERE name = ?", (name,))

    def drop(self, name: str) -> None:
        """It must be taken again."""
        self._db.execute("DELETE FROM done WHERE name = ?", (name,))

    def stale(self) -> list[str]:
        """What stands in the package and is no longer in its source."""
        return [name for (name,) in self._db.execute("SELECT name FROM done WHERE seen = 0")]

    def cut(self, base: int) -> None:
        """Forgets every file after a mark."""
        self._db.execute("BEGIN")
        self._db.execute("DELETE FROM done WHERE base >= ?", (base,))
        self.put_fact("length", str(base))
        self._db.execute("COMMIT")

    def drop_tags(self) -> None:
        """The tag files are written anew at the end."""
        self._db.execute("DELETE FROM done WHERE kind = 'tag'")

    def rows(
        self, kind: Kind | None = None, *, by_name: bool = False, below: str = ""
    ) -> Generator[PackagedFile, None, None]:
        """What stands in the package, or in its folder `below`, as it was written or by name."""
        which = "1" if kind is None else f"kind = '{kind}'"
        span: tuple[str, ...] = () if not below else (f"{below}/", f"{below}0")  # «0» is the sign after «/»
        where = "name >= ? AND name < ?" if below else "1"
        order = "name" if by_name else "number"
        for row in self._db.execute(
            f"SELECT {_COLUMNS} FROM done WHERE {which} AND {where} ORDER BY {order}",  # noqa: S608  # ours
            span,
        ):
            yield _packaged_file(row)

    def octets(self) -> tuple[int, int]:
        """Bytes and files of the payload."""
        query = "SELECT coalesce(sum(size), 0), count(*) FROM done WHERE kind = 'payload'"
        total, count = self._db.execute(query).fetchone()
        return int(total), int(count)

    def twins(self) -> list[tuple[str, str]]:
        """Names that some systems take for one; the first hundred."""
        self._db.create_function("twin_key", 1, twin_key, deterministic=True)
        query = "SELECT min(name), max(name) FROM done GROUP BY twin_key(name) HAVING count(*) > 1 LIMIT 100"
        return self._db.execute(query).fetchall()

    def close(self) -> None:
        """Lets the build be taken up by another process."""
        self._db.close()
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def clear(self) -> None:
        """The package is whole: nothing of this is needed any more."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _folder_of(target: Path) -> Path:
    key = hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    return target.parent / f".noarkit-{key}.part"


_COLUMNS = "name, kind, stamp, size, digests, place, crc, base"


def _row(file: PackagedFile) -> tuple[object, ...]:
    return file.name, file.kind, file.stamp, file.size_bytes, file.place, file.crc, file.base, " ".join(file.digests)


def _packaged_file(row: tuple[str, Kind, str, int, str, int, int, int]) -> PackagedFile:
    name, kind, stamp, size, digests, place, crc, base = row[:8]
    return PackagedFile(name, kind, stamp, size, tuple(digests.split()), place, crc, base)


def _wait_for_lock(lock_fd: int, where: str) -> None:
    """Waits for the children of a build that was killed: they end with what they were about to write."""
    for _ in range(_PATIENCE):
        if try_lock(lock_fd):
            return
        time.sleep(0.02)
    raise RunLocked(where=where)


def _boot() -> str:
    """An id of this boot of the machine; a random one where the system has none, so that it never matches."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:  # pragma: no cover  # other systems do not tell
        return os.urandom(8).hex()

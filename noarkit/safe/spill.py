"""Sets of keys that may be millions: the first few stay in memory, the others go to a temporary file.

A key is as good as its digest of 128 bits. Any text is one, also the name of a file that no encoding fits.
"""

from __future__ import annotations

import hashlib
import sqlite3
from types import TracebackType
from typing import Self

from noarkit.safe.scratch import scratch

IDS_AT_HAND = 400_000
"""How many to keep in memory where a package has millions, and each is asked for."""
_FEW = 1_000
_CACHE_KIB = 8 * 1_024
_ADD = "INSERT OR IGNORE INTO spilled_key VALUES (?, 1)"
_COUNT_UP = "INSERT INTO spilled_key VALUES (?, 1) ON CONFLICT (digest) DO UPDATE SET times = times + 1 RETURNING times"


class KeySet:
    """A set of keys that can tell how often each came. Keeps `in_memory` of them at hand. To be closed."""

    def __init__(self, in_memory: int = _FEW) -> None:
        self._in_memory = in_memory
        self._times: dict[bytes, int] = {}
        self._db: sqlite3.Connection | None = None
        self.count = 0

    def add(self, key: str) -> bool:
        """Adds a key; True if it is new."""
        digest = _digest(key)
        if digest in self._times:
            return False
        if len(self._times) < self._in_memory:
            self._times[digest] = 1
        elif self._file().execute(_ADD, (digest,)).rowcount == 0:
            return False
        self.count += 1
        return True

    def count_up(self, key: str) -> int:
        """Adds a key, and returns how often it has come, this time among them."""
        digest = _digest(key)
        if digest in self._times or len(self._times) < self._in_memory:
            times = self._times[digest] = self._times.get(digest, 0) + 1
        else:
            times = int(self._file().execute(_COUNT_UP, (digest,)).fetchall()[0][0])
        self.count += times == 1
        return times

    def has(self, key: str) -> bool:
        """True if the key was added."""
        digest = _digest(key)
        if digest in self._times:
            return True
        if self._db is None:
            return False
        return self._db.execute("SELECT 1 FROM spilled_key WHERE digest = ?", (digest,)).fetchone() is not None

    def close(self) -> None:
        """Forgets everything."""
        self._times.clear()
        if self._db is not None:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()

    def _file(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = scratch(_CACHE_KIB)
            self._db.execute("CREATE TABLE spilled_key (digest BLOB PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
            self._db.execute("BEGIN")
        return self._db


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()

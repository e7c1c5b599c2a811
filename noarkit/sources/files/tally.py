"""Counts how often a name came by, for millions of names, without holding them in memory."""

from __future__ import annotations

import hashlib
from typing import Self

from noarkit.safe.scratch import scratch


class Tally:
    """A temporary table on disk that dies with its connection."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE seen (name BLOB PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def add(self, name: str) -> int:
        """Counts `name` once more and says how often it came by before."""
        key = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        rows = self._db.execute(
            "INSERT INTO seen VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1 RETURNING times", (key,)
        ).fetchall()
        return int(rows[0][0]) - 1

    def times(self, name: str) -> int:
        """How often `name` came by."""
        key = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        row = self._db.execute("SELECT times FROM seen WHERE name = ?", (key,)).fetchone()
        return int(row[0]) if row else 0

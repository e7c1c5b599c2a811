"""Files that hold the same: found by their size first, then by their beginnings, and read whole only where both agree.

What is known of them lies in a temporary table, so that millions cost no memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from noarkit.errors import SourceFault
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.scratch import scratch

HEAD_BYTES = 64 * 1024
MOST_BYTES = 16 * 1024 * 1024 * 1024
"""So much is read whole at most; what is left is told as not compared."""

_ALIKE = "SELECT size FROM seen GROUP BY size HAVING count(*) > 1"
_SAME_HEAD = "SELECT size, head FROM seen WHERE head IS NOT NULL GROUP BY size, head HAVING count(*) > 1"
_ROWS = (
    "SELECT seen.rowid, locator, name, size, modified FROM look JOIN seen ON seen.rowid = look.file ORDER BY look.file"
)

OpenContent = Callable[[Content], AbstractContextManager[ContentStream]]


@dataclass(frozen=True, slots=True)
class Copied:
    """How many contents there are more than once, how many files that is beside the first of each, and their bytes;
    `not_compared` are files that may be copies and were not read."""

    contents: int = 0
    files: int = 0
    bytes: int = 0
    not_compared: int = 0


class Copies:
    """Remembers files by their sizes. To be closed."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE seen (size INTEGER, locator TEXT, name TEXT, modified INTEGER, head BLOB, own BLOB)"
        )
        self._db.execute("CREATE TABLE look (file INTEGER PRIMARY KEY)")
        self._db.execute("BEGIN")

    def add(self, content: Content) -> None:
        """One file; an empty one is no copy of anything."""
        if content.size_bytes:
            row = (content.size_bytes, content.locator, content.name, content.modified_ns)
            self._db.execute("INSERT INTO seen (size, locator, name, modified) VALUES (?, ?, ?, ?)", row)

    def compare(self, opens: OpenContent, most_bytes: int = MOST_BYTES) -> Copied:
        """Compares what may be the same."""
        db = self._db
        db.execute("CREATE INDEX by_size ON seen (size, head)")
        not_compared = self._hash_files(f"size IN ({_ALIKE})", "head", opens, HEAD_BYTES)
        db.execute("UPDATE seen SET own = head WHERE size <= ?", (HEAD_BYTES,))
        not_compared += self._hash_files(
            f"size > {HEAD_BYTES} AND (size, head) IN ({_SAME_HEAD})", "own", opens, most_bytes
        )
        groups = "SELECT size, count(*) AS times FROM seen WHERE own IS NOT NULL GROUP BY size, own HAVING times > 1"
        contents, files, size = db.execute(
            f"SELECT count(*), total(times - 1), total(size * (times - 1)) FROM ({groups})"  # noqa: S608  # our own words
        ).fetchone()
        return Copied(contents, int(files), int(size), not_compared)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _hash_files(self, alike: str, column: str, opens: OpenContent, most_bytes: int) -> int:
        """Hashes files: their heads each, or whole ones as long as there are bytes left; says how many were not."""
        not_compared, budget = 0, most_bytes
        self._db.execute("DELETE FROM look")
        self._db.execute(f"INSERT INTO look SELECT rowid FROM seen WHERE {alike}")  # noqa: S608  # our own words
        for row, locator, name, size, modified in self._db.execute(_ROWS):
            if column == "own" and size > budget:
                not_compared += 1
                continue
            try:
                with opens(Content(locator, name, size, modified)) as stream:
                    digest = _digest(stream, HEAD_BYTES if column == "head" else size)
            except SourceFault:
                not_compared += 1
                continue
            budget -= size if column == "own" else 0
            self._db.execute(f"UPDATE seen SET {column} = ? WHERE rowid = ?", (digest, row))  # noqa: S608  # one of two
        return not_compared


def _digest(stream: ContentStream, most: int) -> bytes:
    hasher = hashlib.blake2b(digest_size=16)
    while most > 0 and (block := stream.read(min(most, 1024 * 1024))):
        hasher.update(block)
        most -= len(block)
    return hasher.digest()

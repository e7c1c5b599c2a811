"""What files of a package were called before they were given names that every system can bear."""

from __future__ import annotations

import os
from collections.abc import Iterable

from noarkit.safe.keys import key_of, path_of
from noarkit.safe.portable import is_portable_name_of
from noarkit.safe.scratch import scratch


def original_name(key: str, stored_path: str) -> str:
    """The path that a package tells as the original one of a file, by its key; the stored path where that is none that
    our rule makes into it, as where another program keeps ids of its own in that place.

    Undecodable bytes stand as `os.fsdecode` has them.
    """
    if not key or not is_portable_name_of(key, stored_path):
        return stored_path
    return os.fsdecode(path_of(key))


class OriginalNames:
    """The original paths of files, by their stored paths, in a temporary database. `pairs` are of stored path and
    key."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE original_name (name TEXT PRIMARY KEY, key TEXT) WITHOUT ROWID")
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO original_name VALUES (?, ?)", pairs)
        self._db.execute("COMMIT")
        self._db.execute("CREATE INDEX original_name_key ON original_name (key)")
        self._any = self._db.execute("SELECT 1 FROM original_name LIMIT 1").fetchone() is not None

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def __call__(self, stored_path: str, above: str = "") -> str:
        """What a file was called; its stored path where that is all there is. `above` stands before both in the package
        and is no part of them."""
        row = None
        if self._any:
            row = self._db.execute("SELECT key FROM original_name WHERE name = ?", (above + stored_path,)).fetchone()
        return stored_path if row is None else original_name(str(row[0]), stored_path)

    def find_stored(self, name: str, above: str = "") -> str:
        """The path at which a file lies that was called `name`: the way back."""
        if self._any:
            key = key_of(os.fsencode(name))
            for (full,) in self._db.execute("SELECT name FROM original_name WHERE key = ?", (key,)):
                path = str(full).removeprefix(above)
                if str(full).startswith(above) and self(path, above) == name:
                    return path
        return name

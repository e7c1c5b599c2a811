"""How files are called in a new package: as in their source, or by the rule of `safe.portable` where that cannot be.

    with Naming(names) as naming:
        naming.of("a:b.txt")      # "a=3Ab.txt"

`names` is gone through once, and again only where some system would take two of them for one. Only what is called
otherwise is remembered, in a temporary database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Self

from noarkit.safe.keys import key_of
from noarkit.safe.paths import NameKeys, twin_key
from noarkit.safe.portable import distinct_part, portable_part, portable_path
from noarkit.safe.scratch import scratch

Rule = Callable[[str], str]
MOST_PATH_BYTES = 3_800
"""How long the whole path of a file may be, so that what a form puts before it still fits."""

_STEPS = "CREATE TABLE step (folder BLOB, part BLOB, alike TEXT, PRIMARY KEY (folder, part)) WITHOUT ROWID"
_LATER = (
    "CREATE TABLE later AS SELECT folder, part FROM step s WHERE EXISTS"
    " (SELECT 1 FROM step t WHERE t.folder = s.folder AND t.alike = s.alike AND t.part < s.part)"
)


class Naming:
    """The names of the files that go into a package. `rule` says how one path is called, for itself alone; names that
    some system takes for one are told apart, unless `apart` is False."""

    def __init__(self, names: Callable[[], Iterable[str]], rule: Rule = portable_path, *, apart: bool = True) -> None:
        self._rule = rule
        self._db = scratch()
        self._db.execute("CREATE TABLE called (name BLOB PRIMARY KEY, told TEXT) WITHOUT ROWID")
        self._db.execute("CREATE TABLE long (name BLOB)")
        self._db.execute("CREATE VIEW borne AS SELECT * FROM called WHERE name NOT IN (SELECT name FROM long)")
        self._name_files(names, apart)
        self._db.execute("CREATE INDEX called_told ON called (told)")
        self.count = int(self._db.execute("SELECT count(*) FROM borne").fetchone()[0])
        self._any = self._db.execute("SELECT 1 FROM called LIMIT 1").fetchone() is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def of(self, name: str) -> str:
        """What a file is called in the package."""
        if not self._any:
            return name
        row = self._db.execute("SELECT told FROM called WHERE name = ?", (os.fsencode(name),)).fetchone()
        return name if row is None else str(row[0])

    def original(self, new_name: str) -> str:
        """The key of what a file of the package was called; empty if it still is."""
        row = self._db.execute("SELECT name FROM called WHERE told = ?", (new_name,)).fetchone() if self._any else None
        return "" if row is None else key_of(row[0])

    def list_renamed(self) -> Iterator[tuple[str, str]]:
        """What is called otherwise: the name in the package and the key of the original one, by the former."""
        for new_name, name in self._db.execute("SELECT told, name FROM borne ORDER BY told"):
            yield str(new_name), key_of(name)

    def too_long(self) -> Iterator[str]:
        """Files whose whole path no package can bear, by their keys."""
        for (name,) in self._db.execute("SELECT name FROM long ORDER BY name"):
            yield key_of(name)

    @staticmethod
    def fits(path: str) -> bool:
        """True for a path that a package can bear."""
        return len(path) * 4 <= MOST_PATH_BYTES or len(path.encode()) <= MOST_PATH_BYTES

    def _name_files(self, names: Callable[[], Iterable[str]], apart: bool) -> None:
        self._db.execute("BEGIN")
        with NameKeys() as keys:
            for name in names():
                new_name = self._store_name(name, self._rule(name))
                if not self.fits(new_name):
                    self._db.execute("INSERT INTO long VALUES (?)", (os.fsencode(name),))
                elif apart:
                    keys.add(tuple(new_name.split("/")))
            alike = keys.may_repeat()
        if alike:
            self._make_distinct(names)
        self._db.execute("COMMIT")

    def _store_name(self, name: str, new_name: str) -> str:
        if new_name != name:
            self._db.execute("INSERT OR REPLACE INTO called VALUES (?, ?)", (os.fsencode(name), new_name))
        return new_name

    def _make_distinct(self, names: Callable[[], Iterable[str]]) -> None:
        """Of names that some system takes for one, in each folder, the first by bytes keeps its own."""
        self._db.execute(_STEPS)
        for name in names():
            self._db.executemany("INSERT OR IGNORE INTO step VALUES (?, ?, ?)", _steps(name))
        self._db.execute("CREATE INDEX step_alike ON step (folder, alike, part)")
        self._db.execute(_LATER)
        self._db.execute("CREATE UNIQUE INDEX later_part ON later (folder, part)")
        for name in names():
            self._store_name(name, self._distinct(name, self._rule(name)))

    def _distinct(self, name: str, new_name: str) -> str:
        parts = new_name.split("/")
        for depth, (folder, part, _) in enumerate(_steps(name)):
            if self._db.execute("SELECT 1 FROM later WHERE folder = ? AND part = ?", (folder, part)).fetchone():
                parts[depth] = distinct_part(os.fsdecode(part))
        return "/".join(parts)


def _steps(name: str) -> Iterator[tuple[bytes, bytes, str]]:
    """Each step of a path: the folder above it, its name, and what some system takes for the same there."""
    parts = name.split("/")
    for depth, part in enumerate(parts):
        yield os.fsencode("/".join(parts[:depth])), os.fsencode(part), twin_key(portable_part(part))

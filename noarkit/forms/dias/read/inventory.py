"""What lies in a package beside what its METS lists, in a database of our own: a million files cost no memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from noarkit.errors import UnsafePath
from noarkit.forms.container.storage import StoredFile
from noarkit.forms.dias.read.mets import MetsFile
from noarkit.forms.dias.spec import METS, paths_of
from noarkit.safe.paths import checked_parts
from noarkit.safe.scratch import scratch

Presence = Literal["found", "twice", "missing", "unsafe"]

_HARMLESS = re.compile(r"file:([A-Za-z0-9_-][A-Za-z0-9_./-]*)")
_TABLE = (
    "CREATE TABLE file (name TEXT PRIMARY KEY, size INTEGER, odd TEXT, listed INTEGER DEFAULT 0, told INTEGER,"
    " sum TEXT, kind TEXT, line INTEGER, owner TEXT) WITHOUT ROWID"
)
_LIST = (
    "UPDATE file SET listed = listed + 1, told = ?, sum = ?, kind = ?, line = ?, owner = ?"
    " WHERE name = ? AND listed = 0"
)
_ENTRY = "SELECT name, size, told, sum, kind, line, owner FROM file WHERE listed > 0"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that is there and listed: its size, and what METS tells of it."""

    name: str
    size_bytes: int
    listed_bytes: int | None
    checksum: str
    checksum_type: str
    line: int
    owner_id: str


class Inventory:
    """The files of one package. Close it."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(_TABLE)
        self._db.execute("CREATE TABLE gone (name TEXT PRIMARY KEY) WITHOUT ROWID")
        self._db.execute("BEGIN")

    def add_present(self, files: Iterable[StoredFile]) -> None:
        """All that lies there. Names that are no text stand as they can be shown."""
        self._db.executemany(
            "INSERT OR IGNORE INTO file (name, size, odd) VALUES (?, ?, ?)",
            ((file.name.encode("utf-8", "backslashreplace").decode(), file.size_bytes, file.odd) for file in files),
        )

    def match_listed(self, mets_file: MetsFile) -> tuple[Presence, str]:
        """Takes a file that METS lists, and says whether it is there, and under which name."""
        plain = _HARMLESS.fullmatch(mets_file.href)
        if plain is not None and self._mark_listed(mets_file, plain.group(1)):
            return "found", plain.group(1)
        name = ""
        for path in paths_of(mets_file.href):
            try:
                parts = checked_parts(path)
            except UnsafePath:
                return "unsafe", path
            name = name or "/".join(parts)
            if self._mark_listed(mets_file, "/".join(parts)):
                return "found", "/".join(parts)
        for path in paths_of(mets_file.href):
            if self.has(path):
                return "twice", path
        return ("missing", name) if name else ("unsafe", mets_file.href)

    def add_missing(self, name: str) -> None:
        """Remembers a file that is listed, and is not there."""
        self._db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (name,))

    def missing(self) -> Iterator[str]:
        """The files that are remembered so."""
        yield from (name for (name,) in self._db.execute("SELECT name FROM gone ORDER BY name"))

    def _mark_listed(self, mets_file: MetsFile, name: str) -> bool:
        values = (
            mets_file.size_bytes,
            mets_file.checksum,
            mets_file.checksum_type,
            mets_file.line,
            mets_file.owner_id,
            name,
        )
        return self._db.execute(_LIST, values).rowcount > 0

    def has(self, name: str) -> bool:
        """True for a file that is there."""
        return self._db.execute("SELECT 1 FROM file WHERE name = ?", (name,)).fetchone() is not None

    def size_of(self, name: str) -> int | None:
        """The size of a file; None if it is not there."""
        row = self._db.execute("SELECT size FROM file WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def any_below(self, folder: str) -> bool:
        """True if a file lies below a folder."""
        span = (f"{folder}/", f"{folder}0")  # «0» is the sign after «/»
        return self._db.execute("SELECT 1 FROM file WHERE name >= ? AND name < ? LIMIT 1", span).fetchone() is not None

    def entry(self, name: str) -> Entry | None:
        """A listed file by its name."""
        row = self._db.execute(f"{_ENTRY} AND name = ?", (name,)).fetchone()
        return None if row is None else Entry(*row)

    def entries(self) -> Iterator[Entry]:
        """Every listed file that is there and plain, by name."""
        for row in self._db.execute(f"{_ENTRY} AND odd = '' ORDER BY name"):
            yield Entry(*row)

    def kinds(self) -> list[str]:
        """The kinds of checksum that are told."""
        return [kind for (kind,) in self._db.execute("SELECT DISTINCT kind FROM file WHERE listed > 0 ORDER BY kind")]

    def unlisted(self) -> Iterator[str]:
        """Files that nothing lists; dias-mets.xml itself cannot be."""
        query = "SELECT name FROM file WHERE listed = 0 AND odd = '' AND name != ? ORDER BY name"
        yield from (name for (name,) in self._db.execute(query, (METS,)))

    def odd(self) -> Iterator[tuple[str, str]]:
        """What is no plain file."""
        yield from self._db.execute("SELECT name, odd FROM file WHERE odd != '' ORDER BY name")

    def octets(self) -> tuple[int, int]:
        """Bytes and files."""
        total, count = self._db.execute("SELECT coalesce(sum(size), 0), count(*) FROM file WHERE odd = ''").fetchone()
        return int(total), int(count)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

"""What lies in a package beside what its METS lists, in a database of our own: a million files cost no memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from noarkit.errors import UnsafePath
from noarkit.forms.container.inventory import FileInventory
from noarkit.forms.container.storage import StoredFile
from noarkit.forms.dias.spec import METS, paths_of
from noarkit.forms.metadata.mets_facts import MetsItem
from noarkit.safe.paths import checked_parts

Presence = Literal["found", "twice", "missing", "unsafe"]

_HARMLESS = re.compile(r"file:([A-Za-z0-9_-][A-Za-z0-9_./-]*)")
_LISTED = "listed (name TEXT PRIMARY KEY, told INTEGER, sum TEXT, kind TEXT, line INTEGER, owner TEXT) WITHOUT ROWID"
_LIST = "INSERT OR IGNORE INTO listed SELECT name, ?, ?, ?, ?, ? FROM present WHERE name = ?"
_ENTRY = "SELECT name, size, told, sum, kind, line, owner FROM listed JOIN present USING (name)"


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
    """The files of one package, `files`, and what METS lists of them. Close it."""

    def __init__(self) -> None:
        self.files = FileInventory(_LISTED, "gone (name TEXT PRIMARY KEY) WITHOUT ROWID")
        self._db = self.files.db
        self._db.execute("BEGIN")

    def add_present(self, files: Iterable[StoredFile]) -> None:
        """All that lies there. Names that are no text stand as they can be shown."""
        self.files.add_rows(
            (file.name.encode("utf-8", "backslashreplace").decode(), file.size_bytes, file.odd) for file in files
        )

    def match_listed(self, mets_file: MetsItem) -> tuple[Presence, str]:
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
            if self.files.has(path):
                return "twice", path
        return ("missing", name) if name else ("unsafe", mets_file.href)

    def add_missing(self, name: str) -> None:
        """Remembers a file that is listed, and is not there."""
        self._db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (name,))

    def missing(self) -> Iterator[str]:
        """The files that are remembered so."""
        yield from (name for (name,) in self._db.execute("SELECT name FROM gone ORDER BY name"))

    def _mark_listed(self, mets_file: MetsItem, name: str) -> bool:
        values = (
            mets_file.size_bytes,
            mets_file.checksum,
            mets_file.checksum_type,
            mets_file.line,
            mets_file.original_name,
            name,
        )
        return self._db.execute(_LIST, values).rowcount > 0

    def entry(self, name: str) -> Entry | None:
        """A listed file by its name."""
        row = self._db.execute(f"{_ENTRY} WHERE name = ?", (name,)).fetchone()
        return None if row is None else Entry(*row)

    def entries(self) -> Iterator[Entry]:
        """Every listed file that is there and plain, by name."""
        for row in self._db.execute(f"{_ENTRY} WHERE odd = '' ORDER BY name"):
            yield Entry(*row)

    def kinds(self) -> list[str]:
        """The kinds of checksum that are told."""
        return [kind for (kind,) in self._db.execute("SELECT DISTINCT kind FROM listed ORDER BY kind")]

    def unlisted(self) -> Iterator[str]:
        """Files that nothing lists; dias-mets.xml itself cannot be."""
        return self.files.unlisted(f"SELECT name FROM listed UNION SELECT '{METS}'")  # noqa: S608  # our own name

    def odd(self) -> Iterator[tuple[str, str]]:
        """What is no plain file."""
        yield from self._db.execute("SELECT name, odd FROM present WHERE odd != '' ORDER BY name")

    def close(self) -> None:
        """Forgets everything."""
        self.files.close()

"""The files of a package, in a temporary database beside what its documents list: a million files cost no memory.

Each form adds a table `"listed"` of its own, since each says other things of a file; what is there is the same for all.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from noarkit.forms.container.storage import StoredFile
from noarkit.safe.paths import twin_key
from noarkit.safe.scratch import scratch

_BATCH = 2_000
_CACHE_KIB = 32 * 1_024


class FileInventory:
    """The files that are there, in the table `present`: name, size, and what it is where it is no plain file.

    `db` is for the tables of the form. In SQL, `composed(name)` is a name in normalised Unicode composition, and
    `twin_key(name)` is alike for names that some systems take for one. Close it.
    """

    def __init__(self, *tables: str) -> None:
        self.db: sqlite3.Connection = scratch(_CACHE_KIB)
        self.db.execute("CREATE TABLE present (name TEXT PRIMARY KEY, size INTEGER, odd TEXT) WITHOUT ROWID")
        for table in tables:
            self.db.execute(f"CREATE TABLE {table}")
        self.db.create_function("composed", 1, _composed, deterministic=True)
        self.db.create_function("twin_key", 1, twin_key, deterministic=True)
        self._indexed = False

    def close(self) -> None:
        """Forgets everything."""
        self.db.close()

    def insert(self, statement: str, rows: Sequence[Sequence[object]]) -> int:
        """Runs a statement for each row, all in one transaction; returns how many rows of the table were changed."""
        before, begun = self.db.total_changes, self.db.in_transaction
        if not begun:
            self.db.execute("BEGIN")
        self.db.executemany(statement, rows)
        if not begun:
            self.db.execute("COMMIT")
        return self.db.total_changes - before

    def add(self, files: Iterable[StoredFile]) -> None:
        """Takes files that are there; of a name that is given twice, the first."""
        self.add_rows((file.name, file.size_bytes, file.odd) for file in files)

    def add_rows(self, rows: Iterable[tuple[str, int, str]]) -> None:
        """The same, of rows: name, size, and what it is where it is no plain file."""
        source = iter(rows)
        while batch := list(islice(source, _BATCH)):
            self.insert("INSERT OR IGNORE INTO present VALUES (?, ?, ?)", batch)

    def size_of(self, name: str) -> int | None:
        """The size of a file that is there under exactly that name."""
        row = self.db.execute("SELECT size FROM present WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def has(self, name: str) -> bool:
        """True for a file that is there under exactly that name."""
        return self.size_of(name) is not None

    def has_below(self, folder: str) -> bool:
        """True where a file lies somewhere below `folder/`."""
        query = "SELECT EXISTS (SELECT 1 FROM present WHERE name >= ? AND name < ?)"
        return bool(self.number(query, folder, after(folder)))

    def alike(self, name: str) -> list[str]:
        """Names of files that differ from `name` in the composition of letters alone: the first two of them."""
        if not self._indexed:
            # all other names have one composition alone
            self.db.execute(
                "CREATE TABLE alike AS SELECT name, composed(name) AS form FROM present WHERE name GLOB '*[^ -~]*'"
            )
            self.db.execute("CREATE INDEX alike_form ON alike (form)")
            self._indexed = True
        rows = self.db.execute("SELECT name FROM alike WHERE form = ? ORDER BY name LIMIT 2", (compose(name),))
        return [str(found) for (found,) in rows]

    def unlisted(self, listed_query: str) -> Iterator[str]:
        """The plain files that are there, and whose names the query does not give; by name."""
        query = f"SELECT name FROM present WHERE odd = '' EXCEPT SELECT * FROM ({listed_query}) ORDER BY 1"  # noqa: S608  # the form's own query
        yield from (str(name) for (name,) in self.db.execute(query))

    def octets(self) -> tuple[int, int]:
        """Bytes and number of the plain files that are there."""
        query = "SELECT coalesce(sum(size), 0), count(*) FROM present WHERE odd = ''"
        size_bytes, count = self.db.execute(query).fetchone()
        return int(size_bytes), int(count)

    def number(self, query: str, *values: object) -> int:
        """The answer to a query that is one number."""
        return int(self.db.execute(query, values).fetchone()[0])


def after(folder: str) -> str:
    """The first text that sorts after everything below `folder/`; empty for all of a package."""
    return f"{folder[:-1]}0" if folder else ""  # «0» is the sign after «/»


def compose(name: str) -> str:
    """A name in normalised Unicode composition."""
    return unicodedata.normalize("NFC", name)


def _composed(name: str | None) -> str | None:
    return None if name is None else compose(name)

"""The files that METS documents list and the files that are present, in a database: a million files cost no memory.

A name is looked up as written first, then in normalised Unicode composition. Entries whose checksum is still to be
compared wait here, by algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple, Self

from noarkit.forms.container.inventory import FileInventory, after

_PAGE = 500
_MOST_LOOKED_AT = 20_000


class Entry(NamedTuple):
    """A file as a document names it: what it is said to be, and on which line. `size` is -1 where nothing is said.

    A row of the table as it stands, for there are as many as files.
    """

    name: str
    origin: str
    document: str
    line: int
    algorithm: str
    digest: str
    size: int
    id: str = ""


PremisClaim = tuple[str, int, str, str, int]
"""What PREMIS says of a file: name, line, algorithm, checksum and size."""


class Inventory:
    """The files of a package and the entries that name them."""

    def __init__(self, ask_size: Callable[[str], int]) -> None:
        self._ask_size = ask_size
        self._files = FileInventory(
            "listed (name TEXT, origin TEXT, document TEXT, line INTEGER, algorithm TEXT, digest TEXT, size INTEGER,"
            " id TEXT, waits INTEGER)",
            "ids (document TEXT, id TEXT)",
            "read (name TEXT PRIMARY KEY) WITHOUT ROWID",
        )
        self._db = self._files.db
        self._cursor = self._db.cursor()
        self._remaining_lookups = _MOST_LOOKED_AT

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets everything."""
        self._files.close()

    def take_present(self, files: Iterable[tuple[str, int]]) -> None:
        """Takes what is there: names with sizes, -1 where a size is asked for only when it is needed."""
        self._files.add_rows((name, size_bytes, "") for name, size_bytes in files)

    def take_entries(self, entries: Sequence[Entry], waiting: Sequence[bool]) -> None:
        """Takes what a document lists; those `waiting` are still to be read for their checksum."""
        rows = [(*entry, waits) for entry, waits in zip(entries, waiting, strict=True)]
        self._files.insert("INSERT INTO listed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def take_ids(self, document: str, ids: Sequence[str]) -> None:
        """Takes ids of elements that are no files."""
        self._files.insert("INSERT INTO ids VALUES (?, ?)", [(document, element_id) for element_id in ids])

    def index(self) -> None:
        """Makes look-ups by name quick; said once everything is listed."""
        self._db.execute("CREATE INDEX IF NOT EXISTS listed_name ON listed (name)")

    def size_of(self, name: str) -> int | None:
        """The size of a file that is there under exactly that name."""
        size_bytes = self._files.size_of(name)
        return self._ask_size(name) if size_bytes is not None and size_bytes < 0 else size_bytes

    def composed(self, name: str) -> str | None:
        """The name of a file that differs from `name` in the composition of letters alone."""
        return next(iter(self._files.alike(name)), None)

    def folders(self, above: str) -> Iterator[str]:
        """The names of the folders right below one (`""` or `folder/`), as far as files lie in them."""
        position = above
        while True:
            row = self._db.execute(
                "SELECT name FROM present WHERE name >= ? AND (? = '' OR name < ?) AND instr(substr(name, ?), '/')"
                " ORDER BY name LIMIT 1",
                (position, above, after(above), len(above) + 1),
            ).fetchone()
            if row is None:
                return
            folder = str(row[0])[len(above) :].partition("/")[0]
            yield folder
            position = after(f"{above}{folder}/")

    def files_in(self, folder: str) -> Iterator[str]:
        """The files right in one folder (`""` or `folder/`), a few at a time."""
        last = folder
        while True:
            rows = self._db.execute(
                "SELECT name FROM present WHERE name > ? AND (? = '' OR name < ?) AND NOT instr(substr(name, ?), '/')"
                " ORDER BY name LIMIT ?",
                (last, folder, after(folder), len(folder) + 1, _PAGE),
            ).fetchall()
            yield from (name for (name,) in rows)
            if len(rows) < _PAGE:
                return
            last = str(rows[-1][0])

    def has_below(self, folder: str) -> bool:
        """True where a file lies somewhere below `folder/`."""
        return self._files.has_below(folder)

    def has_folder(self, path: str) -> bool:
        """True if files lie below a folder of that path, in whatever case each part of it is spelt.

        True as well once too many folders were searched in vain: a package must not make the search take for ever.
        """
        parent = ""
        for part in (part for part in path.split("/") if part):
            spellings = chain((part, part.lower()), self._alike(parent, part))
            name = next((spelling for spelling in spellings if self.has_below(f"{parent}{spelling}/")), None)
            if name is None:
                return self._remaining_lookups <= 0
            parent = f"{parent}{name}/"
        return True

    def _alike(self, above: str, name: str) -> Iterator[str]:
        """The folders right below one that are called so but for the case."""
        for folder in self.folders(above):
            if self._remaining_lookups <= 0:
                return
            self._remaining_lookups -= 1
            if folder.casefold() == name.casefold():
                yield folder

    def documents_to_read(self) -> list[str]:
        """Some METS documents that are there and listed, and that nobody has read yet."""
        self.index()
        rows = self._db.execute(
            "SELECT DISTINCT name FROM listed WHERE (name GLOB '*/METS.xml') AND name NOT IN (SELECT name FROM read)"
            " AND ('/' || name) NOT LIKE '%/data/%' AND name IN (SELECT name FROM present) ORDER BY name LIMIT ?",
            (_PAGE,),
        )
        return [str(name) for (name,) in rows]

    def set_read(self, name: str) -> bool:
        """Remembers that a document was read; False if it was before."""
        return self._db.execute("INSERT OR IGNORE INTO read VALUES (?)", (name,)).rowcount > 0

    def referred(self, origin: str) -> Iterator[str]:
        """The files that are there and named by entries of one origin, a few at a time."""
        last = ""
        query = (
            "SELECT DISTINCT name FROM listed WHERE origin = ? AND name > ? AND name IN (SELECT name FROM present)"
            " ORDER BY name LIMIT ?"
        )
        while rows := self._db.execute(query, (origin, last, _PAGE)).fetchall():
            yield from (name for (name,) in rows)
            last = str(rows[-1][0])

    def checksum_of(self, name: str, algorithm: str) -> str | None:
        """The checksum that METS gives a file in that algorithm."""
        query = "SELECT digest FROM listed WHERE name = ? AND algorithm = ? AND digest <> '' LIMIT 1"
        row = self._cursor.execute(query, (name, algorithm)).fetchone()
        return None if row is None else str(row[0])

    def differing_claims(self, claims: Sequence[PremisClaim]) -> list[PremisClaim]:
        """Those of which METS, or what is there, does not say the same."""
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS aside (name, line, algorithm, digest, size)")
        self._files.insert("INSERT INTO aside VALUES (?, ?, ?, ?, ?)", claims)
        differing = self._db.execute(
            "SELECT * FROM aside a WHERE NOT EXISTS (SELECT 1 FROM listed l JOIN present p ON p.name = l.name"
            " WHERE l.name = a.name AND l.algorithm = a.algorithm AND l.digest = a.digest AND p.size = a.size)"
        ).fetchall()
        self._db.execute("DELETE FROM aside")
        return differing

    def name_of_id(self, file_id: str) -> str | None:
        """The file that has that id in some METS."""
        self._db.execute("CREATE INDEX IF NOT EXISTS listed_id ON listed (id)")
        row = self._cursor.execute("SELECT name FROM listed WHERE id = ? LIMIT 1", (file_id,)).fetchone()
        return None if row is None else str(row[0])

    def waiting_algorithms(self) -> list[str]:
        """The algorithms of entries that are still to be compared."""
        return [
            str(algorithm)
            for (algorithm,) in self._db.execute("SELECT DISTINCT algorithm FROM listed WHERE waits ORDER BY 1")
        ]

    def waiting(self, algorithm: str) -> Iterator[tuple[Entry, int]]:
        """Those entries of one algorithm, with the size of each file."""
        query = (
            "SELECT l.name, l.origin, l.document, l.line, l.algorithm, l.digest, l.size, l.id, p.size"
            " FROM listed l JOIN present p ON p.name = l.name WHERE waits AND algorithm = ? ORDER BY l.name"
        )
        for *entry, size in self._db.execute(query, (algorithm,)):
            yield Entry(*entry), size

    def waiting_files(self) -> Iterator[tuple[str, list[Entry]]]:
        """Files that are there, by name, with their entries that are still to be compared."""
        query = (
            "SELECT name, origin, document, line, algorithm, digest, size, id FROM listed"
            " WHERE waits AND name IN (SELECT name FROM present) ORDER BY name"
        )
        entries = (Entry(*row) for row in self._db.execute(query))
        for name, group in groupby(entries, key=lambda entry: entry.name):
            yield name, list(group)

    def waiting_for(self, name: str) -> list[Entry]:
        """The entries of one file that are still to be compared."""
        self.index()
        query = "SELECT name, origin, document, line, algorithm, digest, size, id FROM listed WHERE name = ? AND waits"
        return [Entry(*entry) for entry in self._cursor.execute(query, (name,))]

    def unlisted(self) -> Iterator[str]:
        """What is there and named by no METS document; what PREMIS alone speaks of, is not."""
        return self._files.unlisted("SELECT name FROM listed WHERE origin <> 'object'")

    def listed_twice(self, origin: str) -> Iterator[tuple[str, str, int]]:
        """Document, file and line where one document names a file again with the same origin."""
        yield from self._db.execute(
            "SELECT document, name, max(line) FROM listed WHERE origin = ? GROUP BY document, name HAVING count(*) > 1",
            (origin,),
        )

    def ids_twice(self) -> Iterator[tuple[str, str]]:
        """Document and id where an id stands twice in one document."""
        yield from self._db.execute(
            "SELECT document, id FROM (SELECT document, id FROM ids UNION ALL"
            " SELECT document, id FROM listed WHERE id <> '') GROUP BY document, id HAVING count(*) > 1"
        )

    def twins(self) -> Iterator[tuple[str, str]]:
        """Names that some systems take for one."""
        self._db.execute(
            "CREATE TEMP TABLE odd AS SELECT name, twin_key(name) AS key FROM present WHERE name GLOB '*[^-a-z0-9_./]*'"
            " OR name GLOB '*.' OR name GLOB '*./*'"
        )
        self._db.execute("INSERT INTO odd SELECT name, name FROM present WHERE name IN (SELECT key FROM odd)")
        yield from self._db.execute(
            "SELECT min(name), max(name) FROM odd GROUP BY key HAVING min(name) <> max(name) ORDER BY 1"
        )

    def set_sizes(self, sizes: Sequence[tuple[int, str]]) -> None:
        """Takes sizes that were met while files were read."""
        self._files.insert("UPDATE present SET size = ? WHERE name = ?", sizes)

    def size_bytes(self) -> int:
        """All bytes that are there."""
        sizes = [
            (self._ask_size(name), name) for (name,) in self._db.execute("SELECT name FROM present WHERE size < 0")
        ]
        self.set_sizes(sizes)
        return self._files.octets()[0]

    def count(self) -> int:
        """How many files are there."""
        return self._files.number("SELECT count(*) FROM present")

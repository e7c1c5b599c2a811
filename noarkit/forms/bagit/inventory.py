"""What the manifests of a bag list and what is there, side by side in a database: a million files cost no memory.

Names are compared as they stand first; what is left over on both sides is compared again without the composition of
letters, and as it stood before anything was decoded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from noarkit.forms.bagit.spec import BadLine, Hole, ManifestLine
from noarkit.forms.container.inventory import FileInventory
from noarkit.forms.container.storage import StoredFile

_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Pair:
    """A file that is listed and there. `digests` stand in the order of the manifests, None if one leaves it out."""

    name: str
    stored_name: str
    size_bytes: int
    digests: tuple[str | None, ...]


class Inventory:
    """The files of one kind (payload, or tags) and the `columns` manifests that list them."""

    def __init__(self, columns: int) -> None:
        self._columns = [f"d{number}" for number in range(columns)]
        digests = "".join(f", {column} TEXT" for column in self._columns)
        self._files = FileInventory(
            f"listed (name TEXT PRIMARY KEY, raw TEXT, stored TEXT{digests}) WITHOUT ROWID",
            "promised (name TEXT PRIMARY KEY) WITHOUT ROWID",
        )
        self._db = self._files.db

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets everything."""
        self._files.close()

    def take_manifest(self, column: int, lines: Iterable[ManifestLine | BadLine]) -> Iterator[ManifestLine | BadLine]:
        """Takes the lines of one manifest; yields those that are wrong, listed twice, or written in an old habit."""
        column_name = self._columns[column]
        insert = (
            f"INSERT INTO listed (name, raw, {column_name}) VALUES (?, ?, ?) ON CONFLICT (name)"  # noqa: S608  # our own columns
            f" DO UPDATE SET {column_name} = excluded.{column_name} WHERE {column_name} IS NULL"
        )
        source = iter(lines)
        while batch := list(islice(source, _BATCH)):
            good = [line for line in batch if isinstance(line, ManifestLine)]
            rows = [(line.name, line.raw if line.raw != line.name else None, line.digest) for line in good]
            if self._files.insert(insert, rows) < len(rows):
                yield from self._find_repeated(column, good)
            yield from (line for line in batch if isinstance(line, BadLine) or line.odd)

    def _find_repeated(self, column: int, lines: Sequence[ManifestLine]) -> Iterator[BadLine]:
        """Which lines repeat a name: told once more by a second look, for it seldom happens."""
        digest_by_name: dict[str, str] = {}
        for line in lines:
            row = self._db.execute(
                f"SELECT {self._columns[column]} FROM listed WHERE name = ?",  # noqa: S608  # our own columns
                (line.name,),
            ).fetchone()
            if line.name in digest_by_name or row[0] != line.digest:
                why = "listed-alike" if row[0] == line.digest else "listed-twice"
                yield BadLine(line.line, why, line.name[:200])
            digest_by_name[line.name] = line.digest

    def take_present(self, files: Iterable[StoredFile]) -> None:
        """Takes what is there."""
        self._files.add(files)

    def take_promised(self, holes: Iterable[Hole | BadLine]) -> Iterator[BadLine]:
        """Takes what `fetch.txt` promises; yields lines that are wrong, or promise the same twice."""
        for hole in holes:
            if isinstance(hole, BadLine):
                yield hole
            elif not self._files.insert("INSERT OR IGNORE INTO promised VALUES (?)", [(hole.name,)]):
                yield BadLine(hole.line, "listed-twice", hole.name[:200])

    def promised_unlisted(self) -> Iterator[str]:
        """What is promised, and not listed by every manifest."""
        all_of = " AND ".join(f"{column} IS NOT NULL" for column in self._columns) or "0"
        query = f"SELECT name FROM promised EXCEPT SELECT name FROM listed WHERE {all_of} ORDER BY 1"  # noqa: S608  # ours
        yield from (name for (name,) in self._db.execute(query))

    def match(self) -> Iterator[tuple[str, str, str]]:
        """Brings both sides together; yields name, stored name and why for those that are not spelt the same."""
        self._db.execute(
            "UPDATE listed SET stored = name WHERE EXISTS (SELECT 1 FROM present p WHERE p.name = listed.name)"
        )
        if not self._files.number("SELECT EXISTS (SELECT 1 FROM listed WHERE stored IS NULL)"):
            return
        self._db.execute("CREATE TABLE loose AS SELECT name, composed(name) AS form FROM present WHERE 0")
        self._db.execute(
            "INSERT INTO loose SELECT name, composed(name) FROM present p"
            " WHERE NOT EXISTS (SELECT 1 FROM listed l WHERE l.stored = p.name AND l.name = p.name)"
        )
        self._db.execute("CREATE INDEX loose_form ON loose (form)")
        yield from self._match_loose("raw", "raw")
        yield from self._match_loose("composition", "name")
        yield from self._match_normal_forms()

    def _match_normal_forms(self) -> Iterator[tuple[str, str, str]]:
        """A file that is listed in two normal forms with the same checksums is there by either of them."""
        beyond_ascii = "stored IS NULL AND name GLOB '*[^ -~]*'"  # all other names have one form alone
        unmatched = self._db.execute(f"SELECT name FROM listed WHERE {beyond_ascii}").fetchall()  # noqa: S608  # ours
        alike = "".join(f" AND other.{column} IS one.{column}" for column in self._columns)
        query = (
            "SELECT other.stored FROM listed one JOIN listed other ON other.name = ? AND other.stored IS NOT NULL"  # noqa: S608  # our own columns
            f"{alike} WHERE one.name = ?"
        )
        for (name,) in unmatched:
            for form in ("NFC", "NFD"):
                row = self._db.execute(query, (unicodedata.normalize(form, name), name)).fetchone()
                if row is not None:
                    self._db.execute("UPDATE listed SET stored = ? WHERE name = ?", (row[0], name))
                    yield name, row[0], "composition"
                    break

    def _match_loose(self, why: str, column: str) -> Iterator[tuple[str, str, str]]:
        matches = self._db.execute(
            f"SELECT l.name, min(o.name) FROM listed l JOIN loose o ON o.form = composed(l.{column})"  # noqa: S608  # ours
            " WHERE l.stored IS NULL GROUP BY l.name"
        ).fetchall()
        for name, stored_name in matches:
            if self._db.execute("DELETE FROM loose WHERE name = ?", (stored_name,)).rowcount:
                self._db.execute("UPDATE listed SET stored = ? WHERE name = ?", (stored_name, name))
                yield name, stored_name, why

    def pairs(self) -> Iterator[Pair]:
        """Everything that is listed and there, in the order of the names."""
        digests = "".join(f", l.{column}" for column in self._columns)
        query = (
            f"SELECT l.name, p.name, p.size{digests} FROM listed l JOIN present p ON p.name = l.stored ORDER BY l.name"  # noqa: S608  # our own columns
        )
        for name, stored_name, size, *row_digests in self._db.execute(query):
            yield Pair(name, stored_name, size, tuple(row_digests))

    def listed_files(self) -> Iterator[Pair]:
        """Everything that is listed; the size is -1 where it is not there."""
        digests = "".join(f", l.{column}" for column in self._columns)
        tables = "listed l LEFT JOIN present p ON p.name = l.stored"
        query = f"SELECT l.name, l.stored, p.size{digests} FROM {tables} ORDER BY l.name"  # noqa: S608  # our own columns
        for name, stored_name, size, *row_digests in self._db.execute(query):
            yield Pair(name, stored_name or name, -1 if size is None else size, tuple(row_digests))

    def missing(self, *, promised: bool) -> Iterator[str]:
        """What is listed and not there: what `fetch.txt` promises, or the rest."""
        where = "stored IS NULL AND name IN promised" if promised else "stored IS NULL AND name NOT IN promised"
        yield from (name for (name,) in self._db.execute(f"SELECT name FROM listed WHERE {where} ORDER BY name"))  # noqa: S608  # ours

    def unlisted(self) -> Iterator[str]:
        """What is there and listed nowhere."""
        return self._files.unlisted("SELECT stored FROM listed")

    def partly_listed(self, column: int) -> Iterator[str]:
        """What another manifest lists, and this one does not."""
        query = f"SELECT name FROM listed WHERE {self._columns[column]} IS NULL ORDER BY name"  # noqa: S608  # our own columns
        yield from (name for (name,) in self._db.execute(query))

    def twins(self) -> Iterator[tuple[str, str]]:
        """Names, listed or there, that some systems take for one."""
        self._db.execute("CREATE TEMP TABLE keys AS SELECT twin_key(name) AS key, name FROM present")
        self._db.execute(
            "INSERT INTO keys SELECT twin_key(name), name FROM listed WHERE stored IS NULL OR stored <> name"
        )
        self._db.execute("CREATE INDEX keys_key ON keys (key)")
        yield from self._db.execute("SELECT min(name), max(name) FROM keys GROUP BY key HAVING min(name) <> max(name)")

    def find(self, name: str) -> Pair | None:
        """The file listed under that name, where it is there."""
        row = self._db.execute(
            "SELECT p.name, p.size FROM listed l JOIN present p ON p.name = l.stored WHERE l.name = ?", (name,)
        ).fetchone()
        return Pair(name, row[0], row[1], ()) if row else None

    def expected(self, stored_name: str) -> Pair | None:
        """What the manifests say of a file that is there."""
        digests = "".join(f", {column}" for column in self._columns)
        row = self._db.execute(
            f"SELECT name{digests} FROM listed WHERE stored = ? AND name = ? UNION ALL"  # noqa: S608  # our own columns
            f" SELECT name{digests} FROM listed WHERE stored = ? AND name <> ? LIMIT 1",
            (stored_name,) * 4,
        ).fetchone()
        return Pair(row[0], stored_name, 0, tuple(row[1:])) if row else None

    def octets(self) -> tuple[int, int]:
        """Bytes and files that are there."""
        return self._files.octets()

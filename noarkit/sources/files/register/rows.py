"""Registers: tables beside the files that say more about them, or that lead and name the files to take.

A register is read once, from `metadata.csv`, `.json` or `.xlsx`, into a temporary table on disk; it may be as long as
the tree is large. Rows name their file by path from the register's folder, or by bare name, which fits at any depth.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Self

from noarkit.errors import ItemMalformed, NoarkitError
from noarkit.graph.entity import Note
from noarkit.safe.scratch import scratch
from noarkit.safe.spill import KeySet
from noarkit.sources.files import policy
from noarkit.sources.files.names import normalize_name
from noarkit.sources.files.register import tables

NAMES = (b"metadata.csv", b"metadata.json", b"metadata.xlsx")

_COLUMNS = (
    *("path", "filepath", "file_path", "relativepath", "relative_path", "relpath", "sti", "filsti", "fil_sti"),
    *("file", "filename", "file_name", "fil", "filnavn", "fil_navn", "dokumentfil", "referansedokumentfil"),
    *("name", "navn", "document", "dokument"),
)

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: where it stands, the file it names as it writes it, and all its values."""

    number: int
    path: str
    row: Row


class Register:
    """The rows of one register. Use as a context, or `close` it."""

    def __init__(self, rows: Iterable[Row], *, where: str, column: str = "") -> None:
        self._db = scratch()
        self._used = KeySet()
        try:
            self._fill(iter(rows), where, column)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets the rows."""
        self._db.close()
        self._used.close()

    def look_up(self, path: str, name: str) -> tuple[Row, tuple[Note, ...]]:
        """What the register says about a file, and what is to be noted about how it was found; {} if nothing."""
        for column, value in (
            ("path", path),
            ("folded", normalize_name(path)),
            ("path", name),
            ("folded", normalize_name(name)),
        ):
            matches = self._db.execute(
                f"SELECT number, data FROM rows WHERE {column} = ? ORDER BY number LIMIT 2",  # noqa: S608 - a constant
                (value,),
            ).fetchall()
            if matches:
                notes = [policy.REGISTER_OTHER_WRITING] if column == "folded" else []
                notes += [policy.REGISTER_NAMES_TWICE] if len(matches) > 1 else []
                self._used.add(str(matches[0][0]))
                return json.loads(matches[0][1]), tuple(notes)
        return {}, ()

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self._db.execute("SELECT count(*) FROM rows").fetchone()[0])

    def unused(self) -> Iterator[Entry]:
        """The rows that no file has been looked up in so far."""
        return (entry for entry in self.entries() if not self._used.has(str(entry.number)))

    def entries(self) -> Iterator[Entry]:
        """Every row, in order."""
        for number, path, data in self._db.execute("SELECT number, path, data FROM rows ORDER BY number"):
            yield Entry(number, path, json.loads(data))

    def _fill(self, rows: Iterator[Row], where: str, column: str) -> None:
        self._db.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, path TEXT, folded TEXT, data TEXT)")
        first = next(rows, None)
        if first is not None:
            path_column = _file_column(first, where, column)
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", _table_rows(chain([first], rows), path_column))
            self._db.execute("COMMIT")
        self._db.execute("CREATE INDEX by_path ON rows (path)")
        self._db.execute("CREATE INDEX by_folded ON rows (folded)")


def read_register(file: BinaryIO, *, where: str, column: str = "", sheet: str = "") -> Register:
    """The register in an open file, its form told by the end of its name. Raises `ItemMalformed`."""
    extension = extension_of(where)
    with malformed(where):
        if extension in tables.WORKBOOKS:
            return Register(tables.mapping_rows(tables.rows_of(file, extension, sheet)), where=where, column=column)
        with tables.text_of(file, "utf-8-sig" if extension == "json" else None) as text:
            rows = tables.json_rows(text) if extension == "json" else tables.mapping_rows(tables.csv_rows(text))
            return Register(rows, where=where, column=column)


def extension_of(name: str) -> str:
    """What tells the form of a register by its name."""
    return name.lower().rpartition(".")[2]


@contextmanager
def malformed(where: str) -> Iterator[None]:
    """Raises `ItemMalformed` for whatever is wrong with a register that is read."""
    try:
        yield
    except (csv.Error, ValueError, RecursionError, sqlite3.Error) as error:
        raise ItemMalformed(key=where, why=str(error)) from error
    except NoarkitError as error:
        if isinstance(error, ItemMalformed):
            raise
        raise ItemMalformed(key=where, why=str(error.data.get("why", error.code))) from error


def _table_rows(rows: Iterable[Row], column: str) -> Iterator[tuple[int, str, str, str]]:
    for number, row in enumerate(rows):
        path = plain_path(str(row.get(column) or ""))
        yield number, path, normalize_name(path), json.dumps(row)


def plain_path(raw_path: str) -> str:
    """A path as a register writes it, with slashes and without a needless beginning."""
    path = raw_path.strip().replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def _file_column(row: Row, where: str, preferred: str) -> str:
    by_name = {name.strip().casefold(): name for name in row}
    for name in (preferred.strip().casefold(),) if preferred else _COLUMNS:
        if name in by_name:
            return by_name[name]
    raise ItemMalformed(key=where, why="no column names the files")

"""The converter of spreadsheets to tables: each sheet with its rows, its columns and their types, as one SIARD archive.

A table is read by anybody and searched by any database, where a spreadsheet needs its program. What type a column has
is told by its values: it is a number, a day or a truth only where each of them reads as one and is written back letter
by letter; else it is text. The first row names the columns where it can be nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from itertools import groupby
from pathlib import Path, PurePosixPath

from noarkit.copies.converters.library import LibraryConverter
from noarkit.copies.port import Failure, Finding, Outcome, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.containers import format_of_file
from noarkit.documents.ods_sheets import ods_rows
from noarkit.documents.sheets import rows_of_all
from noarkit.errors import PackageFault
from noarkit.forms.siard.model import Archive, Column, Key, Schema, Table
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from noarkit.safe.scratch import scratch
from noarkit.version import __version__

TABULAR = ("xlsx", "ods")
ROW = "sheet_row"
"""The column of each table that has the number of the row in its sheet. It is the key."""
_SCHEMA = "sheets"
_LETTERS = 26
_TYPES = ("BOOLEAN", "INTEGER", "BIGINT", "DOUBLE PRECISION", "DATE", "TIMESTAMP", "TIME")
"""What a column may be, the narrowest first."""
_FORMS = {
    "BOOLEAN": re.compile("true|false"),
    "INTEGER": re.compile(r"-?(?:0|[1-9]\d{0,8})"),
    "BIGINT": re.compile(r"-?(?:0|[1-9]\d{0,17})"),
    "DOUBLE PRECISION": re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?"),
    "DATE": re.compile(r"\d{4}-\d\d-\d\d"),
    "TIMESTAMP": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"),
    "TIME": re.compile(r"\d\d:\d\d:\d\d"),
}
_READERS: Mapping[str, Callable[[str], object]] = {
    "DATE": date.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "TIME": time.fromisoformat,
}

BookRow = tuple[str, int, list[str]]
"""A row of a spreadsheet: its sheet, its number in that, and its values as texts."""


def book_rows(path: Path, format_name: str) -> Iterator[BookRow]:
    """The rows of every sheet that hold something, of hidden sheets too. Raises `PackageFault` or `TooLarge`."""
    with path.open("rb") as file:
        if format_name == "xlsx":
            for sheet, row in rows_of_all(file):
                yield from _if_filled(sheet, row.number, [cell.value for cell in row.cells])
        else:
            for sheet, rows in groupby(ods_rows(file, hidden=True), key=lambda row: row[0]):
                for number, (_, values) in enumerate(rows, 1):
                    yield from _if_filled(sheet, number, values)


def _if_filled(sheet: str, number: int, values: list[str]) -> Iterator[BookRow]:
    if any(values):
        yield sheet, number, values


@dataclass(slots=True)
class _Kinds:
    """What the values of a column may be, and how long the longest is. Each value takes away what it is not."""

    possible: tuple[str, ...] = _TYPES
    longest: int = 0

    def take(self, value: str) -> None:
        """Holds a value against every type that is left."""
        self.longest = max(self.longest, len(value))
        self.possible = tuple(name for name in self.possible if _reads_as(name, value))

    @property
    def type(self) -> str:
        """The narrowest type that every value has; text where there is none, and where there is no value."""
        return self.possible[0] if self.longest and self.possible else f"CHARACTER VARYING({max(1, self.longest)})"


@dataclass(slots=True)
class _Sheet:
    """A sheet on its way to be a table; `headings` is empty where the first row is one of values."""

    number: int
    name: str
    width: int
    headings: list[str]
    rows: int = 0
    kinds: list[_Kinds] = field(default_factory=list)


class SheetTables:
    """The sheets of a spreadsheet as the tables of a database. Raises what `book_rows` raises."""

    stamp = ""
    """Nobody goes on with a copy that was not finished: it is made anew."""

    def __init__(self, path: Path, format_name: str, title: str) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE sheet_row (sheet INTEGER, number INTEGER, cells TEXT)")
        self._sheets: dict[str, _Sheet] = {}
        grouped = groupby(book_rows(path, format_name), key=lambda row: row[0])
        for number, (name, rows) in enumerate(grouped):
            insert = "INSERT INTO sheet_row VALUES (?, ?, ?)"
            self._db.executemany(insert, ((number, at, json.dumps(values)) for _, at, values in rows))
            self._sheets[_free_name(name or f"sheet{number + 1}", self._sheets)] = self._sheet(number, name)
        self.archive = Archive(
            dbname=title,
            description=f"The sheets of {title} as tables, to be read. {ROW} is the number of a row in its sheet.",
            producer_application=f"noarkit {__version__}",
            archival_date=datetime.now(UTC).date().isoformat(),
            schemas=(Schema(_SCHEMA, tables=tuple(_table(*entry) for entry in self._sheets.items())),),
        )

    @property
    def counts(self) -> dict[str, object]:
        """How many tables there are, with how many columns and rows."""
        sheets = self._sheets.values()
        widths, rows = sum(sheet.width for sheet in sheets), sum(sheet.rows for sheet in sheets)
        return {"tables": len(sheets), "columns": widths, "rows": rows}

    def rows(self, schema: Schema, table: Table) -> Iterator[Sequence[object]]:
        """The rows of a table; a cell without anything is NULL."""
        del schema
        sheet = self._sheets[table.name]
        for number, values in self._values(sheet):
            padded = [*values, *[""] * (sheet.width - len(values))]
            yield number, *(value or None for value in padded)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _sheet(self, number: int, name: str) -> _Sheet:
        """What is known of a sheet once all of its rows were seen."""
        query = "SELECT max(json_array_length(cells)), count(*) FROM sheet_row WHERE sheet = ?"
        width, count = self._db.execute(query, (number,)).fetchone()
        first = "SELECT cells FROM sheet_row WHERE sheet = ? ORDER BY rowid LIMIT 1"
        (cells,) = self._db.execute(first, (number,)).fetchone()
        sheet = _Sheet(number, name, width, _headings(json.loads(cells), width, count))
        sheet.kinds = [_Kinds() for _ in range(width)]
        for _, values in self._values(sheet):
            sheet.rows += 1
            for kinds, value in zip(sheet.kinds, values, strict=False):
                if value:
                    kinds.take(value)
        return sheet

    def _values(self, sheet: _Sheet) -> Iterator[tuple[int, list[str]]]:
        """The rows of a sheet below its headings."""
        query = "SELECT number, cells FROM sheet_row WHERE sheet = ? ORDER BY rowid LIMIT -1 OFFSET ?"
        for number, cells in self._db.execute(query, (sheet.number, 1 if sheet.headings else 0)):
            yield number, json.loads(cells)


def make_tables(task: Task) -> Outcome:
    """A SIARD archive of a spreadsheet."""
    if task.target != "siard":
        return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
    format_name = format_of_file(task.source, task.name, task.identity.media_type or "")
    if format_name not in TABULAR:
        return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
    path = task.folder / "copy.siard"
    try:
        with closing(SheetTables(task.source, format_name, PurePosixPath(task.name).name)) as tables:
            if not tables.archive.tables():
                return Failure(Reason.BLANK, {"pages": 0})
            write_siard(tables, path, SiardOrder())
            findings = (Finding("tables-written", tables.counts),)
    except PackageFault as fault:
        return Failure(Reason.DAMAGED, {"why": str(fault.data.get("why", ""))})
    return Product(path, "noarkit", __version__, findings)


def column_names(headings: Sequence[str], width: int) -> list[str]:
    """What the columns of a sheet are called: by their headings, else by letters, as in a spreadsheet."""
    return list(headings) or [_letters(at) for at in range(width)]


def _table(name: str, sheet: _Sheet) -> Table:
    names = column_names(sheet.headings, sheet.width)
    columns = (Column(column, type=kinds.type, nullable=True) for column, kinds in zip(names, sheet.kinds, strict=True))
    number = Column(ROW, type="INTEGER", nullable=False)
    return Table(name, description=sheet.name, columns=(number, *columns), primary_key=Key("rows_of_sheet", (ROW,)))


def _headings(first: list[str], width: int, count: int) -> list[str]:
    """The first row, where it can only be headings: a text for each column that no other has, and rows below it."""
    is_whole = len(first) == width and all(first) and count > 1
    is_text = not any(_reads_as(name, value) for value in first for name in _TYPES)
    distinct = {value.casefold() for value in first} - {ROW}
    return first if is_whole and is_text and len(distinct) == width else []


def _reads_as(name: str, value: str) -> bool:
    if _FORMS[name].fullmatch(value) is None:
        return False
    try:
        _READERS.get(name, str)(value)
    except ValueError:
        return False
    return True


def _letters(at: int) -> str:
    """What a spreadsheet calls a column: A, …, Z, AA."""
    above, letter = divmod(at, _LETTERS)
    return (_letters(above - 1) if above else "") + chr(ord("A") + letter)


def _free_name(name: str, names: dict[str, _Sheet]) -> str:
    """A name that no other table has; a program would not let two sheets have the same."""
    return name if name not in names else _free_name(f"{name}_", names)


TABLES = LibraryConverter("tables", (), make_tables)

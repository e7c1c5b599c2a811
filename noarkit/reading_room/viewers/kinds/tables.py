"""CSV and TSV as a sheet, in pages of rows. What is no table after all is shown as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from noarkit.documents.detect import LONG_HEAD_BYTES, separator_of
from noarkit.documents.encodings import encoding_of
from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.kinds.text import show_text
from noarkit.reading_room.viewers.port import Cell, Note, Rendering, Row, Sheet
from noarkit.reading_room.viewers.signs import line_of

ROWS_IN_PAGE = 200
MOST_COLUMNS = 100
LONGEST_CELL = 500
_MOST_CHARACTERS = 300_000
_SHORT_CELL = 40
_LONGEST_FIELD = 1024 * 1024


def show_table(reading: Reading) -> Rendering:
    """A page of the rows of a text whose lines are rows."""
    job = reading.job
    if job.way == "source":
        return show_text(reading)
    encoding, certain = encoding_of(job.document)
    notes = [] if encoding == "utf-8" else [Note("encoding" if certain else "encoding-guessed", {"encoding": encoding})]
    try:
        with job.document.open("r", encoding=encoding, errors="replace", newline="") as file:
            separator = separator_of(file.read(LONG_HEAD_BYTES // 4), is_cut=bool(file.read(1))) or ";"
            file.seek(0)
            csv.field_size_limit(_LONGEST_FIELD)
            rows, total, widest = _page(csv.reader(_without_nul(file), delimiter=separator), job.page)
    except (csv.Error, UnicodeError):
        return show_text(reading)
    pages = max(1, -(-total // ROWS_IN_PAGE))
    if job.page > pages:
        raise Refusal("no-such-page", page=job.page, pages=pages)
    if widest > MOST_COLUMNS:
        notes.append(Note("columns-cut", {"limit": MOST_COLUMNS, "columns": widest}))
    body = Sheet((), 1, column_names(min(widest, MOST_COLUMNS)), tuple(rows))
    return Rendering(reading.detected, body, job.page, pages, job.page < pages, notes=tuple(notes), ways=("source",))


def column_names(count: int) -> tuple[str, ...]:
    """A, B … Z, AA …, as spreadsheets name columns."""
    return tuple(column_name(number) for number in range(1, count + 1))


def column_name(number: int) -> str:
    """The name of one column, counted from 1."""
    name = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


class CellMaker:
    """Makes the cells of a page: short ones, once so many characters stand on it that a browser would labour."""

    def __init__(self) -> None:
        self._characters = 0

    def cell(self, text: str, formula: str = "") -> Cell:
        """A cell with a text, and the formula behind it."""
        longest = LONGEST_CELL if self._characters < _MOST_CHARACTERS else _SHORT_CELL
        self._characters += min(longest, len(text)) + len(formula[:longest])
        return Cell(line_of(text, longest, breaks=True), line_of(formula, longest) if formula else ())

    def row(self, number: int, texts: list[str]) -> Row:
        """A row of texts."""
        return Row(number, tuple(self.cell(text) for text in texts[:MOST_COLUMNS]))


def _without_nul(lines: Iterator[str] | io.TextIOBase) -> Iterator[str]:
    """The reader of the standard library takes a NUL for an error; here it is a sign as others are."""
    for line in lines:
        if len(line) > _LONGEST_FIELD:
            raise csv.Error("a line of megabytes")
        yield str(line)


def _page(rows: Iterator[list[str]], page: int) -> tuple[list[Row], int, int]:
    """The rows of a page, how many there are in all, and how wide the widest of the page is."""
    first = (page - 1) * ROWS_IN_PAGE
    maker = CellMaker()
    selected: list[Row] = []
    total = widest = 0
    for row in rows:
        if first <= total < first + ROWS_IN_PAGE:
            selected.append(maker.row(total + 1, row))
            widest = max(widest, len(row))
        total += 1
    return selected, total, widest

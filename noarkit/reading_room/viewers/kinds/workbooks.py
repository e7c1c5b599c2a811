"""xlsx and ods as sheets: values as they were stored, formulas as text, nothing computed and no macro run.

Rows are read one by one from the start of a sheet to the page that is wanted, and no further. Rows that a sheet only
declares are not there; those that stand in it keep their own numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any  # Any: elements of lxml

from noarkit.documents import sheets
from noarkit.documents.zipped import Package, open_package
from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.kinds.tables import MOST_COLUMNS, ROWS_IN_PAGE, CellMaker, column_names
from noarkit.reading_room.viewers.port import Cell, Line, Note, Rendering, Row, Sheet
from noarkit.reading_room.viewers.signs import line_of

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TABLE, _TEXT, _OFFICE = (_NS % name for name in ("table", "text", "office"))
_CELLS = frozenset({f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"})
_MOST_SHEETS = 500


@dataclass(frozen=True, slots=True)
class _Page:
    rows: tuple[Row, ...]
    more: bool
    widest: int


def show_workbook(reading: Reading) -> Rendering:
    """A page of the rows of one sheet."""
    notes = findings_of(reading)
    make = _opendocument if reading.detected.format == "ods" else _open_xml
    names, page = make(reading)
    notes += (
        [Note("columns-cut", {"limit": MOST_COLUMNS, "columns": page.widest})] if page.widest > MOST_COLUMNS else []
    )
    columns = column_names(min(page.widest, MOST_COLUMNS))
    body = Sheet(names, reading.job.sheet, columns, page.rows)
    return Rendering(reading.detected, body, reading.job.page, 0, page.more, notes=tuple(notes))


def _open_xml(reading: Reading) -> tuple[tuple[Line, ...], _Page]:
    job = reading.job
    with job.document.open("rb") as file:
        names = sheets.sheet_names(file)
        _check_sheet(job.sheet, len(names))
        maker = CellMaker()
        first = (job.page - 1) * ROWS_IN_PAGE
        sheet_rows = islice(sheets.numbered_rows(file, job.sheet), first, first + ROWS_IN_PAGE + 1)
        rows, widest = [], 0
        for row in sheet_rows:
            widest = max(widest, len(row.cells))
            cells = tuple(maker.cell(cell.value, cell.formula) for cell in row.cells[:MOST_COLUMNS])
            rows.append(Row(row.number, cells))
    return tuple(line_of(name, 100) for name in names[:_MOST_SHEETS]), _page(rows, widest, job.page)


def _page(rows: list[Row], widest: int, page: int) -> _Page:
    if page > 1 and not rows:
        raise Refusal("no-such-page", page=page)
    return _Page(tuple(rows[:ROWS_IN_PAGE]), len(rows) > ROWS_IN_PAGE, widest)


def _check_sheet(number: int, count: int) -> None:
    if not 1 <= number <= count:
        raise Refusal("no-such-sheet", sheet=number, count=count)


def _opendocument(reading: Reading) -> tuple[tuple[Line, ...], _Page]:
    job = reading.job
    with open_package(job.document) as package:
        names = [
            element.get(f"{_TABLE}name", "")
            for event, element in package.elements("content.xml")
            if event == "start" and element.tag == f"{_TABLE}table"
        ]
        _check_sheet(job.sheet, len(names))
        first = (job.page - 1) * ROWS_IN_PAGE
        maker = CellMaker()
        rows, widest = [], 0
        for number, cells in islice(_rows_of(package, job.sheet), first, first + ROWS_IN_PAGE + 1):
            widest = max(widest, len(cells))
            rows.append(Row(number, tuple(_cell(maker, cell) for cell in cells[:MOST_COLUMNS])))
    return tuple(line_of(name, 100) for name in names[:_MOST_SHEETS]), _page(rows, widest, job.page)


def _cell(maker: CellMaker, cell: tuple[str, str]) -> Cell:
    text, formula = cell
    return maker.cell(text, formula)


def _rows_of(package: Package, sheet: int) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """The rows of a sheet that hold something, each with its number. One that is repeated stands once for each time, up
    to what a page shows."""
    current, number = 0, 1
    for event, element in package.elements("content.xml", whole=frozenset({f"{_TABLE}table-row"})):
        if event == "start" and element.tag == f"{_TABLE}table":
            current += 1
            if current > sheet:
                return
        elif event == "end" and element.tag == f"{_TABLE}table-row" and current == sheet:
            repeated = _count(element, "number-rows-repeated")
            cells = _cells_of(element)
            if any(text or formula for text, formula in cells):
                for offset in range(repeated):
                    yield number + offset, cells
            number += repeated


def _cells_of(row: Any) -> list[tuple[str, str]]:
    cells: list[tuple[str, str]] = []
    gap = 0
    for element in row:
        if element.tag not in _CELLS:
            continue
        repeated = _count(element, "number-columns-repeated")
        text = "\n".join("".join(paragraph.itertext()) for paragraph in element.iterfind(f"{_TEXT}p"))
        text = text or element.get(f"{_OFFICE}value", "") or element.get(f"{_OFFICE}string-value", "")
        formula = element.get(f"{_TABLE}formula", "").partition(":")[2]
        if not text and not formula:
            gap += repeated
            continue
        cells += [("", "")] * min(gap, MOST_COLUMNS + 1)
        cells += [(text, formula)] * min(repeated, MOST_COLUMNS + 1)
        gap = 0
        if len(cells) > MOST_COLUMNS:
            break
    return cells


def _count(element: Any, name: str) -> int:
    text = element.get(f"{_TABLE}{name}", "1")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1

"""Reads the sheets of an OpenDocument spreadsheet (`.ods`) row by row, however many rows they have.

Cells come as texts, as those of `.xlsx` do: numbers without needless decimals, dates and times in ISO form, truths as
words. What a row or a cell repeats is told as often; of empty rows at the end of a sheet, of which a program writes a
million, nothing is told.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, BinaryIO  # Any: elements of lxml

from noarkit.documents.cells import Cell, CellValue
from noarkit.documents.parts import main_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import Package
from noarkit.errors import PackageFault

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TABLE, _OFFICE, _TEXT, _STYLE = (_NS % name for name in ("table", "office", "text", "style"))
_CELLS = frozenset({f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"})
_SHEET, _ROW = f"{_TABLE}table", f"{_TABLE}table-row"
_TAGS = frozenset({_SHEET, _ROW, f"{_STYLE}style", f"{_STYLE}table-properties"})
_FIRST_DAY = f"{_TABLE}null-date"
_DURATION = re.compile(r"PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,12})?)S)?")
_MOST_COLUMNS = 16_384
_MOST_CELLS = 10**9
_MOST_REPEATED_ROWS = 10_000
"""So many equal rows with something in them are no table that anybody wrote."""


def ods_rows(file: BinaryIO, *, hidden: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The rows of every sheet that is shown, of `hidden` ones too where they are wanted, each with the name of its
    sheet. Raises `PackageFault`."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = main_parts(Package(archive, tuple(archive.namelist()), _MOST_CELLS))
            if parts.format != "ods":
                raise PackageFault(where="ods", why="broken-workbook", detail=parts.main)
            yield from _rows(parts.package, parts.main, takes_hidden=hidden)
    except (DocumentRefused, zipfile.BadZipFile, ValueError) as error:
        raise PackageFault(where="ods", why="broken-workbook", detail=str(error)) from error


def ods_cells(file: BinaryIO) -> Iterator[Cell]:
    """Every cell of every sheet that holds something, with its value as it was stored; of hidden sheets too. Raises
    `PackageFault`."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = main_parts(Package(archive, tuple(archive.namelist()), _MOST_CELLS))
            yield from _stored_cells(parts.package, parts.main)
    except (DocumentRefused, zipfile.BadZipFile, ValueError) as error:
        raise PackageFault(where="ods", why="broken-workbook", detail=str(error)) from error


def _stored_cells(package: Package, main: str) -> Iterator[Cell]:
    epoch, sheet, depth, row = datetime(1899, 12, 30), "", 0, 0
    for event, element in package.elements(main, frozenset({_ROW}), _TAGS | {_FIRST_DAY}):
        starts, tag = event == "start", element.tag
        if tag == _FIRST_DAY:
            epoch = datetime.fromisoformat(element.get(f"{_TABLE}date-value", "1899-12-30"))
        elif tag == _SHEET:
            depth += 1 if starts else -1
            if starts and depth == 1:
                sheet, row = element.get(f"{_TABLE}name", ""), 0
        elif tag == _ROW and not starts and depth == 1:
            times = _number(element.get(f"{_TABLE}number-rows-repeated"))
            cells = list(_cells_of_row(element, sheet, epoch))
            for number in range(row, row + times) if cells else ():
                yield from (cell._replace(row=number) for cell in cells)
            row += times


def _cells_of_row(row: Any, sheet: str, epoch: datetime) -> Iterator[Cell]:
    column = 0
    for element in row:
        if element.tag not in _CELLS:
            continue
        times = _number(element.get(f"{_TABLE}number-columns-repeated"))
        value, is_moment = _stored_value(element, epoch)
        if value != "":
            is_formula = element.get(f"{_TABLE}formula") is not None
            for number in range(column, column + min(times, _MOST_COLUMNS)):
                yield Cell(sheet, 0, number, value, is_formula, is_moment)
        column += times


def _stored_value(cell: Any, epoch: datetime) -> tuple[CellValue, bool]:
    """The value of a cell, and whether it is a day or a time of day."""
    kind = cell.get(f"{_OFFICE}value-type", "")
    if kind == "date":
        moment = datetime.fromisoformat(cell.get(f"{_OFFICE}date-value", "")[:26])
        return (moment - epoch) / timedelta(days=1), True
    if kind == "time":
        duration = _DURATION.fullmatch(cell.get(f"{_OFFICE}time-value", ""))
        hours, minutes, seconds = (float(part or 0) for part in duration.groups()) if duration else (0.0, 0.0, 0.0)
        return (hours * 3600 + minutes * 60 + seconds) / 86_400, True
    if kind == "boolean":
        return float(cell.get(f"{_OFFICE}boolean-value") == "true"), False
    if kind in ("float", "percentage", "currency"):
        return float(cell.get(f"{_OFFICE}value", "nan")), False
    return _value(cell), False


def _rows(package: Package, main: str, *, takes_hidden: bool) -> Iterator[tuple[str, list[str]]]:
    hidden = set[str]()
    style, sheet, is_shown, depth, waiting = "", "", True, 0, 0
    for event, element in package.elements(main, frozenset({_ROW}), _TAGS):
        starts, tag = event == "start", element.tag
        if tag == f"{_STYLE}style":
            style = element.get(f"{_STYLE}name", "")
        elif tag == f"{_STYLE}table-properties":
            if element.get(f"{_TABLE}display") == "false":
                hidden.add(style)
        elif tag == _SHEET:
            depth += 1 if starts else -1
            if starts and depth == 1:
                sheet, waiting = element.get(f"{_TABLE}name", ""), 0
                is_shown = takes_hidden or element.get(f"{_TABLE}style-name", "") not in hidden
        elif not starts and depth == 1 and is_shown:
            cells, times = _cells(element), _number(element.get(f"{_TABLE}number-rows-repeated"))
            if not cells:
                waiting += times
                continue
            for _ in range(min(waiting, _MOST_REPEATED_ROWS)):
                yield sheet, []
            waiting = 0
            for _ in range(min(times, _MOST_REPEATED_ROWS)):
                yield sheet, list(cells)


def _cells(row: Any) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in _CELLS:
            value = _value(cell)
            times = _number(cell.get(f"{_TABLE}number-columns-repeated"))
            cells += [value] * min(times, _MOST_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _value(cell: Any) -> str:
    kind = cell.get(f"{_OFFICE}value-type", "")
    if kind == "date":
        text = str(cell.get(f"{_OFFICE}date-value", ""))
        return text.removesuffix("T00:00:00")
    if kind == "boolean":
        return str(cell.get(f"{_OFFICE}boolean-value", ""))
    if kind in ("float", "percentage", "currency"):
        text = str(cell.get(f"{_OFFICE}value", ""))
        return text.removesuffix(".0")
    return "\n".join(_text(paragraph) for paragraph in cell.iterchildren(f"{_TEXT}p"))


def _text(paragraph: Any) -> str:
    """The text of a paragraph; runs of blanks, tabs and ends of lines are elements."""
    text = paragraph.text or ""
    for child in paragraph:
        if child.tag == f"{_TEXT}s":
            text += " " * _number(child.get(f"{_TEXT}c"))
        elif child.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            text += " "
        elif isinstance(child.tag, str) and child.tag != f"{_OFFICE}annotation":
            text += _text(child)
        text += child.tail or ""
    return text


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 1

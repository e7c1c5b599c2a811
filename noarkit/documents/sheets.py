"""Reads a sheet of an `.xlsx` workbook row by row, however many rows it has.

Cells come as texts: numbers without needless decimals, dates and times in ISO form, `true` and `false`.
"""

from __future__ import annotations

import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from itertools import islice
from typing import BinaryIO

from lxml import etree

from noarkit.documents.parts import OfficeParts, main_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import Package
from noarkit.errors import PackageFault, TooLarge
from noarkit.safe import xml
from noarkit.safe.scratch import scratch

_MOST_BYTES = 4 * 1024**3
_MOST_COLUMNS = 16_384
_RATIO = 300
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_LETTERS = re.compile(r"[A-Z]{1,3}")
_DIGITS = "0123456789"
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
"""A whole number as everybody writes it, which there is nothing to be done with."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True)
class _Book:
    archive: zipfile.ZipFile
    strings: sqlite3.Connection
    date_styles: frozenset[int]
    epoch: datetime


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell: its value as it was stored, and the formula that gave it, empty where there is none."""

    value: str
    formula: str = ""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row with the number that it says it has."""

    number: int
    cells: list[SheetCell]


_EMPTY = SheetCell("")


def rows(file: BinaryIO) -> Iterator[list[str]]:
    """The rows of the first sheet, as short as they stand. Raises `PackageFault`, `UnsafeXml` or `TooLarge`."""
    for row in numbered_rows(file):
        yield [cell.value for cell in row.cells]


def numbered_rows(file: BinaryIO, sheet: int = 1) -> Iterator[SheetRow]:
    """The rows that stand in a sheet, counted from 1, with their numbers and formulas. Raises what `rows` raises."""
    with _translate_faults(), zipfile.ZipFile(file) as archive:
        strings = scratch()
        try:
            parts = _parts_of(archive)
            _load_strings(parts, strings)
            yield from _rows_of_sheet(parts, strings, sheet)
        finally:
            strings.close()


def rows_of_all(file: BinaryIO, *, hidden: bool = True) -> Iterator[tuple[str, SheetRow]]:
    """The rows of every sheet in their order, `hidden` ones too unless they are not wanted, each with the name of its
    sheet. Raises what `rows` raises."""
    with _translate_faults(), zipfile.ZipFile(file) as archive:
        strings = scratch()
        try:
            parts = _parts_of(archive)
            _load_strings(parts, strings)
            for number, (name, is_hidden) in enumerate(_sheets_of(parts), start=1):
                if hidden or not is_hidden:
                    yield from ((name, row) for row in _rows_of_sheet(parts, strings, number))
        finally:
            strings.close()


def sheet_names(file: BinaryIO) -> list[str]:
    """The names of the sheets in their order. Raises what `rows` raises."""
    with _translate_faults(), zipfile.ZipFile(file) as archive:
        return [name for name, _ in _sheets_of(_parts_of(archive))]


def _sheets_of(parts: OfficeParts) -> list[tuple[str, bool]]:
    """The name of each sheet, and whether it is hidden."""
    with _Member(parts.package.archive, parts.main) as source:
        sheets = xml.parse(source).iter("{*}sheet")
        return [(sheet.get("name", ""), sheet.get("state", "visible") != "visible") for sheet in sheets]


@contextmanager
def _translate_faults() -> Iterator[None]:
    try:
        yield
    except (*_BROKEN, DocumentRefused) as error:
        raise PackageFault(where="xlsx", why="broken-workbook", detail=str(error)) from error


def _parts_of(archive: zipfile.ZipFile) -> OfficeParts:
    parts = main_parts(Package(archive, tuple(archive.namelist())))
    if parts.format != "xlsx":
        raise PackageFault(where="xlsx", why="broken-workbook", detail=parts.main)
    return parts


def _rows_of_sheet(parts: OfficeParts, strings: sqlite3.Connection, number: int) -> Iterator[SheetRow]:
    archive = parts.package.archive
    sheet, old_epoch = _place_of_sheet(parts, number)
    # the older count of days begins one day late, since it knows a 29 February 1900 that never was
    epoch = datetime(1904, 1, 1) if old_epoch else datetime(1899, 12, 30)
    book = _Book(archive, strings, _date_styles(parts), epoch)
    row_number = 0
    with _Member(archive, sheet) as source:
        # of every element the parser would call us twice; its own limit on depth holds for those within rows
        for _, element in xml.stream(source, ("end",), tags=("{*}row",)):
            if _local(element) == "row":
                stated = element.get("r", "")
                is_number = stated.isascii() and stated.isdigit() and len(stated) < 12
                row_number = int(stated) if is_number else row_number + 1
                yield SheetRow(row_number, _row(element, book))
                xml.free_element(element)


def _row(element: etree._Element, book: _Book) -> list[SheetCell]:
    cells: list[SheetCell] = []
    for cell in element:
        if _local_name(cell.tag) != "c":
            continue
        column = _column(cell.get("r", "").rstrip(_DIGITS), len(cells))
        if column >= _MOST_COLUMNS:
            raise PackageFault(where="xlsx", why="too-many-columns")
        if column >= len(cells):
            cells += [_EMPTY] * (column - len(cells) + 1)
        cells[column] = _cell(cell, book)
    return cells


def _cell(cell: etree._Element, book: _Book) -> SheetCell:
    texts: dict[str, str] = {}
    for child in cell:
        texts.setdefault(_local_name(child.tag), child.text or "")
    value = _texts(cell) if cell.get("t") == "inlineStr" else _value(cell, texts.get("v", ""), book)
    return SheetCell(value, texts.get("f", ""))


def _value(cell: etree._Element, text: str, book: _Book) -> str:
    kind = cell.get("t", "n")
    if kind == "s":
        row = book.strings.execute("SELECT text FROM strings WHERE number = ?", (int(text),)).fetchone()
        return str(row[0]) if row else ""
    if kind == "b":
        return "true" if text == "1" else "false"
    if kind == "n" and text:
        return _number(text, is_date=int(cell.get("s", "0")) in book.date_styles, epoch=book.epoch)
    return text


def _number(text: str, *, is_date: bool, epoch: datetime) -> str:
    if not is_date and _PLAIN_NUMBER.fullmatch(text):
        return text
    number = float(text)
    if is_date and 0 <= number < 2_958_466:
        moment = epoch + timedelta(seconds=round(number * 86_400))
        if number < 1:
            return moment.time().isoformat()
        return moment.date().isoformat() if moment.time() == time(0) else moment.isoformat()
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number)


def _place_of_sheet(parts: OfficeParts, number: int) -> tuple[str, bool]:
    with _Member(parts.package.archive, parts.main) as source:
        book = xml.parse(source)
    old_epoch = any(
        _local(element) == "workbookPr" and element.get("date1904") in ("1", "true") for element in book.iter("{*}*")
    )
    sheet = next(islice(book.iter("{*}sheet"), number - 1, None), None)
    if sheet is None:
        raise PackageFault(where="xlsx", why="no-sheet")
    relation_id = next((value for name, value in sheet.attrib.items() if str(name).endswith("}id")), "")
    targets = {relation.id: relation.target for relation in parts.relations(parts.main)}
    return targets.get(str(relation_id), f"xl/worksheets/sheet{number}.xml"), old_epoch


def _date_styles(parts: OfficeParts) -> frozenset[int]:
    styles_part = next(iter(parts.of("styles")), None)
    if styles_part is None:
        return frozenset()
    with _Member(parts.package.archive, styles_part) as source:
        root = xml.parse(source)
    formats = {int(element.get("numFmtId", "0")): element.get("formatCode", "") for element in root.iter("{*}numFmt")}
    dates = _DATE_FORMATS | {number for number, code in formats.items() if _tells_a_date(code)}
    styles = next(iter(root.iter("{*}cellXfs")), None)
    uses = [] if styles is None else [int(element.get("numFmtId", "0")) for element in styles]
    return frozenset(index for index, number in enumerate(uses) if number in dates)


def _tells_a_date(code: str) -> bool:
    return any(sign in "ymdhs" for sign in _QUOTED.sub("", code).lower().replace("general", ""))


def _load_strings(parts: OfficeParts, strings: sqlite3.Connection) -> None:
    strings.execute("CREATE TABLE strings (number INTEGER PRIMARY KEY, text TEXT)")
    strings_part = next(iter(parts.of("sharedStrings")), None)
    if strings_part is None:
        return
    with _Member(parts.package.archive, strings_part) as source:
        ends = (element for _, element in xml.stream(source, ("end",), tags=("{*}si",)))
        strings.execute("BEGIN")
        strings.executemany("INSERT INTO strings VALUES (?, ?)", _numbered(ends))
        strings.execute("COMMIT")


def _numbered(items: Iterator[etree._Element]) -> Iterator[tuple[int, str]]:
    for number, item in enumerate(items):
        yield number, _texts(item)
        xml.free_element(item)


def _texts(element: etree._Element) -> str:
    """All runs of a text; how it is to be read aloud is no part of it."""
    return "".join(text_node.text or "" for text_node in element.iter("{*}t") if _local_of_parent(text_node) != "rPh")


def _local(element: etree._Element) -> str:
    return _local_name(element.tag)


@lru_cache(maxsize=1024)
def _local_name(tag: object) -> str:
    """The name without its namespace; comments and instructions have none."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _local_of_parent(element: etree._Element) -> str:
    parent = element.getparent()
    return "" if parent is None else _local(parent)


@lru_cache(maxsize=1024)
def _column(reference: str, default: int) -> int:
    """The column, from 0, that a cell stands in by the letters of its reference."""
    letters = _LETTERS.match(reference)
    if letters is None:
        return default
    number = 0
    for letter in letters[0]:
        number = number * 26 + ord(letter) - 64
    return number - 1


class _Member:
    """A member of the workbook that may not grow beyond measure."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        info = archive.getinfo(name)
        self.name = name
        self._source = archive.open(info)
        self._left = min(_MOST_BYTES, info.compress_size * _RATIO + 1024 * 1024)

    def __enter__(self) -> BinaryIO:
        return self  # type: ignore[return-value]  # only `read` is asked of it

    def __exit__(self, *exc: object) -> None:
        self._source.close()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        block = self._source.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise TooLarge(where=self.name, why="ratio", limit=_RATIO)
        return block

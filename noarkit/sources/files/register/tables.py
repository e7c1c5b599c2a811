"""Tables as people send them: sheets of workbooks, CSV in whatever dialect and encoding, and JSON lists, row by row.

What stands above a table (its title, who printed it and when) is passed over: the headings are the first row that is
nearly as wide as the widest, and holds no figures alone.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain, islice
from typing import BinaryIO

from noarkit.documents import sheets
from noarkit.documents.ods_sheets import ods_rows

_BLOCK_BYTES = 1024 * 1024
_WHOLE_BYTES = 64 * 1024 * 1024
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DELIMITERS = ";,\t|"
_BETWEEN = re.compile(r"[\s,]*")
_FIGURES = re.compile(r"[\d\s.,:/-]+")
_ROWS_ABOVE = 50
_MOST_EMPTY = 10_000
_LEAST_WIDTH = 0.6
WORKBOOKS = ("xlsx", "ods")


@contextmanager
def text_of(file: BinaryIO, encoding: str | None = None) -> Iterator[TextIOWrapper]:
    """The file as text, line ends as they stand; it stays open when the block ends.

    Without `encoding` it is told by the bytes: UTF-8 with or without mark, UTF-16 with one, else Windows-1252.
    """
    errors = "replace" if encoding is None else "strict"
    text = TextIOWrapper(file, encoding=encoding or _encoding(file), errors=errors, newline="")
    try:
        yield text
    finally:
        text.detach()


def sheet_rows(file: BinaryIO, extension: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of every sheet of a workbook that is shown, or those of a text, each with the name of its sheet.

    Raises `PackageFault`, `UnsafeXml` or `TooLarge` for a workbook that cannot be read, `csv.Error` for a text.
    """
    if extension == "ods":
        yield from ods_rows(file)
    elif extension == "xlsx":
        yield from _with_empty_rows(sheets.rows_of_all(file, hidden=False))
    else:
        with text_of(file) as text:
            for cells in csv_rows(text):
                yield "", cells


def _with_empty_rows(rows: Iterable[tuple[str, sheets.SheetRow]]) -> Iterator[tuple[str, list[str]]]:
    """Rows with the empty ones between them, which a workbook leaves out, so that each has its number."""
    sheet, number = None, 0
    for name, row in rows:
        if name != sheet:
            sheet, number = name, 0
        for _ in range(min(row.number - number - 1, _MOST_EMPTY)):
            yield name, []
        number = row.number
        yield name, [cell.value for cell in row.cells]


def rows_of(file: BinaryIO, extension: str, sheet: str = "") -> Iterator[list[str]]:
    """The rows of the `sheet` of that name, or of the first. Raises what `sheet_rows` raises."""
    for name, cells in sheet_rows(file, extension):
        sheet = sheet or name
        if name == sheet:
            yield cells


def csv_rows(text: TextIOWrapper) -> Iterator[list[str]]:
    """The rows of a CSV file whose cells are parted by `;`, `,`, tab or `|`, whichever its first line has most of."""
    first = text.readline()
    if first.lower().startswith("sep="):
        delimiter, first = first[4:5], text.readline()
    else:
        delimiter = _delimiter(first)
    yield from csv.reader(chain([first] if first else [], text), delimiter=delimiter)


def mapping_rows(rows: Iterable[list[str]]) -> Iterator[Mapping[str, object]]:
    """Rows as mappings under their headings; empty rows are left out, doubled headings are numbered."""
    for _, cells in numbered_rows(rows):
        yield cells


def numbered_rows(rows: Iterable[list[str]]) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The same, each with its number as the table counts, from 1."""
    row_iterator = iter(rows)
    first_rows = list(islice(row_iterator, _ROWS_ABOVE))
    heading = _heading_at(first_rows)
    names = _names(first_rows[heading] if first_rows else [])
    for number, row in enumerate(chain(first_rows[heading + 1 :], row_iterator), start=heading + 2):
        if any(cell.strip() for cell in row):
            named_cells = dict(zip(names, row, strict=False))
            yield number, {**dict.fromkeys(names, ""), **named_cells}


def _heading_at(rows: list[list[str]]) -> int:
    """The row of the headings; the first where none looks like it."""
    widths = [sum(bool(cell.strip()) for cell in row) for row in rows]
    least = max(2, _LEAST_WIDTH * max(widths, default=0))
    for index, row in enumerate(rows):
        if widths[index] >= least and not any(_FIGURES.fullmatch(cell) for cell in row):
            return index
    return 0


def json_rows(text: TextIOWrapper) -> Iterator[Mapping[str, object]]:
    """The rows of a JSON file: a list of objects, read one by one; or, up to 64 MB, an object that holds such a list
    or whose names are the files. Raises `ValueError` for anything else."""
    head = text.read(_BLOCK_BYTES).lstrip()
    if head.startswith("["):
        yield from map(_object, _items(head[1:], text))
        return
    tail = text.read(_WHOLE_BYTES)
    if text.read(1):
        raise ValueError("too large for an object; write a list")
    yield from _object_rows(json.loads(head + tail))


def _encoding(file: BinaryIO) -> str:
    head = file.read(4)
    file.seek(0)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := file.read(_BLOCK_BYTES):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    finally:
        file.seek(0)
    return "utf-8"


def _delimiter(line: str) -> str:
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _names(cells: list[str]) -> list[str]:
    names: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column_{number}"
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _items(buffer: str, text: TextIOWrapper) -> Iterator[object]:
    """The items of a list whose opening bracket is read."""
    decoder = json.JSONDecoder()
    at, ended = 0, False
    while True:
        at = _BETWEEN.match(buffer, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if buffer.startswith("]", at):
            return
        try:
            item, end = decoder.raw_decode(buffer, at)
            complete = end < len(buffer) or ended  # a number at the end may go on in the next block
        except json.JSONDecodeError:
            complete = False
            if ended or len(buffer) - at > _WHOLE_BYTES:
                raise
        if complete:
            yield item
            at = end
            continue
        block = text.read(_BLOCK_BYTES)
        ended = not block
        buffer, at = buffer[at:] + block, 0


def _object(item: object) -> Mapping[str, object]:
    if not isinstance(item, dict):
        raise ValueError("a row that is no object")
    return item


def _object_rows(document: object) -> Iterator[Mapping[str, object]]:
    if not isinstance(document, dict):
        raise ValueError("neither a list nor an object")
    lists = [value for value in document.values() if isinstance(value, list)]
    if lists:
        yield from map(_object, lists[0])
    else:
        for name, value in document.items():
            yield {"path": name, **_object(value)}

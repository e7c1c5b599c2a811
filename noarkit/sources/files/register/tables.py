"""Tables as people send them: CSV in whatever dialect and encoding, and JSON lists, read row by row."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from typing import BinaryIO

_BLOCK_BYTES = 1024 * 1024
_WHOLE_BYTES = 64 * 1024 * 1024
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DELIMITERS = ";,\t|"
_BETWEEN = re.compile(r"[\s,]*")


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


def csv_rows(text: TextIOWrapper) -> Iterator[list[str]]:
    """The rows of a CSV file whose cells are parted by `;`, `,`, tab or `|`, whichever its first line has most of."""
    first = text.readline()
    if first.lower().startswith("sep="):
        delimiter, first = first[4:5], text.readline()
    else:
        delimiter = _delimiter(first)
    yield from csv.reader(chain([first] if first else [], text), delimiter=delimiter)


def mapping_rows(rows: Iterable[list[str]]) -> Iterator[Mapping[str, object]]:
    """Rows as mappings under the names of the first one; empty rows are left out, doubled names are numbered."""
    row_iterator = iter(rows)
    names = _names(next(row_iterator, []))
    for row in row_iterator:
        if any(cell.strip() for cell in row):
            named_cells = dict(zip(names, row, strict=False))
            yield {**dict.fromkeys(names, ""), **named_cells}


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

"""The rows of a table as a SIARD archive wants them, in batches; what its columns hold is asked first.

A value of more than a megabyte in PostgreSQL or SQLite is not read with its row: it is a stream that is opened when it
is written, from the same snapshot.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from noarkit.forms.siard.copied import CopiedRows
from noarkit.forms.siard.source.types import BYTES, OBJECT, TEXT, ColumnContents, expression, is_object, oddness
from noarkit.forms.siard.types import TEXTUAL, sql_type
from noarkit.safe.digest import Readable
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.schema import Table, source_of
from noarkit.sources.database.session import Session
from noarkit.sources.database.values import Kind, converter

_AT_ONCE = 1024 * 1024
_SLICE = 8 * 1024 * 1024
_BATCH_ROWS = 2_000
_QUESTIONS_AT_ONCE = 1_000
_CLASSES = ("integer", "real", "text", "blob")
_STORED_CLASSES = frozenset({*_CLASSES, OBJECT})
_SIZED = frozenset({Kind.TEXT, Kind.BYTES, Kind.JSON, Kind.XML, Kind.OTHER, Kind.GEOMETRY})


@dataclass(frozen=True, slots=True)
class Fetch:
    """A table, the SIARD types of its columns, and what was found in them."""

    session: Session
    table: Table
    types: Mapping[str, str]
    contents: Mapping[str, ColumnContents]

    @property
    def where_from(self) -> str:
        """The table, quoted."""
        return source_of(self.session, self.table)


def inspect_columns(session: Session, table: Table) -> dict[str, ColumnContents]:
    """What the columns of a table hold that decides their types, by one question over all rows (several, where a server
    answers no more at once)."""
    questions: list[tuple[str, str, str]] = []
    for column in table.columns:
        quoted = session.quote(column.name)
        odd = oddness(session.family, column, quoted)
        if odd is not None:
            questions.append((column.name, "odd", odd))
        large = _is_large(session.family, column, quoted)
        if large is not None:
            questions.append((column.name, "large", large))
        if column.kind is Kind.LARGE_OBJECT:
            questions.append((column.name, OBJECT, is_object(quoted)))
        if session.family == SQLITE:
            questions += [(column.name, type_class, f"typeof({quoted}) = '{type_class}'") for type_class in _CLASSES]
    findings: dict[str, set[str]] = {}
    for first in range(0, len(questions), _QUESTIONS_AT_ONCE):
        batch = questions[first : first + _QUESTIONS_AT_ONCE]
        expressions = ", ".join(_any_row(session.family, question) for _, _, question in batch)
        row = session.first_row(f"SELECT {expressions} FROM {source_of(session, table)}") or ()  # noqa: S608  # quoted by the dialect
        for (name, what, _), answer in zip(batch, row, strict=False):
            if answer:
                findings.setdefault(name, set()).add(what)
    return {
        name: ColumnContents("odd" in classes, "large" in classes, frozenset(classes) & _STORED_CLASSES)
        for name, classes in findings.items()
    }


def rows_of(fetch: Fetch) -> Iterator[Sequence[object]]:
    """Every row, a value for each column."""
    session, table = fetch.session, fetch.table
    readers = [_Reader(fetch, column) for column in table.columns]
    extra = _row_place(fetch) if any(reader.streams for reader in readers) else ""
    expressions = [part for reader in readers for part in reader.select_list()]
    statement = f"SELECT {', '.join([*expressions, *([extra] if extra else [])])} FROM {fetch.where_from}"  # noqa: S608  # quoted
    one_by_one = any(contents.large for contents in fetch.contents.values())
    batches = session.stream(statement, 1 if one_by_one and not extra else 50 if one_by_one else _BATCH_ROWS)
    if all(reader.is_plain for reader in readers):
        for batch in batches:
            yield from batch
        return
    for batch in batches:
        for row in batch:
            yield _convert_row(readers, row)


def copied_rows(fetch: Fetch) -> Iterator[CopiedRows] | None:
    """The rows of a table of PostgreSQL as COPY gives them, which takes a fraction of the time; None for
    a table that holds bytes, arrays or large values, and for other servers."""
    if fetch.session.family != POSTGRESQL:
        return None
    readers = [_Reader(fetch, column) for column in fetch.table.columns]
    if not all(reader.is_plain and reader.is_textual for reader in readers):
        return None
    expressions = ", ".join(part for reader in readers for part in reader.copy_list())
    query = f"SELECT {expressions} FROM {fetch.where_from}"  # noqa: S608  # quoted
    return (CopiedRows(lines, len(readers)) for lines in fetch.session.copy_batches(query, _BATCH_ROWS))


def _convert_row(readers: Sequence[_Reader], row: Sequence[object]) -> list[object]:
    values: list[object] = []
    at = 0
    for reader in readers:
        values.append(reader.value(row, at))
        at += reader.width
    return values


class _Reader:
    """One column: what is selected for it, and what becomes of that."""

    def __init__(self, fetch: Fetch, column: Column) -> None:
        session = fetch.session
        self._fetch = fetch
        self._column = column
        self._type = fetch.types[column.name]
        self._quoted = session.quote(column.name)
        parsed_type = sql_type(self._type)
        self._textual = parsed_type is not None and parsed_type.kind in TEXTUAL
        large = fetch.contents.get(column.name, ColumnContents()).large
        self._objects = column.kind is Kind.LARGE_OBJECT and self._type == BYTES
        self.streams = (large or self._objects) and bool(_row_place(fetch))
        self.width = 2 if self.streams else 1
        self._convert = self._converter()
        self.is_plain = not self.streams and self._convert is None

    def select_list(self) -> list[str]:
        """The expressions of the column: its value where that is small, and its size where it is not."""
        session = self._fetch.session
        value_sql = expression(session.family, self._column, self._type, self._quoted)
        if not self.streams:
            return [value_sql]
        if self._objects:
            number = f"CAST({self._quoted} AS bigint)"
            if not self._fetch.contents.get(self._column.name, ColumnContents()).odd:
                return ["NULL", number]
            digits_sql = (
                f"convert_to(CAST({self._quoted} AS text), 'UTF8')"  # what is no large object: its number, as digits
            )
            return [
                f"CASE WHEN NOT {is_object(self._quoted)} THEN {digits_sql} END",
                f"CASE WHEN {is_object(self._quoted)} THEN {number} END",
            ]
        size = _size(session.family, self._column, self._quoted)
        return [
            f"CASE WHEN {size} <= {_AT_ONCE} THEN {value_sql} END",
            f"CASE WHEN {size} > {_AT_ONCE} THEN {size} END",
        ]

    @property
    def is_textual(self) -> bool:
        """True if COPY's text of a value is the value."""
        return self._column.kind not in (Kind.BYTES, Kind.ARRAY, Kind.LARGE_OBJECT)

    def copy_list(self) -> list[str]:
        """The expressions for COPY, whose flags and infinities have other names."""
        if self._column.kind is Kind.BOOLEAN:
            return [f"CAST({self._quoted} AS text)"]
        if self._column.kind is Kind.FLOAT:
            return [f"REPLACE(CAST({self._quoted} AS text), 'Infinity', 'INF')"]
        return self.select_list()

    def value(self, row: Sequence[object], at: int) -> object:
        """The value of a row."""
        value = row[at]
        if self.streams and row[at + 1] is not None:
            return self._stream(row[at + 1], row[-1])
        if value is None or self._convert is None:
            return value
        return self._convert(value)

    def _converter(self) -> Callable[[object], object] | None:
        family = self._fetch.session.family
        classes = self._fetch.contents.get(self._column.name, ColumnContents()).classes
        if family == SQLITE and self._type == BYTES and classes != {"blob"}:
            return _to_bytes
        if family == SQLITE and self._type == TEXT and classes != {"text"}:
            return _to_text
        if self._column.kind is Kind.ARRAY and family == POSTGRESQL and self._type != TEXT:
            return converter(family, Kind.ARRAY)
        if family == SQLITE and self._type == "BOOLEAN":
            return bool
        if family not in (SQLITE, POSTGRESQL, MYSQL):
            return converter(family, self._column.kind)
        return None

    def _stream(self, size: object, place: object) -> object:
        session = self._fetch.session
        table = self._fetch.table.name
        if self._objects:
            statement = "SELECT lo_get(%s::oid, %s::bigint, %s::integer)"
            return _Slices(session, statement, (str(size),), from_one=False)
        if session.family == SQLITE:
            return _Blob(session, (table.name, self._column.name), int(str(place)))
        source, quoted = self._fetch.where_from, self._quoted
        value_sql = expression(session.family, self._column, self._type, quoted)
        statement = (
            f"SELECT SUBSTRING({value_sql} FROM %s FOR %s) FROM {source} WHERE tableoid = %s::oid AND ctid = %s::tid"  # noqa: S608  # quoted
        )
        return _Slices(session, statement, tuple(str(place).split(" ", 1)), from_one=True)


@dataclass(frozen=True, slots=True)
class _Slices:
    """A value of PostgreSQL that is fetched in slices: bytes, or signs of a text."""

    session: Session
    statement: str
    place: tuple[str, ...]
    from_one: bool

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """The bytes; a text in UTF-8."""
        yield _Pieces(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        at = 0
        while True:
            span = (at + 1, _SLICE) if self.from_one else (at, _SLICE)
            values = (*span, *self.place) if self.from_one else (*self.place, *span)
            piece = self.session.fetch_value(self.statement, values)
            if not piece:
                return
            at += len(piece)
            yield piece.encode() if isinstance(piece, str) else bytes(piece)
            if len(piece) < _SLICE:
                return


@dataclass(frozen=True, slots=True)
class _Blob:
    """A value of SQLite, read where it lies."""

    session: Session
    column: tuple[str, str]
    rowid: int

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """The bytes."""
        with closing(self.session.open_blob(*self.column, self.rowid)) as blob:
            yield _Pieces(_blob_pieces(blob))


def _blob_pieces(blob: sqlite3.Blob) -> Iterator[bytes]:
    while piece := blob.read(_SLICE):
        yield piece


class _Pieces:
    """Pieces as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._buffer = b""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes: at most `size`, and no more than a piece at a time."""
        if not self._buffer:
            self._buffer = next(self._pieces, b"")
        if size < 0 or size >= len(self._buffer):
            block, self._buffer = self._buffer, b""
        else:
            block, self._buffer = self._buffer[:size], self._buffer[size:]
        return block


def _is_large(family: str, column: Column, quoted: str) -> str | None:
    if column.kind not in _SIZED or (column.size is not None and column.size <= 100_000):
        return None
    if family == SQLITE:  # a text there is read whole: it has no other way in
        return f"(typeof({quoted}) = 'blob' AND length({quoted}) > {_AT_ONCE})"
    return f"{_size(family, column, quoted)} > {_AT_ONCE}"


def _size(family: str, column: Column, quoted: str) -> str:
    if family == SQLITE:
        return f"length(CAST({quoted} AS BLOB))"
    if family == POSTGRESQL and column.kind is not Kind.BYTES:
        return f"octet_length(CAST({quoted} AS text))"
    return f"octet_length({quoted})"


def _row_place(fetch: Fetch) -> str:
    """What finds a row again while its snapshot lasts; empty if nothing does."""
    if fetch.session.family == POSTGRESQL:
        return "CONCAT(CAST(tableoid AS text), ' ', CAST(ctid AS text))"  # the parts of a table number their rows alike
    if fetch.session.family == SQLITE and not any(column.name == "_rowid_" for column in fetch.table.columns):
        name = fetch.table.name.name
        row = fetch.session.first_row("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
        without = row is None or "WITHOUT ROWID" in " ".join(str(row[0]).upper().split())
        return "" if without else "_rowid_"
    return ""


def _any_row(family: str, question: str) -> str:
    return f"bool_or({question})" if family == POSTGRESQL else f"MAX({question})"


def _to_text(value: object) -> object:
    """A number as the shortest text that is it."""
    return repr(value) if isinstance(value, (int, float)) else value


def _to_bytes(value: object) -> object:
    text = _to_text(value)
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text

"""Documents in a database: what a plan keeps of them, and their bytes in slices when they are wanted.

A content's locator is `TABLE:KEY#COLUMN@MARK`. The mark is a digest of the whole row as it was (in PostgreSQL with the
number of the transaction that wrote it), or of the one column that a recipe says every change changes. Bytes of the
same length and beginning that were changed with nothing else in the row are noticed in PostgreSQL always; elsewhere
where the plan hashed its contents. Whatever happens meanwhile, one document's slices come from one snapshot.
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from noarkit.documents.detect import MediaTypes
from noarkit.errors import ItemNotAFile, ItemUnreadable, ItemVanished, SourceFault, UnsafePath
from noarkit.graph.entity import Content
from noarkit.safe.paths import open_inside
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.documents import DocumentColumn
from noarkit.sources.database.keys import NO_KEY, Where
from noarkit.sources.database.rows import Fields, TableReader, label_text, placeholder
from noarkit.sources.database.schema import Table, source_of
from noarkit.sources.database.session import Row, Session

_HEAD_BYTES = 2048
_SLICE_BYTES = 8 * 1024 * 1024
_WHOLE_BYTES = 12 * 1024 * 1024  # MySQL reads the whole value for every slice of it
_PLACES = {"ctid": "CAST(ctid AS text)", "rowid": "_rowid_", "key, rowid": "_rowid_"}
_WITHOUT_ROWID = re.compile(r"without\s+rowid", re.IGNORECASE)
_TEXTS = ("text/html", "text/xml", "application/xml", "application/json", "text/rtf", "message/rfc822")
_UNSURE = ("application/octet-stream", "application/x-empty", "inode/x-empty")


class DocumentCell(NamedTuple):
    """What a row says of one document: its size, first bytes, and (of a file or large object) its name or number."""

    size: int | None
    head: bytes
    value: object


@dataclass(frozen=True, slots=True)
class Locator:
    """A locator taken apart."""

    row: str
    column: str
    row_digest: str

    def __str__(self) -> str:
        return f"{self.row}#{_escape(self.column)}@{self.row_digest}"

    @classmethod
    def read(cls, text: str) -> Locator:
        """Raises `ItemVanished` for what is none."""
        row_and_column, at, mark = text.rpartition("@")
        row, sharp, column = row_and_column.rpartition("#")
        if not at or not sharp:
            raise ItemVanished(key=text, why="locator")
        return cls(row, column.replace("%23", "#").replace("%40", "@").replace("%25", "%"), mark)


class Documents:
    """The documents of one table: what is selected for them, and what becomes of it."""

    def __init__(self, session: Session, reader: TableReader, columns: Sequence[DocumentColumn], base: Path) -> None:
        self._session = session
        self._reader = reader
        self.columns = tuple(columns)
        self._base = base
        self._first = len(reader.columns)
        self._changed = ""
        self._types = MediaTypes()
        self._place = row_identity(session, reader.table) if columns else ""

    def set_change_column(self, column: str) -> None:
        """Has one column tell of changes, instead of the whole row."""
        self._changed = column

    @property
    def extra(self) -> list[str]:
        """What is selected besides the row's own columns: two expressions a document, a place, a version."""
        if not self.columns:
            return []
        expressions = [part for column in self.columns for part in _select_expressions(self._session, column)]
        is_written = self._session.family == POSTGRESQL and not self._reader.table.is_view
        return [*expressions, "CAST(xmin AS text)" if is_written else "''", _PLACES.get(self._place, "''")]

    def contents(self, rows: Sequence[Row], fields: Sequence[Fields]) -> Iterator[tuple[Content, ...] | SourceFault]:
        """The contents of every row, or why they cannot be taken."""
        if not self.columns:
            for _ in rows:
                yield ()
            return
        large = self.large_objects(rows)
        for row, of_row in zip(rows, fields, strict=True):
            try:
                yield tuple(self._row_contents(row, of_row, large))
            except SourceFault as fault:
                yield fault

    def row_digest(self, row: Row) -> str:
        """A digest of the row as it is now."""
        if self._changed:
            place = next(at for at, column in enumerate(self._reader.columns) if column.name == self._changed)
            digest_parts: Sequence[object] = (
                row[place],
                *(row[self._first + 2 * at] for at in range(len(self.columns))),
            )
        else:
            digest_parts = row[:-1]
        text = repr(tuple(bytes(part) if isinstance(part, memoryview) else part for part in digest_parts))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()

    def read_cell(self, row: Row, at: int, large: Mapping[object, tuple[int, bytes]]) -> DocumentCell | None:
        """What the row says of its document number `at`; None if there is none."""
        column = self.columns[at]
        first, second = row[self._first + 2 * at], row[self._first + 2 * at + 1]
        if first is None or (column.form == "file" and first == ""):
            return None
        if column.form == "large-object":
            size, head = large.get(first, (None, b""))
            return DocumentCell(size, head, first)
        if column.form == "file":
            return DocumentCell(None, b"", first)
        head = second.encode("utf-8", "surrogateescape") if isinstance(second, str) else bytes(second or b"")  # type: ignore[call-overload]  # bytes of some kind
        return DocumentCell(int(str(first)), head, None)

    def row_key(self, row: Row) -> str:
        """How a locator names the row; empty if nothing tells it from others."""
        if self._place.startswith("key"):
            return self._reader.key_of(row)
        return f"{label_text(self._reader.table.label)}:{NO_KEY}{row[-1]}" if self._place else ""

    def _row_contents(self, row: Row, fields: Fields, large: Mapping[object, tuple[int, bytes]]) -> Iterator[Content]:
        cells = [
            (column, cell)
            for at, column in enumerate(self.columns)
            if (cell := self.read_cell(row, at, large)) is not None
        ]
        if not cells:
            return
        where, row_digest = self.row_key(row), self.row_digest(row)
        if not where:
            raise ItemUnreadable(key=self._reader.table.label, why="document-without-key")
        for column, cell in cells:
            yield self._content(Locator(where, column.column, row_digest), column, cell, fields)

    def _content(self, locator: Locator, column: DocumentColumn, cell: DocumentCell, fields: Fields) -> Content:
        declared_type = str(fields.get(column.media_type) or "") if column.media_type else ""
        if column.form == "file":
            return self._file(locator, str(cell.value), declared_type)
        if cell.size is None:
            raise ItemVanished(key=str(locator), why="large-object")
        stored_name = str(fields.get(column.name) or "") if column.name else ""
        name = stored_name.replace("\\", "/").rstrip("/").rpartition("/")[2]
        ext = name.rpartition(".")[2] if "." in name else column.extension
        media_type = declared_type or self._types.of(cell.head, ext.lower())
        if column.form == "text" and not declared_type and media_type not in _TEXTS:
            media_type = "text/plain"
        if not name:
            extension = column.extension or (mimetypes.guess_extension(media_type) or "").lstrip(".")
            extension = extension if media_type not in _UNSURE else "bin"
            name = f"{locator.row.replace(':', '-').replace('/', '_')}-{column.column}.{extension or 'bin'}"
        return Content(str(locator), name, cell.size, media_type=media_type or None)

    def _file(self, locator: Locator, value: str, media_type: str) -> Content:
        with open_document_file(self._base, value, str(locator)) as file:
            status = os.fstat(file.fileno())
            head = file.read(_HEAD_BYTES)
        name = forward_slashes(value).rpartition("/")[2]
        detected_type = media_type or self._types.of(head, name.rpartition(".")[2].lower())
        return Content(str(locator), name, status.st_size, status.st_mtime_ns, media_type=detected_type)

    def large_objects(self, rows: Sequence[Row]) -> dict[object, tuple[int, bytes]]:
        """Sizes and first bytes of the large objects that some rows name; those that are not there are left out."""
        places = [self._first + 2 * at for at, column in enumerate(self.columns) if column.form == "large-object"]
        numbers = sorted({number for row in rows for place in places if isinstance(number := row[place], int)})
        objects: dict[object, tuple[int, bytes]] = {}
        for start in range(0, len(numbers), 500):
            batch = numbers[start : start + 500]
            placeholders = ", ".join(["%s"] * len(batch))
            object_rows = self._session.rows(
                "WITH there AS MATERIALIZED (SELECT oid AS o, lo_open(oid, 262144) AS fd"  # noqa: S608  # numbers by place
                f" FROM pg_catalog.pg_largeobject_metadata WHERE oid IN ({placeholders}))"
                f" SELECT o, lo_lseek64(fd, 0, 2), lo_get(o, 0, {_HEAD_BYTES}), lo_close(fd) FROM there",
                batch,
            )
            objects.update({row[0]: (int(str(row[1])), bytes(row[2])) for row in object_rows})  # type: ignore[call-overload]  # bytes
        return objects


class SliceStream:
    """The bytes of one document, a slice at a time. `fetch(offset, length)` counts signs where it gives text."""

    def __init__(self, fetch: Callable[[int, int], bytes | str], same: Callable[[], bool], slice_size: int) -> None:
        self._fetch = fetch
        self._same = same
        self._slice = slice_size
        self._at = 0
        self._left = memoryview(b"")
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, all that is left for a negative size; empty at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(self._slice), b""))
        if not self._left and not self._ended and size:
            self._next()
        block = bytes(self._left[:size])
        self._left = self._left[size:]
        return block

    def still_the_same(self) -> bool:
        """True if the row is as it was when it was opened."""
        return self._same()

    def _next(self) -> None:
        piece = self._fetch(self._at, self._slice)
        self._at += len(piece)
        self._ended = len(piece) < self._slice
        self._left = memoryview(piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece)


class BlobStream:
    """The bytes of one value of SQLite, by its own way of reading them in pieces."""

    def __init__(self, blob: sqlite3.Blob, same: Callable[[], bool]) -> None:
        self._blob = blob
        self._same = same

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        return self._blob.read(size)

    def still_the_same(self) -> bool:
        """True if the row is as it was when it was opened."""
        return self._same()


class FileStream:
    """The bytes of a file that a column names."""

    def __init__(self, file: BinaryIO, again: Callable[[], BinaryIO], same: Callable[[], bool]) -> None:
        self._file = file
        self._again = again
        self._same = same
        self._before = _file_state(os.fstat(file.fileno()))

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        return self._file.read(size)

    def still_the_same(self) -> bool:
        """True if file and row are as they were when they were opened, and the name still leads to that file."""
        try:
            with self._again() as reopened:
                now = _file_state(os.fstat(reopened.fileno()))
        except (OSError, SourceFault):
            return False
        return now == self._before and self._same()


def open_document_file(base: Path, value: str, key: str) -> BinaryIO:
    """The file that a column names, below `base`. Raises `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`."""
    try:
        return open_inside(base, relative_to_base(base, value))
    except UnsafePath as error:
        why = str(error.data.get("why"))
        if why == "not-a-file":
            raise ItemNotAFile(key=key, why=why) from error
        raise ItemUnreadable(key=key, why="outside-base") from error
    except FileNotFoundError as error:
        raise ItemVanished(key=key, why="ENOENT") from error
    except (NotADirectoryError, IsADirectoryError) as error:
        raise ItemNotAFile(key=key, why="EISDIR") from error
    except OSError as error:
        raise ItemUnreadable(key=key, why="EACCES") from error


def forward_slashes(value: str) -> str:
    """A path as columns have it, with slashes one way."""
    return value.strip().replace("\\", "/")


def relative_to_base(base: Path, value: str) -> str:
    """The part of a path below `base`, where it is written whole; else the path itself."""
    path = forward_slashes(value)
    home = str(base.resolve())
    for start in (str(base), home):
        if path.startswith(start.rstrip("/") + "/"):
            return path[len(start.rstrip("/")) + 1 :]
    return path


def slice_bytes(session: Session, size: int | None) -> int:
    """How much is asked for at a time: what the server sends at once, and more of what it reads from its start."""
    if session.family != MYSQL:
        return _SLICE_BYTES
    row = session.first_row("SELECT @@max_allowed_packet")
    most = int(str(row[0])) if row else _SLICE_BYTES
    preferred_bytes = max(_WHOLE_BYTES, (size or 0) // 32)
    return max(64 * 1024, min(preferred_bytes, most - 64 * 1024, 32 * 1024 * 1024))


def make_fetcher(
    session: Session, table: Table, document: DocumentColumn, where: Where, cell: DocumentCell
) -> Callable[[int, int], bytes | str]:
    """What fetches a slice of a document from one snapshot."""
    mark = placeholder(session)
    column = session.quote(document.column)
    source = source_of(session, table)
    clause, values = where

    def of_large_object(offset: int, length: int) -> bytes | str:
        return session.fetch_value("SELECT lo_get(%s, %s, %s)", (cell.value, offset, length)) or b""

    def of_column(offset: int, length: int) -> bytes | str:
        if document.form == "text":
            piece = f"SUBSTRING(CAST({column} AS text) FROM {mark} FOR {mark})"
            if session.family != POSTGRESQL:
                piece = f"SUBSTR({column}, {mark}, {mark})"
        elif session.family == POSTGRESQL:
            piece = f"SUBSTRING({column} FROM {mark} FOR {mark})"
        elif session.family == SQLITE:
            piece = f"SUBSTR(CAST({column} AS BLOB), {mark}, {mark})"
        else:
            piece = f"SUBSTR({column}, {mark}, {mark})"
        statement = f"SELECT {piece} FROM {source} WHERE {clause}"  # noqa: S608  # quoted by the dialect
        return session.fetch_value(statement, (offset + 1, length, *values)) or b""

    return of_large_object if document.form == "large-object" else of_column


def row_identity(session: Session, table: Table) -> str:
    """What tells a row from others: its key, or what PostgreSQL and SQLite number rows by; empty if nothing does."""
    if session.family == SQLITE and not table.is_view:
        row = session.first_row("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (table.name.name,))
        if row is not None and not _WITHOUT_ROWID.search(str(row[0])):
            return "key, rowid" if table.key else "rowid"
    if table.key:
        return "key"
    return "ctid" if session.family == POSTGRESQL and not table.is_view else ""


def _select_expressions(session: Session, document: DocumentColumn) -> tuple[str, str]:
    column = session.quote(document.column)
    if document.form in ("large-object", "file"):
        return column, "''"
    if document.form == "text":
        if session.family == POSTGRESQL:
            text = f"CAST({column} AS text)"
            return f"octet_length(convert_to({text}, 'UTF8'))", f"LEFT({text}, 500)"
        if session.family == MYSQL:
            return f"LENGTH(CONVERT({column} USING utf8mb4))", f"LEFT({column}, 500)"
        return f"LENGTH(CAST({column} AS BLOB))", f"SUBSTR({column}, 1, 500)"
    if session.family == POSTGRESQL:
        return f"octet_length({column})", f"SUBSTRING({column} FROM 1 FOR {_HEAD_BYTES})"
    if session.family == MYSQL:
        return f"LENGTH({column})", f"SUBSTR({column}, 1, {_HEAD_BYTES})"
    return f"LENGTH(CAST({column} AS BLOB))", f"SUBSTR(CAST({column} AS BLOB), 1, {_HEAD_BYTES})"


def _escape(column: str) -> str:
    return column.replace("%", "%25").replace("#", "%23").replace("@", "%40")


def _file_state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

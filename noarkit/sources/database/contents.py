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

from noarkit.errors import ItemNotAFile, ItemUnreadable, ItemVanished, SourceFault, UnsafePath
from noarkit.graph.entity import Content
from noarkit.safe.paths import open_inside
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.documents import DocumentColumn
from noarkit.sources.database.keys import NO_KEY, Where
from noarkit.sources.database.rows import Fields, TableReader, label_text, placeholder
from noarkit.sources.database.schema import Table, source_of
from noarkit.sources.database.session import Row, Session
from noarkit.sources.files.detect import MediaTypes

_HEAD_BYTES = 2048
_SLICE_BYTES = 8 * 1024 * 1024
_WHOLE_BYTES = 12 * 1024 * 1024  # MySQL reads the whole value for every slice of it
_PLACES = {"ctid": "CAST(ctid AS text)", "rowid": "_rowid_", "key, rowid": "_rowid_"}
_WITHOUT_ROWID = re.compile(r"without\s+rowid", re.IGNORECASE)
_TEXTS = ("text/html", "text/xml", "application/xml", "application/json", "text/rtf", "message/rfc822")
_UNSURE = ("application/octet-stream", "application/x-empty", "inode/x-empty")


class Held(NamedTuple):
    """What a row says of one document: its size, first bytes, and (of a file or large object) its name or number."""

    size: int | None
    head: bytes
    value: object


@dataclass(frozen=True, slots=True)
class Locator:
    """A locator taken apart."""

    row: str
    column: str
    mark: str

    def __str__(self) -> str:
        return f"{self.row}#{_escaped(self.column)}@{self.mark}"

    @classmethod
    def read(cls, text: str) -> Locator:
        """Raises `ItemVanished` for what is none."""
        rest, at, mark = text.rpartition("@")
        row, sharp, column = rest.rpartition("#")
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
        self._place = place_of(session, reader.table) if columns else ""

    def marked_by(self, column: str) -> None:
        """Has one column tell of changes, instead of the whole row."""
        self._changed = column

    @property
    def extra(self) -> list[str]:
        """What is selected besides the row's own columns: two expressions a document, a place, a version."""
        if not self.columns:
            return []
        selected = [part for one in self.columns for part in _selected(self._session, one)]
        is_written = self._session.family == POSTGRESQL and not self._reader.table.is_view
        return [*selected, "CAST(xmin AS text)" if is_written else "''", _PLACES.get(self._place, "''")]

    def contents(self, rows: Sequence[Row], fields: Sequence[Fields]) -> Iterator[tuple[Content, ...] | SourceFault]:
        """The contents of every row, or why they cannot be taken."""
        if not self.columns:
            for _ in rows:
                yield ()
            return
        large = self.large_objects(rows)
        for row, of_row in zip(rows, fields, strict=True):
            try:
                yield tuple(self._of_row(row, of_row, large))
            except SourceFault as fault:
                yield fault

    def mark(self, row: Row) -> str:
        """A digest of the row as it is now."""
        if self._changed:
            place = next(at for at, column in enumerate(self._reader.columns) if column.name == self._changed)
            marked: Sequence[object] = (row[place], *(row[self._first + 2 * at] for at in range(len(self.columns))))
        else:
            marked = row[:-1]
        text = repr(tuple(bytes(part) if isinstance(part, memoryview) else part for part in marked))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()

    def held(self, row: Row, at: int, large: Mapping[object, tuple[int, bytes]]) -> Held | None:
        """What the row says of its document number `at`; None where there is none."""
        one = self.columns[at]
        first, second = row[self._first + 2 * at], row[self._first + 2 * at + 1]
        if first is None or (one.form == "file" and first == ""):
            return None
        if one.form == "large-object":
            size, head = large.get(first, (None, b""))
            return Held(size, head, first)
        if one.form == "file":
            return Held(None, b"", first)
        head = second.encode("utf-8", "surrogateescape") if isinstance(second, str) else bytes(second or b"")  # type: ignore[call-overload]  # bytes of some kind
        return Held(int(str(first)), head, None)

    def row_key(self, row: Row) -> str:
        """How a locator names the row; empty where nothing tells it from others."""
        if self._place.startswith("key"):
            return self._reader.key_of(row)
        return f"{label_text(self._reader.table.label)}:{NO_KEY}{row[-1]}" if self._place else ""

    def _of_row(self, row: Row, fields: Fields, large: Mapping[object, tuple[int, bytes]]) -> Iterator[Content]:
        found = [(one, held) for at, one in enumerate(self.columns) if (held := self.held(row, at, large)) is not None]
        if not found:
            return
        where, mark = self.row_key(row), self.mark(row)
        if not where:
            raise ItemUnreadable(key=self._reader.table.label, why="document-without-key")
        for one, held in found:
            yield self._content(Locator(where, one.column, mark), one, held, fields)

    def _content(self, locator: Locator, one: DocumentColumn, held: Held, fields: Fields) -> Content:
        told = str(fields.get(one.media_type) or "") if one.media_type else ""
        if one.form == "file":
            return self._file(locator, str(held.value), told)
        if held.size is None:
            raise ItemVanished(key=str(locator), why="large-object")
        named = str(fields.get(one.name) or "") if one.name else ""
        name = named.replace("\\", "/").rstrip("/").rpartition("/")[2]
        ext = name.rpartition(".")[2] if "." in name else one.extension
        media_type = told or self._types.of(held.head, ext.lower())
        if one.form == "text" and not told and media_type not in _TEXTS:
            media_type = "text/plain"
        if not name:
            ending = one.extension or (mimetypes.guess_extension(media_type) or "").lstrip(".")
            ending = ending if media_type not in _UNSURE else "bin"
            name = f"{locator.row.replace(':', '-').replace('/', '_')}-{one.column}.{ending or 'bin'}"
        return Content(str(locator), name, held.size, media_type=media_type or None)

    def _file(self, locator: Locator, value: str, media_type: str) -> Content:
        with opened_file(self._base, value, str(locator)) as file:
            status = os.fstat(file.fileno())
            head = file.read(_HEAD_BYTES)
        name = slashed(value).rpartition("/")[2]
        found = media_type or self._types.of(head, name.rpartition(".")[2].lower())
        return Content(str(locator), name, status.st_size, status.st_mtime_ns, media_type=found)

    def large_objects(self, rows: Sequence[Row]) -> dict[object, tuple[int, bytes]]:
        """Sizes and first bytes of the large objects that some rows name; those that are not there are left out."""
        places = [self._first + 2 * at for at, one in enumerate(self.columns) if one.form == "large-object"]
        numbers = sorted({number for row in rows for place in places if isinstance(number := row[place], int)})
        found: dict[object, tuple[int, bytes]] = {}
        for start in range(0, len(numbers), 500):
            some = numbers[start : start + 500]
            listed = ", ".join(["%s"] * len(some))
            told = self._session.rows(
                "WITH there AS MATERIALIZED (SELECT oid AS o, lo_open(oid, 262144) AS fd"  # noqa: S608  # numbers by place
                f" FROM pg_catalog.pg_largeobject_metadata WHERE oid IN ({listed}))"
                f" SELECT o, lo_lseek64(fd, 0, 2), lo_get(o, 0, {_HEAD_BYTES}), lo_close(fd) FROM there",
                some,
            )
            found.update({row[0]: (int(str(row[1])), bytes(row[2])) for row in told})  # type: ignore[call-overload]  # bytes
        return found


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
        """True where the row is as it was when it was opened."""
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
        """True where the row is as it was when it was opened."""
        return self._same()


class FileStream:
    """The bytes of a file that a column names."""

    def __init__(self, file: BinaryIO, again: Callable[[], BinaryIO], same: Callable[[], bool]) -> None:
        self._file = file
        self._again = again
        self._same = same
        self._before = _marks(os.fstat(file.fileno()))

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        return self._file.read(size)

    def still_the_same(self) -> bool:
        """True where file and row are as they were when they were opened, and the name still leads to that file."""
        try:
            with self._again() as named:
                now = _marks(os.fstat(named.fileno()))
        except (OSError, SourceFault):
            return False
        return now == self._before and self._same()


def opened_file(base: Path, value: str, key: str) -> BinaryIO:
    """The file that a column names, below `base`. Raises `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`."""
    try:
        return open_inside(base, beneath(base, value))
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


def slashed(value: str) -> str:
    """A path as columns have it, with slashes one way."""
    return value.strip().replace("\\", "/")


def beneath(base: Path, value: str) -> str:
    """The part of a path below `base`, where it is written whole; else the path itself."""
    path = slashed(value)
    home = str(base.resolve())
    for start in (str(base), home):
        if path.startswith(start.rstrip("/") + "/"):
            return path[len(start.rstrip("/")) + 1 :]
    return path


def slice_bytes(session: Session, size: int | None) -> int:
    """How much is asked for at a time: what the server sends at once, and more of what it reads from its start."""
    if session.family != MYSQL:
        return _SLICE_BYTES
    row = session.one("SELECT @@max_allowed_packet")
    most = int(str(row[0])) if row else _SLICE_BYTES
    wanted = max(_WHOLE_BYTES, (size or 0) // 32)
    return max(64 * 1024, min(wanted, most - 64 * 1024, 32 * 1024 * 1024))


def fetcher(
    session: Session, table: Table, one: DocumentColumn, where: Where, held: Held
) -> Callable[[int, int], bytes | str]:
    """What fetches a slice of a document from one snapshot."""
    mark = placeholder(session)
    column = session.quote(one.column)
    source = source_of(session, table)
    clause, values = where

    def of_large_object(offset: int, length: int) -> bytes | str:
        return session.blocks("SELECT lo_get(%s, %s, %s)", (held.value, offset, length)) or b""

    def of_column(offset: int, length: int) -> bytes | str:
        if one.form == "text":
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
        return session.blocks(statement, (offset + 1, length, *values)) or b""

    return of_large_object if one.form == "large-object" else of_column


def place_of(session: Session, table: Table) -> str:
    """What tells a row from others: its key, or what PostgreSQL and SQLite number rows by; empty where nothing does."""
    if session.family == SQLITE and not table.is_view:
        row = session.one("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (table.name.name,))
        if row is not None and not _WITHOUT_ROWID.search(str(row[0])):
            return "key, rowid" if table.key else "rowid"
    if table.key:
        return "key"
    return "ctid" if session.family == POSTGRESQL and not table.is_view else ""


def _selected(session: Session, one: DocumentColumn) -> tuple[str, str]:
    column = session.quote(one.column)
    if one.form in ("large-object", "file"):
        return column, "''"
    if one.form == "text":
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


def _escaped(column: str) -> str:
    return column.replace("%", "%25").replace("#", "%23").replace("@", "%40")


def _marks(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

"""Opens documents again: finds the row as it was planned, and gives its bytes from one snapshot.

Sessions are kept for the next document, a few for each process; one that broke is left, and another tried once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noarkit.errors import ItemChanged, ItemVanished, SourceFault
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.sources.database import local
from noarkit.sources.database.address import SQLITE, Address
from noarkit.sources.database.contents import (
    BlobStream,
    DocumentCell,
    Documents,
    FileStream,
    Locator,
    SliceStream,
    make_fetcher,
    open_document_file,
    row_identity,
    slice_bytes,
)
from noarkit.sources.database.keys import table_of, where_clause
from noarkit.sources.database.local import LocalCopy
from noarkit.sources.database.rows import Tables
from noarkit.sources.database.schema import Schema, Table
from noarkit.sources.database.session import Row, Session, connect

_MOST_IDLE = 4
MakeDocuments = Callable[[Tables, Table], Documents]


@dataclass(slots=True)
class PooledSession:
    """A session with what reads its tables."""

    session: Session
    schema: Schema
    tables: Tables


class SessionPool:
    """The sessions of one process, opened when they are needed and kept for the next that needs one."""

    def __init__(self, address: Address) -> None:
        self.home: Path | None = None
        self._address = address
        self._lock = threading.Lock()
        self._idle: list[PooledSession] = []
        self._pid = os.getpid()
        self._copy: LocalCopy | None = None
        self._file_states: local.FileStates = ()

    def new_session(self) -> Session:
        """A session of one's own."""
        if self._address.family == SQLITE:
            with self._lock:
                self._refresh_copy()
        return connect(self._address, copy=self._copy)

    def file_states(self) -> local.FileStates:
        """What an SQLite file that is read in place looks like now; nothing for others."""
        if self._address.family != SQLITE or self._copy is not None:
            return ()
        return local.file_states(self._address.file)

    def acquire(self, make: Callable[[Session], PooledSession]) -> PooledSession:
        """One that is idle, with a new snapshot, else a new one."""
        if os.getpid() != self._pid:  # what a parent opened is the parent's
            self._lock, self._idle, self._pid = threading.Lock(), [], os.getpid()
        if self._address.family == SQLITE:
            with self._lock:
                self._refresh_copy()
        while True:
            with self._lock:
                pooled = self._idle.pop() if self._idle else None
            if pooled is None:
                session = self.new_session()
                try:
                    return make(session)
                except BaseException:
                    session.close()
                    raise
            try:
                pooled.session.renew()
            except SourceFault:
                pooled.session.close()  # it was idle for so long that the server let it go
                continue
            return pooled

    def release(self, pooled: PooledSession, *, broken: bool) -> None:
        """Keeps it for the next, unless it broke or there are enough."""
        if not broken:
            with suppress(SourceFault):
                pooled.session.release_snapshot()
                with self._lock:
                    if len(self._idle) < _MOST_IDLE:
                        self._idle.append(pooled)
                        return
        pooled.session.close()

    def close(self) -> None:
        """Lets all go."""
        with self._lock:
            idle, self._idle = self._idle, []
        for pooled in idle:
            pooled.session.close()

    def _refresh_copy(self) -> None:
        """Copies an SQLite file that is in use, anew where it was written to since."""
        file = self._address.file
        now = local.file_states(file)
        if now == self._file_states:
            return
        for pooled in self._idle:
            pooled.session.close()
        self._idle = []
        self._file_states = now
        self._copy = LocalCopy(file, self.home) if local.is_in_use(file) else None


@contextmanager
def open_document(
    pooled: PooledSession, documents: MakeDocuments, content: Content, base: Path
) -> Iterator[ContentStream]:
    """The stream of a planned content.

    Raises `ItemVanished`, `ItemChanged`, and faults of the session. Faults raised inside the block pass untouched.
    """
    row = _PlannedRow(pooled, documents, content)
    cell = row.read_cell()
    session, document = pooled.session, row.document
    if document.form == "file":
        again = partial(open_document_file, base, str(cell.value), content.locator)
        with again() as file:
            status = os.fstat(file.fileno())
            row.compare(status.st_size, status.st_mtime_ns)
            yield FileStream(file, again, row.is_unchanged)
        return
    row.compare(cell.size, content.modified_ns)
    if session.family == SQLITE and row.rowid is not None and document.form == "bytes":
        with session.faults(), closing(session.open_blob(row.table.name.name, document.column, row.rowid)) as blob:
            yield BlobStream(blob, row.is_unchanged)
        return
    fetch = make_fetcher(session, row.table, document, row.where, cell)
    yield SliceStream(fetch, row.is_unchanged, slice_bytes(session, cell.size))


class _PlannedRow:
    """A row as a plan saw it, and as it is."""

    def __init__(self, pooled: PooledSession, documents: MakeDocuments, content: Content) -> None:
        self._pooled = pooled
        self._content = content
        self._locator = Locator.read(content.locator)
        self.table = table_of(pooled.schema, self._locator.row)
        self._reader = pooled.tables.reader(self.table.label)
        self._documents = documents(pooled.tables, self.table)
        numbers = [at for at, column in enumerate(self._documents.columns) if column.column == self._locator.column]
        if not numbers:
            raise ItemVanished(key=content.locator, why="no-such-column")
        self._number = numbers[0]
        self.document = self._documents.columns[self._number]
        place = row_identity(pooled.session, self.table)
        self.where = where_clause(pooled.session, self.table, self._locator.row, place)
        self.rowid: int | None = None

    def read_cell(self) -> DocumentCell:
        """The document as it is now. Raises `ItemVanished`, `ItemChanged`."""
        row = self._row()
        if row is None:
            raise ItemVanished(key=self._content.locator, why="row-gone")
        if self._documents.row_digest(row) != self._locator.row_digest:
            raise ItemChanged(key=self._content.locator, why="row")
        cell = self._documents.read_cell(row, self._number, self._documents.large_objects([row]))
        if cell is None:
            raise ItemChanged(key=self._content.locator, why="row")
        if self._pooled.session.family == SQLITE and isinstance(row[-1], int) and row[-1]:
            self.rowid = row[-1]
        return cell

    def compare(self, size: int | None, modified_ns: int | None) -> None:
        """Raises `ItemChanged` where size or time are not as planned."""
        content = self._content
        if content.size_bytes is not None and size != content.size_bytes:
            raise ItemChanged(key=content.locator, why="size", planned=content.size_bytes, found=size)
        if content.modified_ns is not None and modified_ns != content.modified_ns:
            raise ItemChanged(key=content.locator, why="time", planned=content.modified_ns, found=modified_ns)

    def is_unchanged(self) -> bool:
        """Looks again, with a new snapshot."""
        self._pooled.session.renew()
        row = self._row()
        return row is not None and self._documents.row_digest(row) == self._locator.row_digest

    def _row(self) -> Row | None:
        clause, values = self.where
        return self._reader.select_row(clause, values, self._documents.extra)

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
from noarkit.sources.database import local
from noarkit.sources.database.address import SQLITE, Address
from noarkit.sources.database.contents import (
    BlobStream,
    Documents,
    FileStream,
    Held,
    Locator,
    SliceStream,
    fetcher,
    opened_file,
    place_of,
    slice_bytes,
)
from noarkit.sources.database.keys import table_of, where_of
from noarkit.sources.database.local import LocalCopy
from noarkit.sources.database.rows import Tables
from noarkit.sources.database.schema import Schema, Table
from noarkit.sources.database.session import Row, Session, connect
from noarkit.sources.port import ContentStream

_MOST_IDLE = 4
MakeDocuments = Callable[[Tables, Table], Documents]


@dataclass(slots=True)
class Desk:
    """A session with what reads its tables."""

    session: Session
    schema: Schema
    tables: Tables


class Desks:
    """The sessions of one process, opened when they are needed and kept for the next that needs one."""

    def __init__(self, address: Address) -> None:
        self.home: Path | None = None
        self._address = address
        self._lock = threading.Lock()
        self._idle: list[Desk] = []
        self._pid = os.getpid()
        self._copy: LocalCopy | None = None
        self._marks: local.Marks = ()

    def session(self) -> Session:
        """A session of one's own."""
        if self._address.family == SQLITE:
            with self._lock:
                self._look_at_the_file()
        return connect(self._address, copy=self._copy)

    def marks(self) -> local.Marks:
        """What an SQLite file that is read in place looks like now; nothing for others."""
        if self._address.family != SQLITE or self._copy is not None:
            return ()
        return local.marks(self._address.file)

    def take(self, make: Callable[[Session], Desk]) -> Desk:
        """One that is idle, with a new snapshot, else a new one."""
        if os.getpid() != self._pid:  # what a parent opened is the parent's
            self._lock, self._idle, self._pid = threading.Lock(), [], os.getpid()
        if self._address.family == SQLITE:
            with self._lock:
                self._look_at_the_file()
        while True:
            with self._lock:
                desk = self._idle.pop() if self._idle else None
            if desk is None:
                session = self.session()
                try:
                    return make(session)
                except BaseException:
                    session.close()
                    raise
            try:
                desk.session.renew()
            except SourceFault:
                desk.session.close()  # it was idle for so long that the server let it go
                continue
            return desk

    def give_back(self, desk: Desk, *, broken: bool) -> None:
        """Keeps it for the next, unless it broke or there are enough."""
        if not broken:
            with suppress(SourceFault):
                desk.session.rest()
                with self._lock:
                    if len(self._idle) < _MOST_IDLE:
                        self._idle.append(desk)
                        return
        desk.session.close()

    def close(self) -> None:
        """Lets all go."""
        with self._lock:
            idle, self._idle = self._idle, []
        for desk in idle:
            desk.session.close()

    def _look_at_the_file(self) -> None:
        """Copies an SQLite file that is in use, anew where it was written to since."""
        file = self._address.file
        now = local.marks(file)
        if now == self._marks:
            return
        for desk in self._idle:
            desk.session.close()
        self._idle = []
        self._marks = now
        self._copy = LocalCopy(file, self.home) if local.is_in_use(file) else None


@contextmanager
def opened(desk: Desk, documents: MakeDocuments, content: Content, base: Path) -> Iterator[ContentStream]:
    """The stream of a planned content.

    Raises `ItemVanished`, `ItemChanged`, and faults of the session. Faults raised inside the block pass untouched.
    """
    row = _Planned(desk, documents, content)
    held = row.held()
    session, one = desk.session, row.document
    if one.form == "file":
        again = partial(opened_file, base, str(held.value), content.locator)
        with again() as file:
            status = os.fstat(file.fileno())
            row.compare(status.st_size, status.st_mtime_ns)
            yield FileStream(file, again, row.is_the_same)
        return
    row.compare(held.size, content.modified_ns)
    if session.family == SQLITE and row.rowid is not None and one.form == "bytes":
        with session.faults(), closing(session.open_blob(row.table.name.name, one.column, row.rowid)) as blob:
            yield BlobStream(blob, row.is_the_same)
        return
    fetch = fetcher(session, row.table, one, row.where, held)
    yield SliceStream(fetch, row.is_the_same, slice_bytes(session, held.size))


class _Planned:
    """A row as a plan saw it, and as it is."""

    def __init__(self, desk: Desk, documents: MakeDocuments, content: Content) -> None:
        self._desk = desk
        self._content = content
        self._locator = Locator.read(content.locator)
        self.table = table_of(desk.schema, self._locator.row)
        self._reader = desk.tables.reader(self.table.label)
        self._documents = documents(desk.tables, self.table)
        numbers = [at for at, one in enumerate(self._documents.columns) if one.column == self._locator.column]
        if not numbers:
            raise ItemVanished(key=content.locator, why="no-such-column")
        self._number = numbers[0]
        self.document = self._documents.columns[self._number]
        place = place_of(desk.session, self.table)
        self.where = where_of(desk.session, self.table, self._locator.row, place)
        self.rowid: int | None = None

    def held(self) -> Held:
        """The document as it is now. Raises `ItemVanished`, `ItemChanged`."""
        row = self._row()
        if row is None:
            raise ItemVanished(key=self._content.locator, why="row-gone")
        if self._documents.mark(row) != self._locator.mark:
            raise ItemChanged(key=self._content.locator, why="row")
        held = self._documents.held(row, self._number, self._documents.large_objects([row]))
        if held is None:
            raise ItemChanged(key=self._content.locator, why="row")
        if self._desk.session.family == SQLITE and isinstance(row[-1], int) and row[-1]:
            self.rowid = row[-1]
        return held

    def compare(self, size: int | None, modified_ns: int | None) -> None:
        """Raises `ItemChanged` where size or time are not as planned."""
        planned = self._content
        if planned.size_bytes is not None and size != planned.size_bytes:
            raise ItemChanged(key=planned.locator, why="size", planned=planned.size_bytes, found=size)
        if planned.modified_ns is not None and modified_ns != planned.modified_ns:
            raise ItemChanged(key=planned.locator, why="time", planned=planned.modified_ns, found=modified_ns)

    def is_the_same(self) -> bool:
        """Looks again, with a new snapshot."""
        self._desk.session.renew()
        row = self._row()
        return row is not None and self._documents.mark(row) == self._locator.mark

    def _row(self) -> Row | None:
        clause, values = self.where
        return self._reader.one(clause, values, self._documents.extra)

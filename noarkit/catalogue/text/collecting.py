"""Reads the documents of a catalogue that nobody has read yet, several at once, and goes on where it was stopped.

The place is asked for one document after the other; their bytes go to children as they come and are hashed on the way.
A document that cannot be had is asked for again the next time; one that ends its child is not.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from orjson import loads

from noarkit.catalogue.port import Document, Place
from noarkit.catalogue.statements import statements
from noarkit.catalogue.store import open_catalogue
from noarkit.catalogue.text.children import Patience, TextChild
from noarkit.catalogue.text.decoding import MOST_BYTES, DocumentText
from noarkit.catalogue.text.texts import STAMP, UNREAD, TextStore, attach_texts, count_unread, texts_path
from noarkit.errors import PackageFault, SourceAway, SourceDenied, SourceFault, SourceGone
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.safe.fixity import CheckedStream, checked
from noarkit.safe.locks import claimed
from noarkit.safe.pipes import ready_readers
from noarkit.safe.processors import usable_processors

EVENTS: EventFields = {"reading_documents": {"documents": "count", "of": "count"}}
_BLOCK_BYTES = 64 * 1024
_COMMIT_S = 1.0
_TICK_S = 0.25
_LOCK_ENDING = ".lock"
_TASKS = (
    "SELECT d.n, d.ref, d.name, d.media_type, d.locator, d.sha256, d.fields,"
    f" {STAMP}{UNREAD} AND d.n > ? ORDER BY d.n LIMIT ?"
)
_PAGE = 500


@dataclass(slots=True)
class TextCounts:
    """Documents by what became of them: `read` anew, `copies` of what was read before, those without a text by reason,
    those that could not be had this time, and those whose bytes are not what was stated. `is_isolated` is false where
    the system has no walls for children."""

    documents: int = 0
    copies: int = 0
    missing: int = 0
    differing: int = 0
    characters: int = 0
    without: dict[str, int] = field(default_factory=dict)
    is_isolated: bool = True


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How documents are read: by how many children at once, how patiently, and until when."""

    children: int | None = None
    patience: Patience = field(default_factory=Patience)
    should_stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class _Task:
    n: int
    ref: str
    name: str
    media_type: str
    locator: str
    sha256: str
    fields: str
    stamp: str


def collect_texts(
    catalogue: Path, place: Place, emit: Listener = ignore_event, options: ReadingOptions | None = None
) -> TextCounts:
    """Reads what is not read yet of the documents of a catalogue, and keeps the texts beside it.

    Emits `reading_documents` with `documents` and `of`. Raises `RunLocked` where another process is reading them,
    `DiskFull`, and what ends the place as a whole; a document that cannot be opened is counted as missing.
    """
    path = texts_path(catalogue)
    with (
        claimed(path.with_name(path.name + _LOCK_ENDING), str(path)),
        TextStore(path) as store,
        closing(open_catalogue(catalogue)) as db,
    ):
        attach_texts(db, catalogue)
        return _Collector(db, place, store, options or ReadingOptions()).run(emit)


def _blocks(stream: CheckedStream) -> Iterator[bytes]:
    """The bytes of a document; no more of a huge one than shows that it is huge."""
    while stream.size_bytes <= MOST_BYTES and (block := stream.read(_BLOCK_BYTES)):
        yield block


class _Collector:
    """One reading of the documents of a place."""

    def __init__(self, db: sqlite3.Connection, place: Place, store: TextStore, options: ReadingOptions) -> None:
        self._db = db
        self._place = place
        self._store = store
        self._options = options
        self._counts = TextCounts()
        self._busy: dict[TextChild, tuple[_Task, str, bool]] = {}
        self._committed_at = time.monotonic()
        self._total = count_unread(db)
        self._fingerprint = str(db.execute("SELECT value FROM main.meta WHERE name = 'fingerprint'").fetchone()[0])

    def run(self, emit: Listener) -> TextCounts:
        # one more than processors: a child that waits for its next document leaves none idle
        idle = [TextChild(self._options.patience) for _ in range(self._options.children or usable_processors() + 1)]
        everyone = tuple(idle)
        self._counts.is_isolated = everyone[0].is_isolated
        self._tell(emit)
        try:
            tasks = self._tasks()
            task = next(tasks, None)
            while (task is not None or self._busy) and not self._options.should_stop():
                while task is not None and idle:
                    if self._begin(task, idle[-1]):
                        idle.pop()
                    task = next(tasks, None)
                idle += self._collect()
                if time.monotonic() - self._committed_at > _COMMIT_S:
                    self._commit(emit)
        finally:
            for child in everyone:
                child.kill()
            self._commit(emit)
        self._store.count_terms()
        return self._counts

    def _tasks(self) -> Iterator[_Task]:
        last = 0
        while rows := self._db.execute(_TASKS, (last, _PAGE)).fetchall():
            for row in rows:
                yield _Task(*row)
            last = rows[-1][0]

    def _begin(self, task: _Task, child: TextChild) -> bool:
        """Hands a document to a child; false where that is not needed, or its bytes cannot be had."""
        if task.sha256 and self._link_copy(task, task.sha256):
            return False
        try:
            with self._place.open(task.locator) as opened_stream:
                document = Document(task.ref, locator=task.locator, sha256=task.sha256, fields=loads(task.fields))
                stream = checked(opened_stream, *statements(document, self._place.identity.kind), sha256=True)
                child.ask(task.name, task.media_type, _blocks(stream))
        except (SourceGone, SourceAway, SourceDenied):
            raise
        except (SourceFault, PackageFault):
            self._counts.missing += 1
            return False
        # of a huge one nothing is read but its size, so nothing can differ
        is_other = stream.size_bytes <= MOST_BYTES and bool(stream.differences())
        self._busy[child] = (task, stream.sha256, is_other)
        return True

    def _collect(self) -> list[TextChild]:
        """The children that are free again, their answers kept. Waits a little where none is."""
        if not self._busy:
            return []
        readers = [child.reader for child in self._busy if child.reader is not None]
        ready = ready_readers(readers, _TICK_S)
        now = time.monotonic()
        free = []
        for child in [child for child in self._busy if child.reader in ready or child.deadline < now]:
            answer = child.collect()
            if answer is not None:
                self._keep(*self._busy.pop(child), answer)
                free.append(child)
        return free

    def _keep(self, task: _Task, digest: str, is_other: bool, answer: DocumentText) -> None:
        if is_other:  # nobody may take its text for that of the document; it is read again once somebody has mended it
            self._counts.differing += 1
            return
        if self._link_copy(task, digest):
            return
        n = self._store.add_text(digest, answer)
        self._store.add_document(task.ref, task.stamp, n)
        self._counts.documents += 1
        self._counts.characters += len(answer.text)
        if answer.reason:
            self._counts.without[answer.reason] = self._counts.without.get(answer.reason, 0) + 1

    def _link_copy(self, task: _Task, digest: str) -> bool:
        """True where these bytes were read before."""
        n = self._store.number_of(digest)
        if n is None:
            return False
        self._store.add_document(task.ref, task.stamp, n)
        self._counts.copies += 1
        return True

    def _commit(self, emit: Listener) -> None:
        self._store.note_unread(self._fingerprint, self._total - self._counts.documents - self._counts.copies)
        self._store.commit()
        self._committed_at = time.monotonic()
        self._tell(emit)

    def _tell(self, emit: Listener) -> None:
        counts = self._counts
        handled = counts.documents + counts.copies + counts.missing + counts.differing
        emit(Event("reading_documents", {"documents": handled, "of": self._total}))

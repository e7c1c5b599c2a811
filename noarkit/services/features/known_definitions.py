"""Remembers every definition a project was ever known to have, and when one was seen under review, in a file beside the
watermarks.

A definition missing from a list is read by its id, which tells whether it is archived or deleted. The time of that
finding belongs to the window that was read, so that the same window always gives the same result. The file may be
deleted: the audit log still reports deletions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from noarkit.safe.spill import KeySet

_BATCH = 500
FIND = (  # each half by an index of its own, and an id before a name
    "SELECT id, gone FROM known WHERE project = ?1 AND kind = ?2 AND id = ?3 UNION ALL"
    " SELECT id, gone FROM known INDEXED BY known_name WHERE project = ?1 AND kind = ?2 AND name = ?3 LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class KnownDefinition:
    """A definition that was listed once. `deleted_at` is when it was first found deleted; `was_listed` is false for one
    that only the archive knows of."""

    id: str
    deleted_at: datetime | None
    was_listed: bool = True


class KnownDefinitions:
    """The known definitions of one project. Shared by processes; each call is a transaction of its own."""

    def __init__(self, path: Path, project: str) -> None:
        self._path = path
        self._project = project
        with self._open() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS known (project TEXT, kind TEXT, id TEXT, name TEXT, gone REAL,"
                " reviewed REAL, PRIMARY KEY (project, kind, id)) WITHOUT ROWID"
            )
            db.execute("CREATE INDEX IF NOT EXISTS known_name ON known (project, kind, name)")
            db.execute("CREATE TABLE IF NOT EXISTS listed (project TEXT, kind TEXT, until REAL)")

    @contextmanager
    def begin_listing(self, kind: str, until: datetime) -> Iterator[Listing]:
        """Begins one pass through the list of a kind, for a window that ends at `until`."""
        with self._open() as db:
            query = "SELECT coalesce(max(until), 0) FROM listed WHERE project = ? AND kind = ?"
            last = db.execute(query, (self._project, kind)).fetchone()[0]
        with KeySet() as seen_ids:
            yield Listing(self, kind, until, seen_ids, is_fresh=until.timestamp() > last)

    def finish_listing(self, kind: str, until: datetime) -> None:
        """Records that the list of a kind was read to its end."""
        row = (self._project, kind, until.timestamp())
        with self._open() as db:
            db.execute("DELETE FROM listed WHERE project = ? AND kind = ? AND until <= ?", row)
            db.execute("INSERT INTO listed VALUES (?, ?, ?)", row)

    def note_present(self, kind: str, entries: list[tuple[str, str]]) -> None:
        """Records definitions that exist, by id and name."""
        rows = [(self._project, kind, definition_id, name) for definition_id, name in entries]
        query = (
            "INSERT INTO known (project, kind, id, name) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET name = excluded.name, gone = NULL"
        )
        with self._open() as db:
            db.executemany(query, rows)

    def note_deleted(self, kind: str, definition_id: str, deleted_at: datetime) -> None:
        """Records a definition as deleted. The first time is kept."""
        query = (
            "INSERT INTO known (project, kind, id, name, gone) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET gone = coalesce(gone, excluded.gone)"
        )
        with self._open() as db:
            db.execute(query, (self._project, kind, definition_id, definition_id, deleted_at.timestamp()))

    def all(self, kind: str) -> Iterator[KnownDefinition]:
        """Yields every definition of a kind that was ever listed, by id."""
        last = ""
        query = "SELECT id, gone FROM known WHERE project = ? AND kind = ? AND id > ? ORDER BY id LIMIT ?"
        while True:
            with self._open() as db:
                rows = db.execute(query, (self._project, kind, last, _BATCH)).fetchall()
            for definition_id, deleted_s in rows:
                yield KnownDefinition(
                    definition_id, None if deleted_s is None else datetime.fromtimestamp(deleted_s, UTC)
                )
            if len(rows) < _BATCH:
                return
            last = rows[-1][0]

    def find(self, kind: str, name: str) -> KnownDefinition | None:
        """Returns the definition with an id or a name; None if it was never listed."""
        with self._open() as db:
            row = db.execute(FIND, (self._project, kind, name)).fetchone()
        return None if row is None else KnownDefinition(row[0], row[1] and datetime.fromtimestamp(row[1], UTC))

    def note_review(self, kind: str, definition_id: str, reviewed_at: datetime) -> None:
        """Records that a definition has an open review."""
        query = "UPDATE known SET reviewed = max(coalesce(reviewed, 0), ?) WHERE project = ? AND kind = ? AND id = ?"
        with self._open() as db:
            db.execute(query, (reviewed_at.timestamp(), self._project, kind, definition_id))

    def reviewed_since(self, kind: str, definition_id: str, since: datetime) -> bool:
        """True if a definition had an open review at a time or later."""
        query = "SELECT 1 FROM known WHERE project = ? AND kind = ? AND id = ? AND reviewed >= ?"
        with self._open() as db:
            return db.execute(query, (self._project, kind, definition_id, since.timestamp())).fetchone() is not None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=30.0)
        try:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        finally:
            db.close()


class Listing:
    """One pass through the list of a kind: collects the definitions listed, and then those missing. It is `is_fresh` if
    no window that ends as late was read before: only then the missing ones went within it."""

    def __init__(
        self, definitions: KnownDefinitions, kind: str, until: datetime, seen_ids: KeySet, *, is_fresh: bool
    ) -> None:
        self.is_fresh = is_fresh
        self._definitions = definitions
        self._kind = kind
        self._until = until
        self._seen_ids = seen_ids
        self._entries: list[tuple[str, str]] = []

    def add(self, definition_id: str, name: str) -> None:
        """Adds a listed definition."""
        if self._seen_ids.add(definition_id):
            self._entries.append((definition_id, name))
        if len(self._entries) >= _BATCH:
            self._keep()

    def missing(self) -> Iterator[KnownDefinition]:
        """Yields the definitions that were listed once and are not now. To be called at the end of the list."""
        self._keep()
        yield from (definition for definition in self._definitions.all(self._kind) if self._seen_ids.add(definition.id))

    def never_listed(self, ids: Iterable[str]) -> Iterator[KnownDefinition]:
        """Yields those of some ids that were never listed to us, as after what we knew was lost."""
        for definition_id in ids:
            if self._seen_ids.add(definition_id):
                yield KnownDefinition(definition_id, None, was_listed=False)

    def finish(self) -> None:
        """Records that the list was read to its end, and compared."""
        self._definitions.finish_listing(self._kind, self._until)

    def _keep(self) -> None:
        self._definitions.note_present(self._kind, self._entries)
        self._entries = []

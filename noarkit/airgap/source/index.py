"""bundle.db: how a run finds its documents in the bundle that it came in, and the checksum that each was sealed with.

It is made once, when the bundle was proven, and never changed but for where the bundle lies now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson

from noarkit.errors import JournalFault
from noarkit.safe.scratch import ScratchConnection
from noarkit.safe.shared_connection import SharedConnection, open_shared

INDEX = "bundle.db"
INDEX_VERSION = 1

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # lies: a name in a folder, a place in an archive file; code and data where the sender could not have the document
    "CREATE TABLE held (locator TEXT PRIMARY KEY, lies TEXT, sha256 TEXT, code TEXT, data TEXT) WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The bundle of a run: where it lies, its identity, the sha256 of its seal, and the key that sealed it."""

    where: str
    id: str
    seal: str
    key: str
    packed: bool
    made_at: str
    by: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BundleDocument:
    """A document of a bundle: where it lies and its checksum, or the fault that kept the sender from it."""

    locator: str
    location: str = ""
    sha256: str = ""
    code: str = ""
    data: Mapping[str, object] | None = None


def is_received(run: Path) -> bool:
    """True for the folder of a run that came in a bundle."""
    return (run / INDEX).is_file()


def write_index(path: Path, origin: Origin, documents: Iterable[BundleDocument]) -> None:
    """Makes the index at `path`, which is not there, durable when this returns."""
    path.touch(mode=0o600, exist_ok=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN")
        for table in _TABLES:
            db.execute(table)
        db.executemany("INSERT INTO meta VALUES (?, ?)", _facts(origin))
        # two entities may share a content; the one that is there wins
        db.executemany(
            "INSERT INTO held VALUES (?, ?, ?, ?, ?) ON CONFLICT (locator) DO UPDATE SET lies = excluded.lies,"
            " sha256 = excluded.sha256, code = NULL, data = NULL WHERE excluded.code IS NULL",
            (_row(document) for document in documents),
        )
        db.execute("COMMIT")


def read_origin(path: Path) -> Origin:
    """Where a run came from. Raises `JournalFault` for an index of a later version."""
    with closing(connect_index(path)) as db:
        facts = dict(db.execute("SELECT name, value FROM meta").fetchall())
    if int(facts.get("version", "0")) != INDEX_VERSION:
        raise JournalFault(where=str(path), why="unknown-version")
    by = {str(name): str(value) for name, value in orjson.loads(facts["by"]).items()}
    packed = facts["packed"] == "yes"
    return Origin(facts["where"], facts["id"], facts["seal"], facts["key"], packed, facts["made"], by)


def move_origin(path: Path, where: str) -> None:
    """The same bundle lies elsewhere now."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'where'", (where,))


class _IndexConnection(SharedConnection, ScratchConnection):
    """Several threads open documents at once; nobody needs to close it."""


def connect_index(path: Path) -> sqlite3.Connection:
    """The index, to read only."""
    return open_shared(f"{path.resolve().as_uri()}?mode=ro", _IndexConnection)


def _facts(origin: Origin) -> list[tuple[str, str]]:
    return [
        ("version", str(INDEX_VERSION)),
        ("where", origin.where),
        ("id", origin.id),
        ("seal", origin.seal),
        ("key", origin.key),
        ("packed", "yes" if origin.packed else "no"),
        ("made", origin.made_at),
        ("by", orjson.dumps(dict(origin.by)).decode()),
    ]


def _row(document: BundleDocument) -> tuple[str | None, ...]:
    data = None if document.data is None else orjson.dumps(dict(document.data), default=str).decode()
    return document.locator, document.location or None, document.sha256 or None, document.code or None, data

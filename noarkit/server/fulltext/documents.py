"""Reads the text of documents from their files in the background, in the order in which they are committed.

While the archive is in bulk use, a few are read at a time: the worker that calls this comes back.

A text that `full-text/set` gave takes precedence, even an empty one. A document that cannot be parsed has no text and
is found by its metadata alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from noarkit.server.document_text import Unreadable
from noarkit.server.files import FileFacts
from noarkit.server.fulltext.index import index
from noarkit.server.service import Service

TEXT_FORMAT = 2
"""Counts when the text that is read of a document changes."""
_BATCH = 1_000
_BATCH_BESIDE_OTHERS = 200
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class _Version:
    id: int
    file: FileFacts


def tables() -> Iterator[str]:
    """What was read, and how far; also for archives that were made before documents were read."""
    yield "CREATE TABLE IF NOT EXISTS fulltext_read (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"
    yield "CREATE TABLE IF NOT EXISTS fulltext_read_position (one INTEGER PRIMARY KEY, revision INTEGER NOT NULL)"
    yield "INSERT OR IGNORE INTO fulltext_read_position VALUES (1, 0)"
    # what was read as documents were understood before is read again, once
    yield "CREATE TABLE IF NOT EXISTS fulltext_read_format (one INTEGER PRIMARY KEY, format INTEGER NOT NULL)"
    yield "INSERT OR IGNORE INTO fulltext_read_format VALUES (1, 1)"
    yield (
        "UPDATE fulltext_read_position SET revision = 0"  # noqa: S608  # a constant of ours
        f" WHERE (SELECT format FROM fulltext_read_format) <> {TEXT_FORMAT}"
    )
    yield f"UPDATE fulltext_read_format SET format = {TEXT_FORMAT}"  # noqa: S608  # a constant of ours


def read_documents(service: Service) -> None:
    """Reads what was committed since it last did, until all is read, the archive stops, or bulk use begins."""
    began_beside_others = service.is_in_bulk_use
    while not service.is_stopping:
        with service.db.snapshot() as db:
            revision, versions = _next(service, db, _BATCH_BESIDE_OTHERS if began_beside_others else _BATCH)
        if revision is None:
            return
        for start in range(0, len(versions), _AT_ONCE):
            batch = versions[start : start + _AT_ONCE]
            texts = [_text(service, version) for version in batch]
            if service.is_stopping:
                return  # that may be what ended the reading
            _keep(service, dict(zip((version.id for version in batch), texts, strict=True)))
        with service.db.transaction() as db:
            db.execute("UPDATE fulltext_read_position SET revision = ?", (revision,))
        if began_beside_others or service.is_in_bulk_use:
            return


def _next(service: Service, db: sqlite3.Connection, batch: int) -> tuple[int | None, list[_Version]]:
    """The document versions of the next batch of changes, and the last of these changes."""
    row = db.execute("SELECT revision FROM fulltext_read_position").fetchone()
    last = db.execute(
        "SELECT MAX(revision_id) FROM (SELECT revision_id FROM change_log WHERE revision_id > ?"
        " ORDER BY revision_id LIMIT ?)",
        (row[0], batch),
    ).fetchone()[0]
    if last is None:
        return None, []
    rows = db.execute(
        "SELECT DISTINCT v.id, v.referanseDokumentfil FROM change_log JOIN o_dokumentversjon v ON v.id = object_id"
        " WHERE revision_id > ? AND revision_id <= ?"
        " AND NOT EXISTS (SELECT 1 FROM fulltext_text WHERE fulltext_text.id = v.id)",
        (row[0], last),
    ).fetchall()
    files = ((int(version), service.files.find_stored(db, int(file))) for version, file in rows if file)
    return int(last), [_Version(version, facts) for version, facts in files if facts is not None]


def _text(service: Service, version: _Version) -> str:
    """The words of a version's file; none where it cannot be read, or has gone meanwhile."""
    path = service.files.store.path(version.file.sha256)
    try:
        return service.texts.read(path, version.file.name, version.file.media_type)
    except (Unreadable, OSError):
        return ""


def _keep(service: Service, texts: Mapping[int, str]) -> None:
    with service.db.transaction() as db:
        for version, text in texts.items():
            if text.strip():
                db.execute("INSERT OR REPLACE INTO fulltext_read VALUES (?, ?)", (version, text))
            else:
                db.execute("DELETE FROM fulltext_read WHERE id = ?", (version,))
        index(db, list(texts))

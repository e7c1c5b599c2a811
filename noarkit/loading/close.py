"""Finalises (closes) what a run made, bottom-up: documents, records, folders, classes, series, fonds.

Closing a second time changes nothing, so a save whose answer was lost is simply sent again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from noarkit.archive.port import Archive
from noarkit.archive.values import Save
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed
from noarkit.events import Event, Listener
from noarkit.loading.finality import finalising_fields
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import NOT_CLOSED, ArchiveFinding
from noarkit.loading.stopping import StopRequest
from noarkit.results import Result

BATCH_SIZE = 500
_ATTEMPTS = 5

# bottom-up: within a layer the later made go first, so that a folder in a folder is closed before the outer one
LAYERS: tuple[tuple[str, ...], ...] = (
    ("Dokument",),
    ("Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"),
    ("Mappe", "Saksmappe", "Moetemappe"),
    ("Klasse",),
    ("Klassifikasjonssystem",),
    ("Arkivdel",),
    ("Arkiv",),
)


class _MadeObject(NamedTuple):
    type: str
    id: str
    fields: str
    may_write_author: bool


@dataclass(frozen=True, slots=True)
class CloseResult(Result):
    """How many of each type were finalised, and how many the archive would not finalise; `not_closed` says which.

    `was_closed` is true where an earlier call had finalised the very same, so that this one found nothing to do.
    """

    closed: Mapping[str, int]
    refused_count: int
    is_complete: bool
    not_closed: tuple[ArchiveFinding, ...] = ()
    was_closed: bool = False

    def to_dict(self) -> dict[str, object]:
        """What was closed, as `noarkit close --json` has it."""
        return {
            "closed": dict(self.closed),
            "refused": self.refused_count,
            "complete": self.is_complete,
            "was_closed": self.was_closed,
        }


def close(
    folder: RunFolder,
    archive: Archive,
    *,
    stop_request: StopRequest,
    emit: Listener,
    now_s: Callable[[], float],
    only: Container[str] | None = None,
) -> CloseResult:
    """Finalises everything that the run made, or `only` these findings' keys. What the archive refuses is counted
    and told, and the rest goes on."""
    counts: dict[str, int] = {}
    findings: list[ArchiveFinding] = []
    moment = datetime.fromtimestamp(now_s(), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for layer in LAYERS:
        for batch in _made_object_batches(folder, layer):
            if stop_request:
                return CloseResult(counts, len(findings), False, tuple(findings))
            saves = [save for save in _saves(batch, moment) if only is None or _finding_key(save) in only]
            findings += _send(archive, saves, emit) if saves else []
            for save in saves:
                counts[save.type] = counts.get(save.type, 0) + 1
            emit(Event("closed", {"objects": sum(counts.values()) - len(findings)}))
    return CloseResult(counts, len(findings), True, tuple(findings))


def _send(archive: Archive, saves: list[Save], emit: Listener) -> list[ArchiveFinding]:
    """Sends saves, in halves where the archive refuses some; returns what was refused."""
    for attempt in range(_ATTEMPTS):
        try:
            saved_objects = archive.transaction(saves)
            if any(save.id not in saved_objects for save in saves):
                raise ArchiveStrange(call="transaction", why="not-all-saved", fate="unknown")
            return []
        except (ArchiveRefused, ArchiveNotFound, NotAllowed) as fault:
            if len(saves) == 1:
                emit(Event("not_closed", {"type": saves[0].type, "id": saves[0].id, "code": fault.code}))
                return [ArchiveFinding(NOT_CLOSED, _finding_key(saves[0]), None, {"code": fault.code})]
            middle = len(saves) // 2
            return _send(archive, saves[:middle], emit) + _send(archive, saves[middle:], emit)
        except ArchiveFault as fault:
            if not fault.transient or attempt + 1 == _ATTEMPTS:
                raise
    return []


def _finding_key(save: Save) -> str:
    return f"{save.type} {save.id}"


def _saves(batch: list[_MadeObject], moment: str) -> Iterator[Save]:
    for entry in batch:
        fields = finalising_fields(
            entry.type, orjson.loads(entry.fields), moment, may_write_author=entry.may_write_author
        )
        if fields is not None:
            yield Save(entry.type, entry.id, fields)


def _made_object_batches(folder: RunFolder, layer: tuple[str, ...]) -> Iterator[list[_MadeObject]]:
    with closing(sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)) as db:
        db.execute("ATTACH ? AS run", (f"{folder.journal.resolve().as_uri()}?mode=ro",))
        row = db.execute("SELECT value FROM run.meta WHERE name = 'sets_system_fields'").fetchone()
        may_write_author = row is not None and row[0] == "True"
        placeholders = ",".join("?" * len(layer))
        cursor = db.execute(
            "SELECT p.type, e.id, p.fields FROM entity p JOIN run.entity e ON e.n = p.n "  # noqa: S608  # our own words
            f"WHERE p.type IN ({placeholders}) AND e.state = 'done' ORDER BY p.n DESC",
            layer,
        )
        while rows := cursor.fetchmany(BATCH_SIZE):
            yield [_MadeObject(kind, archive_id, fields, may_write_author) for kind, archive_id, fields in rows]

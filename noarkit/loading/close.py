"""Finalises (closes) what a run made, bottom-up: documents, records, folders, classes, series, fonds.

What was finalised is remembered, so that closing a second time sends nothing. A save whose answer was lost is simply
sent again: until closing has come to its end it bears the moment that closing began at, so that nothing changes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

import orjson

from noarkit.archive.optional import has_field
from noarkit.archive.port import Archive
from noarkit.archive.values import Save
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed
from noarkit.events import Event, EventFields, Listener
from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.finality import DATE, STATUS, finalising_fields
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import NOT_CLOSED, ArchiveFinding
from noarkit.loading.stopping import StopRequest
from noarkit.model import metamodel
from noarkit.results import HIDDEN, Result, json_field

EVENTS: EventFields = {
    "closed": {"objects": "count", "of": "count?"},
    "not_closed": {"type": "text", "id": "text", "code": "text"},
}
BATCH_SIZE = 500
_BEGAN = "closing_at"
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
    n: int
    type: str
    id: str
    fields: str
    may_write_author: bool


@dataclass(frozen=True, slots=True)
class CloseResult(Result):
    """How many of each type were finalised, and how many the archive would not finalise; `not_closed` says which.

    `was_closed` is true where an earlier call had finalised the very same, so that this one found nothing to do.
    """

    EVENT: ClassVar = "closed_run"

    closed: Mapping[str, int]
    refused_count: int = field(metadata=json_field("refused"))
    is_complete: bool = field(metadata=json_field("complete"))
    not_closed: tuple[ArchiveFinding, ...] = field(default=(), metadata=HIDDEN)
    was_closed: bool = False


def close(
    folder: RunFolder, archive: Archive, *, stop_request: StopRequest, emit: Listener, now_s: Callable[[], float]
) -> CloseResult:
    """Finalises everything that the run made and that is not finalised yet, or accepted as it is. What the archive
    refuses is counted and told, and the rest goes on."""
    counts: dict[str, int] = {}
    findings: list[ArchiveFinding] = []
    with closing(folder.open_journal()) as journal:
        moment = journal.meta(_BEGAN) or datetime.fromtimestamp(now_s(), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        journal.remember(**{_BEGAN: moment})
        accepted = {finding.key for finding in journal.findings("accepted") if finding.kind == NOT_CLOSED}
        finalising = _Finalising(folder, moment, _dateless_kinds(archive), frozenset(accepted))
        total = finalising.count()
        emit(Event("closed", {"objects": 0, "of": total}))
        for layer in LAYERS:
            for saves in finalising.batches(layer):
                if stop_request:
                    return CloseResult(counts, len(findings), False, tuple(findings))
                refusals = _send(archive, [*saves.values()], emit) if saves else []
                refused_keys = {finding.key for finding in refusals}
                journal.keep_closed(n for n, save in saves.items() if _finding_key(save) not in refused_keys)
                findings += refusals
                for save in saves.values():
                    counts[save.type] = counts.get(save.type, 0) + 1
                refused_count = len(findings)
                emit(Event("closed", {"objects": sum(counts.values()) - refused_count, "of": total - refused_count}))
        journal.remember(**{_BEGAN: ""})
    if counts:
        return CloseResult(counts, len(findings), True, tuple(findings))
    before = _closed_counts(folder)
    return CloseResult(before, 0, True, was_closed=bool(before))


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


def _dateless_kinds(archive: Archive) -> frozenset[str]:
    """The types that have a status alone in this archive, and no fields for when they were closed and by whom."""
    types = metamodel().types
    newer_kinds = [kind for kind in STATUS if DATE in types[kind].fields and types[kind].fields[DATE].newer]
    return frozenset(kind for kind in newer_kinds if not has_field(archive, kind, DATE))


@dataclass(frozen=True, slots=True)
class _Finalising:
    """What a run is to finalise, at the moment that it began, but for what was accepted as it is."""

    folder: RunFolder
    moment: str
    dateless_kinds: frozenset[str]
    accepted: frozenset[str]

    def count(self) -> int:
        """How many objects are left to finalise."""
        return sum(len(saves) for layer in LAYERS for saves in self.batches(layer))

    def batches(self, layer: tuple[str, ...]) -> Iterator[dict[int, Save]]:
        """The saves that finalise objects of these types, by their numbers in the plan."""
        for batch in _made_object_batches(self.folder, layer):
            yield {n: save for n, save in self._saves(batch) if _finding_key(save) not in self.accepted}

    def _saves(self, batch: list[_MadeObject]) -> Iterator[tuple[int, Save]]:
        for entry in batch:
            may_write = entry.may_write_author and entry.type not in self.dateless_kinds
            fields = finalising_fields(entry.type, orjson.loads(entry.fields), self.moment, may_write_author=may_write)
            if fields is not None:
                yield entry.n, Save(entry.type, entry.id, fields)


def _made_object_batches(folder: RunFolder, layer: tuple[str, ...]) -> Iterator[list[_MadeObject]]:
    """What the run made of these types and has not finalised."""
    with open_plan_and_journal(folder) as db:
        row = db.execute("SELECT value FROM run.meta WHERE name = 'sets_system_fields'").fetchone()
        may_write_author = row is not None and row[0] == "True"
        placeholders = ",".join("?" * len(layer))
        cursor = db.execute(
            "SELECT p.n, p.type, e.id, p.fields FROM entity p JOIN run.entity e ON e.n = p.n "  # noqa: S608  # our own words
            f"WHERE p.type IN ({placeholders}) AND e.state = 'done' AND p.n NOT IN (SELECT n FROM run.closed_entity)"
            " ORDER BY p.n DESC",
            layer,
        )
        # the rows that are closed meanwhile belong to batches that were read before
        while rows := cursor.fetchmany(BATCH_SIZE):
            yield [_MadeObject(n, kind, id_, fields, may_write_author) for n, kind, id_, fields in rows]


def _closed_counts(folder: RunFolder) -> dict[str, int]:
    """How many of each type the run has finalised."""
    with open_plan_and_journal(folder) as db:
        statement = "SELECT p.type, count(*) FROM run.closed_entity c JOIN entity p ON p.n = c.n GROUP BY p.type"
        return {str(kind): int(count) for kind, count in db.execute(statement)}

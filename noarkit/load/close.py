"""Finalises what a run made, bottom-up: documents, records, folders, classes, series, fonds.

Saying a second time that something is closed changes nothing, so an answer that was lost is simply asked for again.
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
from noarkit.load.coordinator import Stopping
from noarkit.load.finality import finalising
from noarkit.load.folder import RunFolder
from noarkit.load.journal import NOT_CLOSED, FoundWrong

_AT_ONCE = 500
_ATTEMPTS = 5

# bottom-up: within a layer the later made go first, so that a folder in a folder is closed before the outer one
_LAYERS: tuple[tuple[str, ...], ...] = (
    ("Dokument",),
    ("Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"),
    ("Mappe", "Saksmappe", "Moetemappe"),
    ("Klasse",),
    ("Klassifikasjonssystem",),
    ("Arkivdel",),
    ("Arkiv",),
)


class _Made(NamedTuple):
    type: str
    id: str
    fields: str
    may_tell: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """How many of each type were finalised, and how many the archive would not finalise; `left` says which."""

    closed: Mapping[str, int]
    refused: int
    whole: bool
    left: tuple[FoundWrong, ...] = ()


def close(
    folder: RunFolder,
    archive: Archive,
    *,
    stopping: Stopping,
    tell: Listener,
    now_s: Callable[[], float],
    only: Container[str] | None = None,
) -> Closed:
    """Finalises all that the run made, or only what bears these keys of findings. What the archive refuses is counted
    and told, and the rest goes on."""
    counts: dict[str, int] = {}
    left: list[FoundWrong] = []
    moment = datetime.fromtimestamp(now_s(), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for layer in _LAYERS:
        for some in _portions(folder, layer):
            if stopping:
                return Closed(counts, len(left), False, tuple(left))
            saves = [save for save in _saves(some, moment) if only is None or _finding_key(save) in only]
            left += _send(archive, saves, tell) if saves else []
            for save in saves:
                counts[save.type] = counts.get(save.type, 0) + 1
            tell(Event("closed", {"objects": sum(counts.values()) - len(left)}))
    return Closed(counts, len(left), True, tuple(left))


def _send(archive: Archive, saves: list[Save], tell: Listener) -> list[FoundWrong]:
    """Sends saves, in halves where the archive refuses some; returns what was refused."""
    for attempt in range(_ATTEMPTS):
        try:
            saved = archive.transaction(saves)
            if any(save.id not in saved for save in saves):
                raise ArchiveStrange(call="transaction", why="not-all-saved", fate="unknown")
            return []
        except (ArchiveRefused, ArchiveNotFound, NotAllowed) as fault:
            if len(saves) == 1:
                tell(Event("not_closed", {"type": saves[0].type, "id": saves[0].id, "code": fault.code}))
                return [FoundWrong(NOT_CLOSED, _finding_key(saves[0]), None, {"code": fault.code})]
            middle = len(saves) // 2
            return _send(archive, saves[:middle], tell) + _send(archive, saves[middle:], tell)
        except ArchiveFault as fault:
            if not fault.transient or attempt + 1 == _ATTEMPTS:
                raise
    return []


def _finding_key(save: Save) -> str:
    return f"{save.type} {save.id}"


def _saves(some: list[_Made], moment: str) -> Iterator[Save]:
    for one in some:
        fields = finalising(one.type, orjson.loads(one.fields), moment, may_tell=one.may_tell)
        if fields is not None:
            yield Save(one.type, one.id, fields)


def _portions(folder: RunFolder, layer: tuple[str, ...]) -> Iterator[list[_Made]]:
    with closing(sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)) as db:
        db.execute("ATTACH ? AS run", (f"{folder.journal.resolve().as_uri()}?mode=ro",))
        told = db.execute("SELECT value FROM run.meta WHERE name = 'sets_system_fields'").fetchone()
        may_tell = told is not None and told[0] == "True"
        marks = ",".join("?" * len(layer))
        cursor = db.execute(
            f"SELECT p.type, e.id, p.fields FROM entity p JOIN run.entity e ON e.n = p.n WHERE p.type IN ({marks})"  # noqa: S608  # our own words
            " AND e.state = 'done' ORDER BY p.n DESC",
            layer,
        )
        while rows := cursor.fetchmany(_AT_ONCE):
            yield [_Made(kind, archive_id, fields, may_tell) for kind, archive_id, fields in rows]

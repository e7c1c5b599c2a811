"""Finalises what a run made, bottom-up: documents, records, folders, classes, series, fonds.

Saying a second time that something is closed changes nothing, so an answer that was lost is simply asked for again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from noarkit.archive.port import Archive
from noarkit.archive.values import Save
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.events import Event, Listener
from noarkit.load.coordinator import Stopping
from noarkit.load.folder import RunFolder

_AT_ONCE = 500
_ATTEMPTS = 5

# the status that finalises a type; those without one are finalised by their date
_STATUS: Mapping[str, tuple[str, str]] = {
    "Dokument": ("dokumentstatus", "F"),
    "Journalpost": ("journalstatus", "A"),
    "Saksmappe": ("saksstatus", "A"),
    "Arkivdel": ("arkivdelstatus", "P"),
    "Arkiv": ("arkivstatus", "A"),
}
_BY_DATE = frozenset(
    {"Basisregistrering", "Moeteregistrering", "Arkivnotat", "Mappe", "Moetemappe", "Klasse", "Klassifikasjonssystem"}
)

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


@dataclass(frozen=True, slots=True)
class Closed:
    """How many of each type were finalised, and how many the archive would not finalise."""

    closed: Mapping[str, int]
    refused: int
    whole: bool


def close(
    folder: RunFolder, archive: Archive, *, stopping: Stopping, tell: Listener, now_s: Callable[[], float]
) -> Closed:
    """Finalises all that the run made. What the archive refuses is counted and told, and the rest goes on."""
    counts: dict[str, int] = {}
    refused = 0
    moment = datetime.fromtimestamp(now_s(), UTC)
    for layer in _LAYERS:
        for some in _portions(folder, layer):
            if stopping:
                return Closed(counts, refused, whole=False)
            saves = [Save(kind, archive_id, _fields(kind, moment)) for kind, archive_id in some]
            missed = _send(archive, saves, tell)
            refused += missed
            for kind, _ in some:
                counts[kind] = counts.get(kind, 0) + 1
            tell(Event("closed", {"objects": sum(counts.values()) - refused}))
    return Closed(counts, refused, whole=True)


def _send(archive: Archive, saves: list[Save], tell: Listener) -> int:
    """Sends saves, in halves where the archive refuses some; returns how many were refused."""
    for attempt in range(_ATTEMPTS):
        try:
            archive.transaction(saves)
            return 0
        except (ArchiveRefused, ArchiveNotFound, NotAllowed) as fault:
            if len(saves) == 1:
                tell(Event("not_closed", {"type": saves[0].type, "id": saves[0].id, "code": fault.code}))
                return 1
            middle = len(saves) // 2
            return _send(archive, saves[:middle], tell) + _send(archive, saves[middle:], tell)
        except ArchiveFault as fault:
            if not fault.transient or attempt + 1 == _ATTEMPTS:
                raise
    return 0


def _fields(kind: str, moment: datetime) -> dict[str, str | datetime]:
    if kind in _STATUS:
        field, code = _STATUS[kind]
        return {field: code}
    return {"avsluttetDato": moment}


def _portions(folder: RunFolder, layer: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    with closing(sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)) as db:
        db.execute("ATTACH ? AS run", (f"{folder.journal.resolve().as_uri()}?mode=ro",))
        marks = ",".join("?" * len(layer))
        cursor = db.execute(
            f"SELECT p.type, e.id FROM entity p JOIN run.entity e ON e.n = p.n WHERE p.type IN ({marks})"  # noqa: S608  # our own words
            " AND e.state = 'done' ORDER BY p.n DESC",
            layer,
        )
        while rows := cursor.fetchmany(_AT_ONCE):
            yield [(kind, archive_id) for kind, archive_id in rows if kind in _STATUS or kind in _BY_DATE]

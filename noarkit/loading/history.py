"""The change log of an extract goes with it: into the archive's own log where it takes entries, else beside the run.

Entries that stand in the archive's log already are passed over there, so that the same call may be made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson

from noarkit.archive.administration import Administration
from noarkit.archive.optional import answer_or
from noarkit.archive.port import Archive
from noarkit.archive.values import Json
from noarkit.events import Event, EventFields, Listener
from noarkit.forms.noark5.read.changes import ReadChange, read_changes
from noarkit.forms.noark5.read.nested_extract import open_change_log
from noarkit.forms.noark5.read.values import Unreadable, timestamp
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from noarkit.model.mapping import mapping
from noarkit.safe.atomic import write_bytes

EVENTS: EventFields = {"change_log_kept": {"where": "text", "entries": "count"}}
KEPT_FILE = "kept-changelog.xml"
BROUGHT_FILE = "changelog.xml"
"""The change log that came with a run in its bundle."""
_MARK = "change_log"


def keep_history(folder: RunFolder, graph: GraphStore, journal: Journal, archive: Archive, emit: Listener) -> None:
    """Imports the change log of the plan's source into the archive, once. Raises transient archive faults."""
    origin_path = orjson.loads(graph.meta("needs") or "{}").get("change_log")
    if origin_path is None or journal.meta(_MARK) is not None:
        return
    zone = ZoneInfo(graph.meta("zone") or "Europe/Oslo")
    destination = "archive"
    count: int | None = 0
    with _open_change_log(folder, Path(origin_path)) as log:
        if log is None:
            return
        entries = _entries(log, graph, zone)
        count = answer_or(None, lambda: Administration(archive).import_changes(entries), own_address=True)
        if count is None:
            destination = KEPT_FILE
            write_bytes(folder.path / KEPT_FILE, log.read_bytes())
    journal.remember(**{_MARK: destination})
    emit(Event("change_log_kept", {"where": destination, "entries": count or 0}))


@contextmanager
def _open_change_log(folder: RunFolder, origin_path: Path) -> Iterator[Path | None]:
    """Opens the change log that came with the run, else that of its source."""
    log_path = folder.path / BROUGHT_FILE
    if log_path.is_file():
        yield log_path
        return
    with open_change_log(origin_path) as log:
        yield log


def _entries(path: Path, graph: GraphStore, zone: ZoneInfo) -> Iterator[Mapping[str, Json]]:
    """The entries of units that the plan holds, in the form of the archive's log."""
    graph.db.execute("CREATE TEMP TABLE IF NOT EXISTS kept_ids (uuid TEXT PRIMARY KEY, type TEXT) WITHOUT ROWID")
    graph.db.execute(
        "INSERT OR IGNORE INTO kept_ids SELECT json_extract(fields, '$.uuid'), type FROM entity"
        " WHERE json_extract(fields, '$.uuid') IS NOT NULL"
    )
    for change in read_changes(path):
        row = graph.db.execute("SELECT type FROM kept_ids WHERE uuid = ?", (change.unit.lower(),)).fetchone()
        if row is None:
            continue
        try:
            at = timestamp(change.at, zone)
        except Unreadable:
            continue
        yield _entry(change, str(row[0]), at)


def _entry(change: ReadChange, kind: str, at: str) -> Mapping[str, Json]:
    field = field_of(kind, change.element)
    return {
        "systemId": change.unit.lower(),
        "revisionType": "UPDATE",
        "modifiedDate": at,
        "modifiedBy": change.actor or "-",
        "modifiedByUserId": f"imported: {change.actor}",
        "modifiedField": field,
        "modifiedFieldType": "string",
        "oldValue": {field: change.old},
        "newValue": {field: change.new},
    }


def field_of(kind: str, element: str) -> str:
    """The field of a type that an element is written from; the element's own name where there is none."""
    for field in mapping().types[kind].fields.values():
        if field.path is not None and field.path.rpartition("/")[2] == element:
            return field.name
    return element

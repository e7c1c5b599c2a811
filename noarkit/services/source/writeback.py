"""The archive's ids, written into the records of a service that they were made of, once a run is archived.

What was written is kept with the run (`written-back.db`), so that the same call again goes on; the file may be deleted,
for a record that has its id already is left alone. A fault of the service ends the writing and undoes nothing.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from noarkit.errors import ServiceFault, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.results import HIDDEN, Result, json_field
from noarkit.services.port import Writable, WriteBackOutcome
from noarkit.services.source.source import ConnectorSource

EVENTS: EventFields = {"not_written_back": {"stream": "text", "id": "text", "why": "text"}}
NAME = "written-back.db"
CASE_FILES = ("Saksmappe", "Mappe")
_PARTS = 4


@dataclass(slots=True)
class WriteBackResult(Result):
    """What came of it: how many were written, had it already, were refused (and why). `fault` ended it early."""

    EVENT: ClassVar = "written_back"

    written_count: int = field(default=0, metadata=json_field("written"))
    same_count: int = field(default=0, metadata=json_field("same"))
    refusals: Counter[str] = field(default_factory=Counter, metadata=json_field("refused"))
    fault: ServiceFault | None = field(default=None, metadata=HIDDEN)

    @property
    def is_complete(self) -> bool:
        """True if every record has its id."""
        return not self.refusals and self.fault is None


def write_back(
    source: ConnectorSource, folder: Path, name: str, archive_ids: Iterable[tuple[str, str]], emit: Listener
) -> WriteBackResult:
    """Writes ids, by the keys of their case files, into the field `name`. Raises `UsageFault` for a service that takes
    nothing from us."""
    service = source.service
    if not isinstance(service, Writable):
        raise UsageFault(what="bad-value", where="--write-back", fix="", drop="--write-back")
    result = WriteBackResult()
    with closing(_WrittenStore(folder / NAME, name)) as store:
        fresh = (item for item in _records(archive_ids) if not store.has(*item))
        try:
            for module, rows in groupby(fresh, key=lambda one: one[0]):
                values = {record: archive_id for _, record, archive_id in rows}
                for item in service.write_back(module, name, values.items()):
                    _count(item, result, emit)
                    if item.state != "refused":
                        store.add(module, item.id, values[item.id])
        except ServiceFault as fault:
            result.fault = fault
        result.same_count += store.known_count
    return result


def _records(archive_ids: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Module, record and archive id of each case file that a record of the service is; others are nobody's."""
    for key, archive_id in archive_ids:
        parts = [unquote(part) for part in key.split(":")]
        if len(parts) == _PARTS and parts[0] == "folder":
            yield parts[2], parts[3], archive_id


def _count(outcome: WriteBackOutcome, result: WriteBackResult, emit: Listener) -> None:
    if outcome.state == "written":
        result.written_count += 1
    elif outcome.state == "same":
        result.same_count += 1
    else:
        result.refusals[outcome.reason] += 1
        emit(Event("not_written_back", {"stream": outcome.stream, "id": outcome.id, "why": outcome.reason}))


class _WrittenStore:
    """What was written already, for one field."""

    def __init__(self, path: Path, name: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS written (field TEXT, module TEXT, record TEXT, id TEXT,"
            " PRIMARY KEY (field, module, record)) WITHOUT ROWID"
        )
        self._name = name
        self.known_count = 0

    def has(self, module: str, record: str, archive_id: str) -> bool:
        """True for what was written by an earlier call."""
        query = "SELECT 1 FROM written WHERE field = ? AND module = ? AND record = ? AND id = ?"
        is_written = self._db.execute(query, (self._name, module, record, archive_id)).fetchone() is not None
        self.known_count += is_written
        return is_written

    def add(self, module: str, record: str, archive_id: str) -> None:
        """One that is there now."""
        self._db.execute("INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?)", (self._name, module, record, archive_id))

    def close(self) -> None:
        """Lets the file go."""
        self._db.close()

"""The files of a package side by side with what it tells of them: checksums, formats, events of PREMIS.

Everything is kept in tables on disk that are gone with the process, however many files there are, and given out by
name, so that folders come before what lies in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from noarkit.catalogue.conversion_steps import DETAIL
from noarkit.catalogue.port import Change, CustodyStep
from noarkit.forms.container.statements import PremisEvent
from noarkit.safe.scratch import scratch


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a package: its name there, and what is told of it. `locator` is empty where there is no such file,
    `algorithm` as hashlib has it, `fault` the code of what is wrong with it, `listed` False where nothing lists it."""

    name: str
    size_bytes: int | None
    locator: str
    algorithm: str = ""
    checksum: str = ""
    media_type: str = ""
    puid: str = ""
    created: str = ""
    original_name: str = ""
    fault: str = ""
    metadata: bool = False
    listed: bool = True
    digests: str = ""
    """All checksums that are stated, `algorithm:checksum`, with blanks between."""


class PackageFiles:
    """The files of one package, and the events of each."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE file (name TEXT PRIMARY KEY, size INTEGER, locator TEXT, algorithm TEXT, checksum TEXT,"
            " media_type TEXT, puid TEXT, created TEXT, original TEXT, fault TEXT, metadata INTEGER, listed INTEGER,"
            " digests TEXT)"
            " WITHOUT ROWID"
        )
        self._db.execute(
            "CREATE TABLE object (identifier TEXT, name TEXT, PRIMARY KEY (identifier, name)) WITHOUT ROWID"
        )
        self._db.execute("CREATE TABLE event (object TEXT, at TEXT, type TEXT, agent TEXT, detail TEXT, outcome TEXT)")
        self._db.execute("CREATE INDEX event_object ON event (object)")
        self.has_events = False

    def add(self, files: Iterable[ListedFile]) -> None:
        """Takes files; of one name the first counts."""
        self._db.execute("BEGIN")
        try:
            self._db.executemany(
                "INSERT OR IGNORE INTO file VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", (astuple(file) for file in files)
            )
        finally:
            self._db.execute("COMMIT")

    def add_object(self, identifiers: Iterable[str], names: Iterable[str], folder: str) -> None:
        """Takes an object of PREMIS: the file that one of these names means, seen from a folder or one above it."""
        name = next((place for stated_name in names for place in self._places(stated_name, folder)), None)
        if name is not None:
            rows = [(identifier, name) for identifier in identifiers]
            self._db.executemany("INSERT OR IGNORE INTO object VALUES (?,?)", rows)

    def _places(self, stated_name: str, folder: str) -> Iterator[str]:
        plain = stated_name.replace("\\", "/").removeprefix("file:").lstrip("/").removeprefix("./")
        above = folder
        while plain:
            candidate = f"{above}/{plain}" if above else plain
            if self.find(candidate) is not None:
                yield candidate
            if not above:
                return
            above = above.rpartition("/")[0]

    def add_event(self, event: PremisEvent) -> None:
        """Takes an event, for each object that it is linked to."""
        self.has_events = True
        agents = "; ".join(event.agents)
        self._db.executemany(
            "INSERT INTO event VALUES (?,?,?,?,?,?)",
            [(identifier, event.date, event.type, agents, event.detail, event.outcome) for identifier in event.objects],
        )

    def find(self, name: str) -> ListedFile | None:
        """What is told of one file."""
        row = self._db.execute("SELECT * FROM file WHERE name = ?", (name,)).fetchone()
        return None if row is None else _file(row)

    def __iter__(self) -> Iterator[ListedFile]:
        return map(_file, self._db.execute("SELECT * FROM file ORDER BY name"))

    def events(self, name: str) -> tuple[Change, ...]:
        """The events of a file as its history, in the order of time."""
        if not self.has_events:
            return ()
        rows = self._db.execute(
            "SELECT at, agent, type, detail, outcome FROM object JOIN event ON event.object = object.identifier"
            " WHERE object.name = ? ORDER BY at, event.rowid",
            (name,),
        )
        return tuple(dict.fromkeys(Change(*row) for row in rows))

    def custody(self, name: str) -> tuple[CustodyStep, ...]:
        """The same as steps of its custody."""
        return tuple(
            CustodyStep(event.field, event.at, agent=event.actor, facts={DETAIL: event.before})
            for event in self.events(name)
        )

    def index_objects(self) -> None:
        """Makes objects findable by the name of their file; called when all have been added."""
        self._db.execute("CREATE INDEX IF NOT EXISTS object_name ON object (name)")

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()


def _file(row: Sequence[Any]) -> ListedFile:  # Any: values of a row as add() wrote it
    name, size, locator, algorithm, checksum, media_type, puid, created, original, fault, *flags = row
    metadata, listed, digests = flags
    return ListedFile(
        *(name, size, locator, algorithm, checksum, media_type, puid, created, original, fault),
        *(bool(metadata), bool(listed), digests),
    )

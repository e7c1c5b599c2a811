"""A run with something of every kind in it, loaded and closed once, and copied for every damage that is done to it."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from noarkit.archive.answers import CallContext
from noarkit.archive.values import Downloaded, Rendition
from noarkit.errors import AnswerLost, ArchiveBroken, ArchiveNotFound, ItemVanished
from noarkit.events import Listener, ignore_event
from noarkit.graph.entity import Content, Entity, MappedRecord, SetAside, Skipped
from noarkit.loading.close import close
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.stopping import StopRequest
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.server.areas import open_service
from noarkit.server.service import Service
from tests.loading.damage.records import CONTENTS, RECORDS, SYSTEM, targets
from tests.loading.journey import Journey
from tests.loading.trouble import Time
from tests.roundtrip.circle import WholeArchive

NOW_S = Time().now
_ANOTHER_USER = '\n[clients.other]\nsecret = "another secret of the tests"\ngroups = ["admin"]\n'


class _Stream(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


@dataclass
class MemorySource:
    """A source in memory that yields the library's records, with the contents it has now."""

    contents: dict[str, bytes] = field(default_factory=lambda: dict(CONTENTS))
    keys: list[str] = field(default_factory=lambda: list(RECORDS))

    @property
    def identity(self) -> SourceIdentity:
        return SourceIdentity("library", "memory")

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        for key in self.keys:
            yield SourceRecord("thing", key, {"name": key}, self._contents_of(key))

    def _contents_of(self, key: str) -> tuple[Content, ...]:
        planned = RECORDS[key].entities if key in RECORDS else ()
        locators = [entity.content.locator for entity in planned if entity.content is not None]
        return tuple(
            Content(locator, f"{locator}.txt", len(self.contents[locator]), 1)
            for locator in locators
            if locator in self.contents
        )

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        if content.locator not in self.contents:
            raise ItemVanished(key=content.locator)
        yield _Stream(self.contents[content.locator])

    def default_recipe(self) -> str:
        return ""

    def proposal(self, tell: Listener, *, lang: str = "en") -> str:
        return ""


class StoredArchive(WholeArchive):
    """The archive in this process, whose downloads fail as those of a server do when a stored file is not as it was."""

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        if not (file_id.isascii() and file_id.isdigit()):
            raise ArchiveNotFound(call="download", status=404)
        with self.service.db.snapshot() as db:
            facts = self.service.files.find_stored(db, int(file_id))
        if facts is not None:
            try:
                size = len(self.service.files.store.path(facts.sha256).read_bytes())
            except OSError as fault:
                raise ArchiveBroken(call="download", status=500) from fault
            if size != facts.size_bytes:
                raise AnswerLost(call="download", received_bytes=0)  # as the service does: its head, and no whole body
        return super().download(file_id, target, rendition=rendition, expected_sha256=expected_sha256, durable=durable)

    def _post(self, path: str, body: bytes, asked: CallContext) -> dict[str, object]:
        try:
            return super()._post(path, body, asked)
        except ValueError as fault:  # a stored value that no answer can be made of
            raise ArchiveBroken(call=path, status=500) from fault


class _Mapper:
    """The library's records as they are planned."""

    def targets(self) -> tuple[Entity, ...]:
        return targets()

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        return RECORDS[record.key]


@dataclass
class Library:
    """One copy of the loaded run: archive folder, run folder, source."""

    root: Path
    source: MemorySource = field(default_factory=MemorySource, repr=False)  # an example is to be told short
    run_name: str = "run"

    @property
    def archive_folder(self) -> Path:
        return self.root / "archive"

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.root / self.run_name)

    @contextmanager
    def serving(self, account: str = "admin") -> Iterator[StoredArchive]:
        """The archive, started for as long as the block lasts."""
        service: Service = open_service(self.archive_folder, None, lambda: NOW_S + 3600)
        try:
            yield StoredArchive(service, account)
        finally:
            service.close()

    @contextmanager
    def sql(self) -> Iterator[sqlite3.Connection]:
        """The archive's own database, while the archive is stopped; committed at the end."""
        with _changing(self.archive_folder / "archive.db") as db:
            yield db

    @contextmanager
    def journal(self) -> Iterator[sqlite3.Connection]:
        """The run's journal as a SQLite file; committed at the end."""
        with _changing(self.folder.journal) as db:
            yield db

    @contextmanager
    def graph(self) -> Iterator[sqlite3.Connection]:
        """The run's frozen plan as a SQLite file; committed at the end."""
        with _changing(self.folder.graph) as db:
            yield db

    def id(self, key: str) -> int:
        """The archive's id of a planned entity."""
        return self.ids[key]

    @property
    def _first(self) -> RunFolder:
        """The run that made everything; a later one knows no ids of what lies below its records."""
        return RunFolder(self.root / "run")

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The archive's ids by key, as the journal of the run that made them had them."""
        with closing(sqlite3.connect(self._first.graph)) as db:
            db.execute("ATTACH ? AS run", (str(self._first.journal),))
            return {
                key: int(id_)
                for key, id_ in db.execute("SELECT g.key, r.id FROM entity g JOIN run.entity r ON r.n = g.n")
            }

    @cached_property
    def planned(self) -> Mapping[int, tuple[str, frozenset[str]]]:
        """The type and the names of the fields that the plan tells of each object, by the archive's id."""
        with closing(sqlite3.connect(self._first.graph)) as db:
            db.execute("ATTACH ? AS run", (str(self._first.journal),))
            rows = db.execute("SELECT r.id, g.type, g.fields FROM entity g JOIN run.entity r ON r.n = g.n").fetchall()
        return {int(id_): (kind, frozenset(json.loads(fields))) for id_, kind, fields in rows}

    def stored(self, version_key: str) -> Path:
        """The file in the archive's store that a version names."""
        with closing(sqlite3.connect(self.archive_folder / "archive.db")) as db:
            row = db.execute(
                "SELECT f.sha256 FROM o_dokumentversjon v JOIN stored_file f ON f.file_id = v.referanseDokumentfil"
                " WHERE v.id = ?",
                (self.id(version_key),),
            ).fetchone()
        sha256 = str(row[0])
        return self.archive_folder / "files" / sha256[:2] / sha256


@contextmanager
def _changing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")  # no power goes here: what is damaged is thrown away
        yield db
        db.commit()


def load_library(template: Path, root: Path, account: str = "admin") -> Library:
    """Plans and loads the library's records into a copy of an archive that was started once.

    `admin` may write all that the plan tells, and closes it; `plain` may not, and leaves it open.
    """
    shutil.copytree(template, root / "archive")
    clients = root / "archive" / "clients.toml"
    clients.write_text(clients.read_text("utf-8") + _ANOTHER_USER, "utf-8")
    library = Library(root)
    closes = account == "admin"
    make_plan(
        PlanSpec(library.source, _Mapper(), "recipe", SYSTEM, close=closes), library.folder, ignore_event, lambda: NOW_S
    )
    _load(library, account)
    if closes:
        with library.serving(account) as archive, closing(library.folder.open_journal()) as journal:
            closed = close(
                library.folder, archive, stop_request=StopRequest(), emit=ignore_event, now_s=lambda: NOW_S + 60
            )
            assert closed.is_complete and closed.refused_count == 0, closed
            journal.remember(closed="yes")
    return library


def load_again(library: Library, account: str = "admin") -> Library:
    """A second run of the same source into the same archive: all of it is already there."""
    again = Library(library.root, run_name="again")
    make_plan(PlanSpec(again.source, _Mapper(), "recipe", SYSTEM), again.folder, ignore_event, lambda: NOW_S)
    _load(again, account)
    return again


def _load(library: Library, account: str) -> None:
    journey = Journey(library.root, {}, account=account, run_name=library.run_name)
    with library.serving(account) as archive:
        loaded = journey.once(archive.service, archive=archive, source=library.source.open)
    numbers = loaded.numbers
    assert loaded.exit_code == 0, loaded
    assert numbers.archived + numbers.already_there == numbers.read == len(RECORDS), list(outcomes(library.folder))


def copy_of(library: Library, root: Path) -> Library:
    """A copy of its own, to be damaged."""
    shutil.copytree(library.root, root, dirs_exist_ok=True)
    return Library(root, run_name=library.run_name)

"""A small plan, an archive, and the way from one to the other, as every load test walks it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks
from noarkit.graph.cut import Limits, cut
from noarkit.graph.entity import Content, CreationMode, Entity, MappedRecord
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from noarkit.loading.clocks import Clocks
from noarkit.loading.contents import OpenContent, no_gate
from noarkit.loading.engines.inline import InlineWorkers
from noarkit.loading.folder import RunFolder
from noarkit.loading.part import Part
from noarkit.loading.run import LoadResult, LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.work import WorkerContext, WorkerControl
from noarkit.safe import atomic
from noarkit.server.areas import open_service
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.direct import DirectArchive
from tests.loading.trouble import Contents, Killed, Schedule, Time, TroubledArchive, TroubledJournal

SYSTEM = "shelf"
DEADLINE_S = 60.0


def spine() -> tuple[Entity, ...]:
    """One fonds with its creator and a series, found or made."""
    either = CreationMode.FIND_OR_CREATE
    return (
        Entity("arkiv:a", "Arkiv", {"tittel": "Fonds"}, target=either),
        Entity(
            "arkivskaper:a",
            "Arkivskaper",
            {"arkivskaperIdent": "1", "arkivskaperNavn": "Creator"},
            "arkiv:a",
            "refArkiv",
            target=either,
        ),
        Entity("arkivdel:a", "Arkivdel", {"tittel": "Series"}, "arkiv:a", "refArkiv", target=either),
    )


def record(key: str, folder: str, content: bytes | None = None, *more: bytes, title: str = "") -> MappedRecord:
    """A record in a folder, with a document and a version of these bytes, and more documents where more bytes come.

    The n-th document is opened as KEY, KEY+2, KEY+3, ...
    """
    entities = [
        Entity(f"folder:{folder}", "Mappe", {"tittel": folder}, "arkivdel:a", "refArkivdel", recipe_line=11),
        Entity(
            key,
            "Basisregistrering",
            {"tittel": title or f"record {key}"},
            f"folder:{folder}",
            "refMappe",
            recipe_line=12,
        ),
    ]
    for place, some in enumerate((content, *more), 1):
        document, locator = f"{key}#d{place}", key if place == 1 else f"{key}+{place}"
        entities += [
            Entity(
                document,
                "Dokument",
                {"tittel": "d", "tilknyttetRegistreringSom": "H" if place == 1 else "V"},
                key,
                "refRegistrering",
                recipe_line=13,
            ),
            Entity(
                f"{document}v1",
                "Dokumentversjon",
                {"variantformat": "P", "format": "txt"},
                document,
                "refDokument",
                content=Content(locator, f"{locator}.txt", None if some is None else len(some)),
                recipe_line=14,
            ),
        ]
    return MappedRecord(key, tuple(entities))


@dataclass
class Journey:
    """One archive, one run folder, one source in memory, one clock."""

    root: Path
    contents: dict[str, bytes]
    settings: Settings = field(default_factory=Settings)
    account: str = "admin"
    limits: Limits = field(default_factory=lambda: Limits(chunk_actions=30, shard_entities=20))
    time: Time = field(default_factory=Time)
    run_name: str = "run"
    terms: LoadSettings = field(default_factory=lambda: LoadSettings("test", DEADLINE_S))
    told: list[Event] = field(default_factory=list)
    part: Part | None = None

    @property
    def clocks(self) -> Clocks:
        """A steady clock of one boot; the archive tells no time."""
        return Clocks(lambda: self.time.now, "boot", lambda: None)

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.root / self.run_name, self.part)

    def another(self, run_name: str) -> Journey:
        """A second run into the same archive, on the same clock."""
        return replace(self, run_name=run_name, told=[])

    def plan(self, records: Iterable[MappedRecord], targets: tuple[Entity, ...] | None = None) -> None:
        """Freezes these records as the run's plan."""
        folder = self.folder
        folder.path.mkdir(parents=True, exist_ok=True)
        store = GraphStore.create(folder.graph)
        builder = GraphBuilder(store, SYSTEM, EntityChecks())
        builder.targets(spine() if targets is None else targets)
        for one in records:
            builder.add(one)
        builder.finish()
        store.remember("external_system", SYSTEM)
        cut(store, self.limits)
        folder.write_plan({"sha256": digest(store.db)})
        store.close()

    def service(self) -> Service:
        """The archive, opened as a server would after a start; its clock is the journey's."""
        return open_service(self.root / "archive", self.settings, lambda: self.time.now)

    def once(
        self,
        service: Service,
        schedule: Schedule | None = None,
        *,
        archive: Archive | None = None,
        source: OpenContent | None = None,
        stopping: StopRequest | None = None,
        wall_s: Callable[[], float] | None = None,
    ) -> LoadResult:
        """One call of load; Killed and faults come out as they are."""
        schedule = schedule or Schedule()
        archive = archive or TroubledArchive(DirectArchive(service, self.account), schedule, self.time)
        source = source or Contents(self.contents, schedule).open
        stopping = StopRequest() if stopping is None else stopping
        control = WorkerControl(lambda: self.time.now, self.time.sleep, lambda: bool(stopping))

        def workers() -> InlineWorkers:
            graph = GraphStore.open(self.folder.graph)
            return InlineWorkers(_Workshop(WorkerContext(archive, graph, source, no_gate)), control)

        real = RunFolder.open_journal

        def troubled(folder: RunFolder) -> TroubledJournal:
            return TroubledJournal(real(folder), schedule)

        with mock.patch.object(RunFolder, "open_journal", troubled):
            return load(
                self.folder,
                archive,
                workers,
                replace(self.terms, clocks=self.clocks),
                stop_request=stopping,
                emit=self.told.append,
                now_s=wall_s or (lambda: self.time.now),
            )

    def until_done(self, service: Service, schedule: Schedule, most: int = 8) -> LoadResult:
        """The same command again and again, as a scheduler would, until nothing is open."""
        for _ in range(most):
            try:
                loaded = self.once(service, schedule)
            except (Killed, NoarkitError):
                continue
            if loaded.state == "done":
                return loaded
        raise AssertionError(f"not done after {most} calls: {schedule}")

    def keys(self, service: Service) -> Counter[str]:
        """How often each source key is in the archive."""
        query = Query("EksternId", "eksterntSystem = @s", {"@s": SYSTEM}, order=(("id", "asc"),))
        archive = DirectArchive(service)
        return Counter(str(one.fields["eksternID"]) for one in objects(archive, query))

    def count(self, service: Service, kind: str) -> int:
        """How many objects of a type the archive holds."""
        return len(self.all(service, kind))

    def all(self, service: Service, kind: str) -> list[SavedObject]:
        """The objects of a type that the archive holds."""
        return list(objects(DirectArchive(service), Query(kind, order=(("id", "asc"),))))


@dataclass(frozen=True)
class _Workshop:
    bench: WorkerContext

    def __call__(self) -> _Opened:
        return _Opened(self.bench)


@dataclass(frozen=True)
class _Opened:
    bench: WorkerContext

    def __enter__(self) -> WorkerContext:
        return self.bench

    def __exit__(self, *_: object) -> None:
        self.bench.graph.close()


def add_plain_account(service: Service) -> None:
    """An account that may do all a load needs, but not write what the archive fills in itself (uuids, dates)."""
    may = ["ReadThis", "Read", "ReadRelated", "Create", "Update", "Move"]
    with service.db.transaction() as db:
        db.execute(
            "INSERT INTO access_group (name, description, claims, global_permissions, service_permissions)"
            " VALUES ('plain', 'plain', '[\"plain\"]', ?, '[\"Store documents\", \"Journal\"]')",
            (json.dumps(may),),
        )
    clients = service.data_dir / "clients.toml"
    text = clients.read_text("utf-8") + '\n[clients.plain]\nsecret = "a secret of the tests"\ngroups = ["plain"]\n'
    atomic.write_text(clients, text, mode=0o600)
    service.identity.rights_changed()


def copied(template: Path, target: Path) -> Path:
    """An archive folder as a template has it: quicker than making its tables anew."""
    shutil.copytree(template, target)
    return target


Make = Callable[[], Journey]

"""The client under trial: plans, ingests, retries and verifies as the command line does, through the misbehaving proxy.

It runs in this process, or as a child that can be killed. Import it only after the clocks were installed.
"""

from __future__ import annotations

import io
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.stream import Patience
from noarkit.archive.token import Credentials
from noarkit.cli.exit_codes import ingest_exit_code, verify_exit_code
from noarkit.errors import NoarkitError
from noarkit.events import Event, Listener, ignore_event
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content, CreationMode, Entity, MappedRecord, SetAside, Skipped
from noarkit.loading.engines.assembly import ArchiveTarget, LoadOptions, ingest_run, reopen_items
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.loading.plan import PlanSpec
from noarkit.loading.plan import make_plan as plan_load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.verification import Depths, verify
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.secrets import Secret
from tests.faults.chaos.shape import Shape

DEADLINE_S = 60.0
_TOLD = ("shard_stopped", "shard_set_aside", "chunk_in_doubt", "in_doubt", "refused", "set_aside", "not_closed")


@dataclass(frozen=True)
class Job:
    """One run of the client."""

    run: Path
    port: int
    account: str
    secret: str
    system: str
    fonds: str
    shape: Shape
    workers: int = 0
    only_first_half: bool = False
    closes: bool = True


@dataclass
class Result:
    """What the client said. `crash` is a traceback where it broke off by what is no fault of the tree."""

    exit: int
    state: str = ""
    code: str = ""
    numbers: dict[str, int] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    verdict: str = ""
    findings: list[str] = field(default_factory=list)
    crash: str = ""
    handed_on: int = 0

    @property
    def all_stands(self) -> bool:
        """True where every record that was read stands in the archive."""
        told = self.numbers
        return bool(told) and told["read"] == told["archived"] + told["already_there"]


class _Stream(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


@dataclass(frozen=True)
class _Source:
    """A source in memory."""

    shape: Shape
    only_first_half: bool = False

    @property
    def identity(self) -> SourceIdentity:
        return SourceIdentity("chaos", "memory", {})

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        for key, folder in self.shape.first_half() if self.only_first_half else self.shape.records_in_order():
            contents = tuple(
                Content(f"{key}|{i}", f"{i}.bin", len(content), 1) for i, content in enumerate(self.shape.contents(key))
            )
            yield SourceRecord("file", key, {"folder": folder}, contents)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        key, _, place = content.locator.rpartition("|")
        yield _Stream(self.shape.contents(key)[int(place)])

    def default_recipe(self) -> str:
        return ""

    def proposal(self, tell: Listener, *, lang: str = "en") -> str:
        return ""


@dataclass(frozen=True)
class _Mapper:
    fonds: str

    def targets(self) -> tuple[Entity, ...]:
        either = CreationMode.FIND_OR_CREATE
        creator = {"arkivskaperIdent": "1", "arkivskaperNavn": "Creator"}
        return (
            Entity("arkiv", "Arkiv", {"tittel": self.fonds}, target=either),
            Entity("arkivskaper", "Arkivskaper", creator, "arkiv", "refArkiv", target=either),
            Entity("arkivdel", "Arkivdel", {"tittel": "Series"}, "arkiv", "refArkiv", target=either),
        )

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        key, folder = record.key, str(record.fields["folder"])
        entities = [
            Entity(f"folder:{folder}", "Mappe", {"tittel": folder}, "arkivdel", "refArkivdel"),
            Entity(key, "Basisregistrering", {"tittel": key}, f"folder:{folder}", "refMappe"),
        ]
        for i, content in enumerate(record.contents):
            document = f"{key}#d{i}"
            role = {"tittel": f"document {i}", "tilknyttetRegistreringSom": "V" if i else "H"}
            version = {"variantformat": "P", "format": "bin"}
            entities += [
                Entity(document, "Dokument", role, key, "refRegistrering"),
                Entity(f"{document}v", "Dokumentversjon", version, document, "refDokument", content=content),
            ]
        return MappedRecord(key, tuple(entities))


def make_plan(job: Job) -> None:
    """Freezes the plan. Sends nothing."""
    limits = Limits(chunk_actions=job.shape.chunk_actions, shard_entities=job.shape.shard_entities)
    source = _Source(job.shape, job.only_first_half)
    what = PlanSpec(source, _Mapper(job.fonds), "chaos", job.system, limits=limits, close=job.closes)
    plan_load(what, RunFolder(job.run), ignore_event, time.time)


def ingest(job: Job) -> Result:
    """One call of `noarkit ingest`."""

    def ingesting(tell: Listener) -> Result:
        found = ingest_run(
            RunFolder(job.run),
            _Source(job.shape),
            _way(job),
            LoadOptions(workers=job.workers, todays_dates=True),
            stop_request=StopRequest(),
            emit=tell,
            now_s=time.time,
        )
        codes = ",".join(fault.code for fault in found.faults)
        return Result(ingest_exit_code(found), found.state, codes, found.numbers.as_data())

    return _told(job, ingesting)


def retry(job: Job) -> Result:
    """One call of `noarkit retry`: opens what was left out, and ingests."""
    reopen_items(RunFolder(job.run), None)
    return ingest(job)


def verify_run(job: Job) -> Result:
    """One call of `noarkit verify --depth bytes`."""

    def verifying(tell: Listener) -> Result:
        with closing(connect_archive(_way(job).settings, emit=tell)) as archive:
            found = verify(RunFolder(job.run), _Source(job.shape), archive, Depths("bytes"), tell)
        findings = [f"{finding.code} {finding.key} {finding.detail}" for finding in found.findings]
        return Result(verify_exit_code(found), verdict=found.verdict, findings=findings)

    return _told(job, verifying)


def _way(job: Job) -> ArchiveTarget:
    # patience is short, because it is the one thing that really passes
    settings = ArchiveSettings(
        f"http://127.0.0.1:{job.port}/rms/api/public",
        Credentials(job.account, Secret(job.secret)),
        patience=Patience(5.0, 1.0, 1.0),
    )
    return ArchiveTarget("chaos", settings, DEADLINE_S)


def _told(job: Job, act: Callable[[Listener], Result]) -> Result:
    events: list[str] = []
    handed_on = 0

    def tell(event: Event, /) -> None:
        nonlocal handed_on
        handed_on += event.name == "shard_handed_on"
        if event.name in _TOLD:
            events.append(f"{event.name} {dict(event.data)}")

    try:
        result = act(tell)
    except NoarkitError as fault:
        result = Result(fault.exit_code, "fault", fault.code, numbers(RunFolder(job.run)).as_data())
        events.append(f"raised {fault.code} {dict(fault.data)}")
    except Exception:  # noqa: BLE001  # whatever it is, it is a finding
        result = Result(1, "crash", "F900", crash=traceback.format_exc())
    result.events, result.handed_on = events, handed_on
    return result

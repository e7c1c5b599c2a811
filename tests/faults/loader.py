"""The command that the tests kill: plans a file tree where there is no plan yet, and loads it. One JSON argument.

Says every event in a line of JSON, with its own process id and its workers'; the last line tells the end and the sums.
The exit code is the run's own.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.retry import RetryingArchive, RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.stream import Patience
from noarkit.archive.token import Credentials
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content, CreationMode, Entity, MappedRecord, SetAside, Skipped
from noarkit.loading.coordinator import Workers
from noarkit.loading.engines.assembly import ArchiveTarget, LoadOptions, cluster_workers, reopen_items
from noarkit.loading.engines.inline import InlineWorkers
from noarkit.loading.engines.processes import ProcessWorkers
from noarkit.loading.engines.remote import ClusterTarget, Timing
from noarkit.loading.engines.worker_factory import LocalWorkerFactory
from noarkit.loading.folder import RunFolder
from noarkit.loading.governor import Rate, read_rate
from noarkit.loading.merge import merge_journals
from noarkit.loading.part import parse_part
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadResult, LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.verification import Depths, verify
from noarkit.records import ContentStream, SourceRecord
from noarkit.safe.tls import Trust
from noarkit.secrets import Secret
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from tests.faults.striking import StrikingFactory

SYSTEM = "tree"


@dataclass(frozen=True)
class Job:
    """What the one argument says."""

    source: str
    run: str
    url: str
    account: str
    secret: str
    workers: int = 2
    deadline_s: float = 0.5
    patience_s: float = 1.0
    pause_s: float = 0.0
    hash: bool = False
    flip: str = ""
    touch: str = ""
    verify: bool = False
    chunk_actions: int = 60
    only_plan: bool = False
    strikes: tuple[str, ...] = ()
    reopen: str = ""
    part: str = ""
    merge: bool = False
    engine: str = ""
    tls: str = ""
    timing: tuple[float, ...] = (1.5, 0.3, 0.1, 0.2)
    worker_patience_s: float = 20.0
    max_rate: str = ""
    plan_named: str = ""
    ships: bool = False
    elsewhere: str = ""
    ca: str = ""


class Mapper:
    """A file becomes a record with a document and a version; its top folder a Mappe."""

    def targets(self) -> tuple[Entity, ...]:
        either = CreationMode.FIND_OR_CREATE
        creator = {"arkivskaperIdent": "1", "arkivskaperNavn": "Creator"}
        return (
            Entity("arkiv", "Arkiv", {"tittel": "Fonds"}, target=either),
            Entity("arkivskaper", "Arkivskaper", creator, "arkiv", "refArkiv", target=either),
            Entity("arkivdel", "Arkivdel", {"tittel": "Series"}, "arkiv", "refArkiv", target=either),
        )

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        key, folder = record.key, f"folder:{record.key.split('/')[0]}"
        role = {"tittel": "d", "tilknyttetRegistreringSom": "H"}
        version = {"variantformat": "P", "format": "bin"}
        return MappedRecord(
            key,
            (
                Entity(folder, "Mappe", {"tittel": folder}, "arkivdel", "refArkivdel"),
                Entity(key, "Basisregistrering", {"tittel": key}, folder, "refMappe"),
                Entity(f"{key}#d", "Dokument", role, key, "refRegistrering"),
                Entity(f"{key}#v", "Dokumentversjon", version, f"{key}#d", "refDokument", content=record.contents[0]),
            ),
        )


class Tree(FileTree):
    """A slow tree, of which one file may be read wrongly, or change while it is read."""

    job: Job

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        time.sleep(self.job.pause_s)
        with super().open(content) as stream:
            yield (
                _Odd(stream, self.job, content.locator)
                if content.locator in (self.job.flip, self.job.touch)
                else stream
            )


@dataclass
class _Odd:
    stream: ContentStream
    job: Job
    locator: str

    def read(self, size: int = -1, /) -> bytes:
        block = self.stream.read(min(size, 100) if size > 0 else size)
        if block and self.locator == self.job.touch:
            path = Path(self.job.source) / self.locator
            status = path.stat()
            path.write_bytes(bytes(status.st_size))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        if block and self.locator == self.job.flip:
            block = bytes([block[0] ^ 1]) + block[1:]
        return block

    def still_the_same(self) -> bool:
        return self.stream.still_the_same()


def say(name: str, **data: object) -> None:
    pids = [child.pid for child in multiprocessing.active_children()]
    print(json.dumps({"event": name, "pid": os.getpid(), "workers": pids, **data}, default=str), flush=True)


def tell(event: Event, /) -> None:
    say(event.name, **{name: value for name, value in event.data.items() if name not in ("pid", "workers", "event")})


def run(job: Job, stopping: StopRequest) -> LoadResult:
    folder = RunFolder(Path(job.run), parse_part(job.part) if job.part else None)
    if job.merge:
        merge_journals(folder, (), time.time())
    tree = Tree(Path(job.source), FilePolicy(settle_s=0, media_types=False))
    tree.job = job
    if not (folder.path / "plan.json").exists():
        limits = Limits(chunk_actions=job.chunk_actions, shard_entities=40)
        make_plan(
            PlanSpec(tree, Mapper(), "mapper", SYSTEM, hash_contents=job.hash, limits=limits), folder, tell, time.time
        )
    if job.only_plan:
        return LoadResult(numbers_of(folder), 0, "planned")
    credentials = Credentials(job.account, Secret(job.secret))
    trust = Trust(Path(job.ca)) if job.ca else Trust()
    settings = ArchiveSettings(job.url, credentials, trust=trust, patience=Patience(5.0, 20.0, 20.0))
    policy = RetryPolicy(first_s=0.05, most_s=0.2, patience_s=job.patience_s)
    workshop = LocalWorkerFactory(folder.graph, settings, tree.open, policy=policy)

    def workers() -> Workers:
        if job.engine:
            target = ArchiveTarget(job.url, settings, job.deadline_s)
            timing = Timing(*job.timing)
            cluster = ClusterTarget(job.engine, Path(job.tls), timing, job.worker_patience_s, job.ships)
            options = LoadOptions(rate=read_rate(job.max_rate) if job.max_rate else Rate(), cluster=cluster)
            made = cluster_workers(folder, tree.open, target, options, stopping)
            if job.elsewhere:  # as for a worker on a machine where the run's folder is not
                made._run = replace(made._run, folder=job.elsewhere)
            if job.plan_named:  # as a worker would see it whose folder of that name holds another plan
                made._run = replace(made._run, plan=job.plan_named)
            return made
        mortal = StrikingFactory(workshop, tuple(job.strikes), folder.path) if job.strikes else workshop
        return ProcessWorkers(mortal, job.workers) if job.workers else InlineWorkers(workshop)

    if job.reopen:
        reopen_items(folder, job.reopen)

    with closing(RetryingArchive(connect(settings), policy)) as archive:
        terms = LoadSettings(job.url, job.deadline_s, 0.1)
        loaded = load(folder, archive, workers, terms, stop_request=stopping, emit=tell, now_s=time.time)
        if job.verify:
            found = verify(folder, tree, archive, Depths("bytes"), tell)
            findings = [(finding.code, finding.key) for finding in found.findings]
            say("verified", good=found.good, findings=findings, compared=found.compared_counts)
    return loaded


def numbers_of(folder: RunFolder):  # type: ignore[no-untyped-def]  # the sums of a run that was never started
    from noarkit.loading.numbers import numbers

    return numbers(folder)


def main() -> int:
    job = Job(**json.loads(sys.argv[1]))
    stopping = StopRequest()
    signal.signal(signal.SIGTERM, lambda *_: stopping.ask("SIGTERM"))
    say("started")
    try:
        loaded = run(job, stopping)
    except NoarkitError as fault:
        say("end", exit=fault.exit_code, code=fault.code, data=dict(fault.data))
        return fault.exit_code
    say("end", exit=loaded.exit_code, state=loaded.state, add_up=loaded.numbers.add_up, **loaded.numbers.as_data())
    return loaded.exit_code


if __name__ == "__main__":
    sys.exit(main())

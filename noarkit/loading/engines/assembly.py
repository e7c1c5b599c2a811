"""Assembles and runs a load: archive, source, workers, limits; loads the plan, closes it, returns the result.

Everything is handed in; nothing here knows a command line, an embedded service or a report.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.retry import RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.errors import (
    NoarkitError,
    OtherArchive,
    Paused,
    RunLocked,
    ShardSetAside,
    UsageFault,
    fault_from_code,
    gravest,
)
from noarkit.events import Event, EventFields, Listener, combine_listeners
from noarkit.loading import preflight
from noarkit.loading.clocks import ArchiveClock, system_clocks
from noarkit.loading.close import CloseResult, close
from noarkit.loading.contents import ContentUploader, Gate, OpenContent, no_gate
from noarkit.loading.coordinator import Workers
from noarkit.loading.engines.inline import InlineWorkers
from noarkit.loading.engines.limits import ErrorLimit, RunLimits
from noarkit.loading.engines.processes import ProcessWorkers
from noarkit.loading.engines.remote import ClusterTarget, RunReference
from noarkit.loading.engines.worker_factory import LocalWorkerFactory, connect_archive
from noarkit.loading.findings import accept, faults_of
from noarkit.loading.folder import AS_RUN, RunFolder
from noarkit.loading.governor import Rate
from noarkit.loading.journal import NOT_CLOSED, ArchiveFinding, Journal
from noarkit.loading.lease_end import promise_lease_end
from noarkit.loading.mending import Mender, reopen_lost
from noarkit.loading.numbers import Numbers
from noarkit.loading.request import ASKED, RunRequest
from noarkit.loading.run import LoadSettings, clock_of, load
from noarkit.loading.state import read_state, refuse_delivered, refuse_retracted
from noarkit.loading.stopping import StopRequest, stop_fault
from noarkit.loading.work import nothing_to_hear
from noarkit.model import metamodel
from noarkit.records import Listening, Source, innermost
from noarkit.results import SPREAD, Result, count_of, json_field
from noarkit.safe.children import is_single_threaded
from noarkit.safe.processors import usable_processors
from noarkit.safe.worker_pool import can_be_given
from noarkit.settings import account_name
from noarkit.version import __version__
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.loading.engines.cluster.dask import DaskWorkers

EVENTS: EventFields = {"load_began": {"objects": "count", "done": "count", "bytes": "count", "bytes_done": "count"}}
_MOST_WORKERS = 4
_FIRST_PATIENCE_S = 15.0


@dataclass(frozen=True, slots=True)
class ArchiveTarget:
    """The archive a run goes to: its name for people, how it is reached, and how long it may still do what a client
    gave up on (nothing, where its process is known to have ended since)."""

    name: str
    settings: ArchiveSettings
    deadline_s: float

    @property
    def account(self) -> str:
        """Who we are there."""
        return self.settings.credentials.client_id


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a run is to go. `workers` 0 loads in this process; None takes as many as the machine has cores, up to four.
    Where other threads run in this process it is always this process that loads.

    `todays_dates` goes on where things would get the dates and numbers of today, because the account may not
    write their own. `operator` is who runs this, where that is not the name of the account. With `cluster` its workers
    load, and `workers` is not looked at. `request` is what the run remembers of all this.
    """

    until: datetime | None = None
    rate: Rate = field(default_factory=Rate)
    error_limit: ErrorLimit | None = None
    dry_run: bool = False
    workers: int | None = None
    gate: Gate = no_gate
    todays_dates: bool = False
    operator: str | None = None
    cluster: ClusterTarget | None = None
    request: RunRequest | None = None


@dataclass(frozen=True, slots=True)
class IngestResult(Result):
    """What a run came to. `faults` are the first of each kind that stopped a worker, `findings` what is open in the
    archive (damaged documents, objects that could not be closed); `closed` is None if nothing was to be closed."""

    folder: RunFolder = field(metadata=AS_RUN)
    numbers: Numbers = field(metadata=SPREAD)
    state: str
    archive: str
    closed: CloseResult | None
    faults: tuple[NoarkitError, ...]
    stopped_by: str
    seconds: float
    dry_run: bool = False
    findings: tuple[ArchiveFinding, ...] = field(default=(), metadata=json_field(form=count_of))


@dataclass(slots=True)
class _RunEvents:
    """A listener that keeps the events that the result of a run needs."""

    faults: dict[str, NoarkitError] = field(default_factory=dict)
    objects_made: int = 0

    def __call__(self, event: Event, /) -> None:
        if event.name == "shard_stopped":
            data = {name: value for name, value in event.data.items() if name not in ("shard", "code")}
            code = str(event.data.get("code"))
            self.faults.setdefault(code, fault_from_code(code, data))
        elif event.name == "shard_set_aside":
            data = {name: value for name, value in event.data.items() if name != "code"}
            self.faults.setdefault(ShardSetAside.code, ShardSetAside(**data))
        elif event.name == "chunk_done":
            self.objects_made += int(str(event.data.get("made", 0)))


def ingest_run(
    folder: RunFolder,
    source: Source,
    target: ArchiveTarget,
    options: LoadOptions,
    *,
    stop_request: StopRequest,
    emit: Listener,
    now_s: Callable[[], float],
) -> IngestResult:
    """Loads a frozen plan and closes what it made. The same again goes on. Raises what `load` raises."""
    began = now_s()
    with _rehearsal_folder(folder) if options.dry_run else _same_folder(folder) as run:
        records = sum(_counts(run.plan().get("records")).values())
        # a limit of time need not stop a run that is finished
        until = None if options.until is not None and read_state(run).is_finished else options.until
        limits = RunLimits(stop_request, records, now_s, until=until, most_errors=options.error_limit)
        run_events = _RunEvents()
        limits()  # a time that has come already lets nothing begin
        emit_all = combine_listeners(emit, run_events, limits.count_fault)
        check_reachable(target, emit_all)
        archive_clock = ArchiveClock()
        with closing(
            connect_archive(
                target.settings, dry_run=options.dry_run, emit=emit_all, heard_date=archive_clock.set_from_date
            )
        ) as archive:
            settings = _load_settings(target, options, limits, archive_clock)
            emit_all(Event("load_began", progress(run)))
            _note_began(run, now_s(), target, options)
            if not options.dry_run and run.part is None:
                _reopen_lost(run, archive, target.name, now_s)
            make_workers = partial(_workers, run, source, target, options, stop_request)
            load_result = load(
                run, archive, make_workers, settings, stop_request=stop_request, emit=emit_all, now_s=now_s
            )
            may_close = not options.dry_run and run.part is None  # others may still add to what a part made
            if may_close:
                with suppress(Paused):  # what was asked for is mended by the next call
                    _repair(run, archive, source, settings, stop_request, emit=emit_all, now_s=now_s)
            closed, state = None, read_state(run)
            if state.is_loaded and may_close and state.closes and not state.is_damaged:
                closed = _close(run, archive, run_events, stop_request, emit_all, now_s)
                state = read_state(run)
        stop_code = stop_fault(stop_request.reason).exit_code if stop_request else 0
        exit_code = gravest(load_result.exit_code, stop_code, state.exit_code)
        word = state.after_closing(load_result.exit_code, may_close=may_close)
        _note(run, now_s(), "ingest_ended", exit=exit_code, state=word)
    return IngestResult(
        folder=RunFolder(folder.path, folder.part),  # not the one that is held
        numbers=state.numbers,
        state=word,
        archive=target.name,
        closed=closed,
        faults=_faults(folder, run_events, state.findings),
        stopped_by=stop_request.reason,
        seconds=now_s() - began,
        dry_run=options.dry_run,
        findings=state.findings,
    )


def progress(folder: RunFolder) -> dict[str, object]:
    """The numbers of objects and bytes to load, and of those loaded already."""
    with closing(folder.graph_store()) as graph:
        objects = graph.count("entity")
        size = int(graph.db.execute("SELECT coalesce(sum(bytes), 0) FROM shard").fetchone()[0])
    objects_done = size_done = 0
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            objects_done, size_done = sum(journal.entity_counts().values()), journal.uploaded_bytes()
    return {"objects": objects, "done": objects_done, "bytes": size, "bytes_done": size_done}


def close_run(
    folder: RunFolder, target: ArchiveTarget, *, stop_request: StopRequest, emit: Listener, now_s: Callable[[], float]
) -> CloseResult:
    """Finalises what a run made, whatever its recipe says. Raises `OtherArchive`, `RunLocked`, archive faults."""
    refuse_delivered(folder)
    if not folder.journal.exists():
        raise UsageFault(what="not-begun", where=str(folder.path))
    check_reachable(target, emit)
    with closing(connect_archive(target.settings, emit=emit)) as archive, folder.locked():
        check_same_archive(folder, archive, target.name)
        with closing(folder.open_journal()) as journal:
            refuse_retracted(journal, str(folder.path))
        closed = close(folder, archive, stop_request=stop_request, emit=emit, now_s=now_s)
        _keep_closed(folder, closed, now_s())
    return closed


def check_reachable(target: ArchiveTarget, emit: Listener) -> None:
    """Makes one call with a short timeout, so that a wrong address is reported soon. Raises archive faults."""
    with closing(
        connect_archive(target.settings, policy=RetryPolicy(patience_s=_FIRST_PATIENCE_S), emit=emit)
    ) as archive:
        preflight.find_identity(archive)


def check_same_archive(folder: RunFolder, archive: Archive, name: str) -> None:
    """Raises `OtherArchive` where the run was begun with another archive than this."""
    with closing(folder.open_journal()) as journal:
        remembered = journal.meta("archive")
    if remembered is None:
        return
    identity = preflight.find_identity(archive) or name
    if identity != remembered:
        raise OtherArchive(where=str(folder.path), expected=remembered, found=identity)


def accept_findings(folder: RunFolder, keys: Sequence[str], now_s: float) -> None:
    """Accepts the findings with these keys in the name of the caller. Raises `UsageFault`."""
    with (
        folder.locked(),
        closing(folder.open_journal()) as journal,
        closing(folder.graph_store()) as graph,
    ):
        accept(journal, graph, keys, now_s, describe_caller()["user"])


def reopen_items(folder: RunFolder, code: str | None) -> int:
    """Opens items that were set aside or refused for another try; returns how many."""
    with (
        folder.locked(),
        closing(folder.open_journal()) as journal,
        closing(folder.graph_store()) as graph,
    ):
        refuse_retracted(journal, str(folder.path))
        return journal.reopen(graph, code)


def code_lists(archive: Archive) -> dict[str, frozenset[str]]:
    """The archive's own code lists: the codes of each list of the model."""
    types = metamodel().types
    codes: dict[str, frozenset[str]] = {}
    for code_list in Administration(archive).code_lists():
        field = types[code_list.type].fields.get(code_list.field) if code_list.type in types else None
        if field is not None and field.code_list:
            codes[field.code_list] = frozenset(code.code for code in code_list.values)
    return codes


def worker_count(count: int | None) -> int:
    """How many workers a run gets; 0 is none but this process."""
    return count if count is not None else min(usable_processors(), _MOST_WORKERS)


def _workers(
    run: RunFolder, source: Source, target: ArchiveTarget, options: LoadOptions, stop_request: StopRequest
) -> Workers:
    if options.cluster is not None:
        return cluster_workers(run, source.open, target, options, stop_request)
    # beside threads of others nothing is forked: the child would keep what they hold
    count = worker_count(options.workers) if is_single_threaded() else 0
    teller = innermost(source)
    shop = LocalWorkerFactory(
        run.graph,
        target.settings,
        source.open,
        options.gate,
        options.rate.share(count),
        dry_run=options.dry_run,
        listen=teller.listen if isinstance(teller, Listening) else nothing_to_hear,
    )
    return ProcessWorkers(shop, count) if count and can_be_given(shop) else InlineWorkers(shop)


def cluster_workers(
    run: RunFolder, open_content: OpenContent, target: ArchiveTarget, options: LoadOptions, stop_request: StopRequest
) -> DaskWorkers:
    """The workers of a cluster, for one load of a run that was begun. Raises as `DaskWorkers`."""
    require_wing("cluster")
    from noarkit.loading.engines.cluster.dask import DaskWorkers, EngineHooks

    cluster = options.cluster
    if cluster is None:
        raise UsageFault(what="bad-engine", where="--engine")

    with closing(run.open_journal()) as journal:
        mark, identity = journal.meta("mark") or "", journal.meta("archive") or target.name

    def promise(end_s: float | None) -> None:
        # Between two transactions of the coordinator's own journal, in its thread.
        with closing(run.open_journal()) as journal:
            promise_lease_end(journal, end_s, time.monotonic())

    reference = RunReference(
        name=f"{str(run.plan()['sha256'])[:16]}.{mark}",
        folder=str(run.path.resolve()),
        plan=str(run.plan()["sha256"]),
        archive=target.settings.base_url,
        identity=identity,
        account=target.account,
        ships=cluster.ships,
    )
    hooks = EngineHooks(promise, lambda: bool(stop_request), run.graph, open_content)
    return DaskWorkers(cluster, reference, options.rate, hooks)


def _close(
    run: RunFolder,
    archive: Archive,
    run_events: _RunEvents,
    stop_request: StopRequest,
    emit: Listener,
    now_s: Callable[[], float],
) -> CloseResult | None:
    if not run_events.objects_made and read_state(run).is_finished:
        return None
    with run.locked():
        closed = close(run, archive, stop_request=stop_request, emit=emit, now_s=now_s)
        _keep_closed(run, closed, now_s())
    return closed


def _reopen_lost(run: RunFolder, archive: Archive, name: str, now_s: Callable[[], float]) -> None:
    """Opens again what a retry asked for and the archive has lost. Raises `OtherArchive`, `RunLocked`."""
    if not run.journal.exists():
        return
    with run.locked(), closing(run.open_journal()) as journal:
        if journal.findings("asked"):
            check_same_archive(run, archive, name)
            refuse_retracted(journal, str(run.path))
            with closing(run.open_graph()) as graph:
                reopen_lost(journal, graph, archive, now_s)


def _repair(
    run: RunFolder,
    archive: Archive,
    source: Source,
    settings: LoadSettings,
    stop_request: StopRequest,
    *,
    emit: Listener,
    now_s: Callable[[], float],
) -> None:
    with run.locked(), closing(run.open_journal()) as journal, closing(run.open_graph()) as graph:
        clock = clock_of(settings, stop_request)
        contents = ContentUploader(archive, source.open, clock.now_s, no_gate)
        Mender(journal, graph, archive, contents, clock, settings.deadline_s, emit, now_s).mend()


def _faults(run: RunFolder, run_events: _RunEvents, wrong: Sequence[ArchiveFinding]) -> tuple[NoarkitError, ...]:
    """The first fault of each kind that stopped a worker, and what is found wrong in the archive, whenever it was."""
    finding_faults = faults_of(wrong, str(run.path / "report.html"))
    codes = {fault.code for fault in finding_faults}
    other_faults = [fault for code, fault in run_events.faults.items() if code not in codes]
    return (*other_faults, *finding_faults)


def _load_settings(
    target: ArchiveTarget, options: LoadOptions, limits: Callable[[], None], archive_clock: ArchiveClock
) -> LoadSettings:
    clocks = system_clocks(archive_clock.now_s)
    return LoadSettings(
        target.name,
        target.deadline_s,
        limits=limits,
        rehearsal=options.dry_run,
        todays_dates=options.todays_dates,
        clocks=clocks,
    )


def _keep_closed(run: RunFolder, closed: CloseResult, at: float) -> None:
    """What could not be closed stays found wrong, and is tried again; the rest of what was is mended."""
    with closing(run.open_journal()) as journal:
        not_closed = {finding.key for finding in closed.not_closed}
        for finding in journal.findings():
            if closed.is_complete and finding.kind == NOT_CLOSED and finding.key not in not_closed:
                journal.settle(finding.kind, finding.key, "mended", at, "noarkit")
        journal.keep_findings(closed.not_closed)
        if closed.is_complete:
            open_kinds = {finding.kind for finding in journal.findings()}
            closed_word = "no" if NOT_CLOSED in open_kinds else "yes"
            journal.remember(closed=closed_word, objects_closed=str(_objects_done(journal)))


def _objects_done(journal: Journal) -> int:
    return journal.entity_counts().get("done", 0)


def describe_caller(operator: str | None = None) -> dict[str, str]:
    """The user, the machine and the version of noarkit, for reports and seals; and the operator, where one is named."""
    caller = {"user": account_name(), "machine": socket.gethostname(), "noarkit": __version__}
    return {**caller, "operator": operator} if operator else caller


def _note_began(run: RunFolder, at: float, target: ArchiveTarget, options: LoadOptions) -> None:
    workers = None if options.cluster else worker_count(options.workers)
    caller: dict[str, object] = {**describe_caller(options.operator)}
    if options.request is not None:
        caller[ASKED] = options.request.as_data()
    _note(run, at, "ingest_began", archive=target.name, account=target.account, workers=workers, **caller)


def _note(run: RunFolder, at: float, name: str, **data: object) -> None:
    """A line of the run's story; where another process holds the run, that one tells its own."""
    with suppress(RunLocked), run.locked(), closing(run.open_journal()) as journal:
        journal.add_note(at, name, data)


def _counts(counts: object) -> dict[str, int]:
    return {str(name): int(str(count)) for name, count in counts.items()} if isinstance(counts, dict) else {}


@contextmanager
def _same_folder(folder: RunFolder) -> Iterator[RunFolder]:
    yield folder


@contextmanager
def _rehearsal_folder(folder: RunFolder) -> Iterator[RunFolder]:
    """The same plan with a journal that is thrown away afterwards."""
    folder.plan()
    with tempfile.TemporaryDirectory(prefix="noarkit-rehearsal-") as name:
        place = Path(name)
        shutil.copy(folder.path / "plan.json", place / "plan.json")
        (place / "graph.db").symlink_to(folder.graph.resolve())
        if folder.journal.exists():
            _copy_journal(folder.journal, place / "run.db")
        yield RunFolder(place)


def _copy_journal(journal: Path, target: Path) -> None:
    import sqlite3

    with (
        closing(sqlite3.connect(f"{journal.resolve().as_uri()}?mode=ro", uri=True)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)

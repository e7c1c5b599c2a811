"""Puts a run together: archive, source, workers, limits; loads it, closes it, and says what it came to.

Everything is handed in; nothing here knows a command line, an embedded service or a report.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from noarkit import __version__
from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.retry import Policy
from noarkit.archive.settings import ArchiveSettings
from noarkit.engine.inline import InlineWorkers
from noarkit.engine.limits import HistoricWatch, Limits, MostErrors
from noarkit.engine.processes import ProcessWorkers
from noarkit.engine.workshop import LocalWorkshop, opened
from noarkit.errors import ChecksumDiffers, NoarkitError, OtherArchive, RunLocked, UsageFault, gravest
from noarkit.events import Event, Listener, everybody
from noarkit.graph.store import GraphStore
from noarkit.load import preflight
from noarkit.load.clocks import ArchiveClock, system_clocks
from noarkit.load.close import Closed, close
from noarkit.load.contents import Gate, no_gate
from noarkit.load.coordinator import Stopping, Workers
from noarkit.load.findings import exit_code_of, fault_of_finding, mend
from noarkit.load.folder import RunFolder
from noarkit.load.governor import Rate
from noarkit.load.journal import CHECKSUM, NOT_CLOSED, FoundWrong, Journal
from noarkit.load.numbers import Numbers, numbers
from noarkit.load.run import Terms, load
from noarkit.model import metamodel
from noarkit.safe.children import alone
from noarkit.sources.port import Source

_MOST_WORKERS = 4
_FIRST_PATIENCE_S = 15.0
_ITEMS_EXIT = 3


@dataclass(frozen=True, slots=True)
class Way:
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

    `todays_dates` goes on where journal posts would get the dates and numbers of today, because the account may not
    write their own.
    """

    until: datetime | None = None
    rate: Rate = field(default_factory=Rate)
    most_errors: MostErrors | None = None
    dry_run: bool = False
    workers: int | None = None
    gate: Gate = no_gate
    todays_dates: bool = False


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What a run came to. `faults` are the first of each kind that stopped a worker; `closed` is None where nothing
    was to be closed."""

    folder: RunFolder
    numbers: Numbers
    state: str
    exit_code: int
    archive: str
    closed: Closed | None
    faults: tuple[NoarkitError, ...]
    stopped_by: str
    seconds: float
    dry_run: bool = False


@dataclass(slots=True)
class _Heard:
    """What a run said that its result needs."""

    faults: dict[str, NoarkitError] = field(default_factory=dict)
    made: int = 0

    def __call__(self, event: Event, /) -> None:
        if event.name == "shard_stopped":
            data = {name: value for name, value in event.data.items() if name not in ("shard", "code")}
            code = str(event.data.get("code"))
            self.faults.setdefault(code, fault_of(code, data))
        elif event.name == "chunk_done":
            self.made += int(str(event.data.get("made", 0)))


def ingest_run(
    folder: RunFolder,
    source: Source,
    way: Way,
    options: LoadOptions,
    *,
    stopping: Stopping,
    tell: Listener,
    now_s: Callable[[], float],
) -> IngestResult:
    """Loads a frozen plan and closes what it made. The same again goes on. Raises what `load` raises."""
    began = now_s()
    with _rehearsed(folder) if options.dry_run else _as_it_is(folder) as run:
        records = sum(_counts(run.plan().get("records")).values())
        until = None if _finished(run) else options.until
        limits = Limits(stopping, records, now_s, until=until, most_errors=options.most_errors)
        heard = _Heard()
        watch = HistoricWatch(run.graph, stopping, allowed=options.todays_dates or options.dry_run)
        limits()  # a time that has come already lets nothing begin
        told = everybody(tell, heard, limits.hear, watch)
        contact(way, told)
        theirs = ArchiveClock()
        with closing(opened(way.settings, dry_run=options.dry_run, tell=told, heard_date=theirs.hear)) as archive:
            clocks = system_clocks(theirs.now_s)
            terms = Terms(way.name, way.deadline_s, limits=limits, rehearsal=options.dry_run, clocks=clocks)
            told(Event("load_began", progress(run)))
            _note(run, now_s(), "ingest_began", archive=way.name, account=way.account, **who())
            loaded = load(
                run,
                archive,
                lambda: _workers(run, source, way, options),
                terms,
                stopping=stopping,
                tell=told,
                now_s=now_s,
            )
            if not options.dry_run:
                _mend(run, archive, source, now_s)
            closed, damaged = None, _found_wrong(run, CHECKSUM)
            # nothing may be changed any more in what is closed, so that what is damaged keeps the run open
            if loaded.state == "done" and not options.dry_run and closes(run) and not damaged:
                closed = _close(run, archive, heard, stopping, told, now_s)
        counted, wrong = loaded.numbers, _found_wrong(run)
        exit_code = gravest(loaded.exit_code, stopping.exit_code, _items_exit(counted), exit_code_of(wrong))
        state = loaded.state if (closed is None or closed.whole) and not damaged else "paused"
        _note(run, now_s(), "ingest_ended", exit=exit_code, state=state)
    return IngestResult(
        folder=folder,
        numbers=counted,
        state=state,
        exit_code=exit_code,
        archive=way.name,
        closed=closed,
        faults=_faults(heard, wrong),
        stopped_by=stopping.reason,
        seconds=now_s() - began,
        dry_run=options.dry_run,
    )


def _finished(run: RunFolder) -> bool:
    """True where nothing is left to load or to close, which no time of day can stop."""
    if not run.journal.exists():
        return False
    counted = numbers(run)
    if counted.open or counted.in_doubt:
        return False
    with closing(run.open_journal()) as journal:
        closed = journal.meta("closed")
        return not closes(run) or closed == "yes" or (closed == "no" and not _left_open(journal))


def progress(folder: RunFolder) -> dict[str, object]:
    """How much there is to load, and how much of it stands already."""
    with closing(GraphStore.open(folder.graph)) as graph:
        objects = graph.count("entity")
        size = int(graph.db.execute("SELECT coalesce(sum(bytes), 0) FROM shard").fetchone()[0])
    done = size_done = 0
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            done, size_done = sum(journal.entity_counts().values()), journal.uploaded_bytes()
    return {"objects": objects, "done": done, "bytes": size, "bytes_done": size_done}


def close_run(folder: RunFolder, way: Way, *, stopping: Stopping, tell: Listener, now_s: Callable[[], float]) -> Closed:
    """Finalises what a run made, whatever its recipe says. Raises `OtherArchive`, `RunLocked`, archive faults."""
    contact(way, tell)
    with closing(opened(way.settings, tell=tell)) as archive, folder.locked():
        same_archive(folder, archive, way.name)
        with closing(folder.open_journal()) as journal:
            only = _left_open(journal) if journal.meta("closed") == "no" else None
        closed = close(folder, archive, stopping=stopping, tell=tell, now_s=now_s, only=only)
        _keep_closed(folder, closed, now_s())
    return closed


def contact(way: Way, tell: Listener) -> None:
    """One call, with little patience: an address that is wrong should be told soon. Raises archive faults."""
    with closing(opened(way.settings, policy=Policy(patience_s=_FIRST_PATIENCE_S), tell=tell)) as archive:
        preflight.identity(archive)


def same_archive(folder: RunFolder, archive: Archive, name: str) -> None:
    """Raises `OtherArchive` where the run was begun with another archive than this."""
    with closing(folder.open_journal()) as journal:
        known = journal.meta("archive")
    if known is None:
        return
    found = preflight.identity(archive) or name
    if found != known:
        raise OtherArchive(where=str(folder.path), expected=known, found=found)


def accept(folder: RunFolder, keys: Sequence[str], now_s: float) -> None:
    """Takes what was found wrong under these keys as it is, in the name of who asks. Raises `UsageFault`."""
    with folder.locked(), closing(folder.open_journal()) as journal:
        kinds = {found.key: found.kind for found in journal.findings()}
        for key in keys:
            if key not in kinds:
                raise UsageFault(what="bad-value", where=f"--accept {key}")
            journal.settle(kinds[key], key, "accepted", now_s, who()["user"])


def take_up_again(folder: RunFolder, code: str | None) -> int:
    """Opens what was set aside or refused for another try; says how many items."""
    with folder.locked(), closing(folder.open_journal()) as journal:
        return journal.take_up_again(code)


def remembered_archive(folder: RunFolder) -> str | None:
    """The archive the run was begun with, by the name it was given then."""
    if not folder.journal.exists():
        return None
    with closing(folder.open_journal()) as journal:
        return journal.meta("where")


def closes(folder: RunFolder) -> bool:
    """True where the recipe has what the run makes closed after the last chunk."""
    with closing(GraphStore.open(folder.graph)) as graph:
        return graph.meta("close") == "yes"


def code_lists(archive: Archive) -> dict[str, frozenset[str]]:
    """The archive's own code lists: the codes of each list of the model."""
    types = metamodel().types
    found: dict[str, frozenset[str]] = {}
    for listed in Administration(archive).code_lists():
        field = types[listed.type].fields.get(listed.field) if listed.type in types else None
        if field is not None and field.code_list:
            found[field.code_list] = frozenset(code.code for code in listed.values)
    return found


def fault_of(code: str, data: dict[str, object]) -> NoarkitError:
    """The fault that a code and its data mean, as it was when a worker met it."""
    from noarkit import errors

    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, NoarkitError) and kind.code == code:
            return kind(**data)
    return NoarkitError(error=code, **data)


def worker_count(asked: int | None) -> int:
    """How many workers a run gets; 0 is none but this process."""
    return asked if asked is not None else min(os.cpu_count() or 1, _MOST_WORKERS)


def _workers(run: RunFolder, source: Source, way: Way, options: LoadOptions) -> Workers:
    # beside threads of others nothing is forked: the child would keep what they hold
    count = worker_count(options.workers) if alone() else 0
    shop = LocalWorkshop(
        run.graph, way.settings, source.open, options.gate, options.rate.share(count), dry_run=options.dry_run
    )
    return ProcessWorkers(shop, count) if count else InlineWorkers(shop)


def _close(
    run: RunFolder,
    archive: Archive,
    heard: _Heard,
    stopping: Stopping,
    tell: Listener,
    now_s: Callable[[], float],
) -> Closed | None:
    with closing(run.open_journal()) as journal:
        before = journal.meta("closed") if not heard.made else None
        left = _left_open(journal)
    if before == "yes" or (before == "no" and not left):
        return None
    with run.locked():
        # what was closed stays closed: another time it is only about what was refused then
        only = left if before == "no" else None
        closed = close(run, archive, stopping=stopping, tell=tell, now_s=now_s, only=only)
        _keep_closed(run, closed, now_s())
    return closed


def _mend(run: RunFolder, archive: Archive, source: Source, now_s: Callable[[], float]) -> None:
    with run.locked(), closing(run.open_journal()) as journal:
        if journal.findings("asked"):
            with closing(run.open_graph()) as graph:
                mend(journal, graph, archive, source.open, now_s)


def _found_wrong(run: RunFolder, kind: str = "") -> list[FoundWrong]:
    with closing(run.open_journal()) as journal:
        return [found for found in journal.findings() if kind in ("", found.kind)]


def _faults(heard: _Heard, wrong: list[FoundWrong]) -> tuple[NoarkitError, ...]:
    """The first fault of each kind that stopped a worker, and every document that is found damaged, whenever it was."""
    damaged = [fault_of_finding(found) for found in wrong if found.kind == CHECKSUM]
    others = [fault for code, fault in heard.faults.items() if code != ChecksumDiffers.code or not damaged]
    return (*others, *damaged)


def _items_exit(counted: Numbers) -> int:
    return _ITEMS_EXIT if counted.set_aside + counted.refused else 0


def _left_open(journal: Journal) -> frozenset[str]:
    """What could not be closed, and was not accepted as it is."""
    return frozenset(found.key for found in journal.findings() if found.kind == NOT_CLOSED)


def _keep_closed(run: RunFolder, closed: Closed, at: float) -> None:
    """What could not be closed stays found wrong, and is tried again; the rest of what was is mended."""
    with closing(run.open_journal()) as journal:
        left = {found.key for found in closed.left}
        for found in journal.findings():
            if closed.whole and found.kind == NOT_CLOSED and found.key not in left:
                journal.settle(found.kind, found.key, "mended", at, "noarkit")
        journal.find_wrong(closed.left)
        if closed.whole:
            journal.remember(closed="no" if _left_open(journal) else "yes")


def who() -> dict[str, str]:
    """Who works, where and with what, for reports and seals."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid()) if hasattr(os, "getuid") else "?"
    return {"user": user, "machine": socket.gethostname(), "noarkit": __version__}


def _note(run: RunFolder, at: float, name: str, **data: object) -> None:
    """A line of the run's story; where another process holds the run, that one tells its own."""
    with suppress(RunLocked), run.locked(), closing(run.open_journal()) as journal:
        journal.note(at, name, data)


def _counts(found: object) -> dict[str, int]:
    return {str(name): int(str(count)) for name, count in found.items()} if isinstance(found, dict) else {}


@contextmanager
def _as_it_is(folder: RunFolder) -> Iterator[RunFolder]:
    yield folder


@contextmanager
def _rehearsed(folder: RunFolder) -> Iterator[RunFolder]:
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

"""Makes the copies of a source: reads it, leases what is planned to workers, and writes what became of each document.

It alone writes the store. A copy is `"made"` once its bytes lie durably in their place and not before; what was under
way when a process was killed is planned again, and a document that took its worker with it goes alone the next time.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from noarkit.copies.conversion import KEEP, UNKEPT, Batch, BatchTask
from noarkit.copies.explanation import explained
from noarkit.copies.objects import place_object
from noarkit.copies.pool import PoolEvent, WorkerLost, WorkerPool
from noarkit.copies.port import TRIED_ALONE, Rule, Task
from noarkit.copies.reading import Reading, ReadingOptions, ReadingTotals, content_of, source_name, stage
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import ALONE_FROM, LOCK, WORK, CopyKey, CopyOutcome, CopyStore
from noarkit.copies.toolbox import Policy, Toolbox, ToolboxFactory, choose_converter, missing_converters
from noarkit.errors import DiskFull, ItemChanged, SourceFault
from noarkit.events import Event, EventFields, Listener
from noarkit.records import PLACE_FAULTS, Source
from noarkit.safe.locks import claimed
from noarkit.safe.sandbox import Limits

EVENTS: EventFields = {
    "copy_settled": {"state": "text", "reason": "text?", "n": "count"},
    "copies_made": {"settled": "count", "open": "count", "of": "count?"},
}

_ALONE = frozenset({Reason.TIMED_OUT, Reason.CRASHED, Reason.MEMORY})
"""What a document may have met because of another one of its batch, or of a busy machine: it is tried once alone."""
_LEAST_ROOM_BYTES = 1024**2
_MOST_BYTES_AT_ONCE = 32 * 1024**2
"""What the documents of a batch have together: what is lost with a batch that is interrupted is soon made again."""
_KEPT_AT_ONCE = 20
"""How many documents are looked at together that are kept as they are."""
_TELL_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class DerivingOptions:
    """How copies are made; without workers it is only said what would be."""

    reading: ReadingOptions = field(default_factory=ReadingOptions)
    workers: int = 1
    grace_s: float = 60.0


@dataclass(frozen=True, slots=True)
class DerivingTools:
    """What the coordinator works with: the rules, how tools are made, and who is asked whether to stop."""

    policy: Policy
    factory: ToolboxFactory
    emit: Listener
    agent: str = "noarkit"
    """Who is named as the maker of the copies."""
    is_stopped: Callable[[], bool] = lambda: False
    now_s: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Derivation:
    """What one call did: `walk` is the number by which the store knows it, `converted` how many tasks were settled."""

    walk: int
    totals: ReadingTotals
    converted: int
    stopped: bool


def derive(source: Source, store: CopyStore, tools: DerivingTools, options: DerivingOptions) -> Derivation:
    """Makes the copies of a source. Raises `RunLocked`, `DiskFull`, `JournalFault`, and faults of the source."""
    with claimed(store.folder / LOCK, str(store.folder)), ExitStack() as stack:
        work = store.folder / WORK
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        toolbox = stack.enter_context(tools.factory())
        store.remember(agent=tools.agent)
        walk = store.begin_walk(source_name(source), tools.policy.name)
        now = timestamp(tools.now_s())
        reading = Reading(source, store, tools.policy, toolbox, walk, work, now, options.reading)
        totals = ReadingTotals()
        for totals in reading.read(tools.emit):
            if tools.is_stopped():
                return Derivation(walk, totals, 0, stopped=True)
        if not options.workers:
            return Derivation(walk, totals, 0, stopped=False)
        pool = stack.enter_context(WorkerPool(tools.factory, options.workers, grace_s=options.grace_s))
        conversion = _Conversion(reading, tools, toolbox, pool, options.workers)
        conversion.run()
        return Derivation(walk, totals, conversion.settled, stopped=tools.is_stopped())


def limits_for(size_bytes: int, *, again: bool) -> Limits:
    """What a task may use, by the size of its document; twice as much where it is tried once more."""
    cpu_s = min(30 + size_bytes / 1_000_000, 900) * (2 if again else 1)
    return Limits(cpu_s, 4 * cpu_s)


@dataclass(slots=True)
class _Conversion:
    """The second half: everything that is planned, batch by batch."""

    reading: Reading
    tools: DerivingTools
    toolbox: Toolbox
    pool: WorkerPool
    workers: int
    settled: int = 0
    _running: dict[int, tuple[StoredCopy, Task, int]] = field(default_factory=dict)
    """The copies under way, each with its task and the size of its batch."""
    _told_s: float = 0.0
    _total: int = 0
    """How many copies there were to make at first. One that is handed on to another converter is still the same."""

    def run(self) -> None:
        """Converts until nothing is planned, or somebody asks to stop: then what is under way is given back."""
        self._tell()
        while not self.tools.is_stopped():
            while self.pool.free and (batch := self._next_batch()) is not None:
                self.pool.start(batch)
            if not self.pool.busy:
                break
            for event in self.pool.events():
                self._take(event)
            self._tell()
        self._give_back()
        self._tell(at_end=True)

    def _give_back(self) -> None:
        self.pool.close()
        for n in list(self._running):
            self.reading.store.give_back(n, tried=False)
        self._running.clear()

    # -- out ------------------------------------------------------------------------------------------------------

    def _next_batch(self) -> Batch | None:
        """The next tasks of one converter, staged and leased; what cannot be staged is settled on the way."""
        store, walk = self.reading.store, self.reading.walk
        while (first := store.next_planned(walk)) is not None:
            tasks: list[BatchTask] = []
            self._stage_into(tasks, first)
            converter = self.toolbox.converters.get(first.converter)
            if tasks and first.attempt < ALONE_FROM:
                most = converter.batch_size(tasks[0].task) if converter is not None else _KEPT_AT_ONCE
                share = -(-store.planned_like(first, walk) // self.workers)  # so that no worker waits for another
                size = first.source_size
                for copy in store.more_planned(first, walk, max(0, min(most, share) - 1)):
                    size += copy.source_size
                    if size > _MOST_BYTES_AT_ONCE:
                        break
                    self._stage_into(tasks, copy)
            if tasks:
                store.lease([item.n for item in tasks], timestamp(self.tools.now_s()))
                for item in tasks:
                    copy = store.copy(item.n)
                    self._running[item.n] = (copy, item.task, len(tasks))
                return Batch(first.converter, tuple(tasks))
        return None

    def _stage_into(self, tasks: list[BatchTask], copy: StoredCopy) -> None:
        folder = self.reading.folder / str(copy.n)
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("in", "out", "passed"):
            (folder / part).mkdir(parents=True, mode=0o700)
        document = self._staged(copy, folder / "in")
        rule = self._rule_of(copy, document)
        if document is None or document.identity is None or rule is None:
            shutil.rmtree(folder, ignore_errors=True)
            self._settle(copy, CopyOutcome("failed", Reason.UNREADABLE, {"why": "changed"}))
            return
        task = Task(
            *(_source_in(folder), document.name, document.identity, rule, copy.target, folder / "out"),
            limits_for(copy.source_size, again=copy.attempt >= ALONE_FROM),
            version=copy.version,
        )
        tasks.append(BatchTask(copy.n, task, folder / "passed"))

    def _rule_of(self, copy: StoredCopy, document: StoredDocument | None) -> Rule | None:
        """The rule that a copy was planned by: that of its format, or one for documents that could not be kept."""
        policy = self.tools.policy
        rule = policy.rule_for(document.identity, copy.purpose) if document and document.identity else None
        while rule is not None and (rule.name, policy.rule_digest(rule)) != (copy.rule, copy.rule_digest):
            rule = policy.otherwise(rule)
        return rule

    def _staged(self, copy: StoredCopy, folder: Path) -> StoredDocument | None:
        """Copies a document to where its converter may read it; None where it is not what was hashed."""
        for document in self.reading.store.places_of(copy.n, self.reading.walk):
            target = folder / _plain_name(document)
            try:
                if stage(self.reading.source, content_of(document), target).sha256 == copy.source_sha256:
                    return document
                raise ItemChanged(key=document.locator)
            except PLACE_FAULTS:
                raise
            except SourceFault:  # another place may still hold it
                target.unlink(missing_ok=True)
        return None

    # -- in -------------------------------------------------------------------------------------------------------

    def _take(self, event: PoolEvent) -> None:
        if isinstance(event, WorkerLost):
            for n in event.numbers:
                self._take_lost(n, event)
            return
        copy, task, batch_size = self._running[event.n]
        rule = task.rule
        outcome = event.outcome
        if outcome.state == "failed" and self._is_full(copy):
            # whatever its tool says: no room may look like a partial file, or like none
            raise DiskFull(where=str(self.reading.store.folder))
        was_alone = bool(outcome.data.get(TRIED_ALONE))
        timed_out = outcome.reason is Reason.TIMED_OUT
        if outcome.reason in _ALONE and not was_alone and _goes_alone(copy, batch_size, timed_out=timed_out):
            self._forget(event.n)
            self.reading.store.give_back(event.n, tried=True)
            return
        if event.refused and self._hand_on(copy, rule, outcome):
            return
        unfit = outcome.reason in UNKEPT if copy.converter == KEEP else outcome.reason is Reason.CONTENT_REFUSED
        if unfit and (alternative := self.tools.policy.otherwise(rule)):
            with self.reading.store.transaction():
                self._settle(copy, outcome)
                self.reading.instead(copy, task.identity, alternative)
            return
        if event.refused:
            outcome = self._explained(copy, rule, outcome)
        if event.product is not None and outcome.sha256 is not None:
            place_object(self.reading.store.folder, event.product, outcome.sha256)
        self._settle(copy, outcome)

    def _take_lost(self, n: int, event: WorkerLost) -> None:
        """A worker ended over a task: tried once more and alone, and then told."""
        copy, _, batch_size = self._running[n]
        if _goes_alone(copy, batch_size, timed_out=event.timed_out):
            self._forget(n)
            self.reading.store.give_back(n, tried=True)
            return
        reason = Reason.TIMED_OUT if event.timed_out else Reason.CRASHED
        self._settle(copy, CopyOutcome("failed", reason, {"exit": event.exit_code}))

    def _hand_on(self, copy: StoredCopy, rule: Rule, outcome: CopyOutcome) -> bool:
        """Gives a document that a converter refused to the next one of its rule; False where there is none."""
        choice = choose_converter(self.toolbox, rule, copy.target, after=copy.converter)
        if not choice.name:
            return False
        key = CopyKey(
            *(copy.source_sha256, copy.puid, copy.rule_digest, copy.target),
            *(choice.name, choice.version, choice.options_digest),
        )
        store = self.reading.store
        with store.transaction():
            number = store.plan(key, copy.rule, copy.source_size, self.reading.walk, copy.purpose)
            store.relink(copy.n, number)
            self._settle(copy, outcome)
        return True

    def _explained(self, copy: StoredCopy, rule: Rule, outcome: CopyOutcome) -> CopyOutcome:
        earlier = self.reading.store.failures_before(copy)
        return explained(outcome, earlier, missing_converters(self.toolbox, rule))

    def _settle(self, copy: StoredCopy, outcome: CopyOutcome) -> None:
        self.reading.store.settle(copy.n, outcome, timestamp(self.tools.now_s()))
        self._forget(copy.n)
        self.settled += 1
        self.tools.emit(Event("copy_settled", {"state": outcome.state, "reason": outcome.reason, "n": copy.n}))

    def _forget(self, n: int) -> None:
        self._running.pop(n, None)
        shutil.rmtree(self.reading.folder / str(n), ignore_errors=True)

    def _is_full(self, copy: StoredCopy) -> bool:
        """True where there is too little room to tell a document that cannot be converted from a disk that is full."""
        return shutil.disk_usage(self.reading.store.folder).free < max(_LEAST_ROOM_BYTES, 3 * copy.source_size)

    def _tell(self, *, at_end: bool = False) -> None:
        now = time.monotonic()
        if at_end or now - self._told_s >= _TELL_EVERY_S:
            self._told_s = now
            open_count = self.reading.store.open_count(self.reading.walk)
            self._total = max(self._total, open_count)
            progress = {"settled": self._total - open_count, "open": open_count, "of": self._total}
            self.tools.emit(Event("copies_made", progress))


def _goes_alone(copy: StoredCopy, batch_size: int, *, timed_out: bool) -> bool:
    """True where a document has one more turn, alone: after a batch, and after a first time-out of its own."""
    return batch_size > 1 or (timed_out and copy.attempt <= ALONE_FROM)


def _source_in(folder: Path) -> Path:
    return next((folder / "in").iterdir())


def _plain_name(document: StoredDocument) -> str:
    """A name that no tool stumbles over; the ending stays, for some tools go by it."""
    suffix = document.identity.suffix if document.identity else ""
    return f"document.{suffix}" if suffix.isascii() and suffix.isalnum() and len(suffix) <= 8 else "document"


def timestamp(now_s: float) -> str:
    """A time as rows have it: `2026-11-22T09:12:03Z`."""
    return datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

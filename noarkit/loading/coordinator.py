"""Gives shards to workers and writes their outcomes to the journal; nothing else writes it.

The spine goes first and alone, then the unit shards side by side, then the links between them. A worker that is lost
leaves its shard's open chunks in doubt; whoever gets the shard next settles them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from noarkit.errors import LimitReached, NoarkitError, Paused, PlanFault, SourceGone, gravest
from noarkit.events import Event, Listener
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import Journal
from noarkit.loading.lease import (
    BundleLeftOut,
    BytesMoved,
    ChunkDone,
    ChunkInDoubt,
    Guard,
    Lease,
    Outcome,
    RunFacts,
    ShardDone,
    ShardStopped,
    WaitingInDoubt,
)
from noarkit.loading.settling import GUARD_MISSING


class Workers(Protocol):
    """The workers that run leases, in this process, in children or on other machines. Engines implement it."""

    @property
    def free(self) -> int:
        """How many more leases may be started now."""
        ...

    def start(self, lease: Lease) -> None:
        """Gives a lease to a free worker."""
        ...

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """The outcomes since the last call, each with its shard; waits until there is one or a second has passed.

        A worker that died without ending its lease gives ShardStopped with code F431.
        """
        ...

    def ask_to_stop(self) -> None:
        """Has every worker end after the chunk that it is working on."""
        ...

    def close(self) -> None:
        """Ends the workers."""
        ...


@dataclass(slots=True)
class StopRequest:
    """A request to stop a run before its end, with its reason: set by signals and limits, read after every outcome."""

    reason: str = ""

    def ask(self, reason: str) -> None:
        """Asks for a tidy stop; of several reasons the gravest is kept.

        A signal's name (`SIGTERM`), `until`, `max-errors`, `source-changed` and `todays-dates` have a meaning of their
        own; any other text is a limit of the caller's.
        """
        code = stop_fault(reason).exit_code
        if not self.reason or gravest(code, stop_fault(self.reason).exit_code) == code:
            self.reason = reason

    def __bool__(self) -> bool:
        return bool(self.reason)


def stop_fault(reason: str) -> NoarkitError:
    """The fault that stands for a reason to stop, as `extract` raises it."""
    if reason.startswith("SIG"):
        return Paused(signal=reason)
    if reason == "source-changed":
        return SourceGone(why=reason)
    return PlanFault(why=reason) if reason == "todays-dates" else LimitReached(limit=reason)


@dataclass(frozen=True, slots=True)
class CoordinatorDeps:
    """The collaborators of the coordinator."""

    journal: Journal
    graph: GraphStore
    facts: RunFacts
    guard_for: Callable[[int], Guard | None]
    emit: Listener
    steady_s: Callable[[], float]
    limits: Callable[[], None] = lambda: None


@dataclass(slots=True)
class _State:
    running: set[int] = field(default_factory=set)
    exit_code: int = 0
    failed: set[int] = field(default_factory=set)


class Coordinator:
    """Runs the shards of one load: the spine first, then the units side by side, then the links."""

    def __init__(self, deps: CoordinatorDeps, workers: Workers, stop_request: StopRequest) -> None:
        self._deps = deps
        self._journal = deps.journal
        self._workers = workers
        self._stop_request = stop_request
        self._state = _State()

    def run(self) -> int:
        """Loads every open shard; returns the gravest exit code met (0 if nothing stopped it)."""
        # Units hang on the spine, and a link needs both its ends: each kind begins only when the one before is
        # complete.
        for kind in ("spine", "unit", "links"):
            shards = [n for n, shard_kind in self._journal.open_shards() if shard_kind == kind]
            self._run_all(shards, kind)
            if self._stop_request or self._state.failed:
                break
        reason = self._stop_request.reason
        return gravest(self._state.exit_code, stop_fault(reason).exit_code if reason else 0)

    def _run_all(self, shards: Iterable[int], kind: str) -> None:
        waiting = list(reversed(list(shards)))
        state = self._state
        while waiting or state.running:
            # One shard to one worker (invariant 7). After a stop or a fault no new lease begins, but those that run are
            # listened to until their end: their outcomes would otherwise be doubts.
            while waiting and self._workers.free and not self._stop_request and not state.failed:
                self._start(waiting.pop(), kind)
            if not state.running:
                return
            for shard, outcomes in _by_shard(self._workers.outcomes()):
                # Written before anything acts on it: whatever is announced or released below is durable by then.
                self._journal.record(shard, outcomes)
                for outcome in outcomes:
                    self._handle_outcome(shard, outcome)
            self._deps.limits()
            if self._stop_request or state.failed:
                self._workers.ask_to_stop()

    def _start(self, shard: int, kind: str) -> None:
        journal, graph = self._journal, self._deps.graph
        # Kept before the lease starts, for each chunk that is done moves on the version in this row. Links are no
        # objects and can be made twice without harm, so they need no guard.
        guard = journal.guard(shard)
        if guard is None and kind != "links":
            guard = self._deps.guard_for(shard)
            if guard is not None:
                journal.keep_guard(shard, guard)
        attempt = journal.lease(shard)
        late = tuple(journal.late_links()) if kind == "links" else ()
        # Only the ids that this shard can refer to: the whole table of a run of millions would not fit through a pipe.
        numbers = {n for link in late for n in (link[0], link[2])} if late else set(graph.needed_ids(shard))
        lease = Lease(
            shard=shard,
            kind=kind,
            attempt=attempt,
            facts=self._deps.facts,
            tasks=journal.tasks(shard),
            known_ids=journal.ids(numbers),
            guard=guard,
            excluded=frozenset(journal.left_out_bundles()),
            already_there=journal.already_there(numbers),
            late_links=late,
        )
        self._state.running.add(shard)
        self._deps.emit(Event("shard_started", {"shard": shard, "kind": kind, "attempt": attempt}))
        self._workers.start(lease)

    def _handle_outcome(self, shard: int, outcome: Outcome) -> None:
        emit = self._deps.emit
        if isinstance(outcome, ChunkDone):
            data = {
                "shard": shard,
                "chunk": outcome.chunk,
                "made": len(outcome.created_ids),
                "already": len(outcome.existing_ids),
            }
            data["bytes"] = sum(size for _, _, size in outcome.files.values())
            emit(Event("chunk_done", data))
        elif isinstance(outcome, ChunkInDoubt):
            emit(Event("chunk_in_doubt", {"shard": shard, "chunk": outcome.chunk, "code": outcome.code}))
        elif isinstance(outcome, BundleLeftOut):
            emit(Event(outcome.state, {"shard": shard, "bundle": outcome.bundle, "code": outcome.code}))
        elif isinstance(outcome, WaitingInDoubt):
            emit(Event("waiting", {"shard": shard, "wait_s": outcome.seconds, "chunks": outcome.chunks}))
        elif isinstance(outcome, BytesMoved):
            emit(Event("bytes", {"bytes": outcome.bytes}))
        elif isinstance(outcome, ShardDone):
            self._journal.release(shard, is_done=True)
            self._state.running.discard(shard)
            emit(Event("shard_done", {"shard": shard}))
        elif isinstance(outcome, ShardStopped):
            self._shard_stopped(shard, outcome)

    def _shard_stopped(self, shard: int, outcome: ShardStopped) -> None:
        self._state.running.discard(shard)
        # A lost worker cannot say what it sent last. All its open chunks may have been sent until now, and «now» starts
        # the wait for the deadline (invariant 5).
        if outcome.code == "F431":
            self._journal.mark_in_doubt(shard, self._deps.steady_s())
        self._journal.release(shard, is_done=False)
        if outcome.data.get("why") == GUARD_MISSING:
            # whoever gets the shard next finds it or makes another; what was sent with this one can no longer land
            self._journal.forget_guard(shard)
        # No code: the worker was asked to stop. That is no failure; the shard is simply open.
        if outcome.code is not None:
            self._state.failed.add(shard)
            self._state.exit_code = gravest(self._state.exit_code, outcome.exit_code)
            data = {"shard": shard, "code": outcome.code, **outcome.data}
            self._deps.emit(Event("shard_stopped", data))


def _by_shard(outcomes: list[tuple[int, Outcome]]) -> list[tuple[int, list[Outcome]]]:
    by_shard: dict[int, list[Outcome]] = {}
    for shard, outcome in outcomes:
        by_shard.setdefault(shard, []).append(outcome)
    return list(by_shard.items())

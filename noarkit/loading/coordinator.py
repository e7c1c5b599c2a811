"""Gives shards to workers and writes their outcomes to the journal; nothing else writes it.

The spine goes first and alone, then the unit shards side by side, then the links between them.

A worker that is lost leaves its shard's open chunks in doubt, and the shard waits behind all others; whoever gets it
next settles them first. A shard that loses a second worker is not tried again: what of it reached the archive is found
out here, and the rest is set aside. So no shard is leased without end in a call, whatever the workers die of.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from noarkit.errors import (
    ArchiveFault,
    NoarkitError,
    Paused,
    ShardNotLoaded,
    ShardSetAside,
    WorkerLost,
    gravest,
)
from noarkit.events import Event, EventFields, Listener
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
    SourceTold,
    WaitingInDoubt,
)
from noarkit.loading.lost_shards import unloaded_bundles
from noarkit.loading.settling import GUARD_MISSING
from noarkit.loading.stopping import StopRequest, stop_fault

# what is known of a worker that was lost; its exit code is below 0 where a signal ended it
_WORKER_FACTS = {"exit": "integer?", "machine": "text?", "silent": "flag?", "error": "text?"}
EVENTS: EventFields = {
    "shard_started": {"shard": "count", "kind": "text", "attempt": "count"},
    "shard_done": {"shard": "count"},
    "shard_stopped": {"shard": "count", "code": "text"},
    "shard_handed_on": {"shard": "count", "code": "text", "losses": "count", **_WORKER_FACTS},
    "shard_set_aside": {"shard": "count", "code": "text", "bundles": "count", "losses": "count", **_WORKER_FACTS},
    "chunk_done": {"shard": "count", "chunk": "text", "made": "count", "already": "count", "bytes": "count"},
    "chunk_in_doubt": {"shard": "count", "chunk": "text", "code": "text"},
    "set_aside": {"shard": "count", "bundle": "count", "code": "text"},
    "refused": {"shard": "count", "bundle": "count", "code": "text"},
    "bytes": {"bytes": "count"},
    "waiting": {"shard": "count", "wait_s": "number", "chunks": "count"},
}

_MOST_LOSSES = 2
"""So many workers may be lost with one shard."""
_MOST_SILENCES = 6
"""So many workers of other machines may fall silent with one shard: a network that breaks says nothing of the shard."""
_MOST_LOST_SHARDS = 3
"""When so many shards were given up and nothing was loaded by anybody, it is not the shards that workers die of."""


class Workers(Protocol):
    """The workers that run leases, in this process, in children or on other machines. Engines implement it.

    Promises of every engine:

    - A lease is carried out once, by one worker, and never started again by the engine itself.
    - Outcomes of a lease come in the order in which the worker said them; ShardDone or ShardStopped is the last.
    - A worker that is lost is told as ShardStopped with code F431, and only when it is certain that it can send nothing
      more: its process has been reaped, or its lease has run out. No outcome of that lease follows.
    """

    @property
    def free(self) -> int:
        """How many more leases may be started now. If it is 0 and no lease runs, the coordinator waits for workers."""
        ...

    def start(self, lease: Lease) -> None:
        """Gives a lease to a free worker."""
        ...

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """The outcomes since the last call, each with its shard; waits until there is one or a second has passed.

        A worker that died without ending its lease gives ShardStopped with code F431, and how it ended as `exit`.
        """
        ...

    def ask_to_stop(self) -> None:
        """Has every worker end after the chunk that it is working on."""
        ...

    def close(self) -> None:
        """Ends the workers."""
        ...


@runtime_checkable
class WorkersBeside(Protocol):
    """Workers that go on by themselves while the coordinator does something else."""

    goes_on_alone: bool


@dataclass(frozen=True, slots=True)
class CoordinatorDeps:
    """The collaborators of the coordinator."""

    journal: Journal
    graph: GraphStore
    facts: RunFacts
    guard_for: Callable[[int], Guard | None]
    settle: Callable[[Lease], Iterator[Outcome]]
    emit: Listener
    steady_s: Callable[[], float]
    limits: Callable[[], None] = lambda: None


@dataclass(slots=True)
class _State:
    kind: str = ""
    waiting: deque[int] = field(default_factory=deque)
    running: set[int] = field(default_factory=set)
    exit_code: int = 0
    failed: set[int] = field(default_factory=set)
    losses: Counter[int] = field(default_factory=Counter)
    silences: Counter[int] = field(default_factory=Counter)
    given_up: dict[int, ShardStopped] = field(default_factory=dict)
    has_loaded: bool = False
    needed_ids: dict[int, set[int]] = field(default_factory=dict)


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
            self._state.kind, self._state.has_loaded = kind, False
            self._state.waiting = deque(n for n, shard_kind in self._journal.open_shards() if shard_kind == kind)
            self._run_all()
            self._set_aside_lost_shards()
            if self._is_stopping:
                break
        reason = self._stop_request.reason
        return gravest(self._state.exit_code, stop_fault(reason).exit_code if reason else 0)

    @property
    def _is_stopping(self) -> bool:
        return bool(self._stop_request or self._state.failed)

    def _run_all(self) -> None:
        state = self._state
        while state.waiting or state.running:
            # One shard to one worker (invariant 7). After a stop or a fault no new lease begins, but those that run are
            # listened to until their end: their outcomes would otherwise be doubts.
            while state.waiting and self._workers.free and not self._is_stopping:
                self._start(state.waiting.popleft())
            if self._is_stopping and not state.running:
                return
            self._prepare_next()
            for shard, outcomes in _by_shard(self._workers.outcomes()):
                # Written before anything acts on it: whatever is announced or released below is durable by then.
                self._journal.record(shard, outcomes)
                for outcome in outcomes:
                    self._handle_outcome(shard, outcome)
            self._deps.limits()
            if self._is_stopping:
                self._workers.ask_to_stop()

    def _prepare_next(self) -> None:
        """Has the guard of the next shard made, and its ids collected, while workers are busy, so that none of them
        waits for it. Where the archive does not make it now, it is asked again when the shard begins."""
        state = self._state
        next_shard = state.waiting[0] if state.waiting and state.running else None
        if next_shard is None or next_shard in state.needed_ids or self._is_stopping or state.kind != "unit":
            return
        if isinstance(self._workers, WorkersBeside) and self._workers.goes_on_alone:
            state.needed_ids = {next_shard: set(self._deps.graph.needed_ids(next_shard))}
            with suppress(ArchiveFault):
                self._ensure_guard(next_shard)

    def _ensure_guard(self, shard: int) -> None:
        # Kept before the lease starts, for each chunk that is done moves on the version in this row. Links are no
        # objects and can be made twice without harm, so they need no guard.
        if self._journal.guard(shard) is None and self._state.kind != "links":
            guard = self._deps.guard_for(shard)
            if guard is not None:
                self._journal.keep_guard(shard, guard)

    def _start(self, shard: int) -> None:
        journal, kind = self._journal, self._state.kind
        self._ensure_guard(shard)
        attempt = journal.lease(shard)
        lease = self._make_lease(shard, attempt)
        self._state.running.add(shard)
        self._deps.emit(Event("shard_started", {"shard": shard, "kind": kind, "attempt": attempt}))
        self._workers.start(lease)

    def _make_lease(self, shard: int, attempt: int = 0) -> Lease:
        journal, kind = self._journal, self._state.kind
        late = tuple(journal.late_links()) if kind == "links" else ()
        # Only the ids that this shard can refer to: the whole table of a run of millions would not fit through a pipe.
        if late:
            numbers = {n for link in late for n in (link[0], link[2])}
        else:
            collected_ids = self._state.needed_ids.pop(shard, set())
            numbers = collected_ids or set(self._deps.graph.needed_ids(shard))
        facts = self._deps.facts
        if self._state.losses[shard]:
            # Nothing of it was there when the run began, but a worker that was lost may have made it since.
            facts = replace(facts, fresh=False)
        return Lease(
            shard=shard,
            kind=kind,
            attempt=attempt,
            facts=facts,
            tasks=journal.tasks(shard),
            known_ids=journal.ids(numbers),
            guard=journal.guard(shard),
            excluded=frozenset(journal.left_out_bundles()),
            already_there=journal.already_there(numbers),
            late_links=late,
        )

    def _handle_outcome(self, shard: int, outcome: Outcome) -> None:
        emit = self._deps.emit
        if isinstance(outcome, ChunkDone):
            self._state.has_loaded = True
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
        elif isinstance(outcome, SourceTold):
            emit(outcome.event)
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
        if outcome.code == WorkerLost.code:
            self._worker_lost(shard, outcome)
            return
        self._journal.release(shard, is_done=False)
        if outcome.data.get("why") == GUARD_MISSING:
            # whoever gets the shard next finds it or makes another; what was sent with this one can no longer land
            self._journal.forget_guard(shard)
        # No code: the worker was asked to stop. That is no failure; the shard is simply open. Where not we asked it but
        # its own machine, another goes on with it at once, for nothing of it is in doubt.
        if outcome.code is None:
            if not self._is_stopping:
                self._state.waiting.appendleft(shard)
        else:
            self._stop_run(shard, outcome.code, outcome.exit_code, outcome.data)

    def _worker_lost(self, shard: int, outcome: ShardStopped) -> None:
        """Puts the shard of a lost worker behind all others; one that has lost two is given up."""
        state = self._state
        # A lost worker cannot say what it sent last. All its open chunks may have been sent until now, and «now» starts
        # the wait for the deadline (invariant 5).
        self._journal.mark_in_doubt(shard, self._deps.steady_s())
        state.losses[shard] += 1
        state.silences[shard] += bool(outcome.data.get("silent"))
        deaths = state.losses[shard] - state.silences[shard]
        is_given_up = deaths >= _MOST_LOSSES or state.silences[shard] >= _MOST_SILENCES
        data = {**outcome.data, "losses": state.losses[shard]}
        if self._is_stopping:
            self._stop_run(shard, WorkerLost.code, WorkerLost.exit_code, data)
        elif not is_given_up:
            # Last, so that others are loaded while its deadline passes, and nobody sits the wait out beside open work.
            state.waiting.append(shard)
            self._deps.emit(Event("shard_handed_on", {"shard": shard, "code": WorkerLost.code, **data}))
        elif state.kind != "unit":
            self._stop_run(shard, ShardNotLoaded.code, ShardNotLoaded.exit_code, data)
        elif len(state.given_up) + 1 >= _MOST_LOST_SHARDS and not state.has_loaded:
            self._stop_run(shard, WorkerLost.code, WorkerLost.exit_code, data)
        else:
            state.given_up[shard] = outcome

    def _set_aside_lost_shards(self) -> None:
        """Settles the shards that were given up, and sets aside what is not loaded of them."""
        # Now that no lease runs: a wait for a deadline here would keep the outcomes of others waiting.
        given_up, self._state.given_up = self._state.given_up, {}
        for shard, outcome in given_up.items():
            data = {**outcome.data, "losses": self._state.losses[shard]}
            if self._is_stopping:
                self._stop_run(shard, WorkerLost.code, WorkerLost.exit_code, data)
            elif self._settle(shard, data):
                self._set_aside(shard, data)

    def _settle(self, shard: int, data: dict[str, object]) -> bool:
        """Learns what of a shard is in the archive; False where that cannot be known, and its chunks stay in doubt."""
        try:
            for outcome in self._deps.settle(self._make_lease(shard)):
                self._journal.record(shard, [outcome])
                self._handle_outcome(shard, outcome)
        except Paused:
            self._stop_run(shard, WorkerLost.code, WorkerLost.exit_code, data)
        except ArchiveFault as fault:
            self._stop_run(shard, fault.code, fault.exit_code, fault.data)
        except NoarkitError:
            raise
        except Exception as error:  # noqa: BLE001  # what two workers died of may be met here: it is told, and stays in doubt
            data["error"] = type(error).__name__
            self._stop_run(shard, ShardNotLoaded.code, ShardNotLoaded.exit_code, data)
        else:
            return True
        return False

    def _set_aside(self, shard: int, data: dict[str, object]) -> None:
        bundles = list(unloaded_bundles(self._journal, self._deps.graph, shard, self._state.losses[shard]))
        self._journal.set_aside(shard, bundles)
        for bundle in bundles:
            self._handle_outcome(shard, bundle)
        if bundles:
            data = {"shard": shard, "code": ShardSetAside.code, "bundles": len(bundles), **data}
            self._deps.emit(Event("shard_set_aside", data))
        else:
            self._deps.emit(Event("shard_done", {"shard": shard}))

    def _stop_run(self, shard: int, code: str, exit_code: int, data: Mapping[str, object]) -> None:
        """Tells why a shard stopped; no further lease begins."""
        self._state.failed.add(shard)
        self._state.exit_code = gravest(self._state.exit_code, exit_code)
        self._deps.emit(Event("shard_stopped", {"shard": shard, "code": code, **data}))


def _by_shard(outcomes: list[tuple[int, Outcome]]) -> list[tuple[int, list[Outcome]]]:
    by_shard: dict[int, list[Outcome]] = {}
    for shard, outcome in outcomes:
        by_shard.setdefault(shard, []).append(outcome)
    return list(by_shard.items())

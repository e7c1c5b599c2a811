"""Runs leases in a pool of child processes, one shard each.

Processes and not threads: composing and parsing many small requests is work for the interpreter, whose lock lets only
one thread do it at a time. (Hashing large files releases the lock; for those there are threads inside a worker.)

A child reports its outcomes through a pipe, in order. A child that dies is reaped, and then reported as a lost worker
(F431); its siblings go on. What it leaves behind: objects of a transaction that may or may not have landed, and
uploads that nothing refers to. The first is why its open chunks become doubts, which the next lease of the shard
settles before it sends anything (invariant 5); the second the archive sweeps after an hour.

How children start, end and die with the coordinator is said in `safe.worker_pool`: none goes on sending after the run's
lock is free, for an orphan in the middle of a call might send what its heir has settled. Two things differ from other
workers. They keep the files that are open here, since a source may read from one; no connection of the coordinator's is
used in them, for the worker factory opens archive session and graph anew, and a session refuses to work in a process
that did not open it. And a defect in a child costs that child alone, which prints it, and not the run.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Event

from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped, SourceTold
from noarkit.loading.work import WorkerControl, WorkerFactory, run_lease
from noarkit.safe.children import WorkerLost
from noarkit.safe.memory import rare_collections
from noarkit.safe.worker_pool import (
    ParentPipe,
    ProcessPool,
    WorkerOptions,
    WorkerProcess,
    process_context,
    ready_workers,
)

LOST = "F431"
_PATIENCE_S = 1.0
_END_PATIENCE_S = 5.0


@dataclass(slots=True)
class _Child:
    worker: WorkerProcess
    shard: int | None = None


class ProcessWorkers:
    """`count` children, started when first needed."""

    goes_on_alone = True

    def __init__(self, workshop: WorkerFactory, count: int) -> None:
        self._count = count
        self._children: list[_Child] = []
        self._stop = process_context().Event()
        options = WorkerOptions(keeps_files=True, tells_faults=False)
        self._pool = ProcessPool(partial(_take_leases, workshop, self._stop), options)

    @property
    def free(self) -> int:
        busy = sum(child.shard is not None for child in self._children)
        return 0 if self._stop.is_set() else self._count - busy

    def start(self, lease: Lease) -> None:
        for child in [child for child in self._children if child.shard is None]:
            try:
                child.worker.send(lease)
            except WorkerLost:  # it died idle: no lease of its own is lost with it
                self._children.remove(child)
                self._pool.reap(child.worker)
            else:
                child.shard = lease.shard
                return
        child = self._spawn()
        child.shard = lease.shard
        with suppress(WorkerLost):  # a child that is gone by now is told as lost when it is listened to
            child.worker.send(lease)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        busy = {child.worker: child for child in self._children if child.shard is not None}
        outcomes: list[tuple[int, Outcome]] = []
        # Only busy children: an idle one has nothing to say. If it died, `start` takes another one.
        for worker in ready_workers(busy, _PATIENCE_S):
            outcomes.extend(self._receive_outcomes(busy[worker]))
        return outcomes

    def ask_to_stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        # A child in the middle of a call is killed after a while: what it sent is settled by the next run, like all
        # doubts.
        self._pool.close(_END_PATIENCE_S)

    def _spawn(self) -> _Child:
        child = _Child(self._pool.start())
        self._children.append(child)
        return child

    def _receive_outcomes(self, child: _Child) -> list[tuple[int, Outcome]]:
        shard = child.shard
        if shard is None:
            return []
        outcomes: list[tuple[int, Outcome]] = []
        try:
            # Everything that is there at once, for one journal transaction (one fsync) instead of one for each outcome.
            while child.shard is not None and child.worker.has_message():
                outcome: Outcome = child.worker.receive()
                outcomes.append((shard, outcome))
                if isinstance(outcome, ShardDone | ShardStopped):
                    child.shard = None
        except WorkerLost:
            # What came before the end was received above and counts; only what is missing is in doubt.
            self._children.remove(child)
            outcomes.append((shard, ShardStopped(shard, LOST, 5, {"exit": self._pool.reap(child.worker)})))
        return outcomes


def _take_leases(workshop: WorkerFactory, stop: Event, parent: ParentPipe) -> None:
    """Runs in the child: takes leases and sends outcomes until the coordinator lets go."""
    control = WorkerControl(time.monotonic, time.sleep, stop.is_set)
    with workshop() as context, rare_collections():
        context.listen(lambda event: parent.send(SourceTold(event)))  # one at a time: whoever waits, sends nothing else
        while True:
            lease: Lease = parent.receive()
            for outcome in run_lease(lease, context, control):
                parent.send(outcome)

"""Runs leases in this process, one after another: for small runs, for tests, and where processes are not wanted.

The lease is a generator that advances one outcome at a time, so the coordinator journals each before the next step is
taken. Nobody can be lost here without the coordinator: a crash is found by the next run, which marks the doubts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped
from noarkit.loading.work import WorkerControl, WorkerFactory, run_lease


class InlineWorkers:
    """One worker that advances when outcomes are asked for."""

    def __init__(self, workshop: WorkerFactory, control: WorkerControl | None = None) -> None:
        self._stop = False
        self._control = control or WorkerControl(time.monotonic, time.sleep, lambda: self._stop)
        self._stack = ExitStack()
        self._bench = self._stack.enter_context(workshop())
        self._current: tuple[int, Iterator[Outcome]] | None = None

    @property
    def free(self) -> int:
        return 0 if self._current else 1

    def start(self, lease: Lease) -> None:
        self._current = (lease.shard, run_lease(lease, self._bench, self._control))

    def outcomes(self) -> list[tuple[int, Outcome]]:
        if self._current is None:
            return []
        shard, outcomes = self._current
        # One at a time, not all there are: «about to send» is in the journal before the request leaves.
        outcome = next(outcomes, None)
        if outcome is None or isinstance(outcome, ShardDone | ShardStopped):
            self._current = None
        return [] if outcome is None else [(shard, outcome)]

    def ask_to_stop(self) -> None:
        self._stop = True

    def close(self) -> None:
        self._stack.close()

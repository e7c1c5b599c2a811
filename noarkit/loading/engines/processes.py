"""Runs leases in child processes, one shard each: small requests want processes, not threads.

A child says what happened through a pipe, in order. A child that dies is told as a lost worker; its siblings go on. A
child ends by itself when its pipe breaks, and Linux kills it with the coordinator, so that none goes on sending for it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped
from noarkit.loading.work import WorkerControl, WorkerFactory, run_lease

LOST = "F431"
_PATIENCE_S = 1.0
_PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class _Child:
    process: BaseProcess
    pipe: Connection
    shard: int | None = None


class ProcessWorkers:
    """`count` children, started when first needed."""

    def __init__(self, workshop: WorkerFactory, count: int) -> None:
        self._workshop = workshop
        self._count = count
        self._children: list[_Child] = []
        self._context = _context()
        self._stop = self._context.Event()

    @property
    def free(self) -> int:
        busy = sum(child.shard is not None for child in self._children)
        return 0 if self._stop.is_set() else self._count - busy

    def start(self, lease: Lease) -> None:
        child = next((child for child in self._children if child.shard is None), None) or self._spawn()
        child.shard = lease.shard
        with suppress(ConnectionError):  # a child that is gone by now is told as lost when it is listened to
            child.pipe.send(lease)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        busy = {child.pipe: child for child in self._children if child.shard is not None}
        outcomes: list[tuple[int, Outcome]] = []
        for pipe in wait(list(busy), timeout=_PATIENCE_S):
            outcomes.extend(self._receive_outcomes(busy[pipe]))  # type: ignore[index]  # wait returns what it was given
        return outcomes

    def ask_to_stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        for child in self._children:
            child.pipe.close()
        for child in self._children:
            child.process.join(5)
            if child.process.is_alive():
                child.process.kill()
                child.process.join()

    def _spawn(self) -> _Child:
        parent_pipe, child_pipe = self._context.Pipe()
        inherited = [child.pipe for child in self._children] + [parent_pipe]
        life = (self._workshop, child_pipe, inherited, self._stop, os.getpid())
        process = self._context.Process(target=_run_child, args=life, daemon=True)
        process.start()
        child_pipe.close()
        child = _Child(process, parent_pipe)
        self._children.append(child)
        return child

    def _receive_outcomes(self, child: _Child) -> list[tuple[int, Outcome]]:
        shard = child.shard
        if shard is None:
            return []
        outcomes: list[tuple[int, Outcome]] = []
        try:
            while child.shard is not None and child.pipe.poll():
                outcome: Outcome = child.pipe.recv()
                outcomes.append((shard, outcome))
                if isinstance(outcome, ShardDone | ShardStopped):
                    child.shard = None
        except (EOFError, ConnectionError):
            self._children.remove(child)
            child.process.join()
            outcomes.append((shard, ShardStopped(shard, LOST, 5, {"exit": child.process.exitcode})))
        return outcomes


def _context() -> ForkContext | SpawnContext:
    """Children by fork where the system has it: they start in milliseconds and need no pickled secrets."""
    if sys.platform.startswith("linux"):
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _end_with_parent(parent: int) -> None:
    """An orphan in the middle of a call would hold the run's lock, and might send what its heir has settled."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _run_child(
    workshop: WorkerFactory, pipe: Connection, inherited: list[Connection], stop: Event, parent: int
) -> None:
    """Runs in the child: takes leases and sends outcomes until the pipe ends."""
    _end_with_parent(parent)
    for inherited_pipe in inherited:
        inherited_pipe.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator decides when to drain
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    control = WorkerControl(time.monotonic, time.sleep, stop.is_set)
    try:
        with workshop() as context:
            while True:
                lease: Lease = pipe.recv()
                for outcome in run_lease(lease, context, control):
                    pipe.send(outcome)
    except (EOFError, ConnectionError):
        return

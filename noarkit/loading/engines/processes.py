"""Runs leases in a pool of child processes, one shard each.

Processes and not threads: composing and parsing many small requests is work for the interpreter, whose lock lets only
one thread do it at a time. (Hashing large files releases the lock; for those there are threads inside a worker.)

A child reports its outcomes through a pipe, in order. A child that dies is reported as a lost worker (F431); its
siblings go on. What it leaves behind: objects of a transaction that may or may not have landed, and uploads that
nothing refers to. The first is why its open chunks become doubts, which the next lease of the shard settles before it
sends anything (invariant 5); the second the archive sweeps after an hour. A child ends by itself when its pipe breaks,
and Linux kills it with the coordinator, so that none goes on sending after the run's lock is free.
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
        # Only busy children: an idle one has nothing to say. If it died, its next lease is sent in vain, and the end of
        # its pipe is met here.
        for pipe in wait(list(busy), timeout=_PATIENCE_S):
            outcomes.extend(self._receive_outcomes(busy[pipe]))  # type: ignore[index]  # wait returns what it was given
        return outcomes

    def ask_to_stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        for child in self._children:
            # The end of its pipe is what tells a child to end; all are told first, so that they end side by side.
            child.pipe.close()
        for child in self._children:
            # A child in the middle of a call is killed after a while: what it sent is settled by the next run, like all
            # doubts.
            child.process.join(5)
            if child.process.is_alive():
                child.process.kill()
                child.process.join()

    def _spawn(self) -> _Child:
        parent_pipe, child_pipe = self._context.Pipe()
        # A forked child has copies of its siblings' pipes too. It closes them first of all: while one copy is open, a
        # sibling would never see its pipe end.
        inherited = [child.pipe for child in self._children] + [parent_pipe]
        life = (self._workshop, child_pipe, inherited, self._stop, os.getpid())
        process = self._context.Process(target=_run_child, args=life, daemon=True)
        process.start()
        # Else the coordinator would hold the other end as well, and never see that the child is gone.
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
            # Everything that is there at once, for one journal transaction (one fsync) instead of one for each outcome.
            while child.shard is not None and child.pipe.poll():
                outcome: Outcome = child.pipe.recv()
                outcomes.append((shard, outcome))
                if isinstance(outcome, ShardDone | ShardStopped):
                    child.shard = None
        except (EOFError, ConnectionError):
            # What came before the end was received above and counts; only what is missing is in doubt.
            self._children.remove(child)
            child.process.join()
            outcomes.append((shard, ShardStopped(shard, LOST, 5, {"exit": child.process.exitcode})))
        return outcomes


def _context() -> ForkContext | SpawnContext:
    """The start method of children: fork on Linux, spawn elsewhere.

    Forked children start in milliseconds, share the loaded model with us, and need no secrets pickled through a pipe.
    No connection of the coordinator's is used in them: the worker factory opens archive session and graph anew, and a
    session refuses to work in a process that did not open it. macOS has fork, but its system libraries do not
    survive it; there and on Windows a child starts from nothing.
    """
    if sys.platform.startswith("linux"):
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _end_with_parent(parent: int) -> None:
    """An orphan in the middle of a call would hold the run's lock, and might send what its heir has settled."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before prctl was called; then no signal will ever come.
    if os.getppid() != parent:
        os._exit(0)


def _run_child(
    workshop: WorkerFactory, pipe: Connection, inherited: list[Connection], stop: Event, parent: int
) -> None:
    """Runs in the child: takes leases and sends outcomes until the pipe ends."""
    _end_with_parent(parent)
    # See `_spawn`: before anything that can fail or wait.
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

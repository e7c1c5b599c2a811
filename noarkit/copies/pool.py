"""Worker processes that convert: started, given batches, watched, and replaced where a document takes one with it."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

from noarkit import errors
from noarkit.copies.conversion import Batch, Settlement
from noarkit.copies.toolbox import ToolboxFactory
from noarkit.copies.worker import BatchEnd, Ready, receive, send
from noarkit.safe.children import OUR_THREADS, interpreter_command, interpreter_environment
from noarkit.safe.process_tree import end_descendants
from noarkit.safe.signals import kill_tree, own_session, suspend

_GRACE_S = 60.0
"""What inspection, gates and a slow disk may take beyond the limits of the tasks."""
_BEGIN_S = 300.0


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker ended, or had to be ended, before it had settled some of its tasks."""

    numbers: tuple[int, ...]
    timed_out: bool
    exit_code: int


@dataclass(slots=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    requests: BinaryIO
    open_numbers: set[int]
    allowed_s: float = 0.0
    deadline_s: float | None = None
    timed_out: bool = False
    is_ready: bool = False


PoolEvent = Settlement | WorkerLost


class WorkerPool:
    """A number of workers. As a context manager it ends them all, and what their tools left behind."""

    def __init__(self, factory: ToolboxFactory, count: int, *, grace_s: float = _GRACE_S) -> None:
        self._factory = factory
        self._count = count
        self._grace_s = grace_s
        self._workers: list[_Worker] = []
        self._answers: queue.SimpleQueue[tuple[_Worker, object]] = queue.SimpleQueue()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def free(self) -> int:
        """How many more batches may be started now."""
        return self._count - sum(1 for worker in self._workers if worker.deadline_s is not None)

    @property
    def busy(self) -> bool:
        """True where some worker is at a batch."""
        return any(worker.deadline_s is not None for worker in self._workers)

    def start(self, batch: Batch) -> None:
        """Gives a batch to a free worker."""
        worker = next((worker for worker in self._workers if worker.deadline_s is None), None) or self._begin()
        allowed_s = sum(item.task.limits.wall_s for item in batch.tasks) + self._grace_s
        worker.open_numbers = {item.n for item in batch.tasks}
        worker.allowed_s = allowed_s
        worker.deadline_s = time.monotonic() + (allowed_s if worker.is_ready else _BEGIN_S)
        with suppress(BrokenPipeError):  # it has died, which its answers tell
            send(worker.requests, batch)

    def events(self, wait_s: float = 1.0) -> list[PoolEvent]:
        """What happened since the last call; waits a little where nothing has."""
        self._end_overdue()
        events: list[PoolEvent] = []
        with suppress(queue.Empty):
            events.extend(self._event(*self._answers.get(timeout=wait_s)))
            while True:
                events.extend(self._event(*self._answers.get_nowait()))
        return events

    def close(self) -> None:
        """Ends every worker at once."""
        for worker in self._workers:
            _end(worker)
        self._workers.clear()

    def _begin(self) -> _Worker:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter, and a module of ours
            interpreter_command("-c", "from noarkit.copies.worker import main; main()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=interpreter_environment(),
            **own_session(),
        )
        worker = _Worker(process, cast("BinaryIO", process.stdin), set())  # a pipe, as asked for
        self._workers.append(worker)
        reader = threading.Thread(
            target=self._listen, args=(worker, process.stdout), name=f"{OUR_THREADS}answers", daemon=True
        )
        reader.start()
        with suppress(BrokenPipeError):
            send(worker.requests, self._factory)
        return worker

    def _listen(self, worker: _Worker, answers: IO[bytes]) -> None:
        with answers:
            while (message := receive(cast("BinaryIO", answers))) is not None:  # bytes, as every pipe of ours
                self._answers.put((worker, message))
        self._answers.put((worker, None))

    def _event(self, worker: _Worker, message: object) -> list[PoolEvent]:
        if isinstance(message, Ready):
            worker.is_ready = True
            worker.deadline_s = time.monotonic() + worker.allowed_s  # its own beginnings are no document's fault
            return []
        if isinstance(message, Settlement):
            worker.open_numbers.discard(message.n)
            return [message]
        if isinstance(message, BatchEnd):
            left, worker.open_numbers, worker.deadline_s = tuple(worker.open_numbers), set(), None
            return [WorkerLost(left, timed_out=False, exit_code=0)] if left else []
        if worker not in self._workers:
            return []
        self._workers.remove(worker)
        _end(worker)
        if not worker.is_ready and not worker.timed_out:
            # no document has done that: the next one would end the same way
            raise errors.WorkerLost(exit=worker.process.returncode)
        left = tuple(sorted(worker.open_numbers))
        return [WorkerLost(left, worker.timed_out, worker.process.returncode or 0)] if left else []

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            if worker.deadline_s is not None and now > worker.deadline_s and not worker.timed_out:
                worker.timed_out = True
                _kill(worker)  # its reader tells the rest


def _end(worker: _Worker) -> None:
    _kill(worker)
    with suppress(OSError):
        worker.requests.close()
    worker.process.wait()


def _kill(worker: _Worker) -> None:
    """Ends a worker and all that is below it."""
    if worker.process.poll() is not None:
        return
    process = worker.process.pid
    suspend(process)  # so that it starts nothing while what it started is ended
    end_descendants(process)
    kill_tree(process)

"""Child processes that assemble beside this one, each at one work at a time: its orders go in, its pieces come out.

They are made before any file or connection of the extract is open, by fork, so that they start in milliseconds. None
outlives its parent: Linux kills it with the parent, and elsewhere its pipe ends. A fault within is raised here.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Protocol, Self

from noarkit.errors import RunFault
from noarkit.forms.noark5.child_process import detach_child
from noarkit.safe.children import may_fork
from noarkit.safe.processors import usable_processors

MOST_WORKERS = 4
_PATIENCE_S = 0.5
_END: tuple[str, object] = ("end", None)


class Work(Protocol):
    """What a child does: each order gives some pieces; all are pickled on their way."""

    def act(self, order: object, emit_piece: Callable[[object], None]) -> None:
        """Carries an order out, telling its pieces."""
        ...

    def close(self) -> None:
        """Lets go of what it holds."""
        ...


WorkFactory = Callable[[], Work]
"""Makes the work in the child; it is pickled on its way there."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One child process. Orders may be given before earlier ones are done; pieces come in the order of the orders."""

    process: BaseProcess
    _pipe: Connection

    def begin(self, factory: WorkFactory) -> None:
        """Starts a work in the child."""
        self._send(factory)

    def order(self, order: object) -> None:
        """Sends an order to the child without waiting for its pieces."""
        self._send((order,))

    def pieces(self, pause: Callable[[], None]) -> Iterator[object]:
        """The pieces of the oldest order that was not listened to yet; `pause` is called while none comes, and may
        raise. Raises what the child raised, or `RunFault` where the child is gone."""
        while True:
            try:
                while not self._pipe.poll(_PATIENCE_S):
                    pause()
                name, piece = self._pipe.recv()
            except (EOFError, OSError) as error:
                raise self._worker_lost() from error
            if name == "fault" and isinstance(piece, BaseException):
                raise piece
            if name == "end":
                return
            yield piece

    def only_piece(self, pause: Callable[[], None]) -> object:
        """The only piece of the oldest order."""
        (piece,) = self.pieces(pause)
        return piece

    def finish(self) -> None:
        """The work is done; it may be given another."""
        self._send(None)

    def kill(self) -> None:
        """Ends it, whatever it does."""
        self._pipe.close()
        self.process.kill()
        self.process.join()

    def _send(self, message: object) -> None:
        try:
            self._pipe.send(message)
        except OSError as error:
            raise self._worker_lost() from error

    def _worker_lost(self) -> RunFault:
        return RunFault(where=f"process {self.process.pid}", why="lost-worker")


def default_count() -> int:
    """One for each processor this process may use, some at most, and two that end sooner; none for one processor, or
    beside threads of others."""
    processors = usable_processors()
    return 0 if processors < 2 or not may_fork() else min(processors, MOST_WORKERS) + 2


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How many workers there are, how many records a portion has, and from how many units on workers are used."""

    count: int = field(default_factory=default_count)
    portion_records: int = 500
    least_units: int = 2_000


class WorkerPool:
    """The workers of an extract, from its start to its end; none where the system has no fork."""

    def __init__(self, size: PoolSize) -> None:
        self.size = size
        self.all: list[Worker] = []
        if not sys.platform.startswith("linux"):
            return
        context = multiprocessing.get_context("fork")
        for _ in range(size.count):
            parent_pipe, child_pipe = context.Pipe()
            process = context.Process(target=_run_worker, args=(child_pipe, os.getpid()), daemon=True)
            process.start()
            child_pipe.close()
            self.all.append(Worker(process, parent_pipe))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.all:
            worker.kill()


def _run_worker(pipe: Connection, parent: int) -> None:
    """Runs in the child: takes works and orders, sends pieces, until the pipe ends."""
    detach_child(parent, pipe.fileno())
    try:
        while True:
            factory: WorkFactory = pipe.recv()
            _carry_out(factory, pipe)
    except (EOFError, OSError):
        os._exit(0)


def _carry_out(factory: WorkFactory, pipe: Connection) -> None:
    try:
        work = factory()
        try:
            while (message := pipe.recv()) is not None:
                work.act(message[0], lambda piece: pipe.send(("piece", piece)))
                pipe.send(_END)
        finally:
            work.close()
    except (EOFError, BrokenPipeError):  # the parent is gone
        raise
    except Exception as fault:  # whatever it is: carried to the parent, which raises it
        pipe.send(("fault", fault))
        raise EOFError from fault

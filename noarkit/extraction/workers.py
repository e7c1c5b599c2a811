"""Child processes that assemble beside this one, each at one work at a time: its orders go in, its pieces come out.

They are made before any file or connection of the extract is open, and by fork alone. `safe.worker_pool` says how they
end and how a fault comes; here is what they are asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, Self

from noarkit.errors import RunFault
from noarkit.safe.children import WorkerLost
from noarkit.safe.processors import usable_processors
from noarkit.safe.worker_pool import ParentPipe, ProcessPool, WorkerProcess, can_use_workers

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

    process: WorkerProcess

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
                while not self.process.has_message(_PATIENCE_S):
                    pause()
                name, piece = self.process.receive()
            except WorkerLost as error:
                raise self._worker_lost() from error
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

    def _send(self, message: object) -> None:
        try:
            self.process.send(message)
        except WorkerLost as error:
            raise self._worker_lost() from error

    def _worker_lost(self) -> RunFault:
        return RunFault(where=f"process {self.process.pid}", why="lost-worker")


def default_count() -> int:
    """One for each processor this process may use, some at most, and two that end sooner; none for one processor, or
    beside threads of others."""
    return min(usable_processors(), MOST_WORKERS) + 2 if can_use_workers() else 0


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
        self._pool = ProcessPool(_take_works)
        count = size.count if sys.platform.startswith("linux") else 0
        self.all = [Worker(self._pool.start()) for _ in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()


def _take_works(parent: ParentPipe) -> None:
    """Runs in the child: takes works one after the other, sends the pieces of their orders."""
    while True:
        factory: WorkFactory = parent.receive()
        work = factory()
        try:
            while (message := parent.receive()) is not None:
                work.act(message[0], lambda piece: parent.send(("piece", piece)))
                parent.send(_END)
        finally:
            work.close()

"""Has pieces of work done by worker processes, several at once, and gives the answers in the order of the pieces.

    for files, answers in answers_in_order(pieces, serve, workers=2):        serve: receives an order, sends its answer
        …

A piece is what its answer is wanted for, and stays here; its order is what is sent. Each worker has some orders
waiting, so that it is never idle while an answer is being used, and no more than these are on the way: memory stays
flat however many pieces there are.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from noarkit.safe.children import WorkerLost
from noarkit.safe.worker_pool import ParentPipe, ProcessPool, WorkerOptions, WorkerProcess

_Piece = TypeVar("_Piece")
_AHEAD = 2
_PIPE_BYTES = 1024 * 1024
LARGEST_ORDER_BYTES = 48 * 1024
"""All the orders that a worker may have waiting have room in its pipe, so that no one waits for us while we wait."""


class PieceLost(WorkerLost):
    """A worker was ended from outside, and `piece` has no answer."""

    def __init__(self, piece: object) -> None:
        super().__init__()
        self.piece = piece


def answers_in_order(
    pieces: Iterable[tuple[_Piece, object]],
    serve: Callable[[ParentPipe], None],
    *,
    workers: int,
    patience_s: float = 0.0,
) -> Generator[tuple[_Piece, Any], None, None]:  # Any: whatever a worker sends
    """Each piece with the answer to its order, an order being no larger than `LARGEST_ORDER_BYTES`.

    Raises what `serve` raises, in its place, and `PieceLost`. At the end each worker may take `patience_s` to tidy up.
    """
    # another thread than the main one may end while answers are still wanted
    outlives_thread = threading.current_thread() is not threading.main_thread()
    pool = ProcessPool(serve, WorkerOptions(outlives_thread=outlives_thread, pipe_bytes=_PIPE_BYTES))
    try:
        free = deque([pool.start() for _ in range(workers)] * _AHEAD)
        busy: deque[tuple[WorkerProcess, _Piece]] = deque()
        for piece, order in pieces:
            answered = None
            if not free:
                answered = _oldest(busy, free)
            worker = free.popleft()
            with suppress(WorkerLost):  # what ended it is in its pipe, behind the answers that it still gave
                worker.send(order)
            busy.append((worker, piece))
            if answered is not None:
                yield answered
        while busy:
            yield _oldest(busy, free)
    finally:
        pool.close(patience_s)


def _oldest(
    busy: deque[tuple[WorkerProcess, _Piece]], free: deque[WorkerProcess]
) -> tuple[_Piece, Any]:  # Any: as above
    worker, piece = busy.popleft()
    try:
        answer = worker.receive()
    except WorkerLost as error:
        raise PieceLost(piece) from error
    free.append(worker)
    return piece, answer

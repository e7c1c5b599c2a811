"""Runs an iterator in a worker process, so that what makes its values and what uses them run side by side.

The values are plain (numbers, texts, lists, dicts, tuples); they come in their order, and a fault comes where it arose.
By fork alone, since `make` is a closure, which could not be pickled.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from functools import partial

from noarkit.errors import PackageFault
from noarkit.safe.children import WorkerLost
from noarkit.safe.worker_pool import END, ParentPipe, ProcessPool, WorkerOptions

_BATCH_SIZE = 100
_PIPE_BYTES = 1024 * 1024
"""Room for some portions, so that neither waits."""


def iterate_in_child(make: Callable[[], Iterator[tuple[object, ...]]], where: str) -> Iterator[tuple[object, ...]]:
    """What `make()` yields, made in a child. Raises what it raises, `PackageFault` where the child is gone."""
    # another thread than the main one may end while the values are still wanted
    outlives_thread = threading.current_thread() is not threading.main_thread()
    options = WorkerOptions(takes_orders=False, outlives_thread=outlives_thread, pipe_bytes=_PIPE_BYTES)
    # Killed at the end, not asked: it only reads, so nothing is left half done.
    with ProcessPool(partial(_send_values, make), options) as pool:
        worker = pool.start()
        while True:
            try:
                values = worker.receive()
            except WorkerLost as error:
                raise PackageFault(where=where, why="lost-worker") from error
            if values is END:
                return
            yield from values


def _send_values(make: Callable[[], Iterator[tuple[object, ...]]], parent: ParentPipe) -> None:
    """All values in portions, those before a fault too."""
    gc.disable()  # plain values make no circles, and looking for them among so many takes a fifth of the time
    batch: list[tuple[object, ...]] = []
    try:
        for value in make():
            batch.append(tuple(value))
            if len(batch) == _BATCH_SIZE:
                parent.send_plain(batch)
                batch.clear()
    finally:
        if batch:
            parent.send_plain(batch)

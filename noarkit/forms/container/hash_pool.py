"""Hashes and copies many files at once: child processes for batches of small ones, threads for large ones.

Small files cost more Python than bytes, so they want processes; hashing a large one lets other threads go on. Answers
come in the order of the files, and only so many files are on the way that memory stays flat. Few files start nothing.
The processes are programs (`safe.line_worker`) and no forks, since there are threads here.
"""

from __future__ import annotations

import os
import queue
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Self

import orjson

from noarkit.errors import PackageFault
from noarkit.forms.container.digests import Hashed, copy_files, hash_files, path_text
from noarkit.safe.children import WorkerLost
from noarkit.safe.line_worker import LineWorker
from noarkit.safe.processors import usable_processors

LARGE_BYTES = 2 * 1024 * 1024
BATCH_FILES = 125
MOST_FILES = 250
BATCH_BYTES = 8 * 1024 * 1024
_FEW_BATCHES = 3
_PROGRAM = "noarkit.forms.container.digests"


class Task(NamedTuple):
    """One file: its name below the root, its size as far as is known, and where it is copied from, if it is."""

    name: str
    size_bytes: int
    source: str = ""


Batch = tuple[Task, ...]


def default_width() -> int:
    """So many at once: the processors this process may use, eight at most."""
    return min(8, usable_processors())


class HashPool:
    """Works on files below one root. `width` is how many at once.

    With `copies` files are copied there, and `lock_fd` is a descriptor that children inherit: its lock is held as long
    as any of them may still write.
    """

    def __init__(
        self,
        root: Path,
        hashes: Sequence[str],
        *,
        copies: bool = False,
        width: int | None = None,
        lock_fd: int | None = None,
    ) -> None:
        self._root = root
        self._hashes = tuple(hashes)
        self._copies = copies
        self._lock_fds = () if lock_fd is None else (lock_fd,)
        self._width = width or default_width()
        self._threads = ThreadPoolExecutor(self._width, thread_name_prefix="noarkit-package")
        self._idle: queue.SimpleQueue[LineWorker | None] = queue.SimpleQueue()
        for _ in range(self._width):
            # None stands for a child that is not started yet: whoever takes it starts one, so few files start nothing.
            self._idle.put(None)
        self._children: list[LineWorker] = []
        self._batches = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            # All inputs first, then the waits: the children end side by side.
            child.close_input()
        for child in self._children:
            child.close()

    def warm(self) -> None:
        """Starts the child processes now, where many small files are sure to come."""
        if self._batches == 0 and self._width > 1:
            self._batches = _FEW_BATCHES
            for _ in range(self._width):
                self._idle.get()
                self._idle.put(self._start_child())

    def _start_child(self) -> LineWorker:
        child = LineWorker(_PROGRAM, "main", inherited_files=self._lock_fds)
        self._children.append(child)
        return child

    def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Hashed]]:
        """Every task with what became of it, in order. A fault in writing is the system's own."""
        waiting: deque[tuple[Batch, Future[list[Hashed]]]] = deque()
        for batch in batches(tasks):
            waiting.append((batch, self._submit(batch)))
            # A little more than can be worked on, so that nobody idles while the oldest answer is being used; and never
            # more, or millions of names would queue up in memory.
            while len(waiting) > self._width + 2:
                yield from self._next_results(waiting)
        while waiting:
            yield from self._next_results(waiting)

    def _next_results(self, waiting: deque[tuple[Batch, Future[list[Hashed]]]]) -> Iterator[tuple[Task, Hashed]]:
        batch, future = waiting.popleft()
        yield from zip(batch, future.result(), strict=True)

    def _submit(self, batch: Batch) -> Future[list[Hashed]]:
        # The first batches go to threads: starting an interpreter costs more than hashing a few hundred files.
        self._batches += len(batch) > 1
        if len(batch) == 1 or self._batches <= _FEW_BATCHES or self._width == 1:
            return self._threads.submit(self._in_thread, batch)
        return self._threads.submit(self._in_child, batch)

    def _in_thread(self, batch: Batch) -> list[Hashed]:
        if self._copies:
            return copy_files(self._root, self._hashes, _pairs(batch))
        return hash_files(self._root, self._hashes, [task.name for task in batch])

    def _in_child(self, batch: Batch) -> list[Hashed]:
        child = self._idle.get()
        try:
            if child is None:
                child = self._start_child()
            return _ask(
                child,
                {
                    "copy": self._copies,
                    "root": path_text(str(self._root)),
                    "hashes": self._hashes,
                    "batch": _pairs(batch) if self._copies else [task.name for task in batch],
                },
            )
        finally:
            self._idle.put(child)


def _pairs(batch: Batch) -> list[tuple[str, str]]:
    return [(path_text(task.source), task.name) for task in batch]


def batches(tasks: Iterable[Task]) -> Iterator[Batch]:
    """Small files by the batch, large ones alone, in order.

    A batch ends where a folder does, if that is near: two processes that write into one folder wait for each other.
    """
    batch: list[Task] = []
    batch_bytes = 0
    for task in tasks:
        large = task.size_bytes >= LARGE_BYTES
        full = len(batch) >= MOST_FILES or batch_bytes >= BATCH_BYTES
        if batch and (large or full or (len(batch) >= BATCH_FILES and _folder(task) != _folder(batch[-1]))):
            yield tuple(batch)
            batch, batch_bytes = [], 0
        if large:
            yield (task,)
        else:
            batch.append(task)
            batch_bytes += task.size_bytes
    if batch:
        yield tuple(batch)


def _folder(task: Task) -> str:
    return task.name[: task.name.rfind("/") + 1]


def _ask(child: LineWorker, order: dict[str, object]) -> list[Hashed]:
    try:
        answer = orjson.loads(child.ask(orjson.dumps(order)))
    except WorkerLost as error:
        raise PackageFault(where=str(order["root"]), why="lost-worker") from error
    if isinstance(answer, dict):
        number = int(answer["errno"] or 0)
        # Raised here as if the write had failed here, so that a full disk is handled in one place.
        raise OSError(number, os.strerror(number), str(answer["where"]))
    return [Hashed(str(why), int(size), tuple(digests), str(stamp)) for why, size, digests, stamp in answer]

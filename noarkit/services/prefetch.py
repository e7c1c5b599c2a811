"""Prefetches pages and runs several calls at once in threads: results keep their order, and the number in flight is
bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

IN_FLIGHT = 4
_PAGES = 2
_WAITING = 4
T = TypeVar("T")
R = TypeVar("R")


def prefetch(source: Iterator[T], most: int = _PAGES) -> Generator[T, None, None]:
    """Prefetches up to `most` items of an iterator in a thread. An exception is raised at its place; None must not be
    among the items."""
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        waiting: deque[Future[T | None]] = deque(pool.submit(next, source, None) for _ in range(most))
        try:
            while (item := waiting.popleft().result()) is not None:
                waiting.append(pool.submit(next, source, None))
                yield item
        finally:
            for future in waiting:
                future.cancel()


def in_order(items: Iterable[T], ask: Callable[[T], R], at_once: int = IN_FLIGHT) -> Iterator[R]:
    """Calls `ask` for each item with `at_once` threads, and yields the results in the order of the items."""
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="asking") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(ask, item))
                if len(waiting) >= at_once * _WAITING:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

"""Calls under way while what came before is worked on: several at once where they do not need each other, always in
their order, and never more than so many."""

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
    """The same things, up to `most` of them asked for before they are wanted, one after the other. What asking raises
    is raised in its place; None is never among them."""
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        waiting: deque[Future[T | None]] = deque(pool.submit(next, source, None) for _ in range(most))
        try:
            while (item := waiting.popleft().result()) is not None:
                waiting.append(pool.submit(next, source, None))
                yield item
        finally:
            for future in waiting:
                future.cancel()


def in_order(things: Iterable[T], ask: Callable[[T], R], at_once: int = IN_FLIGHT) -> Iterator[R]:
    """What is answered for each thing, in the order of the things, `at_once` of them asked about at the same time."""
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="asking") as pool:
        try:
            for item in things:
                waiting.append(pool.submit(ask, item))
                if len(waiting) >= at_once * _WAITING:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

"""Paged lists: a repeated page, a circular cursor or an endless list is a fault; rows that repeat because the list
moved are yielded once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from noarkit.errors import ServiceStrange
from noarkit.safe.spill import KeySet

Row = Mapping[str, object]
MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list. `next` is the cursor of the next page, None at the end; `total` if the service tells it."""

    rows: Sequence[Row]
    next: str | None
    total: int | None = None


def pages(ask: Callable[[str | None], Page], location: str, *, first: str | None = None) -> Iterator[Page]:
    """Yields every page from `first` on. Raises `ServiceStrange` for a circular or endless list."""
    seen_cursors: set[str] = set()
    cursor = first
    for _ in range(MOST_PAGES):
        page = ask(cursor)
        yield page
        if page.next is None:
            return
        if page.next == cursor or page.next in seen_cursors:
            raise ServiceStrange(where=location, why="page-again")
        seen_cursors.add(page.next)
        cursor = page.next
    raise ServiceStrange(where=location, why="no-end")


def rows(source: Iterable[Page], key: Callable[[Row], str], location: str, *, exact: bool = False) -> Iterator[Row]:
    """Yields every row once. Pages with a next one but nothing new raise `ServiceStrange`.

    With `exact`, fewer different rows than the service's own last total raise `ServiceStrange` too.
    """
    total: int | None = None
    with KeySet() as seen_keys:
        idle = 0
        for page in source:
            total = page.total if page.total is not None else total
            fresh = [row for row in page.rows if seen_keys.add(key(row))]
            yield from fresh
            idle = 0 if fresh else idle + 1
            if page.next is not None and idle > 1:
                raise ServiceStrange(where=location, why="page-again")
        if exact and total is not None and seen_keys.count < total:
            raise ServiceStrange(where=location, why="list-incomplete", found=seen_keys.count, total=total)

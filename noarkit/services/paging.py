"""Paged lists: a repeated page, a circular cursor or an endless list is a fault; rows that repeat because the list
moved are yielded once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from noarkit.errors import ServiceStrange
from noarkit.safe.scratch import scratch

Row = Mapping[str, object]
MOST_PAGES = 1_000_000
_FEW = 1_000


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


class KeySet:
    """A set of keys: in memory while small, then in a temporary SQLite file."""

    def __init__(self) -> None:
        self._few: set[str] = set()
        self._many: sqlite3.Connection | None = None
        self.count = 0

    def add(self, key: str) -> bool:
        """Adds a key; True if it is new."""
        if self._many is None:
            if key in self._few:
                return False
            self._few.add(key)
            if len(self._few) > _FEW:
                self._many = _move_to_table(self._few)
        elif self._many.execute("INSERT OR IGNORE INTO seen VALUES (?)", (key,)).rowcount == 0:
            return False
        self.count += 1
        return True

    def has(self, key: str) -> bool:
        """True if the key was added."""
        if self._many is None:
            return key in self._few
        return self._many.execute("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone() is not None

    def close(self) -> None:
        """Closes the temporary file."""
        if self._many is not None:
            self._many.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()


def _move_to_table(few: set[str]) -> sqlite3.Connection:
    """Moves the keys of a set to a table; the set is empty afterwards."""
    many = scratch(8 * 1_024)
    many.execute("CREATE TABLE seen (key TEXT PRIMARY KEY) WITHOUT ROWID")
    many.execute("BEGIN")
    many.executemany("INSERT INTO seen VALUES (?)", ((key,) for key in few))
    few.clear()
    return many

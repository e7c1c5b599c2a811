"""Pages of lists as every stand-in cuts them. How a page is asked for, and how an answer describes it, is the dialect
of each service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page: its rows, how many rows stand before it, and how many the whole list has."""

    rows: Sequence[T]
    begin: int
    total: int

    @property
    def end(self) -> int:
        """How many rows stand before the next page."""
        return self.begin + len(self.rows)

    @property
    def has_more(self) -> bool:
        """True if rows follow."""
        return self.end < self.total


def cut_page(rows: Sequence[T], begin: int, size: int) -> ListPage[T]:
    """Cuts a page of at most `size` rows out of a list, after the first `begin` rows."""
    return ListPage(rows[begin : begin + size], begin, len(rows))


def cut_numbered_page(rows: Sequence[T], number: int, size: int) -> ListPage[T]:
    """Cuts the page of that number, from 1, out of a list."""
    return cut_page(rows, (number - 1) * size, size)

"""Matches `%=` patterns, in which `%` stands for any run of characters, in linear time.

Callers write the patterns, so a regular expression would not do: `%a%a%a%...` backtracks exponentially there. Here the
literal pieces between the `%` are searched from left to right, each at its earliest place. That is enough: a match that
places a piece later also exists with the piece at its earliest place, so nothing is ever tried twice.

    "a%bc%d"   first "a", then "bc" somewhere, last "d"
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache

MATCHES = "MATCHES"
ANY = "%"

# A pattern is a title at the longest; real clients' are shorter than a line.
MAX_LENGTH = 2_000


class Pattern:
    """A parsed pattern: its first and last piece, and the pieces between them."""

    __slots__ = ("_between", "_first", "_is_open", "_last", "_shortest")

    def __init__(self, text: str) -> None:
        self._first, *between = text.split(ANY)
        self._is_open = bool(between)
        self._last = between.pop() if between else ""
        self._between = tuple(filter(None, between))
        self._shortest = len(text) - text.count(ANY)

    def matches(self, text: str) -> bool:
        """True if the whole text matches the pattern."""
        if not self._is_open:
            return text == self._first
        if len(text) < self._shortest or not text.startswith(self._first) or not text.endswith(self._last):
            return False
        position, end = len(self._first), len(text) - len(self._last)
        for piece in self._between:
            position = text.find(piece, position, end)
            if position < 0:
                return False
            position += len(piece)
        return True


def watch_patterns(db: sqlite3.Connection, check_time: Callable[[], None]) -> None:
    """Registers the SQL function `MATCHES(text, pattern)`; it checks the deadline each time, for texts may be long."""

    def matches(text: str | None, pattern: str) -> bool | None:
        check_time()
        return None if text is None else _parse_pattern(pattern).matches(text)

    db.create_function(MATCHES, 2, matches)


@lru_cache(maxsize=64)
def _parse_pattern(pattern: str) -> Pattern:
    return Pattern(pattern)

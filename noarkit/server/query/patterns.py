"""`%=`: a text against a pattern in which `%` stands for any run of characters, in time that grows with their lengths.

The pieces between the signs are looked for one after the other, each as early as it comes; nothing is ever tried twice.
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
    """A pattern, taken apart once."""

    __slots__ = ("_between", "_first", "_is_open", "_last", "_shortest")

    def __init__(self, text: str) -> None:
        self._first, *between = text.split(ANY)
        self._is_open = bool(between)
        self._last = between.pop() if between else ""
        self._between = tuple(filter(None, between))
        self._shortest = len(text) - text.count(ANY)

    def matches(self, text: str) -> bool:
        """Whether the whole text is as the pattern says."""
        if not self._is_open:
            return text == self._first
        if len(text) < self._shortest or not text.startswith(self._first) or not text.endswith(self._last):
            return False
        at, end = len(self._first), len(text) - len(self._last)
        for piece in self._between:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


def watch_patterns(db: sqlite3.Connection, check_time: Callable[[], None]) -> None:
    """Lets SQL ask `MATCHES(text, pattern)`; the clock is looked at each time, for texts may be long."""

    def matches(text: str | None, pattern: str) -> bool | None:
        check_time()
        return None if text is None else _taken_apart(pattern).matches(text)

    db.create_function(MATCHES, 2, matches)


@lru_cache(maxsize=64)
def _taken_apart(pattern: str) -> Pattern:
    return Pattern(pattern)

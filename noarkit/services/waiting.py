"""Waits for a service: each long one is told when it begins, and again every minute while it lasts.

Threads of a connection wait for the same thing, so it is told once for all of them. Short waits that follow one another
are told too once they add up to a minute, so that nobody looks at a silent program for long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from noarkit.events import Event, EventFields

EVENTS: EventFields = {"service_waits": {"connection": "text", "why": "text", "until": "text", "wait_s": "count"}}
WaitReason = Literal["asked", "limit", "again", "job"]
"""The service asked for a pause, a limit of calls is reached, a call that failed is to be made again, or a job has not
ended yet."""
TELL_EVERY_S = 60.0
_TELL_FROM_S = 5.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time by which calls are counted (wall time, if processes share the count), and sleep."""

    now_s: Callable[[], float] = time.time
    sleep_s: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait that is under way: of which connection, why, until when, and how long that is."""

    connection: str
    why: WaitReason
    until_s: float
    left_s: float


OnWait = Callable[[Wait], None]


def ignore_wait(wait: Wait, /) -> None:
    """Tells nobody."""


def wait_event(wait: Wait) -> Event:
    """Returns a wait as the event that tells of it."""
    until = datetime.fromtimestamp(wait.until_s, UTC).isoformat(timespec="seconds")
    data = {"connection": wait.connection, "why": wait.why, "until": until, "wait_s": round(wait.left_s)}
    return Event("service_waits", data)


class WaitReporter:
    """Sleeps for one connection, and tells of it. Safe for threads; `on_wait` is called by one of them at a time."""

    def __init__(self, connection: str = "", on_wait: OnWait = ignore_wait) -> None:
        self._connection = connection
        self._on_wait = on_wait
        self._lock = threading.Lock()
        self._told_at_s = float("-inf")
        self._told_until_s = float("-inf")
        self._untold_s = 0.0

    def sleep(self, clock: Clock, seconds: float, why: WaitReason) -> None:
        """Sleeps for so long."""
        until_s, left_s = clock.now_s() + seconds, seconds
        while left_s > 0:
            part_s = min(left_s, TELL_EVERY_S)
            self._report(Wait(self._connection, why, until_s, left_s), clock.now_s(), part_s)
            clock.sleep_s(part_s)
            left_s -= part_s

    def _report(self, wait: Wait, now_s: float, part_s: float) -> None:
        with self._lock:
            self._untold_s += part_s
            is_long = wait.left_s >= _TELL_FROM_S or self._told_until_s >= now_s or self._untold_s >= TELL_EVERY_S
            is_new = wait.until_s > self._told_until_s + _TELL_FROM_S
            if is_long and (is_new or now_s >= self._told_at_s + TELL_EVERY_S):
                self._told_at_s, self._told_until_s, self._untold_s = now_s, wait.until_s, 0.0
                self._on_wait(wait)

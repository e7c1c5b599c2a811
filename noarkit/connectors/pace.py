"""How often we may ask: several windows at once, exact, and shared by all threads and processes of one credential.

A call is let go only where every window has room, decided in one step; else it waits until the latest of them has. What
was sent is remembered as long as the longest window, by the time its answer came: the service counted it at some moment
before, so no window is ever passed there either. A service that asks us to wait holds back everybody (`penalty`).
"""

from __future__ import annotations

import sqlite3
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import AllowanceSpent, ConfigFault, ServiceBusy

_TOLD_FROM_S = 5.0
_LONGEST_CALL_S = 300.0


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in any span of so many seconds."""

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Clock:
    """The time by which calls are counted (the wall's, where processes share the count), and how to wait."""

    now_s: Callable[[], float] = time.time
    sleep_s: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Answered:
    """What a log says: how long to wait, or the ticket of a call that may go."""

    wait_s: float
    ticket: int = 0


class Log(Protocol):
    """What was sent, oldest first, of one credential."""

    def take(self, rates: Sequence[Rate], now_s: float) -> Answered:
        """Notes a call now where every window has room; else answers how long to wait."""
        ...

    def done(self, ticket: int, now_s: float) -> None:
        """The answer to a call came."""
        ...

    def hold(self, until_s: float) -> None:
        """Lets nothing go before that time."""
        ...


class Pace:
    """Lets calls go as the rates allow. `longest_wait_s` is how long one call may wait before it is `ServiceBusy`."""

    def __init__(
        self,
        rates: Sequence[Rate] = (),
        log: Log | None = None,
        clock: Clock | None = None,
        *,
        longest_wait_s: float = 1_000.0,
        told: Callable[[float], None] | None = None,
    ) -> None:
        judge_rates(rates)
        self._rates = tuple(rates)
        self._log = log or MemoryLog()
        self._clock = clock or Clock()
        self._longest_wait_s = longest_wait_s
        self._told = told

    @contextmanager
    def call(self, where: str) -> Iterator[None]:
        """Waits until a call may be sent; the block sends it. Raises `ServiceBusy` for too long a wait."""
        ticket = self._wait(where)
        try:
            yield
        finally:
            self._log.done(ticket, self._clock.now_s())

    def _wait(self, where: str) -> int:
        spent_s = 0.0
        while True:
            found = self._log.take(self._rates, self._clock.now_s())
            if found.wait_s <= 0:
                return found.ticket
            spent_s += found.wait_s
            if spent_s > self._longest_wait_s:
                raise ServiceBusy(where=where, retry_after_s=round(found.wait_s))
            if found.wait_s >= _TOLD_FROM_S and self._told is not None:
                self._told(found.wait_s)
            self._clock.sleep_s(found.wait_s)

    def penalty(self, wait_s: float) -> None:
        """The service asked us to wait: nobody asks again before."""
        self._log.hold(self._clock.now_s() + wait_s)


def judge_rates(rates: Sequence[Rate]) -> None:
    """Raises `ConfigFault` for rates that cannot be kept."""
    for rate in rates:
        if rate.calls < 1 or not rate.seconds > 0:
            raise ConfigFault(where=f"{rate.calls}/{rate.seconds}", why="rate")


class MemoryLog:
    """The log of one process."""

    def __init__(self) -> None:
        self._sent: dict[int, float] = {}
        self._under_way: set[int] = set()
        self._next = 0
        self._held_s = 0.0
        self._lock = threading.Lock()

    def take(self, rates: Sequence[Rate], now_s: float) -> Answered:
        """Room in every window, or the wait for it."""
        with self._lock:
            if self._held_s > now_s:
                return Answered(self._held_s - now_s)
            if not rates:
                return Answered(0.0)
            span_s = max(rate.seconds for rate in rates)
            for ticket in [one for one, at in self._sent.items() if at <= now_s - span_s]:
                if ticket not in self._under_way:
                    del self._sent[ticket]
            times = [now_s if ticket in self._under_way else at for ticket, at in self._sent.items()]
            wait_s = _wait_s(sorted(times), rates, now_s)
            if wait_s > 0:
                return Answered(wait_s)
            self._next += 1
            self._sent[self._next] = now_s
            self._under_way.add(self._next)
            return Answered(0.0, self._next)

    def done(self, ticket: int, now_s: float) -> None:
        """It was counted by now."""
        with self._lock:
            if ticket in self._under_way:
                self._under_way.discard(ticket)
                self._sent[ticket] = now_s

    def hold(self, until_s: float) -> None:
        """Nothing goes before that time."""
        with self._lock:
            self._held_s = max(self._held_s, until_s)


class SharedLog:
    """The log of a credential in a file that all its processes share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self._open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS call (ticket INTEGER PRIMARY KEY, sent REAL, done REAL)")
            db.execute("CREATE TABLE IF NOT EXISTS held (until REAL)")

    def take(self, rates: Sequence[Rate], now_s: float) -> Answered:
        """Room in every window, or the wait for it, decided in one transaction."""
        span_s = max((rate.seconds for rate in rates), default=0.0)
        with self._open() as db:
            # what a process that died had under way, and what a clock that was put back says, must not hold us for ever
            db.execute("UPDATE call SET done = sent WHERE done IS NULL AND sent < ?", (now_s - _LONGEST_CALL_S,))
            db.execute("DELETE FROM call WHERE done <= ? OR sent > ?", (now_s - span_s, now_s + 1.0))
            held_s = float(db.execute("SELECT coalesce(max(until), 0) FROM held").fetchone()[0])
            if held_s > now_s:
                return Answered(held_s - now_s)
            db.execute("DELETE FROM held")
            rows = db.execute("SELECT coalesce(done, ?) AS at FROM call ORDER BY at", (now_s,)).fetchall()
            wait_s = _wait_s([at for (at,) in rows], rates, now_s)
            if wait_s > 0:
                return Answered(wait_s)
            if not rates:
                return Answered(0.0)
            return Answered(0.0, int(db.execute("INSERT INTO call (sent) VALUES (?)", (now_s,)).lastrowid or 0))

    def done(self, ticket: int, now_s: float) -> None:
        """It was counted by now."""
        if ticket:
            with self._open() as db:
                db.execute("UPDATE call SET done = ? WHERE ticket = ?", (now_s, ticket))

    def hold(self, until_s: float) -> None:
        """Nothing goes before that time, in any process."""
        with self._open() as db:
            db.execute("INSERT INTO held VALUES (?)", (until_s,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            db = sqlite3.connect(self._path, isolation_level=None, timeout=30.0)
            try:
                db.execute("PRAGMA synchronous=OFF")
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            finally:
                db.close()


class Allowance:
    """What may be spent in all: credits of a day, or of a run. Safe for threads."""

    def __init__(self, most: int | None = None, floor: int | None = None) -> None:
        self._most = most
        self._floor = floor
        self._lock = threading.Lock()
        self.spent = 0
        self.remaining: int | None = None

    def spend(self, where: str, cost: int) -> None:
        """Counts what a call costs. Raises `AllowanceSpent` where that is more than is left for us."""
        with self._lock:
            if self._most is not None and self.spent + cost > self._most:
                raise AllowanceSpent(where=where, why="our-limit", spent=self.spent)
            if self._floor is not None and self.remaining is not None and self.remaining - cost < self._floor:
                raise AllowanceSpent(where=where, why="allowance-floor", remaining=self.remaining)
            self.spent += cost

    def told(self, remaining: int) -> None:
        """The service says how much is left."""
        with self._lock:
            self.remaining = remaining


def _wait_s(sent: list[float], rates: Sequence[Rate], now_s: float) -> float:
    """How long until one more call fits in every window; `sent` is sorted, oldest first."""
    wait_s = 0.0
    for rate in rates:
        first = bisect_right(sent, now_s - rate.seconds)
        over = len(sent) - first + 1 - rate.calls
        if over > 0:
            # a moment more than the span, for a server may count both ends
            wait_s = max(wait_s, sent[first + over - 1] + rate.seconds - now_s + 0.001)
    return wait_s

"""Rate limits: several exact sliding windows at once, shared by all threads and processes of one credential.

A call is sent only if every window has room, decided in one step; otherwise it waits. Calls are counted by the time of
their answer, for as long as the longest window: the service counted them at some earlier moment, so no window is
exceeded there either. If a service asks us to wait, all calls wait (`hold_back`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import AllowanceSpent, ConfigFault, ServiceBusy
from noarkit.safe.locks import held_folder_lock
from noarkit.services.waiting import Clock as Clock
from noarkit.services.waiting import WaitReporter

_LONGEST_CALL_S = 300.0
_CLOCKS_DIFFER_S = 1.0
_A_SWEEP = 256
_TABLES = (
    "CREATE TABLE IF NOT EXISTS counted (number INTEGER PRIMARY KEY, at REAL)",
    "CREATE TABLE IF NOT EXISTS under_way (ticket INTEGER PRIMARY KEY AUTOINCREMENT, sent REAL)",
    "CREATE TABLE IF NOT EXISTS held (until REAL)",
)


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit: so many calls in any span of so many seconds."""

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Turn:
    """The answer of a log: how long to wait, or the ticket of a call that may be sent. `is_held` if the service asked
    for the wait."""

    wait_s: float
    ticket: int = 0
    is_held: bool = False


class Log(Protocol):
    """The calls sent with one credential."""

    def take(self, rates: Sequence[Rate], now_s: float) -> Turn:
        """Registers a call now if every window has room; or else returns how long to wait."""
        ...

    def finish(self, ticket: int, now_s: float) -> None:
        """Registers that the answer to a call came."""
        ...

    def hold(self, until_s: float) -> None:
        """Blocks all calls until a time."""
        ...


class Pace:
    """Lets calls go as the rates allow. `longest_wait_s` is how long one call may wait before it raises
    `ServiceBusy`."""

    def __init__(
        self,
        rates: Sequence[Rate] = (),
        log: Log | None = None,
        clock: Clock | None = None,
        *,
        longest_wait_s: float = 1_000.0,
    ) -> None:
        judge_rates(rates)
        self._rates = tuple(rates)
        self._log = log or MemoryLog()
        self._clock = clock or Clock()
        self._longest_wait_s = longest_wait_s

    @contextmanager
    def call(self, location: str, waits: WaitReporter | None = None) -> Iterator[None]:
        """Waits until a call may be sent, and tells `waits`; the block sends it. Raises `ServiceBusy` for too long a
        wait."""
        # A call holds its place from before it is sent until its answer; only then is the time written that windows
        # count by. The service counted somewhere in between, so both ends are safe.
        ticket = self._wait(location, waits or WaitReporter(location))
        try:
            yield
        finally:
            self._log.finish(ticket, self._clock.now_s())

    def _wait(self, location: str, waits: WaitReporter) -> int:
        spent_s = 0.0
        while True:
            turn = self._log.take(self._rates, self._clock.now_s())
            if turn.wait_s <= 0:
                return turn.ticket
            spent_s += turn.wait_s
            if spent_s > self._longest_wait_s:
                raise ServiceBusy(where=location, retry_after_s=round(turn.wait_s))
            waits.sleep(self._clock, turn.wait_s, "asked" if turn.is_held else "limit")

    def hold_back(self, wait_s: float) -> None:
        """Blocks all calls for a while, because the service asked us to wait."""
        self._log.hold(self._clock.now_s() + wait_s)


def judge_rates(rates: Sequence[Rate]) -> None:
    """Raises `ConfigFault` for rates that cannot be kept."""
    for rate in rates:
        if rate.calls < 1 or not rate.seconds > 0:
            raise ConfigFault(where=f"{rate.calls}/{rate.seconds}", why="rate")


class MemoryLog:
    """The call log of one process."""

    def __init__(self) -> None:
        self._answered_at: list[float] = []
        self._in_flight: set[int] = set()
        self._next = 0
        self._hold_until_s = 0.0
        self._lock = threading.Lock()

    def take(self, rates: Sequence[Rate], now_s: float) -> Turn:
        """Takes a place in every window, or returns the wait for it."""
        with self._lock:
            # One lock around question and booking: between two steps another thread could take the last place.
            if self._hold_until_s > now_s:
                return Turn(self._hold_until_s - now_s, is_held=True)
            if not rates:
                return Turn(0.0)
            # Now and then, not on every call: cutting the front of a list costs its whole length.
            if len(self._answered_at) >= _A_SWEEP and self._next % _A_SWEEP == 0:
                span_s = max(rate.seconds for rate in rates)
                del self._answered_at[: bisect_right(self._answered_at, now_s - span_s)]
            wait_s = _wait_s(self._newest, len(self._in_flight), rates, now_s)
            if wait_s > 0:
                return Turn(wait_s)
            self._next += 1
            self._in_flight.add(self._next)
            return Turn(0.0, self._next)

    def finish(self, ticket: int, now_s: float) -> None:
        """Moves a call from those in flight to those counted."""
        with self._lock:
            # Ticket 0 is a call without rates, which is not counted.
            if ticket in self._in_flight:
                self._in_flight.discard(ticket)
                # Times never fall, even when the clock is put back: the list stays sorted, which `_newest` and `bisect`
                # rely on.
                self._answered_at.append(max(now_s, self._answered_at[-1]) if self._answered_at else now_s)

    def hold(self, until_s: float) -> None:
        """Blocks all calls until a time."""
        with self._lock:
            self._hold_until_s = max(self._hold_until_s, until_s)

    def _newest(self, place: int) -> float | None:
        return self._answered_at[-place] if place <= len(self._answered_at) else None


class SharedLog:
    """The call log of a credential, in a SQLite file that all its processes share.

    Answered calls are numbered in order, and their times never fall, so one look at the row that must have left a
    window tells how full it is. The file may be deleted: the next caller creates a new one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._db_identity = (0, 0)
        self._takes = 0

    def take(self, rates: Sequence[Rate], now_s: float) -> Turn:
        """Takes a place in every window, or returns the wait for it, in one transaction."""
        with self._transaction() as db:
            # BEGIN IMMEDIATE takes SQLite's write lock first, so question and booking are one step for all processes.
            hold_until_s = float(db.execute("SELECT coalesce(max(until), 0) FROM held").fetchone()[0])
            if hold_until_s > now_s:
                return Turn(hold_until_s - now_s, is_held=True)
            if hold_until_s:
                db.execute("DELETE FROM held")
            if not rates:
                return Turn(0.0)
            self._tidy(db, max(rate.seconds for rate in rates), now_s)
            (in_flight,) = db.execute("SELECT count(*) FROM under_way").fetchone()
            wait_s = _wait_s(lambda place: _newest(db, place), in_flight, rates, now_s)
            if wait_s > 0:
                return Turn(wait_s)
            return Turn(0.0, int(db.execute("INSERT INTO under_way (sent) VALUES (?)", (now_s,)).lastrowid or 0))

    def finish(self, ticket: int, now_s: float) -> None:
        """Moves a call from those in flight to those counted."""
        if ticket:
            with self._transaction() as db:
                db.execute("DELETE FROM under_way WHERE ticket = ?", (ticket,))
                _note(db, now_s)

    def hold(self, until_s: float) -> None:
        """Blocks all calls until a time, in every process."""
        with self._transaction() as db:
            db.execute("INSERT INTO held VALUES (?)", (until_s,))

    def _tidy(self, db: sqlite3.Connection, span_s: float, now_s: float) -> None:
        """Removes calls of processes that died, and times from a clock that was put back, so that they do not block us
        for ever."""
        expired = db.execute(
            "DELETE FROM under_way WHERE sent < ? OR sent > ? RETURNING sent", _alive(now_s)
        ).fetchall()
        for (sent_s,) in expired:
            if sent_s <= now_s:
                _note(db, sent_s)
        last = _newest(db, 1)
        if last is not None and last > now_s + _CLOCKS_DIFFER_S:
            db.execute("DELETE FROM counted WHERE at > ?", (now_s + _CLOCKS_DIFFER_S,))
        self._takes += 1
        if self._takes % _A_SWEEP == 0:
            db.execute("DELETE FROM counted WHERE at <= ?", (now_s - span_s,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            db = self._current_db()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _current_db(self) -> sqlite3.Connection:
        """Returns the database, opened by this process, and reopened if the file was replaced."""
        with suppress(FileNotFoundError):
            # A SQLite connection must not cross a fork, and a deleted file would go on being written unseen: both show
            # in (process, inode).
            if self._db is not None and self._db_identity == (os.getpid(), self._path.stat().st_ino):
                return self._db
        self._db, self._db_identity = _open_log(self._path), (os.getpid(), self._path.stat().st_ino)
        weakref.finalize(self, self._db.close)
        return self._db


class Allowance:
    """A budget of credits for a day or a run. Safe for threads."""

    def __init__(self, most: int | None = None, floor: int | None = None) -> None:
        self._most = most
        self._floor = floor
        self._lock = threading.Lock()
        self.spent = 0
        self.remaining: int | None = None

    def spend(self, location: str, cost: int) -> None:
        """Counts the cost of a call. Raises `AllowanceSpent` if it is more than is left for us."""
        # Compared and booked in one step, before the call: other threads are about to spend the same credits.
        with self._lock:
            if self._most is not None and self.spent + cost > self._most:
                raise AllowanceSpent(where=location, why="our-limit", spent=self.spent)
            if self._floor is not None and self.remaining is not None and self.remaining - cost < self._floor:
                raise AllowanceSpent(where=location, why="allowance-floor", remaining=self.remaining)
            self.spent += cost

    def update(self, remaining: int) -> None:
        """Updates how much the service says is left."""
        with self._lock:
            self.remaining = remaining


def _wait_s(newest: Callable[[int], float | None], in_flight: int, rates: Sequence[Rate], now_s: float) -> float:
    """Computes how long until one more call fits in every window. `newest(1)` is the time of the last answer,
    `newest(2)` of the one before it; calls in flight count as sent now."""
    wait_s = 0.0
    for rate in rates:
        # Example: 100 calls in 10 s, 3 in flight. One more fits if the 97th newest answer is older than 10 s; else it
        # waits until that one has left the window.
        room = rate.calls - in_flight
        # the call that must leave the window first
        at = now_s if room <= 0 else newest(room)
        if at is not None and at > now_s - rate.seconds:
            # a moment more than the span, since a server may count both ends
            wait_s = max(wait_s, at + rate.seconds - now_s + 0.001)
    return wait_s


def _open_log(path: Path) -> sqlite3.Connection:
    """Opens the file under a lock: only one process may switch to WAL and create the tables."""
    # Switching a new file to WAL fails if another process does so just then; the folder serves as the lock, for it
    # exists.
    with held_folder_lock(path.parent):
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0, check_same_thread=False)
        # synchronous=OFF: a power cut may lose the counts of some seconds, by when the windows have moved on; in return
        # a call costs no fsync.
        for word in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=OFF", *_TABLES):
            db.execute(word)
        return db


def _newest(db: sqlite3.Connection, place: int) -> float | None:
    """Returns the time of the n-th newest answer."""
    query = "SELECT at FROM counted WHERE number = (SELECT max(number) FROM counted) + 1 - ?"
    row = db.execute(query, (place,)).fetchone()
    return None if row is None else float(row[0])


def _note(db: sqlite3.Connection, at: float) -> None:
    """Counts one more answer, with a time no earlier than that of the one before."""
    last = _newest(db, 1)
    db.execute("INSERT INTO counted (at) VALUES (?)", (at if last is None else max(at, last),))


def _alive(now_s: float) -> tuple[float, float]:
    """Returns the times between which a call still in flight was sent."""
    return now_s - _LONGEST_CALL_S, now_s + _CLOCKS_DIFFER_S

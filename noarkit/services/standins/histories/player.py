"""Plays a history in a stand-in: its clock, and the changes that are due by it or by a call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from noarkit.errors import ConfigFault
from noarkit.services.standins.control import Control
from noarkit.services.standins.histories.script import Change, History

Apply = Callable[[Change], str]
"""What a change does to the data of a stand-in; returns the id of the object, empty if there is none to change."""
CLOCK, ZONE = "clock", "zone"
OSLO = timedelta(hours=1)


@dataclass(slots=True)
class HistoryClock:
    """The clock of a stand-in: real, faster, or advanced by calls alone. `zone` is the offset that it writes times
    with. Without a history it is the clock of this machine."""

    start: datetime = field(default_factory=lambda: datetime.now(UTC))
    speed: float = 1.0
    monotonic_s: Callable[[], float] = time.monotonic
    zone: timedelta = OSLO
    _passed_s: float = 0.0
    _offset_s: float = 0.0
    _begun_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun_s = self.monotonic_s()

    @property
    def elapsed_s(self) -> float:
        """The seconds since the history began."""
        return self._passed_s + self.speed * (self.monotonic_s() - self._begun_s)

    def now(self) -> datetime:
        """Returns the time, as the service has it."""
        return self.start + timedelta(seconds=self.elapsed_s + self._offset_s)

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self._passed_s += seconds

    def set_back(self, seconds: float) -> None:
        """Changes how far the service's clock is ahead of the time that passes; negative if it is behind."""
        self._offset_s = seconds


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """A change that happened: the object that it met, empty if there was none."""

    change: Change
    object_id: str
    at: datetime


class HistoryPlayer:
    """The history of one stand-in while it is played. Safe for threads.

    `on_call` is told of every call before it is answered. `on_applied` hears of every change after it happened.
    """

    def __init__(self, history: History, apply: Apply, clock: HistoryClock) -> None:
        self.clock = clock
        self.history = history
        self.applied: list[AppliedChange] = []
        self.on_applied: Callable[[AppliedChange], None] = lambda applied: None
        self._apply = apply
        self._pending = sorted(history.changes, key=lambda change: change.at_s)
        self._waiting: list[tuple[Change, int]] = []  # those that wait for a call, with the calls that they met
        self._is_paused = False
        self._lock = threading.RLock()

    def on_call(self, path: str) -> None:
        """Lets the time of a call pass, and plays what is due before it is answered."""
        with self._lock:
            if self._is_paused:
                return
            self.clock.advance(self.history.call_s)
            self.play_due()
            waiting_changes, self._waiting = self._waiting, []
            for change, call_count in waiting_changes:
                count = call_count + (change.call in path)
                if count >= change.number:
                    self._play(change)
                else:
                    self._waiting.append((change, count))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pauses the history in a block: its calls let no time pass, and nothing happens."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def play_due(self) -> None:
        """Plays the changes whose moment has come."""
        with self._lock:
            while self._pending and self._pending[0].at_s <= self.clock.elapsed_s:
                change = self._pending.pop(0)
                if change.call:
                    self._waiting.append((change, 0))
                else:
                    self._play(change)

    def advance_to(self, elapsed_s: float) -> None:
        """Lets time pass up to a moment of the history; each change happens at its own."""
        with self._lock:
            while self._pending and self._pending[0].at_s <= elapsed_s:
                self.clock.advance(max(0.0, self._pending[0].at_s - self.clock.elapsed_s))
                self.play_due()
            self.clock.advance(max(0.0, elapsed_s - self.clock.elapsed_s))

    def _play(self, change: Change) -> None:
        if change.what == CLOCK:
            self.clock.set_back(float(str(change.values.get("ahead_s", 0))))
            object_id = CLOCK
        elif change.what == ZONE:
            self.clock.zone = timedelta(hours=float(str(change.values.get("hours", 1))))
            object_id = ZONE
        else:
            object_id = self._apply(change)
        applied_change = AppliedChange(change, object_id, self.clock.now())
        self.applied.append(applied_change)
        self.on_applied(applied_change)


def start_player(
    history: History | None, make_changes: Callable[[], Mapping[str, Apply]], clock: HistoryClock, control: Control
) -> HistoryPlayer | None:
    """Builds the player of a stand-in's history, and lets it hear of every call; None without a history. Raises
    `ConfigFault` for a change that it does not know."""
    if history is None:
        return None
    changes = make_changes()
    for change in history.changes:
        if change.what not in changes and change.what not in (CLOCK, ZONE):
            known_changes = ", ".join(sorted({*changes, CLOCK, ZONE}))
            raise ConfigFault(where=f"{change.what} ({known_changes})", why="unknown-change")
    player = HistoryPlayer(history, lambda change: changes[change.what](change), clock)
    control.on_call = player.on_call
    return player


def make_clock(history: History | None) -> HistoryClock:
    """Builds the clock of a stand-in, by its history if it has one."""
    if history is None:
        return HistoryClock()
    return HistoryClock(history.start or datetime.now(UTC), history.speed)


def pick(which: str, ids: Sequence[str]) -> str:
    """Returns the id that a change means: the id itself, or the one at that place, counted around; empty if there is
    none.

    >>> pick("Deals/4", ["a", "b", "c"])
    'b'
    """
    name = which.partition("/")[2]
    if name in ids:
        return name
    return ids[int(name or 0) % len(ids)] if ids and (not name or name.isdigit()) else ""

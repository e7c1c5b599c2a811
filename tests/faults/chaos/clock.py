"""Time for a whole process that waiting alone moves on: nobody waits, and what is due later happens when it is due.

`install` puts it in the place of the clocks of the standard library; it must come before noarkit is imported, because
there the clocks are the defaults of arguments.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable

_monotonic_s, _time_s, _monotonic_ns, _time_ns = time.monotonic, time.time, time.monotonic_ns, time.time_ns
_clock_gettime, _sleep = time.clock_gettime, time.sleep
_NANO = 1_000_000_000

Act = Callable[[], None]


class VirtualTime:
    """The real clocks and what was slept beyond them."""

    def __init__(self) -> None:
        self._offset_s = ctypes.c_double(0.0)
        self._slept: Act = self.catch_up
        self._lock = threading.RLock()
        self._due: list[tuple[float, Act]] = []

    def share(self, offset_s: ctypes.c_double, slept: Act | None = None) -> None:
        """Keeps the offset in memory that another process has, too. Where that one holds what is due, it is told of
        every sleep by `slept`."""
        self._offset_s = offset_s
        self._slept = slept or self.catch_up

    def now_s(self) -> float:
        """The time of day."""
        return _time_s() + self._offset_s.value

    def sleep(self, seconds: float) -> None:
        """Passes time at once."""
        _sleep(0)
        self.advance(seconds)
        self._slept()

    def advance(self, seconds: float) -> None:
        """Moves the clocks on; what has become due waits for the next sleep."""
        with self._lock:
            self._offset_s.value += max(0.0, seconds)

    def later(self, seconds: float, act: Act) -> None:
        """Does something when so much time has passed."""
        with self._lock:
            self._due.append((self.now_s() + seconds, act))

    def catch_up(self) -> None:
        """Does what is due by now."""
        with self._lock:
            now_s = self.now_s()
            ready = [act for at, act in self._due if at <= now_s]
            self._due = [(at, act) for at, act in self._due if at > now_s]
        for act in ready:
            act()

    def install(self) -> None:
        """Takes the place of the clocks of this process."""
        time.sleep = self.sleep  # type: ignore[assignment]  # nobody here sleeps for what is only an index
        time.time = self.now_s
        time.monotonic = lambda: _monotonic_s() + self._offset_s.value
        time.time_ns = lambda: _time_ns() + int(self._offset_s.value * _NANO)
        time.monotonic_ns = lambda: _monotonic_ns() + int(self._offset_s.value * _NANO)
        time.clock_gettime = lambda clock: _clock_gettime(clock) + self._offset_s.value


def really_sleep(seconds: float) -> None:
    """Waits as everybody else does."""
    _sleep(seconds)


PROCESS = VirtualTime()
"""The time of this process, once it is installed."""

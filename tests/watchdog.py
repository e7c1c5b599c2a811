"""Ends a process whose work does not get on, with all that came from it.

How busy the machine is plays no part: what counts is processor time that brings nothing, or no work at all.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.processes import family, processor_s
from tests.waiting import PATIENCE_S

_SIGN_OF_LIFE_S = 0.5
_LOOK_EVERY_S = 0.25


@dataclass(frozen=True)
class Bounds:
    """What a process may take, with all that came from it, before its work must have got on."""

    processor_s: float
    idle_s: float = PATIENCE_S


@dataclass
class Standstill:
    """Since when work does not get on, as one looks at it again and again."""

    bounds: Bounds
    progress: object
    spent_s: float
    _took_s: float = 0.0
    _quiet_s: float = 0.0
    _idle_s: float = 0.0

    def look(self, progress: object, spent_s: float, passed_s: float) -> str:
        """Why the work is to be ended; nothing where it may go on. `passed_s` is the time since the last look."""
        took_s = max(0.0, spent_s - self.spent_s)  # less where a child has ended that nobody waited for
        self.spent_s = spent_s
        self._took_s += took_s
        self._quiet_s += took_s
        self._idle_s += passed_s
        if progress != self.progress:
            self.progress, self._took_s = progress, 0.0
            self._quiet_s = self._idle_s = 0.0
        if self._quiet_s > _SIGN_OF_LIFE_S:
            self._quiet_s = self._idle_s = 0.0
        if self._took_s > self.bounds.processor_s:
            return f"took {self._took_s:.1f} s of a processor and did not get on"
        return f"did nothing for {self._idle_s:.1f} s" if self._idle_s > self.bounds.idle_s else ""


@dataclass
class Watchdog:
    """What it found: `struck` says why it ended the process, and is empty where it did not."""

    pid: int
    progress: Callable[[], object]
    bounds: Bounds
    struck: str = ""
    _ended: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Looks until `end`, or until it has ended the process."""
        standstill = Standstill(self.bounds, self.progress(), processor_s(self.pid))
        # by no clock, since those of some processes are moved on
        while not self.struck and not self._ended.wait(_LOOK_EVERY_S):
            self.struck = standstill.look(self.progress(), processor_s(self.pid), _LOOK_EVERY_S)
        if self.struck:
            for pid in family(self.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Looks no more."""
        self._ended.set()


@contextmanager
def watched(pid: int, progress: Callable[[], object], bounds: Bounds) -> Iterator[Watchdog]:
    """Watches over a process for the length of a block. `progress` is any value that changes when its work gets on."""
    watchdog = Watchdog(pid, progress, bounds)
    thread = threading.Thread(target=watchdog.watch, name="watchdog", daemon=True)
    thread.start()
    try:
        yield watchdog
    finally:
        watchdog.end()
        thread.join()

"""The deadline of a call, checked from inside SQLite while a statement runs, and before each commit."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from noarkit.server.wire import Refusal


class Deadline:
    """When a call must be finished, and the account it works for, because accounts take turns at writing."""

    __slots__ = ("_ends_s", "_limit_s", "_now_s", "account")

    def __init__(self, limit_s: float, account: str = "", now_s: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._now_s = now_s
        self._ends_s = now_s() + limit_s
        self.account = account

    @property
    def is_past(self) -> bool:
        """True once the time is over."""
        return self._now_s() > self._ends_s

    @property
    def remaining_s(self) -> float:
        """How much time is left; never less than 0."""
        return max(0.0, self._ends_s - self._now_s())

    def refusal(self) -> Refusal:
        """The refusal of a call that took too long; nothing of it was kept."""
        return Refusal(400, f"The call takes longer than {self._limit_s:g} s; ask for less at once.")


class CallClock:
    """The deadline of the call that each thread works for; all databases of an archive look at the same clock.

    Work for no call, in the background, has no deadline.
    """

    def __init__(self) -> None:
        self._local = threading.local()
        self._is_stopping = False

    @property
    def deadline(self) -> Deadline | None:
        """The deadline of the call that this thread works for."""
        deadline: Deadline | None = getattr(self._local, "deadline", None)
        return deadline

    @contextmanager
    def within(self, deadline: Deadline) -> Iterator[None]:
        """Interrupts this thread's database statements when the time is over; the call is then refused and undone."""
        self._local.deadline = deadline
        try:
            yield
        except sqlite3.OperationalError as fault:
            if self.is_over() and _is_interruption(fault):
                self.check()
            raise
        finally:
            self._local.deadline = None

    def is_over(self) -> bool:
        """True if this thread works for a call whose time is over, or that must end with the archive."""
        deadline = self.deadline
        return deadline is not None and (self._is_stopping or deadline.is_past)

    def check(self) -> None:
        """Refuses where the call's time is over; for long work between statements."""
        deadline = self.deadline
        if deadline is not None and self._is_stopping:
            raise Refusal(503, "the archive is stopping")
        if deadline is not None and deadline.is_past:
            raise deadline.refusal()

    def stop(self) -> None:
        """Ends all calls at work: none of them commits any more."""
        self._is_stopping = True


def _is_interruption(fault: sqlite3.OperationalError) -> bool:
    """True for the error of a statement that was interrupted, by the progress handler or inside a function of ours."""
    return fault.sqlite_errorname == "SQLITE_INTERRUPT" or "user-defined function" in str(fault)

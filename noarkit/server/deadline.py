"""How long one call may take, looked at from inside SQLite while a statement runs, and before each commit."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from noarkit.server.wire import Refusal


class Deadline:
    """The moment at which a call must be done, and for whom it works: accounts take turns at writing."""

    __slots__ = ("_ends_s", "_limit_s", "_now_s", "account")

    def __init__(self, limit_s: float, account: str = "", now_s: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._now_s = now_s
        self._ends_s = now_s() + limit_s
        self.account = account

    @property
    def passed(self) -> bool:
        """True once the time is over."""
        return self._now_s() > self._ends_s

    @property
    def left_s(self) -> float:
        """How much time is left; never less than 0."""
        return max(0.0, self._ends_s - self._now_s())

    def refusal(self) -> Refusal:
        """What a call is told that was ended; nothing of it was kept."""
        return Refusal(400, f"The call takes longer than {self._limit_s:g} s; ask for less at once.")


class CallClock:
    """The deadline of the call that each thread works for; all databases of an archive look at the same clock.

    Work for no call, in the background, has no deadline.
    """

    def __init__(self) -> None:
        self._local = threading.local()
        self._stopping = False

    @property
    def deadline(self) -> Deadline | None:
        """That of this thread's call."""
        deadline: Deadline | None = getattr(self._local, "deadline", None)
        return deadline

    @contextmanager
    def within(self, deadline: Deadline) -> Iterator[None]:
        """Ends what this thread asks of a database when the time is over: the call is then refused, and undone."""
        self._local.deadline = deadline
        try:
            yield
        except sqlite3.OperationalError as fault:
            if self.is_over() and _is_ended(fault):
                self.check()
            raise
        finally:
            self._local.deadline = None

    def is_over(self) -> bool:
        """True where this thread works for a call whose time is over, or that must end with the archive."""
        deadline = self.deadline
        return deadline is not None and (self._stopping or deadline.passed)

    def check(self) -> None:
        """Refuses where the call's time is over; for long work between statements."""
        deadline = self.deadline
        if deadline is not None and self._stopping:
            raise Refusal(503, "the archive is stopping")
        if deadline is not None and deadline.passed:
            raise deadline.refusal()

    def stop(self) -> None:
        """Ends all calls at work: none of them commits any more."""
        self._stopping = True


def _is_ended(fault: sqlite3.OperationalError) -> bool:
    """True for what SQLite says of a statement that was cut off, by its clock or by a function of ours."""
    return fault.sqlite_errorname == "SQLITE_INTERRUPT" or "user-defined function" in str(fault)

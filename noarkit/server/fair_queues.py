"""Fair sharing between accounts: a lock and a thread pool whose waiting accounts take turns.

Without turns one client that sends a thousand calls would make all others wait until they are done.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from noarkit.server.wire import Refusal

_MOST_WAITING = 2_000

Waiter = TypeVar("Waiter")
Result = TypeVar("Result")


class FairQueues(Generic[Waiter]):
    """A queue of waiters for each account; accounts are served round robin, each queue first in, first out."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Waiter]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def waiting(self, account: str) -> int:
        """How many wait in an account's line."""
        return len(self._lines.get(account, ()))

    def add(self, account: str, waiter: Waiter) -> None:
        """Puts a waiter at the end of its account's line."""
        self._lines.setdefault(account, deque()).append(waiter)

    def remove(self, account: str, waiter: Waiter) -> None:
        """Takes a waiter out who waits no longer."""
        line = self._lines[account]
        line.remove(waiter)
        if not line:
            del self._lines[account]

    def next(self, admits: Callable[[str], bool] = lambda account: True) -> tuple[str, Waiter] | None:
        """Removes and returns the next waiter of an admitted account; the account then goes to the end."""
        account = next(filter(admits, self._lines), None)
        if account is None:
            return None
        line = self._lines[account]
        waiter = line.popleft()
        self._lines.move_to_end(account)
        if not line:
            del self._lines[account]
        return account, waiter


class FairLock:
    """A lock for threads, handed to the waiting accounts in turn.

    `release` hands the lock over by setting the next waiter's event, and `_is_held` stays True meanwhile: no newcomer
    can take it in between. A waiter whose time runs out looks once more while nobody can hand the lock
    over, because it may have been handed to it after its wait ended.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_held = False
        self._lines: FairQueues[threading.Event] = FairQueues()

    def acquire(self, account: str, timeout_s: float | None) -> bool:
        """Waits for the lock; False if it did not come in time."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            waiter = threading.Event()
            self._lines.add(account, waiter)
        if waiter.wait(timeout_s):
            return True
        with self._guard:
            if waiter.is_set():
                return True
            self._lines.remove(account, waiter)
            return False

    def release(self) -> None:
        """Hands the lock to whose turn it is."""
        with self._guard:
            next_waiter = self._lines.next()
            if next_waiter is None:
                self._is_held = False
            else:
                next_waiter[1].set()


class FairThreadPool:
    """A thread pool for all accounts: each has at most `most_each` threads at a time, and waiting accounts take turns.

    To be used from one event loop, which is why its counters need no lock.
    """

    def __init__(self, name: str, threads: int, most_each: int) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._most_each = most_each
        self._busy: dict[str, int] = {}
        self._lines: FairQueues[asyncio.Future[None]] = FairQueues()

    async def run(self, account: str, work: Callable[[], Result], wait_s: float | None = None) -> Result:
        """What `work` returns, run in a thread when the account's turn comes. Refuses with 503 who waits too long."""
        await self._turn(account, wait_s)
        try:
            working = asyncio.get_running_loop().run_in_executor(self._pool, work)
        except BaseException:
            self._release(account)
            raise
        working.add_done_callback(lambda _: self._release(account))
        return await working

    def close(self) -> None:
        """Waits for the work at hand, then ends the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _turn(self, account: str, wait_s: float | None) -> None:
        if self._admits(account):
            self._take(account)
            return
        if self._lines.waiting(account) >= _MOST_WAITING:
            raise Refusal(503, "too many calls of this account are waiting")
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.add(account, waiter)
        try:
            async with asyncio.timeout(wait_s):
                await waiter
        except BaseException as fault:
            if waiter.done() and not waiter.cancelled():
                self._release(account)
            else:
                self._lines.remove(account, waiter)
            if isinstance(fault, TimeoutError):
                raise Refusal(503, "the archive is busy") from None
            raise

    def _admits(self, account: str) -> bool:
        return self._free > 0 and self._busy.get(account, 0) < self._most_each

    def _take(self, account: str) -> None:
        self._free -= 1
        self._busy[account] = self._busy.get(account, 0) + 1

    def _release(self, account: str) -> None:
        self._free += 1
        self._busy[account] -= 1
        if not self._busy[account]:
            del self._busy[account]
        while (next_waiter := self._lines.next(self._admits)) is not None:
            self._take(next_waiter[0])
            next_waiter[1].set_result(None)

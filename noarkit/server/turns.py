"""Whose turn it is: what several accounts share is given to each in turn, however much one of them asks for."""

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


class Lines(Generic[Waiter]):
    """One line of waiters for each account; the lines take turns, and within a line the first comes first."""

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
        """Takes out who comes next, of the accounts that are admitted; their account then goes to the end."""
        account = next(filter(admits, self._lines), None)
        if account is None:
            return None
        line = self._lines[account]
        waiter = line.popleft()
        self._lines.move_to_end(account)
        if not line:
            del self._lines[account]
        return account, waiter


class TurnLock:
    """A lock for threads; who waits gets it in turn, account by account."""

    def __init__(self) -> None:
        self._door = threading.Lock()
        self._held = False
        self._lines: Lines[threading.Event] = Lines()

    def acquire(self, account: str, timeout_s: float | None) -> bool:
        """Waits for the lock; False where it did not come in time."""
        with self._door:
            if not self._held:
                self._held = True
                return True
            mine = threading.Event()
            self._lines.add(account, mine)
        if mine.wait(timeout_s):
            return True
        with self._door:
            if mine.is_set():
                return True
            self._lines.remove(account, mine)
            return False

    def release(self) -> None:
        """Hands the lock to whose turn it is."""
        with self._door:
            following = self._lines.next()
            if following is None:
                self._held = False
            else:
                following[1].set()


class SharedThreads:
    """Threads that work for all accounts: none has more than `most_each` of them at a time, and waiting is by turns.

    To be used from one event loop.
    """

    def __init__(self, name: str, threads: int, most_each: int) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._most_each = most_each
        self._busy: dict[str, int] = {}
        self._lines: Lines[asyncio.Future[None]] = Lines()

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
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.add(account, mine)
        try:
            async with asyncio.timeout(wait_s):
                await mine
        except BaseException as fault:
            if mine.done() and not mine.cancelled():
                self._release(account)
            else:
                self._lines.remove(account, mine)
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
        while (following := self._lines.next(self._admits)) is not None:
            self._take(following[0])
            following[1].set_result(None)

"""What accounts share goes to each in turn: the lock of the writer, and the threads that work for calls."""

from __future__ import annotations

import asyncio
import threading

import pytest

from noarkit.server.fair_queues import FairLock, FairQueues, FairThreadPool
from noarkit.server.wire import Refusal
from tests.waiting import PATIENCE_S, came


def test_lines_take_turns_and_within_a_line_the_first_comes_first() -> None:
    lines: FairQueues[int] = FairQueues()
    for account, waiter in (("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)):
        lines.add(account, waiter)
    order = [lines.next() for _ in range(6)]
    assert order == [("a", 1), ("b", 4), ("c", 5), ("a", 2), ("b", 6), ("a", 3)]
    assert lines.next() is None


def test_lines_pass_over_who_is_not_admitted() -> None:
    lines: FairQueues[int] = FairQueues()
    lines.add("a", 1)
    lines.add("b", 2)
    assert lines.next(lambda account: account != "a") == ("b", 2)
    assert lines.next(lambda account: account != "a") is None
    assert len(lines) == 1


def test_the_lock_goes_to_another_account_before_the_same_one_again() -> None:
    lock, order = FairLock(), list[str]()
    assert lock.acquire("a", None)

    def take(account: str) -> None:
        assert lock.acquire(account, 10)
        order.append(account)
        lock.release()

    threads = []
    for number, account in enumerate(("a", "a", "a", "b")):
        threads.append(threading.Thread(target=take, args=(account,)))
        threads[-1].start()
        assert came(lambda number=number: len(lock._lines) == number + 1)  # type: ignore[misc]  # bound at once
    lock.release()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert order == ["a", "b", "a", "a"]


def test_who_waits_too_long_for_the_lock_leaves_the_line() -> None:
    lock = FairLock()
    assert lock.acquire("a", None)
    assert not lock.acquire("b", 0.01)
    lock.release()
    assert lock.acquire("c", 0.01)


def test_an_account_never_has_all_threads() -> None:
    go_on = threading.Event()

    async def scenario() -> int:
        threads = FairThreadPool("test", 4, 3)
        try:
            many = [asyncio.create_task(threads.run("a", lambda: go_on.wait(PATIENCE_S))) for _ in range(50)]
            await asyncio.sleep(0)
            answer = await asyncio.wait_for(threads.run("b", lambda: 7), PATIENCE_S / 10)
            go_on.set()
            assert all(await asyncio.gather(*many))
            return answer
        finally:
            go_on.set()
            threads.close()

    assert asyncio.run(scenario()) == 7


def test_who_waits_too_long_for_a_thread_is_503_and_leaves_the_line() -> None:
    go_on = threading.Event()

    async def scenario() -> None:
        threads = FairThreadPool("test", 1, 1)
        try:
            working = asyncio.create_task(threads.run("a", lambda: go_on.wait(PATIENCE_S)))
            await asyncio.sleep(0)
            with pytest.raises(Refusal) as refused:
                await threads.run("a", lambda: True, 0.01)
            assert refused.value.status == 503
            go_on.set()
            await working
            assert await threads.run("a", lambda: 7, 5) == 7
        finally:
            go_on.set()
            threads.close()

    asyncio.run(scenario())

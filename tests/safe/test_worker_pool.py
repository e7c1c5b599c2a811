"""Workers in child processes: messages in order and bounded, faults and deaths told, and no worker that is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from noarkit.errors import DiskFull
from noarkit.safe.children import WorkerLost
from noarkit.safe.worker_pool import (
    END,
    ParentLost,
    ParentPipe,
    ProcessPool,
    WorkerOptions,
    WorkerTrace,
    can_use_workers,
    process_context,
    ready_workers,
)
from tests.processes import have_ended, is_alive
from tests.waiting import PATIENCE_S, came

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="functions of a test are not pickled")

TELLS_ONLY = WorkerOptions(takes_orders=False)
_ORPHANS = """
import os, signal, sys, time
from noarkit.safe.worker_pool import ProcessPool, WorkerOptions

def work(parent):
    parent.send(os.getpid())
    while True:
        {life}

pool = ProcessPool(work, WorkerOptions(outlives_thread={outlives}))
print(*(pool.start().receive() for _ in range(3)), flush=True)
{end}
"""


def test_messages_of_a_worker_come_in_its_order_whatever_they_are() -> None:
    def work(parent: ParentPipe) -> None:
        for number in range(1_000):
            parent.send({number} if number % 3 else Path(str(number)))
            parent.send_plain([number, "\udcff", b"\x80", {"a": None}])

    with ProcessPool(work, TELLS_ONLY) as pool:
        worker = pool.start()
        for number in range(1_000):
            assert worker.receive() == ({number} if number % 3 else Path(str(number)))
            assert worker.receive() == [number, "\udcff", b"\x80", {"a": None}]
        assert worker.receive() is END


def test_orders_are_carried_out_in_the_order_they_were_given() -> None:
    def work(parent: ParentPipe) -> None:
        while True:
            parent.send(parent.receive() * 2)

    with ProcessPool(work) as pool:
        workers = [pool.start() for _ in range(3)]
        assert len({worker.pid for worker in workers}) == 3
        for number in range(100):
            workers[number % 3].send(number)
        assert [workers[number % 3].receive() for number in range(100)] == [2 * number for number in range(100)]


def test_a_worker_that_is_killed_is_lost_and_its_siblings_go_on() -> None:
    def work(parent: ParentPipe) -> None:
        parent.send("begun")
        parent.send(parent.receive())

    with ProcessPool(work) as pool:
        first, second = pool.start(), pool.start()
        assert [first.receive(), second.receive()] == ["begun", "begun"]
        os.kill(first.pid, signal.SIGKILL)
        assert ready_workers([first, second], 10) == [first]
        with pytest.raises(WorkerLost):
            first.receive()
        with pytest.raises(WorkerLost):
            _send_until_lost(partial(first.send, "x"))
        assert pool.reap(first) == -signal.SIGKILL
        second.send("done")
        assert [second.receive(), second.receive()] == ["done", END]
        assert pool.workers == [second]


def test_a_fault_comes_as_it_is_after_what_was_sent_before_it() -> None:
    def work(parent: ParentPipe) -> None:
        parent.send(1)
        raise DiskFull(where="there")

    with ProcessPool(work, TELLS_ONLY) as pool:
        worker = pool.start()
        assert worker.receive() == 1
        with pytest.raises(DiskFull) as caught:
            worker.receive()
    assert caught.value.data == {"where": "there"}
    assert isinstance(caught.value.__cause__, WorkerTrace)
    assert 'raise DiskFull(where="there")' in str(caught.value.__cause__)


@pytest.mark.parametrize("unreadable", [True, False])
def test_a_fault_that_cannot_be_carried_is_told_as_text(unreadable: bool) -> None:
    class Local(Exception):
        """Cannot be pickled."""

    def work(parent: ParentPipe) -> None:
        raise UnicodeDecodeErrorOfTwo("here", "why") if unreadable else Local("here")

    with ProcessPool(work, TELLS_ONLY) as pool, pytest.raises(WorkerTrace, match="here"):
        pool.start().receive()


class UnicodeDecodeErrorOfTwo(Exception):
    """Is pickled, and cannot be read again: it wants two words, and keeps one."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}")

    def __reduce__(self) -> tuple[type[Exception], tuple[object, ...]]:
        return type(self), self.args  # as it is by itself, but that a library of the cluster's would mend


def test_a_fault_may_be_left_to_the_worker_which_is_lost_then(capfd: pytest.CaptureFixture[str]) -> None:
    def work(parent: ParentPipe) -> None:
        raise ValueError("told by the worker")

    with ProcessPool(work, WorkerOptions(keeps_files=True, tells_faults=False)) as pool:
        worker = pool.start()
        with pytest.raises(WorkerLost):
            worker.receive()
        assert pool.reap(worker) == 1
    assert "ValueError: told by the worker" in capfd.readouterr().err


def test_a_worker_that_is_ahead_waits_until_its_messages_are_taken() -> None:
    sent = process_context().Value("q", 0)

    def work(parent: ParentPipe) -> None:
        while True:
            parent.send(bytes(1024))
            sent.value += 1

    with ProcessPool(work, TELLS_ONLY) as pool:
        worker = pool.start()
        ahead = _steady(lambda: sent.value)
        assert 0 < ahead <= 64  # a pipe of Linux has room for 64 KiB
        for _ in range(500):
            worker.receive()
        assert came(lambda: sent.value > 500)
        assert _steady(lambda: sent.value) <= 500 + 64


@pytest.mark.parametrize(("life", "outlives"), [("time.sleep(600)", False), ("parent.receive()", True)])
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(0)", "raise KeyError"])
def test_no_worker_outlives_its_parent_however_it_ends(life: str, outlives: bool, end: str) -> None:
    """One that never looks at its pipe ends too, unless it is to outlive a thread."""
    pids = _orphans(_ORPHANS.format(life=life, outlives=outlives, end=end), signal.SIGKILL if "SIGKILL" in end else 0)
    assert len(pids) == 3


def test_a_worker_that_waits_for_room_does_not_keep_its_parent_from_ending() -> None:
    _orphans(_ORPHANS.format(life="parent.send(bytes(4096))", outlives=False, end="sys.exit(0)"), 0)


def test_a_pool_that_is_left_open_ends_with_its_last_user() -> None:
    pool = ProcessPool(_wait_for_end)
    pids = {pool.start().pid for _ in range(2)}
    assert pids <= _children()
    del pool
    assert not pids & _children()


@pytest.mark.parametrize("keeps_files", [True, False])
def test_each_worker_sees_its_own_end_while_its_siblings_live(keeps_files: bool) -> None:
    with ProcessPool(_wait_for_end, WorkerOptions(keeps_files=keeps_files)) as pool:
        first, second = pool.start(), pool.start()
        first.let_go()
        assert first.has_ended(PATIENCE_S) and not second.has_ended(0.1)


def test_closing_waits_for_who_ends_by_itself_and_kills_who_does_not(tmp_path: Path) -> None:
    def tidy(parent: ParentPipe) -> None:
        parent.send("begun")
        try:
            parent.receive()
        except ParentLost:
            time.sleep(0.2)
            (tmp_path / "tidy").touch()
            raise

    def hang(parent: ParentPipe) -> None:
        parent.send("begun")
        time.sleep(600)

    for run, patience_s in ((tidy, PATIENCE_S), (hang, 0.2)):
        pool = ProcessPool(run)
        assert pool.start().receive() == "begun"
        began = time.monotonic()
        pool.close(patience_s)
        assert 0.2 <= time.monotonic() - began < PATIENCE_S / 2
        assert not _children()
    assert (tmp_path / "tidy").exists()


def test_signals_of_a_terminal_are_the_parents() -> None:
    def work(parent: ParentPipe) -> None:
        parent.send("begun")
        parent.send(parent.receive())

    with ProcessPool(work) as pool:
        worker = pool.start()
        assert worker.receive() == "begun"
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(worker.pid, number)
        worker.send("alive")
        assert worker.receive() == "alive"


@pytest.mark.parametrize("keeps_files", [True, False])
def test_a_worker_holds_files_of_its_parent_only_where_it_is_to(tmp_path: Path, keeps_files: bool) -> None:
    def work(parent: ParentPipe) -> None:
        parent.send([entry.readlink() for entry in list(Path("/proc/self/fd").iterdir()) if entry.exists()])

    with (tmp_path / "mine").open("wb"), ProcessPool(work, WorkerOptions(keeps_files=keeps_files)) as pool:
        assert ((tmp_path / "mine") in pool.start().receive()) == keeps_files


def test_a_worker_outlives_the_thread_that_started_it_where_it_is_to() -> None:
    def work(parent: ParentPipe) -> None:
        parent.send(parent.receive())

    with ProcessPool(work, WorkerOptions(outlives_thread=True)) as pool:
        thread = threading.Thread(target=pool.start)
        thread.start()
        thread.join()
        (worker,) = pool.workers
        worker.send("alive")
        assert worker.receive() == "alive"


def test_a_pool_starts_nothing_by_itself() -> None:
    before = _children()
    with ProcessPool(_wait_for_end) as pool:
        assert _children() == before
        assert pool.workers == [] and ready_workers([], 0) == []


def test_workers_are_of_use_only_beside_another_processor_and_no_foreign_thread() -> None:
    program = (
        "import os, threading\nfrom noarkit.safe.worker_pool import can_use_workers\n"
        "all_of_them = os.sched_getaffinity(0)\nos.sched_setaffinity(0, {min(all_of_them)})\nprint(can_use_workers())\n"
        "os.sched_setaffinity(0, all_of_them)\nprint(can_use_workers())\nstop = threading.Event()\n"
        "threading.Thread(target=stop.wait).start()\nprint(can_use_workers())\nstop.set()\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    alone, free, threaded = ran.stdout.split()
    assert (alone, threaded) == ("False", "False")
    if can_use_workers():
        assert free == "True"


def _wait_for_end(parent: ParentPipe) -> None:
    parent.receive()


def _children() -> set[int]:
    return {child.pid or 0 for child in multiprocessing.active_children()}


def _send_until_lost(send: Callable[[], None]) -> None:
    for _ in range(1_000):
        send()


def _steady(look: Callable[[], int]) -> int:
    """A number once it has stopped to grow."""
    number, since = look(), time.monotonic()
    while time.monotonic() - since < 0.3 or not number:
        time.sleep(0.02)
        if look() != number:
            number, since = look(), time.monotonic()
    return number


def _orphans(program: str, killed_by: int) -> list[int]:
    """The workers of a program that ends; waits until they have too."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        try:
            process.wait(PATIENCE_S)
            assert have_ended(pids), "workers outlive their parent"
        finally:
            for pid in filter(is_alive, (process.pid, *pids)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    if killed_by:
        assert process.returncode == -killed_by
    return pids

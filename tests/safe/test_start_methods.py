"""What workers promise holds however they are started: forked, as on Linux, or spawned, as on Windows and macOS."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from noarkit.safe.children import WorkerLost
from noarkit.safe.signals import kill
from noarkit.safe.worker_pool import (
    END,
    ParentPipe,
    ProcessPool,
    WorkerOptions,
    WorkerTrace,
    can_be_given,
    can_use_workers,
    process_context,
    ready_workers,
)
from noarkit.secrets import Secret

TELLS_ONLY = WorkerOptions(takes_orders=False)


@pytest.fixture(params=["fork", "spawn"], autouse=True)
def start_method(request: pytest.FixtureRequest) -> Iterator[str]:
    """As a program that imports noarkit chooses it."""
    before = multiprocessing.get_start_method(allow_none=True)
    method: str = request.param
    multiprocessing.set_start_method(method, force=True)
    try:
        yield method
    finally:
        multiprocessing.set_start_method(before, force=True)


def _answer(parent: ParentPipe) -> None:
    while True:
        message = parent.receive()
        parent.send(message * 2)
        parent.send_plain({"pid": os.getpid()})


def _break(parent: ParentPipe) -> None:
    parent.send("before")
    raise ValueError("from the worker")


def _count(counter: object, parent: ParentPipe) -> None:
    with counter.get_lock():  # type: ignore[attr-defined]  # a value that processes share
        counter.value += 1  # type: ignore[attr-defined]  # as above


def _reveal(secret: Secret, place: Path, parent: ParentPipe) -> None:
    place.write_text(secret.reveal(), "utf-8")


def test_workers_are_started_as_the_program_chose(start_method: str) -> None:
    assert process_context().get_start_method() == start_method
    if start_method == "spawn":
        assert not can_use_workers()  # they take longer to start than what they would save


def test_messages_go_both_ways_and_a_worker_ends_with_its_pipe() -> None:
    with ProcessPool(_answer) as pool:
        worker = pool.start()
        worker.send("ab")
        assert worker.receive() == "abab"
        assert worker.receive() == {"pid": worker.pid}
        assert worker.pid != os.getpid()
        worker.let_go()
        assert worker.has_ended(60)


def test_a_fault_is_raised_after_what_was_sent_before_it() -> None:
    with ProcessPool(_break, TELLS_ONLY) as pool:
        worker = pool.start()
        assert worker.receive() == "before"
        with pytest.raises(ValueError, match="from the worker") as caught:
            worker.receive()
        assert isinstance(caught.value.__cause__, WorkerTrace)


def test_one_that_is_killed_is_lost_and_its_sibling_goes_on() -> None:
    with ProcessPool(_answer) as pool:
        first, second = pool.start(), pool.start()
        for worker in (first, second):
            worker.send(1)
            assert worker.receive() == 2
            worker.receive()
        kill(first.pid)
        with pytest.raises(WorkerLost):
            first.receive()
        assert pool.reap(first) != 0
        second.send(3)
        assert ready_workers([second], 60) == [second]
        assert second.receive() == 6


def test_a_counter_is_shared() -> None:
    counter = process_context().Value("q", 0)
    with ProcessPool(partial(_count, counter), TELLS_ONLY) as pool:
        for worker in [pool.start() for _ in range(2)]:
            assert worker.receive() is END
    assert counter.value == 2


def test_a_secret_reaches_a_worker_and_nothing_else(tmp_path: Path) -> None:
    with ProcessPool(partial(_reveal, Secret("hemmelig"), tmp_path / "seen"), TELLS_ONLY) as pool:
        assert pool.start().receive() is END
    assert (tmp_path / "seen").read_text("utf-8") == "hemmelig"
    with pytest.raises(TypeError):
        pickle.dumps(Secret("hemmelig"))


def test_what_cannot_be_given_to_a_worker_is_known_before(start_method: str, tmp_path: Path) -> None:
    import sqlite3

    with closing(sqlite3.connect(tmp_path / "db")) as database:
        assert can_be_given(partial(_reveal, Secret("a"), tmp_path))
        assert can_be_given(partial(_count, database)) == (start_method == "fork")
    with pytest.raises(TypeError):
        pickle.dumps(Secret("a"))  # asking has opened no door

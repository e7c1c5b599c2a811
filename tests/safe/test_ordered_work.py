"""Pieces done by several workers: in order whoever is slow, few at a time, and a worker that dies names its piece."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from noarkit.errors import DiskFull
from noarkit.safe.ordered_work import PieceLost, answers_in_order
from noarkit.safe.worker_pool import ParentLost, ParentPipe
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="functions of a test are not pickled")


def _squares(parent: ParentPipe) -> None:
    while True:
        number = parent.receive()
        time.sleep(0.02 if number % 7 == 0 else 0)
        parent.send_plain(number * number)


def _numbers(count: int) -> Iterator[tuple[str, object]]:
    return ((f"piece {number}", number) for number in range(count))


def test_answers_come_in_the_order_of_the_pieces_whichever_worker_is_slow() -> None:
    answers = list(answers_in_order(_numbers(100), _squares, workers=3))
    assert answers == [(f"piece {number}", number * number) for number in range(100)]
    assert not multiprocessing.active_children()


def test_few_pieces_are_taken_before_their_answers_are_wanted() -> None:
    taken = 0

    def pieces() -> Iterator[tuple[int, object]]:
        nonlocal taken
        for number in range(1_000):
            taken += 1
            yield number, number

    for used, _ in enumerate(answers_in_order(pieces(), _squares, workers=2), 1):
        assert taken <= used + 4


def test_a_fault_is_raised_in_its_place() -> None:
    def serve(parent: ParentPipe) -> None:
        while True:
            number = parent.receive()
            if number == 5:
                raise DiskFull(where="/there")
            parent.send_plain(number)

    answers = answers_in_order(_numbers(20), serve, workers=2)
    assert [next(answers)[1] for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(DiskFull):
        next(answers)
    assert not multiprocessing.active_children()


def test_a_worker_that_is_killed_at_a_piece_names_the_piece() -> None:
    def serve(parent: ParentPipe) -> None:
        while True:
            number = parent.receive()
            if number == 6:
                os.kill(os.getpid(), signal.SIGKILL)
            parent.send_plain(number)

    seen: list[object] = []
    with pytest.raises(PieceLost) as lost:
        seen.extend(answers_in_order(_numbers(50), serve, workers=2))
    assert lost.value.piece == "piece 6"


def test_a_worker_that_died_is_noticed_when_it_is_given_more() -> None:
    def serve(parent: ParentPipe) -> None:
        parent.send_plain(parent.receive())
        os.kill(os.getpid(), signal.SIGKILL)

    def pieces() -> Iterator[tuple[int, object]]:
        for number in range(10):
            time.sleep(0.1)
            yield number, number

    seen: list[object] = []
    with pytest.raises(PieceLost) as lost:
        seen.extend(answers_in_order(pieces(), serve, workers=1))
    assert (seen, lost.value.piece) == ([(0, 0)], 1)


def test_a_fault_before_the_first_order_is_raised_however_late_that_comes() -> None:
    def serve(parent: ParentPipe) -> None:
        del parent
        raise DiskFull(where="/there")

    def pieces() -> Iterator[tuple[int, object]]:
        for number in range(10):
            time.sleep(0.1)
            yield number, number

    with pytest.raises(DiskFull):
        list(answers_in_order(pieces(), serve, workers=2))


def test_whoever_stops_early_leaves_no_worker_and_each_may_tidy_up(tmp_path: os.PathLike[str]) -> None:
    def serve(parent: ParentPipe) -> None:
        try:
            while True:
                parent.send_plain(parent.receive())
        except ParentLost:
            open(f"{os.fspath(tmp_path)}/{os.getpid()}", "w").close()  # noqa: PTH123  # in a child that ends
            raise

    answers = answers_in_order(_numbers(1_000), serve, workers=2, patience_s=PATIENCE_S)
    next(answers)
    answers.close()
    assert len(os.listdir(tmp_path)) == 2  # noqa: PTH208  # names alone
    assert not multiprocessing.active_children()

"""What is asked for ahead comes in its order, never more at once than was said, and a fault comes in its place."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from noarkit.services.prefetch import in_order, prefetch
from tests.waiting import PATIENCE_S


class Desk:
    """Answers once as many ask as may at once, and counts how many ever did."""

    def __init__(self, at_once: int) -> None:
        self.most = 0
        self._here = 0
        self._lock = threading.Lock()
        self._together = threading.Barrier(at_once)

    def ask(self, number: int) -> int:
        """The number back, after the others who may be here are here."""
        with self._lock:
            self._here += 1
            self.most = max(self.most, self._here)
        self._together.wait(PATIENCE_S)
        with self._lock:
            self._here -= 1
        return number


@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_answers_come_in_the_order_of_the_questions_and_so_many_are_asked_at_once(at_once: int) -> None:
    desk = Desk(at_once)
    assert list(in_order(range(40), desk.ask, at_once)) == list(range(40))
    assert desk.most == at_once


def test_a_fault_comes_in_its_place_and_little_is_asked_beyond_it() -> None:
    asked: list[int] = []

    def ask(number: int) -> int:
        asked.append(number)
        if number == 5:
            raise ValueError(number)
        return number

    found = in_order(range(1_000), ask, 2)
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="5"):
        next(found)
    assert len(asked) < 40


def test_things_are_fetched_ahead_but_no_further_than_was_said() -> None:
    fetched: list[int] = []

    def things() -> Iterator[int]:
        for number in range(100):
            fetched.append(number)
            yield number

    found = prefetch(things(), 3)
    assert next(found) == 0
    found.close()
    assert len(fetched) <= 4
    assert list(prefetch(iter(range(10)))) == list(range(10))


def test_what_fetching_raises_is_raised_where_it_would_have_been() -> None:
    def things() -> Iterator[int]:
        yield 1
        yield 2
        raise KeyError("gone")

    found = prefetch(things())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(KeyError):
        next(found)

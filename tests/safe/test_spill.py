"""Sets of keys, in memory and in the file that they spill to: whatever the key, and however many there are."""

from __future__ import annotations

import pytest

from noarkit.safe.spill import KeySet

ODD_KEYS = ["", "a", "A", "Å", "A\u030a", "b\udce5.txt", "a\0b", "x" * 100_000, "1", "01"]


@pytest.mark.parametrize("in_memory", [0, 3, 1_000])
def test_each_key_is_new_once_wherever_it_is_kept(in_memory: int) -> None:
    with KeySet(in_memory) as keys:
        assert [keys.add(key) for key in ODD_KEYS] == [True] * len(ODD_KEYS)
        assert [keys.add(key) for key in ODD_KEYS] == [False] * len(ODD_KEYS)
        assert all(map(keys.has, ODD_KEYS))
        assert not keys.has("b")
        assert keys.count == len(ODD_KEYS)


@pytest.mark.parametrize("in_memory", [0, 3, 1_000])
def test_how_often_a_key_came_is_counted_wherever_it_is_kept(in_memory: int) -> None:
    with KeySet(in_memory) as keys:
        keys.add("a")
        times = [keys.count_up(key) for key in ["a", "b", "c", "d", "a", "d", "d", "b\udce5.txt", "b\udce5.txt"]]
        assert times == [2, 1, 1, 1, 3, 2, 3, 1, 2]
        assert keys.count == 5
        assert not keys.add("d")


def test_few_keys_stay_in_memory_and_many_take_none() -> None:
    with KeySet(10) as keys:
        for number in range(1_000):
            keys.add(str(number))
        assert len(keys._times) == 10
        assert keys.count == 1_000

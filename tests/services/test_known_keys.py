"""Reading the keys that an archive holds costs as much for each of many as for each of a few."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from noarkit.services.known_keys import KnownKeys, add_known_keys

_A_STEP = 100  # of SQLite's own instructions


def _steps_to_read(path: Path, count: int) -> int:
    """Reads so many keys of a prefix, and returns the steps that SQLite took for it."""
    keys = [f"7:Deals:{number:07d}" for number in range(count)]
    add_known_keys(path, "archive", [*keys, "8:Deals:1"], [], at_s=1.0)
    steps = 0

    def count_step() -> None:
        nonlocal steps
        steps += 1

    with closing(KnownKeys(path)) as known_keys:
        assert known_keys._db is not None
        known_keys._db.set_progress_handler(count_step, _A_STEP)
        assert list(known_keys.under("7:")) == keys
    return steps


def test_four_times_as_many_keys_take_about_four_times_as_many_steps(tmp_path: Path) -> None:
    few, many = _steps_to_read(tmp_path / "few.db", 5_000), _steps_to_read(tmp_path / "many.db", 20_000)
    assert 3 * few < many < 5 * few


def test_keys_at_the_edges_of_pages_and_prefixes_are_each_read_once(tmp_path: Path) -> None:
    keys = sorted([*(f"7:{number:04d}" for number in range(1_999)), "7:", "7:0999\x01", "7:\U0010fffe"])
    add_known_keys(tmp_path / "known.db", "archive", [*keys, "7", "7;"], ["7:0500"], at_s=1.0)
    with closing(KnownKeys(tmp_path / "known.db")) as known_keys:
        assert list(known_keys.under("7:")) == [key for key in keys if key != "7:0500"]
        assert list(known_keys.under("9:")) == [] and not known_keys.has_any("9:")


def test_a_key_that_begins_with_another_is_not_lost_between_two_pages(tmp_path: Path) -> None:
    keys = sorted([*(f"7:{number:04d}" for number in range(1_000)), "7:0999:", "7:0999\x00", "7:09990"])
    add_known_keys(tmp_path / "known.db", "archive", keys, [], at_s=1.0)
    with closing(KnownKeys(tmp_path / "known.db")) as known_keys:
        assert list(known_keys.under("7:")) == keys

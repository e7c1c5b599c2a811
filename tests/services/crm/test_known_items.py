"""What the archive holds of a CRM is compared with its lists at the same cost for each item, however many there are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from noarkit.services.crm.known_items import KnownItems
from noarkit.services.known_keys import KnownKeys, add_known_keys

_A_STEP = 100  # of SQLite's own instructions


def _known_items(path: Path, count: int) -> KnownItems:
    keys = [f"7:Deals:{number % 50:02d}:note:{number:07d}" for number in range(count)]
    add_known_keys(path, "archive", [*keys, "7:Deals:1:snapshot"], [], at_s=1.0)
    return KnownItems(KnownKeys(path), "7")


def _steps_to_read(path: Path, count: int) -> int:
    """Reads so many notes that nobody listed, and returns the steps that SQLite took for it."""
    steps = 0

    def count_step() -> None:
        nonlocal steps
        steps += 1

    with closing(_known_items(path, count)) as known_items:
        known_items._db.set_progress_handler(count_step, _A_STEP)
        assert sum(1 for _ in known_items.unlisted("Notes")) == count
    return steps


def test_four_times_as_many_unlisted_items_take_about_four_times_as_many_steps(tmp_path: Path) -> None:
    few, many = _steps_to_read(tmp_path / "few.db", 5_000), _steps_to_read(tmp_path / "many.db", 20_000)
    assert 3 * few < many < 5 * few


def test_items_that_are_listed_meanwhile_are_left_out_and_all_others_come_once(tmp_path: Path) -> None:
    with closing(_known_items(tmp_path / "known.db", 2_500)) as known_items:
        ids: list[str] = []
        for item in known_items.unlisted("Notes"):
            ids.append(item.id)
            if len(ids) == 1:
                known_items.mark_listed("Notes", "0002400")
    assert sorted(ids) == [f"{number:07d}" for number in range(2_500) if number != 2_400]

"""Verifications while the network fails and lies: no difference that is none, no fault that only a middlebox has.

`scripts/faults verify --seeds A-B` plays as many schedules as one likes; the suite takes a few, `scripts/faults` 400.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.faults.chaos.proxy import Fault
from tests.faults.proving.schedules import LIES, schedule_of
from tests.faults.world import ROOT

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
UNTOUCHED = 2
"""A seed whose load is in peace, and whose archive is not harmed."""
pytestmark = pytest.mark.usefixtures("reference")


def play(*options: str) -> str:
    """Plays schedules in a process whose clocks are its own; what it said."""
    command = [sys.executable, "-m", "tests.faults.proving", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600 if DEEP else 300, check=False)
    return done.stdout[-20_000:] + done.stderr[-4_000:]


def test_random_schedules_never_call_an_untouched_archive_different_nor_a_harmed_one_good() -> None:
    """Seven of them, with loads in trouble, a harmed archive and each kind of call; deep, 400."""
    told = play("--seeds", *(["1-400"] if DEEP else ["16-22"]))
    assert ", 0 wrong," in told, told
    assert re.search("'harmed': [1-9].*'loads': [1-9]", told), told


@pytest.mark.parametrize("lie", LIES)
def test_a_difference_that_is_there_once_is_no_difference(lie: str) -> None:
    """A lie about which keys there are, which the second look does not meet: run again, says the first verification."""
    faults = [{"call": "query", "nth": 1, "kind": f"before:{lie}"}]
    told = play("--seeds", str(UNTOUCHED), "--faults", json.dumps(faults))
    assert ", 0 wrong," in told and "'exit 5': 1" in told, told


def test_a_page_of_a_proxy_in_place_of_a_token_says_nothing_of_the_account() -> None:
    told = play(
        "--seeds", str(UNTOUCHED), "--faults", json.dumps([{"call": "token", "nth": 1, "kind": "before:page404"}])
    )
    assert ", 0 wrong," in told, told


def test_a_seed_always_means_the_same_and_lies_once_at_most() -> None:
    schedules = [schedule_of(seed) for seed in range(300)]
    assert schedules == [schedule_of(seed) for seed in range(300)]
    lies = [[fault for fault in schedule.faults if fault.kind.partition(":")[2] in LIES] for schedule in schedules]
    assert all(len(told) <= 1 and all(fault.times == 1 for fault in told) for told in lies)
    assert not any(schedule.harm and schedule.lies for schedule in schedules)
    assert {Fault} == {type(fault) for schedule in schedules for fault in schedule.faults}

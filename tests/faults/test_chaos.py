"""Random schedules of a misbehaving proxy between a real client and a real archive, and pairs of faults one by one.

`scripts/faults chaos` plays as many of them as one likes; the suite takes a sample.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.faults.chaos.proxy import Fault
from tests.faults.chaos.schedules import COMMIT_FAULTS, LOOK_UPS, MODES, pairs, schedule_of
from tests.faults.chaos.trial import Outcome, shrink
from tests.faults.world import ROOT

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
LONGEST_S = 3600 if DEEP else 570


def chaos(*options: str) -> str:
    """Plays schedules in a process whose clocks are its own; what it said where none came out wrong."""
    command = [sys.executable, "-m", "tests.faults.chaos", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_S)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return done.stdout


@pytest.mark.parametrize("mode", MODES)
def test_without_faults_a_load_comes_to_its_end_in_every_mode(mode: str) -> None:
    assert ", 0 wrong," in chaos("--seeds", "1-2", "--mode", mode, "--faults", "[]")


@pytest.mark.parametrize("mode", MODES)
def test_random_schedules_lose_nothing_double_nothing_and_tell_nothing_wrong(mode: str) -> None:
    """Fifteen of them in each mode, of which some kill or stop the client itself; `scripts/faults` plays 400."""
    assert ", 0 wrong," in chaos("--seeds", "1-400" if DEEP else "9-23", "--mode", mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_hidden_commit_and_whatever_the_look_up_after_it_is_answered_tell_nothing_wrong(mode: str) -> None:
    """Three of the pairs in each mode, the same every time; `scripts/faults chaos --pairs` plays them all."""
    every = "37" if DEEP else "2571"
    assert ", 0 wrong," in chaos("--pairs", "--seeds", f"1-{len(pairs(mode))}", "--every", every, "--mode", mode)


def test_a_seed_always_means_the_same() -> None:
    for mode in MODES:
        assert [schedule_of(seed, mode) for seed in range(50)] == [schedule_of(seed, mode) for seed in range(50)]
    assert len({schedule_of(seed, "standard").faults for seed in range(50)}) > 45


def test_every_commit_fault_meets_every_look_up_at_every_call() -> None:
    for mode in MODES:
        met = {(fault.kind, *fault.then) for schedule in pairs(mode) for fault in schedule.faults}
        assert met == {(kind, answer) for kind in COMMIT_FAULTS for answer in LOOK_UPS}


def test_a_failing_schedule_shrinks_to_the_fault_that_makes_it_fail() -> None:
    guilty = Fault("transaction", 7, "after:409", times=3, then=("before:html", "before:500"))
    schedule = replace(
        schedule_of(1, "standard"), faults=(Fault("query", 1, "before:500"), guilty, Fault("upload", 2, "x:y"))
    )
    least = shrink(schedule, Outcome(struck={0, 1}), lambda tried: any(f.kind == "after:409" for f in tried.faults))
    assert least.faults == (Fault("transaction", 7, "after:409"),)

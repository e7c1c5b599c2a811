"""Random schedules of a misbehaving proxy between a real client and a real archive, and pairs of faults one by one.

`scripts/faults chaos` plays as many of them as one likes, `scripts/faults` 400 in each mode and every 37th pair. The
suite takes a sample: of the same 400, so few that every kind of trouble that is among them comes up in each mode.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

import pytest

from tests.faults.chaos.__main__ import PLAYED
from tests.faults.chaos.proxy import Fault
from tests.faults.chaos.schedules import (
    COMMIT_FAULTS,
    LOOK_UPS,
    LOST_WORKERS,
    MODES,
    STATUSES,
    pairs,
    sampled,
    schedule_of,
)
from tests.faults.chaos.trial import Outcome, shrink
from tests.faults.world import ROOT
from tests.waiting import PATIENCE_S
from tests.watchdog import Bounds, watched

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
SAMPLED = "1-400"
# a schedule takes one to five seconds of a processor, whatever else the machine does
BOUNDS = Bounds(processor_s=240.0)


@dataclass
class Chaos:
    """A process whose clocks are its own; it keeps an archive for each mode."""

    process: subprocess.Popen[str]
    errors: Path
    progress: list[str] = field(default_factory=list)
    told: dict[tuple[str, ...], str] = field(default_factory=dict)

    def play(self, *options: str) -> str:
        """Plays schedules; what it said. The same are played once."""
        if options not in self.told:
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.write(json.dumps(options) + "\n")
            self.process.stdin.flush()
            with watched(self.process.pid, lambda: len(self.progress), BOUNDS) as watchdog:
                lines = self._lines(self.process.stdout)
                said = list(takewhile(lambda line: not line.startswith("ended with "), lines))
            struck = f"The process {watchdog.struck}.\n" if watchdog.struck else ""
            self.told[options] = "".join(said)[-20_000:] + self.errors.read_text()[-6_000:] + struck
        return self.told[options]

    def _lines(self, stdout: Iterable[str]) -> Iterator[str]:
        """What it says, but for that it gets on."""
        for line in stdout:
            if line.startswith(PLAYED):
                self.progress.append(line)
            else:
                yield line


@pytest.fixture(scope="module")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    """The process; one that does not get on is ended."""
    errors = tmp_path_factory.mktemp("chaos") / "errors"
    command = [sys.executable, "-m", "tests.faults.chaos", "--listen"]
    with (
        errors.open("w") as log,
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        yield Chaos(process, errors)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE_S)
    assert (process.returncode, errors.read_text()) == (0, "")


def wrong_in(chaos: Chaos, mode: str, *options: str) -> int:
    """How many schedules came out wrong in a mode."""
    told = chaos.play(*options, "--mode", mode)
    found = re.findall(rf"^{mode}: seeds .*, (\d+) wrong,.*'schedules': [1-9]", told, re.MULTILINE)
    assert found, told
    if found != ["0"]:
        print(told)
    return int(found[0])


@pytest.mark.parametrize("mode", MODES)
def test_without_faults_a_load_comes_to_its_end_in_every_mode(mode: str, chaos: Chaos) -> None:
    assert wrong_in(chaos, mode, "--seeds", "1-2", "--faults", "[]") == 0


@pytest.mark.parametrize("mode", MODES)
def test_random_schedules_lose_nothing_double_nothing_and_tell_nothing_wrong(mode: str, chaos: Chaos) -> None:
    """Ten or so in each mode: each call at each moment, each answer, each way to strike the client; deep, all 400."""
    assert wrong_in(chaos, mode, *(["--seeds", "1-400"] if DEEP else ["--seeds", SAMPLED, "--sampled"])) == 0


def test_workers_that_are_killed_lose_nothing_double_nothing_and_are_told_right(chaos: Chaos) -> None:
    """Four schedules, with shards that are handed on and one that is set aside; deep, 400."""
    seeds = ["1-400"] if DEEP else ["7-28", "--every", "7"]
    told = chaos.play("--mode", LOST_WORKERS, "--seeds", *seeds)
    assert f"{LOST_WORKERS}: seeds " in told and ", 0 wrong," in told, told
    assert re.search("'handed on': [1-9]", told), told


@pytest.mark.parametrize("mode", MODES)
def test_a_hidden_commit_and_whatever_the_look_up_after_it_is_answered_tell_nothing_wrong(
    mode: str, chaos: Chaos
) -> None:
    """A few of the pairs in each mode, the same every time; `scripts/faults chaos --pairs` plays them all."""
    every, count = "37" if DEEP else "2571", len(pairs(mode))
    assert wrong_in(chaos, mode, "--pairs", "--seeds", f"1-{count}", "--every", every) == 0


DOUBLED = {
    "the fonds and its series": (97, "query 10 after:cut", "query 19 before:page"),
    "documents' versions, verified": (97, "token 1 before:truncated", "query 10 after:cut 2", "query 19 before:page"),
    "folders, by three empty pages in a row": (254, "query 9 before:page 3"),
    "a half, beside the whole that was refused and committed late": (
        *(145, "transaction 12 before:502", "transaction 15 toolate:404", "transaction 16 before:never"),
    ),
}


@pytest.mark.parametrize("what", DOUBLED)
def test_what_was_once_doubled_in_a_second_run_stands_once(what: str, chaos: Chaos) -> None:
    seed, *struck = DOUBLED[what]
    faults = [
        {"call": call, "nth": int(nth), "kind": kind, "times": int(times[0]) if times else 1}
        for call, nth, kind, *times in (str(fault).split() for fault in struck)
    ]
    told = chaos.play("--seeds", str(seed), "--mode", "second-run", "--no-shrink", "--faults", json.dumps(faults))
    assert f"second-run: seeds {seed}-{seed}, 0 wrong" in told, told


def test_the_sample_meets_every_call_at_every_moment_with_every_answer_and_strikes_the_client() -> None:
    struck: set[str] = set()
    for mode in MODES:
        chosen = [schedule_of(seed, mode).faults for seed in sampled(mode, *map(int, SAMPLED.split("-")))]
        met = {(fault.call, fault.kind.partition(":")[0]) for faults in chosen for fault in faults}
        answers = {fault.kind.partition(":")[2] for faults in chosen for fault in faults}
        assert len(chosen) < 20
        assert {("transaction", when) for when in ("before", "after", "late", "toolate", "twice")} <= met
        assert {(call, when) for call in ("query", "download", "upload") for when in ("before", "after")} <= met
        assert {("upload", "corrupt"), ("upload", "twice"), ("token", "before"), ("token", "after")} <= met
        assert {*STATUSES, "reset", "never", "cut", "truncated", "html", "empty", "wrong"} <= answers
        struck |= {fault.kind for faults in chosen for fault in faults if fault.kind.endswith((":kill", ":stop"))}
    assert struck == {"before:kill", "after:kill", "before:stop", "after:stop"}


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

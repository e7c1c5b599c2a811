"""A promise that is not kept is complained of, and what a run had named already is no part of a promise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.embedded import keep_services
from noarkit.services.standins.histories.script import Change, History
from tests.services.histories.crm import ORACLE
from tests.services.histories.promises import Promise, broken_promises
from tests.services.histories.world import Schedule, play

KEPT = Promise("run1", False, 2, 1, frozenset({"a", "b"}))


def test_a_promise_that_is_kept_is_no_complaint() -> None:
    assert list(broken_promises([KEPT, replace(KEPT, is_sweep=True, late_count=0)])) == []


@pytest.mark.parametrize(
    ("promise", "expected"),
    [
        (replace(KEPT, new_count=3), "verify promised 3 new records, the next plan took 2: a, b"),
        (replace(KEPT, new_count=1), "verify promised 1 new records, the next plan took 2: a, b"),
        (replace(KEPT, is_sweep=True), "verify called 1 records late, and the next plan swept"),
    ],
)
def test_a_promise_that_is_broken_is_complained_of(promise: Promise, expected: str) -> None:
    assert list(broken_promises([promise])) == [f"run1: {expected}"]


def test_a_history_tells_what_was_promised_before_each_quiet_run_and_what_that_run_took(tmp_path: Path) -> None:
    history = History((Change("create", "Deals", {}, 100), Change("create", "Deals", {}, 300)))
    small = replace(ORACLE, records=2)
    schedule = Schedule((0.0, 200.0, 400.0, small.sweep_s), quiet=frozenset({2, 3}))
    with keep_services():
        played = play("crm", small, history, schedule, tmp_path, f"embedded:{tmp_path / 'archive'}")
    ordinary, sweep = played.promises
    assert (ordinary.run, sweep.run, ordinary.is_sweep, sweep.is_sweep) == ("run2", "run3", False, True)
    assert (ordinary.new_count, sweep.new_count) == (len(ordinary.archived_keys), 0)
    assert any(key.endswith(":snapshot") for key in ordinary.archived_keys), "the deal that came after the second run"

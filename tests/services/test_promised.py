"""What a verification promises of the next plan of a connection is what that plan does."""

from __future__ import annotations

import shlex
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    made = make_rig(tmp_path, monkeypatch)
    made.set([thing(n, OLD) for n in range(3)])
    made.load("run")
    return made


def test_what_belongs_to_the_next_plan_is_read_by_it_and_what_does_not_is_said_to_be_late(rig: Rig) -> None:
    late, recent = [thing(n, OLD) for n in range(10, 14)], thing(20, rig.now - timedelta(minutes=2))
    rig.set([*(thing(n, OLD) for n in range(3)), *late, recent])
    rig.now += timedelta(hours=1)
    verified = rig.verify("run")
    assert (verified.source_new, verified.source_late) == (1, 4)
    assert verified.to_dict()["source_late"] == 4
    assert rig.load("next").numbers.archived == 1
    verified = rig.verify("run")
    assert (verified.source_new, verified.source_late) == (0, 4), "what the next plan took is promised no more"


def test_what_came_after_the_plan_is_promised_although_the_walk_of_its_run_ends_before(rig: Rig) -> None:
    rig.set([*(thing(n, OLD) for n in range(3)), thing(20, rig.now + timedelta(minutes=10))])
    rig.now += timedelta(hours=1)
    verified = rig.verify("run")
    assert (verified.source_new, verified.source_late) == (1, 0)
    assert rig.load("next").numbers.archived == 1


def test_what_was_deleted_and_came_back_is_in_the_archive_and_not_promised(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(2)])
    assert rig.load("second").numbers.skipped == 1
    rig.set([thing(0, OLD), thing(1, OLD), thing(2, rig.now - timedelta(minutes=2))])
    verified = rig.verify("second")
    assert (verified.source_new, verified.source_late) == (0, 0)
    after = rig.load("next").numbers
    assert (after.archived, after.already_there) == (0, 1)


def test_what_a_rule_of_the_recipe_leaves_out_is_neither_promised_nor_late(rig: Rig) -> None:
    recipe = rig.folder / "recipe.toml"
    rule = "\n[[skip]]\nwhen = \"= record.title == 'Letter 20' or record.title == 'Letter 9'\"\nreason = \"not ours\"\n"
    recipe.write_text((rig.site / "worldservice" / "recipe.toml").read_text("utf-8") + rule, "utf-8")
    rig.now += timedelta(hours=1)
    rig.set([*(thing(n, OLD) for n in range(3)), thing(19, rig.now - timedelta(minutes=2))])
    second = rig.plan("second", recipe)
    assert second.records["mapped"] == 1
    rig.ingest("second")
    recent = [thing(n, rig.now - timedelta(minutes=1)) for n in (20, 21)]
    rig.set([*(thing(n, OLD) for n in (0, 1, 2, 9)), *recent])
    rig.now += timedelta(minutes=1)
    verified = rig.verify("second")
    assert (verified.source_new, verified.source_late) == (1, 0)
    third = rig.plan("third", recipe)
    assert (third.records["mapped"], third.records["skipped"]) == (1, 2), "the letter, a rule, and a deletion"


def test_of_all_keys_what_came_after_the_plan_belongs_to_the_next_and_what_was_there_is_missing(rig: Rig) -> None:
    late = [thing(n, OLD) for n in range(10, 14)]
    rig.set([*(thing(n, OLD) for n in range(3)), *late, *(thing(n, rig.now) for n in range(20, 22))])
    rig.now += timedelta(hours=1)
    verified = rig.verify("run", whole=True)
    assert (verified.source_new, verified.source_late, verified.differences) == (2, 0, 4)
    assert rig.load("next").numbers.archived == 2


def test_the_command_that_is_named_for_what_is_late_makes_the_next_plan_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None
) -> None:
    rig = make_rig(tmp_path, monkeypatch, sweep_days=100_000)  # the commands go by the clock of this machine
    rig.set([thing(n, OLD) for n in range(3)])
    rig.load("run")
    rig.set([thing(n, OLD) for n in range(7)])
    code, said, _ = rig.run("verify", "run")
    assert code == 0 and "4 records that are older than what the next plan reads" in said
    command = said.partition("after noarkit ")[2].splitlines()[0]
    assert rig.run(*shlex.split(command))[0] == 0
    rig.now += timedelta(hours=1)
    assert rig.load("next").numbers.archived == 4


def test_in_a_sweep_nothing_is_late(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(7)])
    rig.now += timedelta(days=31)
    verified = rig.verify("run")
    assert (verified.source_new, verified.source_late) == (4, 0)
    assert rig.load("next").numbers.archived == 4


def test_a_run_is_compared_with_what_was_known_when_it_was_planned(rig: Rig) -> None:
    rig.set([thing(0, OLD), thing(1, OLD)])
    assert rig.load("second").numbers.skipped == 1
    for run in ("run", "second"):
        verified = rig.verify(run)
        assert (verified.verdict != "not_verified", verified.source_new, verified.source_late) == (True, 0, 0), run
    second = rig.verify("second")
    assert second.source_gone == 0, "the deletion that it reported is met again"

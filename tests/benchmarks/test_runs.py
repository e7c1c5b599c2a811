"""What the figures of a connection's runs are judged by, and all of its steps at a tiny size."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from scripts.benchmarks.runs import Step, problems, table, verdicts, walk

NUMBERS = {"read": 1_000, "archived": 900, "skipped": 100}
FIRST = Step("crm", "first", "ingest", 9.0, 10.0, 1.0, 100, 0.5, NUMBERS)
AGAIN = replace(FIRST, run="again", numbers={"read": 1_000, "already_there": 900, "skipped": 100})
LARGE = replace(FIRST, processor_s=100.0, peak_mib=130, numbers={"read": 10_000, "archived": 10_000})


def verdict_of(few: Step, many: Step) -> str:
    return list(verdicts([few], [many]))[2]


def test_memory_may_grow_by_three_tenths_and_the_cost_of_a_record_too() -> None:
    assert verdict_of(FIRST, LARGE).endswith("| memory flat, cost even |")
    assert "memory GROWS" in verdict_of(FIRST, replace(LARGE, peak_mib=131))
    assert "cost GROWS" in verdict_of(FIRST, replace(LARGE, processor_s=130.0))
    assert "cost even" in verdict_of(AGAIN, replace(AGAIN, processor_s=130.0)), "no further records say nothing"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (replace(FIRST, numbers={**NUMBERS, "read": 1_001}), "crm, first: NUMBERS DO NOT ADD UP"),
        (replace(FIRST, numbers={**NUMBERS, "read": 1_001, "set_aside": 1}), "crm, first: LEAVES OUT"),
        (replace(FIRST, numbers={**NUMBERS, "read": 1_001, "refused": 1}), "crm, first: LEAVES OUT"),
        (replace(AGAIN, numbers=NUMBERS), "crm, again: ARCHIVES 900"),
        (replace(AGAIN, numbers={**AGAIN.numbers, "new_versions": 3}), "crm, again: ARCHIVES 3"),
        (replace(FIRST, numbers={"read": 1, "skipped": 1}), "crm, first: ARCHIVES 0"),
    ],
)
def test_numbers_that_are_wrong_are_named(step: Step, problem: str) -> None:
    assert list(problems([FIRST, AGAIN])) == []
    assert list(problems([step])) == [problem]
    assert problem in list(verdicts([step], [step]))[-1]


if os.environ.get("NOARKIT_DEEP"):

    @pytest.mark.parametrize("service", ["crm", "spend", "appsec", "features"])
    def test_each_step_of_three_runs_is_measured(service: str) -> None:
        steps = walk(service, 100)
        wanted = [(run, command) for run in ("first", "again", "sweep") for command in ("plan", "ingest")]
        assert [(step.run, step.command) for step in steps] == wanted
        assert list(problems(steps)) == []
        assert all(step.elapsed_s > 0 and step.processor_s > 0.1 and step.peak_mib > 20 for step in steps)
        assert [step.known_mb > 0 for step in steps] == [False, True, True, True, True, True]
        assert steps[4].number("read") == steps[0].number("read") >= steps[2].number("read")
        assert len(list(table(steps))) == len(steps) + 2

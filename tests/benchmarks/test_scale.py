"""The scale table: all of its steps at a tiny size, and what it says of figures."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.benchmarks.scale import Step, measure, table, verdicts

STEP = Step("close", 4, 10_000, 2.0, 1.0, 0.5, 0.5, 100.0, 3.0, 0.1)


def verdict_of(*steps: Step) -> str:
    return list(verdicts(steps))[-1]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_each_step_of_every_road_is_measured_and_nothing_is_left(place: Path) -> None:
    results = place / "figures"
    steps = measure([2], results=results)
    assert [step.journey for step in steps] == [
        "plan of files without MIME",
        "plan of rows",
        "ingest of metadata",
        "close",
        "extract of metadata, validated",
        "validate",
        "read an extract",
        "random keys into a bare database",
    ]
    assert all(50 < step.entities < 200 and step.elapsed_s > 0 and step.peak_mb > 20 for step in steps)
    by_name = {step.journey: step for step in steps}
    assert by_name["ingest of metadata"].server_s > 0
    assert by_name["ingest of metadata"].disk_mb > 0
    assert [path.name for path in place.iterdir()] == ["figures"]
    # what stands in the results is not measured again
    assert measure([2], results=results) == steps
    lines = list(table(steps))
    assert len(lines) == 2 + len(steps)
    assert {line.count("|") for line in lines} == {11}


def test_a_size_that_was_broken_off_is_walked_again(place: Path) -> None:
    results = place / "figures"
    first = measure([1], only="files", results=results)
    assert len(results.read_text().splitlines()) == 1
    assert measure([1, 2], only="files", results=results)[0] == first[0]
    assert len(results.read_text().splitlines()) == 2


def test_a_cost_that_grows_with_size_is_told() -> None:
    even = replace(STEP, power=5, entities=100_000, ours_s=10.0, children_s=5.0, server_s=5.0)
    assert "× 1.00" in verdict_of(STEP, even)
    assert "cost even, memory flat" in verdict_of(STEP, even)
    dearer = replace(even, ours_s=12.1)
    assert "× 1.10" in verdict_of(STEP, dearer)
    assert "cost GROWS, memory flat" in verdict_of(STEP, dearer)


def test_the_two_largest_sizes_are_held_against_each_other() -> None:
    middle = replace(STEP, power=5, entities=100_000, ours_s=20.0)
    top = replace(middle, power=6, entities=1_000_000, ours_s=200.0)
    assert "cost even" in verdict_of(top, STEP, middle)


def test_memory_that_grows_with_size_is_told() -> None:
    larger = replace(STEP, power=5, entities=100_000, ours_s=10.0, children_s=5.0, server_s=5.0)
    assert "memory flat" in verdict_of(STEP, replace(larger, peak_mb=116.0))
    assert "memory GROWS" in verdict_of(STEP, replace(larger, peak_mb=117.0))


def test_what_each_further_entity_costs_is_not_hidden_by_the_start() -> None:
    # two seconds to start, and 100 µs an entity, then 150
    small = replace(STEP, ours_s=3.0, children_s=0.0, server_s=0.0)
    large = replace(small, power=5, entities=100_000, ours_s=12.0)
    largest = replace(large, power=6, entities=1_000_000, ours_s=147.0)
    assert "100.0 → 150.0 µs" in verdict_of(small, large, largest)


def test_one_size_gives_no_verdict() -> None:
    assert "one size says nothing" in verdict_of(STEP)

"""What more workers bring in virtual time, beside what the model of the estimate says."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.loading.estimation.demand import synthetic_demand
from noarkit.loading.folder import RunFolder
from scripts.simulation.scaling import SPEEDS, Point, aggregate, detailed, make_aggregate_plan, make_detailed_plan


def point(place: Path, workers: int, documents: int = 1_000_000, archive: str = "latency") -> Point:
    """A load of shards, each one span of time."""
    folder, demand = RunFolder(place / f"{archive}-{workers}"), synthetic_demand(documents)
    make_aggregate_plan(folder, demand)
    return aggregate(folder, demand, SPEEDS[archive], workers)


def test_sixty_four_workers_are_at_least_four_fifths_of_linear_until_the_archive_is_the_limit(tmp_path: Path) -> None:
    one, many = point(tmp_path, 1), point(tmp_path, 64)
    assert one.seconds / many.seconds >= 0.8 * 64
    assert (one.limit, many.limit) == ("latency", "latency")


def test_the_estimate_agrees_with_the_simulation(tmp_path: Path) -> None:
    for workers in (1, 16, 64):
        simulated = point(tmp_path, workers)
        assert simulated.estimated_s == pytest.approx(simulated.seconds, rel=0.1)


def test_where_the_archive_is_the_limit_more_workers_bring_nothing_and_the_report_says_so(tmp_path: Path) -> None:
    some, many = point(tmp_path, 32, archive="throughput"), point(tmp_path, 128, archive="throughput")
    assert some.seconds / many.seconds < 1.6
    assert (many.limit, many.estimated_limit) == ("archive", "archive")


def test_where_there_are_fewer_shards_than_workers_the_report_says_so(tmp_path: Path) -> None:
    few = point(tmp_path, 64, documents=40_000)
    assert (few.limit, few.estimated_limit) == ("shards", "shards")


def test_a_load_whose_chunks_are_all_real_takes_what_the_estimate_says(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "real")
    make_detailed_plan(folder, 600, 16)
    simulated = detailed(folder, SPEEDS["latency"], 4)
    assert simulated.estimated_s == pytest.approx(simulated.seconds, rel=0.15)
    assert simulated.calls > 600

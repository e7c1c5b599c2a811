"""Random schedules in virtual time, against the real coordinator and journal; and mutants that the search must find.

`scripts/simulate search` plays as many as one likes; NOARKIT_DEEP=1 some thousand of each mode.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.simulation.mutants import MUTANTS
from scripts.simulation.schedules import MODES, SHAPES, parse_troubles, schedule_of
from scripts.simulation.search import Lab, shrink, try_out
from scripts.simulation.world import World

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
SEEDS = range(1, 3001 if DEEP else 16)
MOST_TO_FIND = 300


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Plans to copy."""
    return Lab(tmp_path_factory.mktemp("simulation"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A clock, and threads that are used again."""
    world = World()
    yield world
    world.close()


@pytest.mark.parametrize("mode", MODES)
def test_random_schedules_lose_nothing_and_double_nothing(mode: str, lab: Lab, world: World) -> None:
    struck = 0
    for seed in SEEDS:
        trial = try_out(schedule_of(seed, mode), lab, world)
        assert trial.wrong == [], f"scripts/simulate search --seed {seed} --mode {mode}"
        struck += len(trial.struck)
    assert struck > len(SEEDS), "hardly anything went wrong, so hardly anything was tried"


@pytest.mark.parametrize("name", MUTANTS)
def test_a_load_without_one_of_its_protections_is_found_out(name: str, lab: Lab, world: World) -> None:
    mutant, mode = MUTANTS[name]
    with mutant():
        seed = next(seed for seed in range(1, MOST_TO_FIND + 1) if try_out(schedule_of(seed, mode), lab, world).wrong)
        assert any("doubled" in line for line in _wrong_until_doubled(seed, mode, lab, world))
    assert try_out(schedule_of(seed, mode), lab, world).wrong == []


def _wrong_until_doubled(first: int, mode: str, lab: Lab, world: World) -> list[str]:
    for seed in range(first, MOST_TO_FIND + 1):
        wrong = try_out(schedule_of(seed, mode), lab, world).wrong
        if any("doubled" in line for line in wrong):
            return wrong
    return []


def test_a_seed_always_means_the_same_and_comes_to_the_same(lab: Lab, world: World) -> None:
    schedule = schedule_of(7, "versions")
    assert schedule == schedule_of(7, "versions")
    first = try_out(schedule, lab, world)
    assert (first.seconds, first.struck) == ((again := try_out(schedule, lab, world)).seconds, again.struck)


def test_troubles_are_read_as_they_are_printed() -> None:
    for seed in range(50):
        troubles = schedule_of(seed, "versions").troubles
        assert parse_troubles(", ".join(map(str, troubles))) == troubles


def test_a_failing_schedule_shrinks_to_the_trouble_that_makes_it_fail() -> None:
    schedule = schedule_of(21, "versions")
    guilty = schedule.troubles[-1]
    assert len(schedule.troubles) > 1
    assert shrink(schedule, lambda tried: guilty in tried.troubles).troubles == (guilty,)


def test_every_plan_has_several_shards_and_chunks_or_is_the_smallest(lab: Lab) -> None:
    graphs = [lab.new_run(shape).open_graph() for shape in SHAPES]
    chunks = [len(list(graph.chunks())) for graph in graphs]
    kinds = {kind for graph in graphs for _, kind, *_ in graph.shards()}
    for graph in graphs:
        graph.close()
    assert kinds == {"spine", "unit", "links"}
    assert max(chunks) >= 7
    assert Path(lab.folder).is_dir()

"""Real processes, really killed: coordinator, workers and archive, at any moment. Then the same command again.

The ordinary suite kills some forty times; NOARKIT_DEEP=1 some four hundred times.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.world import DEEP, Command, World

MORE = 10 if DEEP else 1
PROTECTIONS = {"guard and uuids": (True, "admin"), "settling alone": (False, "plain")}
SLOW = {"pause_s": 0.012}


def killed_again_and_again(world: World, kills: int, chance: random.Random) -> None:
    """Kills the coordinator at moments of a run, its settling and its recovery among them, until it was that often."""
    within = 2.0
    while world.kills < kills:
        command = world.start_until("preflight", **SLOW)
        time.sleep(chance.choice((0.0, 0.05, 0.2, 0.55, 0.7, 0.9)) * chance.random() * within)
        if command.kill():
            world.kills += 1
        else:  # a fast machine was done before: there is more to load, and the next strikes sooner
            within /= 1.5
            world.begin_next_run()


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_coordinator_killed_again_and_again_loses_and_doubles_nothing(protection: str, world: MakeWorld) -> None:
    honours_versions, account = PROTECTIONS[protection]
    here = world(60, honours_versions=honours_versions, account=account)
    here.serve()
    killed_again_and_again(here, 6 * MORE, random.Random(protection))
    here.check(here.until_done())
    assert here.kills == 6 * MORE


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_coordinator_killed_twice_at_each_stage_loses_and_doubles_nothing(protection: str, world: MakeWorld) -> None:
    honours_versions, account = PROTECTIONS[protection]
    here = world(60, honours_versions=honours_versions, account=account)
    here.serve()
    for event in ("started", "shard_started", "chunk_done") * MORE:
        for _ in range(2):
            while not here.start_until(event, **SLOW).kill():
                here.begin_next_run()
            here.kills += 1
    here.check(here.until_done())
    assert here.kills == 6 * MORE


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_workers_that_are_killed_are_told_as_lost_and_their_chunks_settled(
    protection: str, world: MakeWorld, tmp_path: Path
) -> None:
    honours_versions, account = PROTECTIONS[protection]
    chance = random.Random(protection)
    kills = missed = 0
    while kills < 4 * MORE:
        # a run of its own for each kill: what one worker leaves, another loads to the end; a miss leaves more to do
        root, files = tmp_path / f"world{kills + missed}", 80 + 20 * missed
        here = world(files, honours_versions=honours_versions, account=account, root=root)
        here.serve()
        command = here.start(**SLOW)
        if not kill_a_worker(here, command, chance, 0.2 / (1 + kills)):
            missed += 1
            assert missed <= 4 * MORE, here.log()
        else:
            kills += 1
            end = command.end()
            assert (end["exit"], end.get("state")) == (0, "done"), (end, here.log())
        here.check(here.until_done())
        here.close()


def kill_a_worker(world: World, command: Command, chance: random.Random, within: float) -> bool:
    line = command.until(lambda line: bool(line["workers"]) and line["event"] in ("shard_started", "chunk_done"))
    if line is None:
        return False
    time.sleep(chance.random() * within)
    workers = line["workers"]
    assert isinstance(workers, list)
    try:
        os.kill(chance.choice(workers), signal.SIGKILL)
    except ProcessLookupError:
        return False
    world.kills += 1
    return True


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_an_archive_killed_under_load_and_started_again_holds_each_key_once(protection: str, world: MakeWorld) -> None:
    honours_versions, account = PROTECTIONS[protection]
    here = world(60, honours_versions=honours_versions, account=account)
    chance = random.Random(protection)
    for _ in range(2 * MORE):
        here.serve()
        command = here.start_until("chunk_done" if chance.random() < 0.7 else "preflight", **SLOW)
        time.sleep(chance.random() * 0.25)
        here.kill_server()
        end = command.end()
        assert end["exit"] in (0, 5), (end, here.log())
    here.serve()
    here.check(here.until_done())


DEATHS = [
    ("POST transaction", "die-after", 7),
    ("POST transaction", "die-before", 8),
    ("POST upload", "die-after", 9),
    ("POST query", "die-before", 9),
]


@pytest.mark.parametrize(("call", "kind", "nth"), DEATHS)
def test_an_archive_that_dies_at_a_call_is_asked_before_anything_is_sent_again(
    call: str, kind: str, nth: int, world: MakeWorld
) -> None:
    here = world(30, account="plain", honours_versions=False)
    here.serve({"call": call, "kind": kind, "nth": nth})
    end = here.load()
    assert here.died()
    assert end["exit"] == 5, (end, here.log())
    here.serve()
    here.check(here.until_done())


def test_an_archive_that_comes_back_while_the_run_still_tries_needs_no_second_command(world: MakeWorld) -> None:
    here = world(40)
    here.serve()
    command = here.start(**SLOW, patience_s=20.0)
    command.until_event("chunk_done")
    here.kill_server()
    here.serve()
    end = command.end()
    assert end["exit"] == 0, (end, here.log())
    here.check(end)


def test_everything_killed_at_once_and_twice_over_still_ends_well(world: MakeWorld) -> None:
    here = world(60, account="plain", honours_versions=False)
    struck = 0
    while struck < 2 * MORE:
        here.serve()
        command = here.start_until("chunk_done", **SLOW)
        here.kill_server()
        struck += command.kill()
    here.serve()
    here.check(here.until_done())

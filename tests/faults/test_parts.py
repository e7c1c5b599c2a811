"""Parts of a run as processes that are really killed, and one part on two machines at once."""

from __future__ import annotations

import random
import shutil
import time

import pytest

from noarkit.errors import JournalsClash
from noarkit.loading.folder import RunFolder
from noarkit.loading.merge import merge_journals
from tests.faults.conftest import MakeWorld
from tests.faults.world import DEEP, World

PROTECTIONS = {"guard and uuids": (True, "admin"), "settling alone": (False, "plain")}
SLOW = {"pause_s": 0.012, "workers": 1}


def begun(world: MakeWorld, protection: str) -> World:
    """Forty files, planned, with the spine in the archive."""
    honours_versions, account = PROTECTIONS[protection]
    here = world(40, honours_versions=honours_versions, account=account)
    here.serve()
    end = here.load(part="spine")
    assert (end["exit"], end["state"]) == (0, "done"), (end, here.log())
    return here


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_parts_killed_side_by_side_and_run_again_lose_and_double_nothing(protection: str, world: MakeWorld) -> None:
    here = begun(world, protection)
    chance = random.Random(protection)
    within = 0.02  # of what takes a second: whoever is struck later has ended
    for _ in range(20 if DEEP else 3):
        commands = [here.start(part=part, **SLOW) for part in ("1/2", "2/2")]
        for command in commands:
            command.until_event("shard_started")
            time.sleep(chance.random() * within)
            here.kills += command.kill()
        within = min(2 * within, 1.0)
    assert here.kills >= 2
    end = here.load(part="1/2")
    assert (end["exit"], end["state"]) == (0, "done"), (end, here.log())
    # the other is joined as it was left, and settled by the run itself
    here.check(here.until_done(merge=not (here.run / "run.db").exists()))


def test_a_part_that_two_machines_load_at_once_doubles_nothing_and_is_told(world: MakeWorld) -> None:
    here = begun(world, "guard and uuids")
    shutil.copytree(here.run, here.root / "copy")
    commands = [here.start(part="1/1", run=str(run), **SLOW) for run in (here.run, here.root / "copy")]
    for command in commands:
        end = command.end()
        assert (end["exit"], end["state"], end["archived"]) == (0, "done", 40), (end, here.log())
    with pytest.raises(JournalsClash):
        merge_journals(RunFolder(here.run), [here.run, here.root / "copy"], time.time())
    assert not (here.run / "run.db").exists()
    here.check(here.load(merge=True))

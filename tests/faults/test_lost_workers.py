"""Worker processes that are really killed, once and twice, at every kind of moment: the run goes on without them.

The archive is another process, and where it says so, it commits what it was sent only after its client is dead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.striking import MOMENTS
from tests.faults.world import DEEP, Line, World

PROTECTIONS = {"guard and uuids": (True, "admin"), "settling alone": (False, "plain")}
FIRST, LAST = "folder002/file0020.bin", "folder002/file0029.bin"
"""Both in one shard, in two of its chunks."""
LATE = {"call": "POST transaction", "kind": "delay-commit", "seconds": 0.3}
"""Every transaction is carried out 0.3 s after it came, whoever is still there; deadlines are 0.5 s here."""


Story = dict[str, list[tuple[object, ...]]]
_UNDISTURBED: dict[str, Story] = {}


def journal_of(world: World) -> Story:
    """What a journal says that does not depend on the archive's own ids, nor on who did it when."""
    with closing(sqlite3.connect(world.run / "run.db")) as db:
        return {
            "entities": db.execute("SELECT n, state, sha256, bytes FROM entity ORDER BY n").fetchall(),
            "chunks": db.execute("SELECT key, state FROM chunk ORDER BY key").fetchall(),
            "left out": db.execute("SELECT bundle, state, code FROM left_out ORDER BY bundle").fetchall(),
        }


def load_with(world: World, *strikes: str, **more: object) -> tuple[Line, dict[str, int]]:
    """One command whose workers are struck; its end, and how often each event was told."""
    command = world.start(strikes=strikes, **more)
    end = command.end()
    assert len(list(world.run.glob("strike-*"))) == len(strikes), (end, world.log())
    names = [str(line["event"]) for line in command.lines]
    return end, {name: names.count(name) for name in set(names)}


def prepared(world: MakeWorld, protection: str, root: Path) -> World:
    """An archive that a first run loaded ten files into, so that the next looks up its keys; its plan has 40 more."""
    honours_versions, account = PROTECTIONS[protection]
    made = world(10, honours_versions=honours_versions, account=account, root=root)
    made.serve()
    assert made.load()["exit"] == 0
    made.run_name = "second"
    made.grow(40)
    return made


def undisturbed(world: MakeWorld, protection: str, root: Path) -> Story:
    """What the journal says where no worker is lost."""
    if protection not in _UNDISTURBED:
        twin = prepared(world, protection, root / "twin")
        assert twin.load()["exit"] == 0
        _UNDISTURBED[protection] = journal_of(twin)
        twin.stop()
    return _UNDISTURBED[protection]


def all_or_alternating(moments: Sequence[str]) -> list[tuple[str, str]]:
    """Each moment under each protection; in the ordinary suite, under one of them in turn."""
    names = list(PROTECTIONS)
    return [
        (moment, name)
        for place, moment in enumerate(moments)
        for name in (names if DEEP else [names[place % len(names)]])
    ]


@pytest.mark.parametrize(("moment", "protection"), all_or_alternating(MOMENTS))
def test_a_worker_killed_once_is_replaced_within_the_run(
    moment: str, protection: str, world: MakeWorld, tmp_path: Path
) -> None:
    expected = undisturbed(world, protection, tmp_path)
    here = prepared(world, protection, tmp_path / "here")
    if moment == "sending":
        here.stop()
        here.serve(LATE)
    end, told = load_with(here, f"{moment} {FIRST}", workers=1 + MOMENTS.index(moment) % 2)
    assert (end["exit"], end["state"]) == (0, "done"), (end, here.log())
    assert (told["shard_handed_on"], told.get("shard_stopped", 0)) == (1, 0)
    here.check(end)
    assert journal_of(here) == expected


@pytest.mark.parametrize(
    ("second", "protection"), all_or_alternating(["composed", "sending", "looking", "answered", "sending"])
)
def test_a_shard_that_two_workers_died_of_is_settled_and_set_aside_and_loaded_by_a_retry(
    second: str, protection: str, world: MakeWorld, tmp_path: Path
) -> None:
    expected = undisturbed(world, protection, tmp_path)
    here = prepared(world, protection, tmp_path / "here")
    if second == "sending":
        here.stop()
        here.serve(LATE)
    end, told = load_with(here, f"uploading {FIRST}", f"{second} {LAST if second == 'looking' else FIRST}")
    assert (end["exit"], end["state"]) == (0, "done"), (end, here.log())
    assert (told["shard_handed_on"], told["shard_set_aside"], told.get("shard_stopped", 0)) == (1, 1, 0)
    aside = int(str(end["set_aside"]))
    assert 0 < aside <= 10, end
    # what landed without an answer was found, so that the sums tell what the archive holds
    here.check(end, aside=aside, folders_aside=int(aside == 10))
    if second in ("sending", "answered"):
        assert aside < 10, "the chunk that was sent is there"
    end = here.load(reopen="F432")
    assert (end["exit"], end["set_aside"]) == (0, 0), (end, here.log())
    here.check(end)
    assert journal_of(here) == expected

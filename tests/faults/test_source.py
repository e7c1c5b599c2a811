"""Sources that move and bits that flip: what is linked is what was planned, and what is not is named."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tests.faults.conftest import MakeWorld
from tests.faults.world import World

CHANGED = "folder000/file0003.bin"


def rewritten(world: World, key: str, *, keep_time: bool) -> str:
    """Other bytes of the same size in a file; returns their checksum."""
    path = world.source / key
    before = path.stat()
    content = bytes(before.st_size)
    path.write_bytes(content)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return hashlib.sha256(content).hexdigest()


def aside(world: World, reason: str) -> None:
    """One file was set aside for that reason, and everything else is in the archive."""
    end = world.until_done()
    world.check(end, aside=1)
    rows = (world.run / "run.db").exists()
    assert rows
    from noarkit.loading.folder import RunFolder
    from noarkit.loading.numbers import outcomes

    (told,) = outcomes(RunFolder(world.run), "set_aside")
    assert (told.key, told.code, told.data["why"]) == (CHANGED, "F203", reason)


def test_a_file_with_another_time_than_planned_is_never_linked(world: MakeWorld) -> None:
    here = world(12)
    here.serve()
    here.load(only_plan=True)
    sha256 = rewritten(here, CHANGED, keep_time=False)
    aside(here, "time")
    assert sha256 not in here.held()[1]


def test_a_file_of_the_same_size_and_time_but_other_bytes_is_never_linked_when_planned_with_hashes(
    world: MakeWorld,
) -> None:
    here = world(12)
    here.serve()
    here.load(only_plan=True, hash=True)
    sha256 = rewritten(here, CHANGED, keep_time=True)
    aside(here, "other-content")
    assert sha256 not in here.held()[1]


def test_a_file_that_changes_while_it_is_uploaded_is_never_linked_although_size_and_time_stay(
    world: MakeWorld,
) -> None:
    here = world(12, account="plain")
    here.serve()
    end = here.load(touch=CHANGED, workers=0)
    assert end["set_aside"] == 1, (end, here.log())
    aside(here, "while-reading")
    assert len(here.held()[1]) == 11


def test_a_file_removed_and_one_made_unreadable_as_a_folder_are_set_aside_and_the_rest_goes_on(
    world: MakeWorld,
) -> None:
    here = world(12)
    here.serve()
    here.load(only_plan=True)
    for key in ("folder000/file0001.bin", "folder000/file0002.bin"):
        (here.source / key).unlink()
    Path(here.source / "folder000/file0002.bin").mkdir()
    here.check(here.until_done(), aside=2)


def test_a_bit_that_flips_while_reading_is_caught_by_the_hash_of_the_plan(world: MakeWorld) -> None:
    here = world(12)
    here.serve()
    here.load(only_plan=True, hash=True)
    end = here.load(flip=CHANGED, workers=0)
    assert end["set_aside"] == 1, (end, here.log())
    aside(here, "other-content")


def test_a_bit_that_flipped_while_reading_without_hashes_is_found_by_verify(world: MakeWorld) -> None:
    here = world(12)
    here.serve()
    assert here.load(flip=CHANGED, workers=0)["exit"] == 0
    here.load(verify=True)
    (verified,) = here.commands[-1].events("verified")
    assert (verified["good"], verified["findings"]) == (False, [["V303", f"{CHANGED}#v"]])


def test_a_bit_that_flips_in_the_archives_store_is_found_by_verify_and_named(world: MakeWorld) -> None:
    here = world(12)
    here.serve({"call": "POST upload", "kind": "flip-stored", "nth": 4})
    assert here.load(workers=0)["exit"] == 0
    here.load(verify=True)
    (verified,) = here.commands[-1].events("verified")
    assert (verified["good"], verified["findings"]) == (False, [["V302", f"{CHANGED}#v"]])

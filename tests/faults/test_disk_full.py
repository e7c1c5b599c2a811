"""Disks that fill up: the run stops with exit code 10, keeps its journal, and goes on when there is room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.world import ROOT, World

KEEPER = "keeps the room that the test wants to be missing"


@contextmanager
def small_disk(at: Path, size_mb: int) -> Iterator[None]:
    """A file system of that size."""
    at.mkdir(parents=True, exist_ok=True)
    if sys.platform == "darwin":
        image = at.with_suffix(".dmg")
        subprocess.run(["hdiutil", "create", "-quiet", "-size", f"{size_mb}m", "-fs", "HFS+", str(image)], check=True)
        subprocess.run(["hdiutil", "attach", "-quiet", "-mountpoint", str(at), str(image)], check=True)
        end = ["hdiutil", "detach", "-quiet", "-force", str(at)]
    else:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "none", str(at)], check=True)
        end = ["umount", "-l", str(at)]
    try:
        yield
    finally:
        subprocess.run(end, check=True)


def fill(disk: Path, leave_bytes: int) -> Path:
    """Takes all room but so much; deleting the file gives it back."""
    keeper = disk / KEEPER
    left = shutil.disk_usage(disk).free
    with keeper.open("wb") as file:
        file.write(bytes(max(0, left - leave_bytes)))
    return keeper


def elsewhere(request: pytest.FixtureRequest) -> bool:
    """Where this process may mount nothing, the test runs again in a name space of its own, where it may."""
    if sys.platform == "darwin" or os.geteuid() == 0:
        return False
    node = f"{request.path.relative_to(ROOT)}::{request.node.name}"
    command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-m", "pytest", "-q", node]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return True


def goes_on_with_room(world: World, keeper: Path) -> None:
    """The run stops for want of room, stops again, and ends well when there is some."""
    for _ in range(2):
        end = world.load()
        assert end["exit"] == 10, (str(end), world.log())
    keeper.unlink()
    world.check(world.until_done())


def test_a_full_disk_under_the_journal_stops_the_run_and_room_lets_it_go_on(
    world: MakeWorld, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    with small_disk(tmp_path / "disk", 3):
        here = world(60)
        here.run_name = "../disk/run"
        here.serve()
        here.load(only_plan=True)
        goes_on_with_room(here, fill(tmp_path / "disk", 90_000))
        here.stop()


def test_a_full_disk_under_the_plan_stops_planning_and_room_lets_it_be_planned_anew(
    world: MakeWorld, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    with small_disk(tmp_path / "disk", 1):
        here = world(60)
        here.run_name = "../disk/run"
        here.serve()
        goes_on_with_room(here, fill(tmp_path / "disk", 40_000))
        here.stop()


def test_a_full_disk_under_the_archive_stops_the_run_and_room_lets_it_go_on(
    world: MakeWorld, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    with small_disk(tmp_path / "world", 16):
        here = world(0, root=tmp_path / "world")
        here.grow(30, 20_000)
        here.serve()
        here.load(only_plan=True)
        goes_on_with_room(here, fill(here.root, 600_000))
        here.stop()

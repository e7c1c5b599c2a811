"""Runs for tests of retention: loaded and verified ones, and a child that is killed at any step of a removal."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import noarkit
from tests.waiting import PATIENCE_S

_CHILD = """
import os, signal, sys
from noarkit.retention.erasing import ErasureOrder, erase_run
from pathlib import Path
left = int(sys.argv[2])
def count(event, arguments):
    global left
    if event in ("os.remove", "os.rename", "os.rmdir"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
erase_run(Path(sys.argv[1]), ErasureOrder(float(sys.argv[3])))
"""


def make_run(place: Path, text: str = "brev") -> Path:
    """A run of two files, loaded into an archive of its own and verified."""
    source = place / "source"
    source.mkdir(parents=True)
    (source / "a.txt").write_text(text, "utf-8")
    (source / "b.txt").write_text(f"{text} to", "utf-8")
    noarkit.plan(source, place / "run", hash_contents=True)
    noarkit.ingest(place / "run", archive=f"embedded:{place / 'archive'}", workers=0)
    noarkit.verify(place / "run")
    return place / "run"


def copy_of(run: Path, target: Path) -> Path:
    """The same run in another folder, with all of its files."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(run, target, symlinks=True)
    return target


def erase_in_child(run: Path, steps: int, now_s: float) -> int:
    """Removes a run in a child that is killed after so many removals and renamings; its exit code."""
    command = [sys.executable, "-c", _CHILD, str(run), str(steps), str(now_s)]
    return subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_S).returncode

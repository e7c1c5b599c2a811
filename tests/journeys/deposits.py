"""A project of `noarkit deposit` at work: its commands, each in a process of its own, and how far its steps are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.journeys.old_share import make_share

STEPS = ("recipe", "copies", "plan", "approve", "ingest", "verify", "package")


def noarkit(*words: object, cwd: Path, project: str = "") -> subprocess.CompletedProcess[str]:
    """One command, to its end; a project may be named by the environment."""
    command = [sys.executable, "-m", "noarkit", *map(str, words)]
    named = {"NOARKIT_PROJECT": project} if project else {}
    return subprocess.run(command, cwd=cwd, env={**os.environ, **named}, capture_output=True, text=True, check=False)


def states(cwd: Path) -> dict[str, str]:
    """How far each step is, by `status`, which changes nothing."""
    before, interrupted = files_in(cwd / "p"), interrupted_journals(cwd / "p")
    done = noarkit("deposit", "status", "p", "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert {path for path, now in files_in(cwd / "p").items() if before.get(path) != now} <= interrupted
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["step"]: line["state"] for line in lines if line["event"] == "step"}


def files_in(place: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of each file; what SQLite lays beside a journal that is read tells nothing."""
    files = (path for path in place.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def interrupted_journals(place: Path) -> set[Path]:
    """Journals whose writer was killed: whoever opens one next, to read too, has SQLite put its log in order."""
    logs = (path for path in place.rglob("*.db-wal") if path.stat().st_size)
    return {path.with_name(path.name.removesuffix("-wal")) for path in logs}


def expected(last_done: str | None, then: str) -> dict[str, str]:
    """All steps to one of them done (copies are none), the following one as it is said, and later ones not begun."""
    at = -1 if last_done is None else STEPS.index(last_done)
    told = {name: "done" if index <= at else "later" for index, name in enumerate(STEPS)}
    if at + 1 < len(STEPS):
        told[STEPS[at + 1]] = then
    if at >= STEPS.index("copies"):
        told["copies"] = "off"
    return told


def new_project(cwd: Path, cases_a_year: int = 1) -> None:
    """A share of a few cases, and its project, without copies."""
    make_share(cwd / "share", cases_a_year=cases_a_year)
    done = noarkit("deposit", "new", "share", "-o", "p", "--no-copies", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "questions must be answered" in done.stdout


def answer(cwd: Path) -> None:
    """Says who made the archive, in what, and that the folders bear case numbers."""
    recipe = cwd / "p" / "recipe.toml"
    text = recipe.read_text("utf-8").replace("# case_name = ", "case_name = ")
    recipe.write_text(text, "utf-8")
    file = cwd / "p" / "deposit.toml"
    text = file.read_text("utf-8").replace('name = "ask"', 'name = "Sætre kommune"', 1)
    file.write_text(text.replace('name = "ask"', 'name = "Filserver"').replace('= "ask"', '= ""'), "utf-8")


def go_on(cwd: Path, *words: str, code: int) -> str:
    done = noarkit("deposit", "p", *words, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr

"""Killed at any step after its package got its name, the same command again tells what it is worth, and ends as it
would have; killed before, it makes the package. NOARKIT_DEEP=1 kills at every step."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import noarkit
from tests.faults.stepping import SHARED
from tests.faults.test_connector_kills import Forks, forks

__all__ = ["forks"]
DEEP = os.environ.get("NOARKIT_DEEP") == "1"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "extract": ("extract", "--archive", "embedded:arc", "-o", "out"),
    "extract a zip": ("extract", "--archive", "embedded:arc", "-o", "out.zip"),
    "extract E-ARK": ("extract", "--archive", "embedded:arc", "--as", "eark-sip", "-o", "out"),
    "extract each": ("extract", "--archive", "embedded:arc", "--each", "-o", "out"),
    "convert to a bag": ("convert", "src", "--as", "bagit", "-o", "out"),
    "convert to a zip": ("convert", "pkg", "--as", "eark-sip", "-o", "out.zip"),
    "convert to DIAS": ("convert", "src", "--as", "dias-sip", "-o", "out"),
    "convert a database": ("convert", "sqlite:///rows.db", "--as", "siard", "-o", "out.siard"),
}
TOLD = ("code", "verdict", "reasons", "files", "units", "set_aside", "exit")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive, an extract of it, a source of which one file cannot be taken, and a database."""
    root = tmp_path_factory.mktemp("making")
    (root / "src" / "Sak").mkdir(parents=True)
    (root / "src" / "Sak" / "brev.txt").write_text("brev")
    archive = f"embedded:{root / 'arc'}"
    noarkit.plan(root / "src", root / "run")
    assert noarkit.ingest(root / "run", archive=archive, workers=0).state == "done"
    noarkit.extract(root / "pkg", archive=archive)
    os.mkfifo(root / "src" / "Sak" / "rør")
    with closing(sqlite3.connect(root / "rows.db")) as db:
        db.executescript("CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1);")
    return root


def run(place: Path, forks: Forks, words: tuple[str, ...], kill_at: tuple[str, int] = ("", 0)) -> dict[str, Any]:
    """The command in a process of its own: its exit code, its steps, and what it told."""
    log = place / "log"
    log.unlink(missing_ok=True)
    line = [*words, "--json", "--progress", "none"]
    environment = {"HOME": str(place), "PATH": os.environ["PATH"]}
    told = forks.ask(
        "run", line=line, environment=environment, kill_at=kill_at, log=str(log), folder=str(place), with_removals=True
    )
    for text in log.read_text().splitlines():
        entry = json.loads(text)
        if entry["event"] in ("extracted", "converted", "summary"):
            told |= {name: entry[name] for name in TOLD if name in entry}
    return told


def left_beside(place: Path) -> list[Path]:
    """What no command leaves behind that came to its end, but for a file that a kill left half written."""
    beside = [*place.glob(".out*"), *place.glob("out/.*"), *place.glob(".noarkit-*")]
    return [entry for entry in beside if entry.is_dir() or not entry.name.endswith(".part")]


def forget(place: Path) -> None:
    """Takes away what a command made."""
    for entry in [*left_beside(place), *place.glob("out*"), *place.glob(".*.part")]:
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_after_the_naming_the_same_command_ends_as_it_would_have(name: str, place: Path, forks: Forks) -> None:
    words = COMMANDS[name]
    forget(place)
    whole = run(place, forks, words)
    assert whole["code"] in (0, 3), (place / "log").read_text()
    assert left_beside(place) == []
    made_names = {words[-1], *(entry.name for entry in place.glob("out/*") if "each" in name)} - {"extracts.csv"}
    names = whole["steps"]
    steps = [(step, names[: at + 1].count(step)) for at, step in enumerate(names) if "puid" not in step]
    named_at = max(at for at, (step, _) in enumerate(steps) if step.removeprefix("place ") in made_names)
    before, after = steps[:named_at], steps[named_at + 1 :]
    last_kept = [step for step in before if step[0].startswith("write ")][-1]
    missed: list[tuple[str, int]] = []
    for step in steps if DEEP else (last_kept, before[-1], after[0], after[-1]):
        forget(place)
        killed = run(place, forks, words, step)
        if killed["code"] != -signal.SIGKILL:
            missed.append(step)
        assert not named_counts(killed) - named_counts(whole), f"{step}: names of steps that differ from run to run"
        again = run(place, forks, words)
        log = (place / "log").read_text()
        assert {name: again.get(name) for name in TOLD} == {name: whole.get(name) for name in TOLD}, (step, log)
        assert left_beside(place) == [], step
    forget(place)
    shared = [step for step in steps if step[0] in SHARED]
    assert all(step in shared for step in missed) and len(missed) * 2 <= len(shared), missed


def named_counts(told: dict[str, Any]) -> Counter[str]:
    """How often a run came to each step of its own."""
    return Counter(step for step in told["steps"] if step not in SHARED and "puid" not in step)


def test_killed_at_any_step_of_its_pages_a_plan_has_them_all_after_the_same_command(place: Path, forks: Forks) -> None:
    words = ("plan", "src", "-o", "out")
    forget(place)
    whole = run(place, forks, words)
    made, told = {path.name for path in (place / "out").iterdir()}, context(place)
    assert whole["code"] == 3 and {"plan.html", "ids.csv", "set-aside.csv"} <= made
    names = whole["steps"]
    first = names.index("place plan-report.json")
    steps = [(step, names[: at + 1].count(step)) for at, step in enumerate(names)][first:]
    assert ("place plan.json", 1) in steps and steps[-1] == ("place plan.html", 1)
    for step in steps:
        forget(place)
        assert run(place, forks, words, step)["code"] == -signal.SIGKILL, step
        assert run(place, forks, words)["code"] == whole["code"], (step, (place / "log").read_text())
        assert made <= {path.name for path in (place / "out").iterdir()}, step
        assert context(place) == told, step
        assert run(place, forks, words)["code"] == 2, step  # nothing is left to write: there is a plan
    forget(place)


def context(place: Path) -> object:
    """How a plan was asked for, as its pages tell it, but for the moment."""
    found: dict[str, Any] = json.loads((place / "out" / "plan-report.json").read_text("utf-8"))["context"]
    return {**found, "imprint": {**found["imprint"], "at": ""}}

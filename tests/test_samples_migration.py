"""The walk-through of samples/migration, run as its README has it: the script, then the reader by its name."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.forked import run_forked

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "migration"
Ran = subprocess.CompletedProcess[str]


def blocks() -> list[list[str]]:
    """The commands of the README, block by block."""
    found = re.findall(r"```\n(.*?)```", (SAMPLE / "README.md").read_text("utf-8"), re.S)
    return [block.splitlines() for block in found]


def run(words: list[str], place: Path, *on_path: Path) -> Ran:
    """A command of the README, in a process of its own."""
    environment = {
        "HOME": str(place),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(str(one) for one in (ROOT, *on_path)),
        "NOARKIT_PROGRESS": "none",
    }
    if words[0] != "python":
        return run_forked(words, cwd=place, env=environment)
    program = [sys.executable, "-W", "error", *words[1:]]
    return subprocess.run(program, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, copied."""
    home = tmp_path_factory.mktemp("migration") / "sample"
    shutil.copytree(SAMPLE, home, ignore=shutil.ignore_patterns("__pycache__"))
    return home


def test_the_script_plans_then_loads_proves_and_goes_on_when_called_again(place: Path) -> None:
    script = [shlex.split(line) for line in blocks()[0]]
    made, planned, loaded = (run(words, place) for words in script)
    assert (made.returncode, planned.returncode, loaded.returncode) == (0, 0, 3), loaded.stderr
    assert (made.stderr, planned.stderr, loaded.stderr) == ("", "", "")
    assert "planned: {'mapped': 9, 'set_aside': 2, 'skipped': 5}" in planned.stdout
    assert "loaded: 9 of 16 set aside: 2" in loaded.stdout
    assert "\nproven in part: " in loaded.stdout
    assert loaded.stdout.splitlines()[-1] == "letter 0001 is now Journalpost"
    again = run(script[-1], place)
    assert (again.returncode, again.stderr) == (3, "")
    with (place / "run" / "set-aside.csv").open(encoding="utf-8-sig", newline="") as file:
        told = {row["key"]: (row["code"], row["reason"]) for row in csv.DictReader(file, delimiter=";")}
    assert told == {"0102": ("F202", ""), "9001": ("F206", "there is no such case")}


def test_installed_it_is_a_source_by_its_name(place: Path, tmp_path: Path) -> None:
    if not (place / "export").exists():
        assert run(["python", "make.py", "export"], place).returncode == 0
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=place, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")  # as an installer lays out what is pure Python
    commands = [shlex.split(line) for line in blocks()[1]]
    assert commands.pop(0) == ["pip", "install", "."]
    elsewhere = tmp_path / "work"  # the module is found because it is installed, not because it lies here
    elsewhere.mkdir()
    shutil.copy(place / "recipe.toml", elsewhere)
    shutil.copytree(place / "export", elsewhere / "export")
    ran = [run(words, elsewhere, tmp_path / "site") for words in commands]
    assert [one.returncode for one in ran] == [3, 0, 3, 3, 3], "\n".join(one.stderr for one in ran)
    numbers = json.loads((elsewhere / "run2" / "report.json").read_text("utf-8"))["numbers"]
    assert (numbers["read"], numbers["archived"], numbers["set_aside"], numbers["skipped"]) == (16, 9, 2, 5)


def test_without_the_package_nobody_knows_the_name(tmp_path: Path) -> None:
    ran = run(["noarkit", "plan", "old-cases:export", "-o", "run"], tmp_path)
    assert ran.returncode == 2
    assert "F101" in ran.stderr and "old-cases:export" in ran.stderr

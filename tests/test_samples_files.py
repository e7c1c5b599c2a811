"""The walk-through of samples/files is run as its README has it, command by command."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from noarkit.cli.main import main

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "files"


def commands() -> list[list[str]]:
    """The commands of the README, in their order."""
    block = re.search(r"```\n(.*?)```", (SAMPLE / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


def test_every_command_of_the_walk_through_ends_well(tmp_path: Path) -> None:
    for name in ("make.py", "recipe.toml"):
        shutil.copy(SAMPLE / name, tmp_path / name)
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for program, *arguments in commands():
            if program == "python":
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            else:
                assert main([*arguments, "--progress", "none"], environment) == 0, arguments
    finally:
        os.chdir(before)
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    numbers = report["numbers"]
    assert (report["verdict"], numbers["read"], numbers["archived"], numbers["skipped"]) == ("whole", 12, 8, 4)
    assert {one["type"]: one["archived"] for one in report["types"]} == {
        "Arkiv": 1,
        "Arkivskaper": 1,
        "Arkivdel": 1,
        "Klassifikasjonssystem": 1,
        "Klasse": 1,
        "Saksmappe": 3,
        "Journalpost": 8,
        "Korrespondansepart": 8,
        "Dokument": 8,
        "Dokumentversjon": 8,
        "EksternId": 11,
    }
    plan = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))
    assert plan["context"]["asked"] and plan["context"]["hashed"]
    with (tmp_path / "run" / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["type"] for row in csv.DictReader(file, delimiter=";")} == {"Journalpost"}
    certificates = list((tmp_path / "run").glob("verify-*.json"))
    assert [json.loads(one.read_text("utf-8"))["good"] for one in certificates] == [True]

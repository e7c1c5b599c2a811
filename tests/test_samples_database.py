"""The walk-through of samples/database is run as its README has it, command by command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from tests.walks import SAMPLES, follow

SAMPLE = SAMPLES / "database"


def test_every_command_of_the_walk_through_ends_well(tmp_path: Path) -> None:
    for name in ("make.py", "recipe.toml"):
        shutil.copy(SAMPLE / name, tmp_path / name)
    with open_embedded(tmp_path / "rehearsal"):
        follow("database", tmp_path)
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    numbers = report["numbers"]
    assert (report["verdict"], numbers["read"], numbers["archived"], numbers["skipped"]) == ("whole", 22, 18, 4)
    archived = {one["type"]: one["archived"] for one in report["types"]}
    assert {
        name: archived[name] for name in ("Saksmappe", "Journalpost", "Basisregistrering", "Merknad", "Sakspart")
    } == {
        "Saksmappe": 3,
        "Journalpost": 5,
        "Basisregistrering": 8,
        "Merknad": 2,
        "Sakspart": 3,
    }
    certificates = list((tmp_path / "run").glob("verify-*.json"))
    assert [json.loads(one.read_text("utf-8"))["good"] for one in certificates] == [True]


def test_the_recipe_is_the_proposal_finished_by_hand(tmp_path: Path) -> None:
    shutil.copy(SAMPLE / "make.py", tmp_path / "make.py")
    subprocess.run([sys.executable, "make.py", "kilde"], cwd=tmp_path, check=True, capture_output=True)
    proposed = tmp_path / "proposed.toml"
    arguments = ["recipe", "new", f"sqlite:///{tmp_path}/kilde/sak.db", "-o", str(proposed)]
    assert main([*arguments, "--progress", "none"], {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}) == 0
    finished = (SAMPLE / "recipe.toml").read_text("utf-8").splitlines()
    changed = set(finished) ^ set(proposed.read_text("utf-8").splitlines())
    assert len(changed) < 20

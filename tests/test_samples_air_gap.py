"""The walk-through of samples/air-gap is run as its README has it, command by command."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.cli.main import main

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "air-gap"


def commands() -> list[list[str]]:
    """The commands of the README, in their order."""
    block = re.search(r"```\n(.*?)```", (SAMPLE / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


def test_every_command_of_the_walk_through_ends_well_and_the_case_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(SAMPLE / "make.py", tmp_path / "make.py")
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for program, *arguments in commands():
        if program == "python":
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        elif program in ("cp", "mkdir"):
            subprocess.run([program, *arguments], check=True)
        else:
            assert main([*arguments, "--progress", "none"], environment) == 0, (arguments, capsys.readouterr())
        if arguments[:1] == ["plan"] and arguments[1].startswith("inside"):
            shutil.rmtree("inside/cases")  # nothing of it is needed any more
    assert "delivered" in capsys.readouterr().out
    (page,) = Path("inside/run").glob("delivered-*.json")
    facts = json.loads(page.read_text("utf-8"))
    assert (facts["good"], facts["numbers"]["archived"]) == (True, 9)

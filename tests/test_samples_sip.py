"""The walk-through of samples/sip is run as its README has it, command by command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.packages.forms import look

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def commands() -> list[list[str]]:
    """The commands of the README, in their order."""
    block = re.search(r"```\n(.*?)```", (SAMPLES / "sip" / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


def test_every_command_of_the_walk_through_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("files", "sip"):
        shutil.copytree(SAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path / "sip")
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for program, *arguments in commands():
        if program == "python":
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        else:
            assert main([*arguments, "--progress", "none"], environment) == 0, (arguments, capsys.readouterr())
    forms = {name: look(Path(name)).form for name in ("sip.zip", "aip.tar", "dias", "bag.zip", "extract")}
    assert forms == {"sip.zip": "eark", "aip.tar": "eark", "dias": "dias", "bag.zip": "bagit", "extract": "noark5"}
    taken_in = {path.read_bytes() for path in Path("saker").rglob("*") if path.is_file()}
    taken_out = {path.read_bytes() for path in Path("extract", "dokumenter").rglob("*") if path.is_file()}
    assert taken_in <= taken_out

"""The walk-through of samples/extract is run as its README has it, command by command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from noarkit.cli.main import main

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def commands() -> list[list[str]]:
    """The commands of the README, in their order."""
    block = re.search(r"```\n(.*?)```", (SAMPLES / "extract" / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


def test_every_command_of_the_walk_through_ends_well_and_the_circle_closes(tmp_path: Path) -> None:
    for name in ("files", "extract"):
        shutil.copytree(SAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    here = tmp_path / "extract"
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    before = Path.cwd()
    os.chdir(here)
    try:
        for program, *arguments in commands():
            if program == "python":
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            else:
                assert main([*arguments, "--progress", "none"], environment) == 0, arguments
    finally:
        os.chdir(before)
    first, second = (
        {
            path.relative_to(here / name).as_posix(): path.read_bytes()
            for path in (here / name).rglob("*")
            if path.is_file()
        }
        for name in ("package", "package-again")
    )
    assert first == second
    assert "Fellesområdet" in first["arkivuttrekk.xml"].decode()

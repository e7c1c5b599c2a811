"""The walk-throughs of samples/, as their READMEs have them: command by command, or by the script they tell of."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from tests.cli.elsewhere import environment
from tests.forked import forked_noarkit
from tests.ports import free_port
from tests.waiting import PATIENCE_S

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def commands(sample: str) -> list[list[str]]:
    """The commands of a sample's README, in their order."""
    return [shlex.split(line, comments=True) for line in lines(sample)]


def lines(sample: str) -> list[str]:
    """The same, as they stand there."""
    block = re.search(r"```\n(.*?)```", (SAMPLES / sample / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    return block[1].splitlines()


def follow(sample: str, folder: Path) -> None:
    """Takes every command of a README in a folder that is its home; each ends with 0, or with what its comment says."""
    home = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    with contextlib.chdir(folder):
        for line in lines(sample):
            program, *arguments = shlex.split(line, comments=True)
            code = re.search(r"# .*exit code (\d+)", line)
            if program == "python":
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            else:
                assert main([*arguments, "--progress", "none"], home) == (int(code[1]) if code else 0), arguments


def walk(sample: str, folder: Path, records: int) -> str:
    """Runs the script of a sample in a folder that is its home, on a port of its own, to a good end. What it told.

    Its steps join an archive that is started once, in the folder that each would start it in.
    """
    script = ["bash", str(SAMPLES / sample / "walk")]
    programs = folder / "programs"
    programs.mkdir()
    with open_embedded(folder / "archive"), forked_noarkit(programs) as forked:
        env = environment(folder) | {**forked, "PORT": str(free_port()), "RECORDS": str(records)}
        done = subprocess.run(
            script, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    return done.stdout


def told(sample: str) -> list[list[str]]:
    """What a README says of its script: the beginning of each command."""
    return [words[:3] for words in commands(sample)]


def walked(sample: str, spelt: Mapping[str, str]) -> list[list[str]]:
    """What the script does, the beginning of each command; `spelt` says what the README calls its variables."""
    script = (SAMPLES / sample / "walk").read_text("utf-8")
    for variable, name in spelt.items():
        script = script.replace(variable, name)
    return [
        shlex.split(line, comments=True)[:3] for line in script.splitlines() if line.startswith(("noarkit ", "python "))
    ]


def numbers(run: Path) -> dict[str, int]:
    """What a run came to."""
    found: dict[str, int] = json.loads((run / "report.json").read_text("utf-8"))["numbers"]
    return found

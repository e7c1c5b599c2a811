"""The walk-through of samples/extract is run as its README has it, command by command."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.walks import SAMPLES, follow


def test_every_command_of_the_walk_through_ends_well_and_the_circle_closes(tmp_path: Path) -> None:
    for name in ("files", "extract"):
        shutil.copytree(SAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    here = tmp_path / "extract"
    follow("extract", here)
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

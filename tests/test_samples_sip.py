"""The walk-through of samples/sip is run as its README has it, command by command."""

from __future__ import annotations

import shutil
from pathlib import Path

from noarkit.forms.recognition import detect_form
from tests.walks import SAMPLES, follow


def test_every_command_of_the_walk_through_ends_well(tmp_path: Path) -> None:
    for name in ("files", "sip"):
        shutil.copytree(SAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    here = tmp_path / "sip"
    follow("sip", here)
    forms = {name: detect_form(here / name).form for name in ("sip.zip", "aip.tar", "dias", "bag.zip", "extract")}
    assert forms == {"sip.zip": "eark", "aip.tar": "eark", "dias": "dias", "bag.zip": "bagit", "extract": "noark5"}
    taken_in = {path.read_bytes() for path in (here / "saker").rglob("*") if path.is_file()}
    taken_out = {path.read_bytes() for path in (here / "extract" / "dokumenter").rglob("*") if path.is_file()}
    assert taken_in <= taken_out

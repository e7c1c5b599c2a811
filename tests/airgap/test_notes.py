"""A database whose notes are records of their own, over an air gap, loaded a second time on the other side."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

from tests.airgap.gap import Gap

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "database"
pytestmark = pytest.mark.usefixtures("one_archive")


def test_a_bundle_with_notes_that_is_loaded_twice_is_closed_by_its_receipt(
    gap: Gap, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(SAMPLE / "recipe.toml", gap.home)
    monkeypatch.setattr("sys.argv", ["make.py", "kilde"])
    runpy.run_path(str(SAMPLE / "make.py"), run_name="__main__")
    source = f"sqlite:///{gap.home}/kilde/sak.db"
    assert gap.pack("bundle.zip", "run", "--recipe", "recipe.toml", source=source) in (0, 3), gap.err
    assert gap.load("bundle.zip", "there") == 0, gap.err
    assert gap.load("bundle.zip", "again") == 0, gap.err
    assert gap.answer("again") == 0, gap.out + gap.err
    assert gap.close() == 0, gap.out + gap.err
    delivered = (gap.home / "run/delivered-ids.csv").read_text("utf-8-sig")
    assert delivered.count("merknad") == 2

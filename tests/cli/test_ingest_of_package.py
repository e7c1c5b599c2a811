"""`noarkit ingest SOURCE` in one step takes what `noarkit plan` does of a package that lacks something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.sources.package.made import PARTY, classified, document, folder, fonds, package, record, series, version

pytestmark = pytest.mark.usefixtures("one_archive")

GRADE = "<gradering><grad>Strengt hemmelig (sikkerhetsgrad)</grad><gradertAv>Kari</gradertAv></gradering>"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a graded folder, a document whose file is gone, and a letter without a party."""
    monkeypatch.chdir(tmp_path)
    gone = record(11, document(12, version(13, "dokumenter/gone.pdf")))
    letter = record(31, document(32, version(33, "dokumenter/c.pdf")), kind="journalpost").replace(PARTY, "")
    inside = series(classified(folder(10, gone, letter, before=GRADE)))
    package(tmp_path / "package", fonds(inside), ["dokumenter/c.pdf"])
    return tmp_path


def ingest(place: Path, *options: str) -> int:
    """One step into an archive of our own."""
    archive = f"embedded:{place / 'archive'}"
    return main(["ingest", str(place / "package"), "-o", "run", "--archive", archive, "--json", *options], {})


def test_a_loss_that_nobody_accepts_stops_the_one_step_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ingest(place) == 4
    assert "--accept-loss gradering" in capsys.readouterr().out
    assert not (place / "run" / "plan.json").exists()


def test_what_is_accepted_and_wanted_is_loaded_in_one_step_and_again_it_goes_on(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--accept-loss", "gradering", "--take-incomplete"]
    assert ingest(place, *options) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["set_aside"], summary["refused"]) == (0, 0)
    assert summary["archived"] == summary["read"]
    assert ingest(place, *options) == 0


@pytest.mark.parametrize("option", [["--take-incomplete"], ["--accept-loss", "gradering"]])
def test_a_run_that_stands_is_not_planned_again_by_an_option(
    option: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ingest(place, "--accept-loss", "gradering", "--take-incomplete") == 0
    assert main(["ingest", "run", *option], {}) == 2
    assert "F101" in capsys.readouterr().err

"""A path that is not there, and one that is not what a command wants, are told as that by every command that reads."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from noarkit.cli.main import main

READS = (
    ("scan", "mapper"),
    ("plan", "mapper", "-o", "made"),
    ("ingest", "mapper", "-o", "made"),
    ("convert", "mapper", "--as", "bagit", "-o", "made"),
    ("convert", "mapper", "--as", "siard", "-o", "made"),
    ("recipe", "new", "mapper", "-o", "made"),
    ("validate", "mapper"),
    ("compare", "mapper", "mapper"),
    ("extract", "-o", "made", "--archive", "embedded:mapper"),
    ("compare", "sak", "embedded:mapper"),
)
OF_RUNS = (
    *(("verify",), ("report",), ("status",), ("close",), ("retry",)),
    *(("doctor", "--run"), ("plan", "sak", "-o", "made", "--since")),
)


@pytest.fixture(autouse=True)
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, beside whose name others are mistyped."""
    monkeypatch.chdir(tmp_path)
    Path("mappen").mkdir()
    Path("mappen/brev.txt").write_text("Hei")
    Path("sak").mkdir()
    Path("sak/brev.txt").write_text("Hei")


@pytest.mark.parametrize("line", READS, ids=lambda line: " ".join(line[:2]))
def test_a_mistyped_path_is_told_as_one_and_nothing_is_made(
    line: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*line], {})
    said = capsys.readouterr().err
    assert "does not exist." in said
    assert "mappen? Otherwise" in said, "what is named nearly so is proposed"
    assert code == 8
    assert sorted(path.name for path in Path().iterdir()) == ["mappen", "sak"]


@pytest.mark.parametrize("line", OF_RUNS, ids=lambda line: line[0])
def test_a_mistyped_run_is_told_as_one(line: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line, "kjoring"], {}) == 2
    assert "no file or folder with that name" in capsys.readouterr().err
    assert main([*line, "sak"], {}) == 2
    assert "not a run" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["folder", "file", "zip"])
@pytest.mark.parametrize("command", ["validate", "compare"])
def test_what_is_no_package_is_proposed_as_a_source_and_not_to_the_command_that_was_given(
    command: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = {"folder": "sak", "file": "sak/brev.txt", "zip": "sak.zip"}[kind]
    if kind == "zip":
        with zipfile.ZipFile(place, "w") as packed:
            packed.writestr("a/brev.txt", "Hei")
            packed.writestr("b/brev.txt", "Hei")
    assert main([command, *[place] * (2 if command == "compare" else 1)], {}) == 4
    said = capsys.readouterr().err
    assert f"noarkit scan {place}" in said
    assert f"noarkit plan {place}" in said
    assert "noarkit validate" not in said

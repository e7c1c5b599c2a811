"""A plan that follows an earlier run, with something changed between: «already there» is of that archive alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.loading.folder import RunFolder

Output = pytest.CaptureFixture[str]


def run(*words: str) -> int:
    """The exit code of a command."""
    return main([*words, "--progress", "none"], {})


@pytest.fixture(autouse=True)
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was loaded into the archive `one`, and a recipe of its source."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "share").mkdir()
    for name in ("a", "b"):
        (tmp_path / "share" / f"{name}.txt").write_text(name)
    assert run("recipe", "new", "share", "-o", "ours.toml") == 0
    assert run("ingest", "share", "-o", "first", "--archive", "embedded:one") == 0


def refused(capsys: Output, *words: str) -> str:
    """What is said of a plan that is refused, of which nothing is left."""
    capsys.readouterr()
    assert run("plan", *words, "-o", "second") == 2
    assert not Path("second/plan.json").exists()
    return capsys.readouterr().err


def already_there(folder: str) -> object:
    """How many records a plan does not read again."""
    told = RunFolder(Path(folder)).plan()["records"]
    return told.get("already_there") if isinstance(told, dict) else None


def test_another_archive_is_refused_by_name(capsys: Output) -> None:
    assert run("ingest", "share", "-o", "elsewhere", "--archive", "embedded:two") == 0
    for archive in ("embedded:two", "embedded:three"):
        said = refused(capsys, "share", "--since", "first", "--archive", archive)
        assert str(Path("one").absolute()) in said and archive.partition(":")[2] in said
    Path("noarkit.toml").write_text('[archive]\nurl = "embedded:two"\n')
    assert "F101" in refused(capsys, "share", "--since", "first")


def test_the_archive_of_the_earlier_run_is_that_of_the_next_one_and_no_other_is_loaded(capsys: Output) -> None:
    assert run("plan", "share", "--since", "first", "-o", "second") == 0
    assert already_there("second") == 2
    assert RunFolder(Path("second")).planned_archive() == f"embedded:{Path('one').absolute()}"
    assert run("ingest", "second", "--archive", "embedded:two") == 2
    assert "F404" in capsys.readouterr().err
    assert run("ingest", "second") == 0


def test_the_same_archive_under_another_name_is_the_same() -> None:
    Path("link").symlink_to("one")
    assert run("plan", "share", "--since", "first", "-o", "second", "--archive", "embedded:link") == 0


def test_a_run_that_was_never_loaded_is_said_plainly(capsys: Output) -> None:
    assert run("plan", "share", "-o", "planned") == 0
    said = refused(capsys, "share", "--since", "planned")
    assert "never loaded" in said and "disk" not in said


def test_a_run_that_was_taken_back_is_no_ground_to_stand_on(capsys: Output) -> None:
    assert run("ingest", "share", "-o", "back", "--archive", "embedded:four") == 0
    assert run("retract", "back", "--delete", "--closed") in (0, 3)
    assert "deleted" in refused(capsys, "share", "--since", "back")


def test_another_source_is_refused_by_name(capsys: Output) -> None:
    shutil.copytree("share", "copy")
    said = refused(capsys, "copy", "--recipe", "ours.toml", "--since", "first")  # by which the keys are the same
    assert str(Path("share").absolute()) in said


def test_another_recipe_is_asked_for_by_an_option(capsys: Output) -> None:
    text = Path("ours.toml").read_text()
    assert run("ingest", "share", "--recipe", "ours.toml", "-o", "mine", "--archive", "embedded:five") == 0
    Path("ours.toml").write_text(text + "\n# another thought\n")
    asked = ("share", "--recipe", "ours.toml", "--since", "mine")
    assert "--other-recipe" in refused(capsys, *asked)
    assert "--other-recipe" in refused(capsys, "share", "--since", "mine")
    assert run("plan", *asked, "-o", "second", "--other-recipe") == 0
    assert already_there("second") == 2
    assert json.loads(Path("second/plan.json").read_text())["asked"]["options"]["other-recipe"] is True


def test_another_system_of_keys_is_refused_whatever_is_allowed(capsys: Output) -> None:
    import re

    text = Path("ours.toml").read_text()
    changed = re.sub(r'(external_system\s*=\s*)"[^"]*"', r'\1"elsewhere"', text)
    assert changed != text
    Path("theirs.toml").write_text(changed)
    words = ("share", "--recipe", "theirs.toml", "--since", "first", "--other-recipe")
    assert "system" in refused(capsys, *words)

"""A wrong option is told and nothing else; a place may be named with `..`; the version is found as everywhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.safe.paths import without_climbs
from noarkit.version import __version__

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source beside the folder that a command is called in."""
    (tmp_path / "mini" / "inside").mkdir(parents=True)
    (tmp_path / "mini" / "a.txt").write_text("a")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.parametrize("lang", ["en", "nb"])
@pytest.mark.parametrize("wrong", [["--until", "25:00"], ["--max-rate", "fast"], ["--max-errors", "many"]])
def test_a_usage_error_on_a_run_says_nothing_of_the_run(wrong: list[str], lang: str, capsys: Output) -> None:
    assert main(["ingest", "../mini", "-o", "run", "--archive", "embedded:a"], {}) == 0
    capsys.readouterr()
    for command in ("ingest", "retry"):
        assert main([command, "run", *wrong, "--lang", lang], {}) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert re.findall("noarkit .*", said.err) == [f"noarkit {command} --help"] and wrong[0] in said.err


@pytest.mark.parametrize("line", [["--version"], ["-V"], ["--lang", "nb", "--version"], ["version"]])
def test_the_version_is_told_where_people_ask_for_it(line: list[str], capsys: Output) -> None:
    assert main(line, {}) == 0
    assert capsys.readouterr().out.startswith(f"noarkit {__version__} ")


def test_a_command_keeps_its_own_word_for_it(capsys: Output) -> None:
    assert main(["scan", "../mini", "--version"], {}) == 2


@pytest.mark.parametrize("place", ["../mini", "../mini/inside/..", "../work/../mini", "./../mini/./"])
def test_a_place_named_with_climbs_is_loaded_and_proven(place: str) -> None:
    assert main(["ingest", place, "-o", "run", "--archive", "embedded:a"], {}) == 0
    assert main(["verify", "run", "--depth", "bytes"], {}) == 0
    assert main(["ingest", "../mini", "-o", "run"], {}) == 0, "the same source, however it is named"


def test_a_climb_out_of_a_link_is_followed_and_the_link_at_the_end_is_kept(tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/deep")
    (tmp_path / "far" / "last").symlink_to("deep")
    root = tmp_path.resolve()
    assert without_climbs(tmp_path / "link" / ".." / "last") == root / "far" / "last"
    assert without_climbs(Path("here")) == Path("here")

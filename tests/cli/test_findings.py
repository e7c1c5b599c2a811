"""What a run found wrong is told by every command until it is mended or accepted by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.loading.journal import CHECKSUM, ArchiveFinding, Journal
from tests.cli.test_ingest import archive, elsewhere, files, run

__all__ = ["archive", "elsewhere", "run"]


def damaged(run_folder: Path) -> str:
    """Has the run find a document's bytes wrong; its key."""
    with closing(Journal(run_folder / "run.db")) as journal:
        (entity,) = [n for n in range(1, 20) if journal._rows("SELECT 1 FROM entity WHERE n = ? AND bytes", (n,))]
        key = "case/a.txt#d1v1"
        journal.keep_findings([ArchiveFinding(CHECKSUM, key, entity, {"ours": "a" * 64, "theirs": "b" * 64})])
    return key


@pytest.fixture
def wrong(run: Callable[..., int], tmp_path: Path) -> str:
    """A run of one document that was found to differ."""
    source = files(tmp_path / "src", "case/a.txt")
    assert run("recipe", "new", str(source), "-o", "r.toml") == 0
    recipe = Path("r.toml")
    recipe.write_text(recipe.read_text("utf-8").replace("close = true", "close = false"), "utf-8")
    assert run("ingest", str(source), "--recipe", "r.toml", "-o", "run") == 0
    return damaged(Path("run"))


def test_the_same_command_again_ends_with_7_and_names_what_differs(
    run: Callable[..., int], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (("ingest", "run"), ("ingest", "run"), ("status", "run")):
        capsys.readouterr()
        assert run(*command) == 7
        shown = capsys.readouterr()
        assert wrong in shown.out + shown.err


def test_a_retry_mends_it(run: Callable[..., int], wrong: str) -> None:
    assert run("retry", "run") == 0
    assert run("status", "run") == 0
    assert run("verify", "run", "--depth", "bytes") == 0


def test_it_is_accepted_by_its_key_alone(run: Callable[..., int], wrong: str) -> None:
    assert run("retry", "run", "--accept", "another") == 2
    assert run("retry", "run", "--fault", "F201", "--accept", wrong) == 0
    assert run("ingest", "run") == 0


def test_the_report_lists_what_was_found_wrong_until_it_is_accepted(run: Callable[..., int], wrong: str) -> None:
    for command, verdict, state in (
        (("ingest", "run"), "found_wrong", "open"),
        (("retry", "run", "--fault", "F201", "--accept", wrong), "whole", "accepted"),
    ):
        run(*command)
        told = json.loads(Path("run/report.json").read_text("utf-8"))
        listed = [(one["key"], one["state"]) for one in told["findings"]]
        assert (told["verdict"], listed) == (verdict, [(wrong, state)])
        assert wrong in Path("run/report.html").read_text("utf-8")

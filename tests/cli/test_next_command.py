"""The command that comes next can be copied as it stands: real names, quoted, with the archive and config given."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from noarkit.cli.main import main

Output = pytest.CaptureFixture[str]
CONFIG = 'lang = "en"\noperator = "Kari Nordmann"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder with a source and a config whose names need quoting."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old files").mkdir()
    (tmp_path / "old files" / "a.txt").write_text("a")
    (tmp_path / "my config.toml").write_text(CONFIG)


def run(capsys: Output, *words: str) -> str:
    """What a command says."""
    main([*words, "--progress", "none"], {})
    said = capsys.readouterr()
    return said.out + said.err


def commands_in(text: str) -> list[list[str]]:
    """The command lines that a text proposes, as a shell would read them."""
    lines = [line[line.index("noarkit ") :].partition("     ")[0] for line in text.splitlines() if "noarkit " in line]
    return [shlex.split(line) for line in lines]


def test_each_step_leads_to_the_next_by_what_it_printed(capsys: Output) -> None:
    """From scan to a certificate, each command is the one that was proposed before, and nothing else."""
    settings = ["--config", "my config.toml"]
    (proposed,) = commands_in(run(capsys, "scan", "old files", *settings))
    assert proposed == ["noarkit", "plan", "old files", "-o", "old-files-run", *settings]
    said = run(capsys, *proposed[1:], "--archive", "embedded:my archive")
    archive = f"embedded:{Path('my archive').resolve()}"
    proposed = commands_in(said)[-1]
    assert proposed == ["noarkit", "ingest", "old-files-run", "--archive", archive, *settings]
    proposed = commands_in(run(capsys, *proposed[1:]))[-1]
    assert proposed[:3] == ["noarkit", "verify", "old-files-run"]
    assert proposed[3:] == ["--archive", archive, *settings]
    assert main([*proposed[1:], "--depth", "bytes"], {}) == 0
    assert "RUN" not in said and "SOURCE" not in said


def test_what_was_left_out_leads_to_a_new_plan_of_the_same_source_beside_the_old_one(capsys: Output) -> None:
    (Path("old files") / "pipe").parent.joinpath("link").symlink_to("/nonexistent/target")
    import os

    os.mkfifo("old files/pipe")
    run(capsys, "plan", "old files", "-o", "runs")
    proposed = commands_in(run(capsys, "ingest", "runs", "--archive", "embedded:a"))[-1]
    assert proposed[:2] == ["noarkit", "plan"]
    assert Path(proposed[2]) == Path("old files").resolve()
    assert proposed[3:7] == ["-o", "runs-2", "--since", "runs"]


def test_a_fault_names_the_run_at_hand(capsys: Output) -> None:
    run(capsys, "plan", "old files", "-o", "my run")
    (Path("old files") / "a.txt").write_text("changed, and longer than before")
    said = run(capsys, "ingest", "my run", "--archive", "embedded:a", "--max-errors", "0")
    assert "RUN" not in said.replace("RUN2", "")
    assert "'my run'" in said


def test_a_source_without_a_run_gets_a_whole_command(capsys: Output) -> None:
    said = run(capsys, "ingest", "old files")
    assert ["noarkit", "ingest", "old files", "-o", "old-files-run"] in commands_in(said)


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_a_plan_that_nobody_approved_leads_to_an_approval_and_then_to_a_load_that_demands_it(
    lang: str, capsys: Output
) -> None:
    run(capsys, "plan", "old files", "-o", "runs")
    words = ["--lang", lang, "ingest", "runs", "--approved-only", "--archive", "embedded:a"]
    assert main([*words, "--progress", "none"], {}) == 4
    said = capsys.readouterr().out
    assert {"en": "runs  stopped (planned, not started)", "nb": "runs  stanset (planlagt, ikke startet)"}[lang] in said
    next_line = next(line for line in said.splitlines() if "noarkit approve" in line)
    assert commands_in(next_line) == [["noarkit", "approve", "runs", "--lang", lang, "--by"]]
    assert "--approved-only" in next_line.partition("noarkit ingest runs")[2].split()


def test_the_step_after_a_dry_run_of_an_approved_plan_still_demands_the_approval(capsys: Output) -> None:
    run(capsys, "plan", "old files", "-o", "runs")
    run(capsys, "approve", "runs", "--by", "Kari")
    said = run(capsys, "ingest", "runs", "--approved-only", "--dry-run", "--archive", "embedded:a")
    assert "--approved-only" in commands_in(said)[-1]


def test_broken_rules_lead_to_the_report_that_names_their_places(capsys: Output) -> None:
    package = Path("my extract")
    package.mkdir()
    (package / "arkivstruktur.xml").write_text(
        "<arkiv xmlns='http://www.arkivverket.no/standarder/noark5/arkivstruktur'/>"
    )
    said = run(capsys, "validate", "my extract")
    proposed = commands_in(said)[-1]
    assert proposed == ["noarkit", "validate", "my extract", "--report", "html", "-o", "my extract-validation.html"]
    main(proposed[1:], {})
    assert "arkivstruktur.xml" in Path("my extract-validation.html").read_text("utf-8")


def archives_in(text: str) -> set[str]:
    """The archives of all commands that a text proposes."""
    words = [words for words in commands_in(text) if "--archive" in words]
    return {Path(words_[words_.index("--archive") + 1].removeprefix("embedded:")).name for words_ in words}


def test_an_archive_that_was_named_by_mistake_is_named_by_no_later_command(capsys: Output) -> None:
    run(capsys, "ingest", "old files", "-o", "runs", "--archive", "embedded:right")
    mistaken = [run(capsys, "ingest", "runs", "--archive", "embedded:wrong")]
    mistaken.append(run(capsys, "ingest", "runs", "--archive", "http://127.0.0.1:9/nowhere"))
    told = [*mistaken, run(capsys, "status", "runs"), run(capsys, "verify", "runs", "--depth", "bytes")]
    assert [archives_in(text) for text in told[:3]] == [{"right"}, {"right"}, {"right"}]
    assert "Verified" in told[3] and archives_in(told[3]) <= {"right"}


def test_the_archive_of_a_run_is_named_after_a_load_that_named_none(capsys: Output) -> None:
    run(capsys, "ingest", "old files", "-o", "runs", "--archive", "embedded:right")
    run(capsys, "ingest", "runs")
    assert archives_in(run(capsys, "status", "runs")) == {"right"}

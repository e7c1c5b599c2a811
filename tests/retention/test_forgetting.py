"""Runs are forgotten by rules, as backups are; what is not proven stays, and the log has what went."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.retention.policy import DAY_S, KeepPolicy, parse_span
from tests.retention.runs import copy_of, erase_in_child, make_run

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "events.json").read_text())


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("loaded"))


def proven_days_ago(run: Path, days: int) -> None:
    """Dates the certificate of a run, and what was done to it before, back."""
    at = datetime.now(UTC) - timedelta(days=days)
    (path,) = run.glob("verify-*.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"ended": at.isoformat()}), "utf-8")
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        db.execute("UPDATE event SET at = ?", (at.timestamp() - 60,))


@pytest.fixture
def folder(loaded: Path, tmp_path: Path) -> Path:
    """Runs that were proven today, and 1, 40 and 400 days ago, and one that was never verified."""
    for days in (0, 1, 40, 400):
        proven_days_ago(copy_of(loaded, tmp_path / "runs" / f"d{days}"), days)
    unproven = copy_of(loaded, tmp_path / "runs" / "unproven")
    for path in unproven.glob("verify-*"):
        path.unlink()
    return tmp_path / "runs"


def forget(*arguments: object) -> int:
    return main(["runs", "forget", *map(str, arguments)], {"HOME": "/nonexistent"})


def runs_of(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/plan.json")}


def test_rules_keep_and_the_rest_goes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert forget(folder, "--keep-last", 1, "--keep-within", "90d", "--because", "plan 26", "--json") == 0
    assert runs_of(folder) == {"d0", "d1", "d40", "unproven"} and not (folder / "d400").exists()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    outcomes = {line["run"]: (line["outcome"], line["reasons"]) for line in lines if line["event"] == "run_forgotten"}
    assert outcomes == {
        "d0": ("kept", ["last", "within"]),
        "d1": ("kept", ["within"]),
        "d40": ("kept", ["within"]),
        "d400": ("removed", []),
        "unproven": ("kept", ["not-verified"]),
    }
    log = [json.loads(line) for line in (folder / "noarkit-forgotten.jsonl").read_text("utf-8").splitlines()]
    assert [(line["state"], Path(line["run"]).name) for line in log] == [("begun", "d400"), ("removed", "d400")]
    assert log[1]["why"] == "plan 26" and log[1]["bytes"] > 0
    assert json.loads(Path(log[1]["receipt"]).read_text("utf-8"))["state"] == "done"


def test_a_dry_run_removes_nothing_and_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = runs_of(folder)
    assert forget(folder, "--keep-last", 1, "--dry-run") == 0
    said = capsys.readouterr()
    assert said.out.count("would be removed") == 3 and "Would have removed 3 runs" in said.err
    assert runs_of(folder) == before
    assert not (folder / "noarkit-forgotten.jsonl").exists() and not list(folder.glob("*erased*"))


def test_a_run_in_use_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunFolder(folder / "d400").locked():
        assert forget(folder, "--keep-last", 1) == 0
    assert runs_of(folder) == {"d0", "d400", "unproven"}
    assert "in use" in capsys.readouterr().out


def test_a_link_removes_neither_the_run_that_a_rule_keeps_nor_one_elsewhere(folder: Path, tmp_path: Path) -> None:
    (folder / "latest").symlink_to(folder / "d0")
    copy_of(folder / "d400", tmp_path / "elsewhere" / "run")
    (folder / "linked").symlink_to(tmp_path / "elsewhere" / "run")
    (folder / "runs").symlink_to(tmp_path / "elsewhere")
    assert forget(folder, "--keep-last", 1) == 0
    assert runs_of(folder) == {"d0", "latest", "unproven", "linked"}
    for run in (folder / "d0", tmp_path / "elsewhere" / "run"):
        assert (run / "plan.json").exists() and (run / "run.db").exists()


def test_a_removal_that_was_begun_is_not_ended_through_a_link(folder: Path, tmp_path: Path) -> None:
    elsewhere = copy_of(folder / "d400", tmp_path / "elsewhere" / "run")
    assert erase_in_child(elsewhere, 3, time.time()) == -signal.SIGKILL
    (folder / "runs").symlink_to(elsewhere.parent)
    assert forget(folder, "--keep-within", "2y") == 0
    assert (elsewhere / "graph.db").exists()


def test_without_a_rule_nothing_goes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert forget(folder) == 2
    assert "--keep-last" in capsys.readouterr().err
    assert main(["runs", str(folder), "--keep-last", "1"], {}) == 2
    assert len(runs_of(folder)) == 5


def test_one_run_that_cannot_be_removed_keeps_itself_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "d400" / "run.lock").chmod(0o644)
    assert forget(folder, "--keep-last", 1, "--json") == 3
    assert runs_of(folder) == {"d0", "d400", "unproven"}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    assert [(line["outcome"], line["reasons"]) for line in lines if line.get("run") == "d400"] == [
        ("kept", ["not-removable"])
    ]
    log = [json.loads(line) for line in (folder / "noarkit-forgotten.jsonl").read_text("utf-8").splitlines()]
    of_it = [(line["state"], line["why"]) for line in log if Path(line["run"]).name == "d400"]
    assert of_it == [("begun", ""), ("kept", "not-removable")]


@pytest.mark.parametrize("why", ["in-use", "not-removable"])
def test_a_removal_that_cannot_be_ended_keeps_no_other_run(
    why: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert erase_in_child(folder / "d400", 3, time.time()) == -signal.SIGKILL
    if why == "not-removable":
        (receipt,) = folder.glob("d400.noarkit-erased-*")
        receipt.chmod(0o644)
    with RunFolder(folder / "d400").locked() if why == "in-use" else nullcontext():
        assert forget(folder, "--keep-last", 1) == (0 if why == "in-use" else 3)
    assert runs_of(folder) == {"d0", "unproven"} and (folder / "d400" / "graph.db").exists()
    assert "d400" in capsys.readouterr().out


def test_what_was_begun_is_ended_first(folder: Path) -> None:
    assert erase_in_child(folder / "d40", 4, time.time()) == -signal.SIGKILL
    assert (folder / "d40").exists() and "d40" not in runs_of(folder)
    assert forget(folder, "--keep-within", "2y") == 0
    assert not (folder / "d40").exists() and runs_of(folder) == {"d0", "d1", "d400", "unproven"}
    log = [json.loads(line) for line in (folder / "noarkit-forgotten.jsonl").read_text("utf-8").splitlines()]
    assert [(line["state"], Path(line["run"]).name) for line in log] == [("removed", "d40")]


def test_the_command_for_one_run_tells_of_its_receipt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["erase-traces", str(folder / "d0"), "--older-than", "30d"], {}) == 2
    assert "F461" in capsys.readouterr().err
    assert main(["erase-traces", str(folder / "d400"), "--older-than", "30d", "--json"], {}) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    assert lines[0]["event"] == "erased" and lines[0]["complete"] and Path(lines[0]["path"]).is_file()
    assert main(["erase-traces", str(folder / "d400")], {}) == 0
    assert "deleted before" in capsys.readouterr().out
    (folder / "d1" / "mine.txt").write_text("mine")
    assert main(["erase-traces", str(folder / "d1"), "--lang", "nb"], {}) == 3
    assert "Beholdt: mine.txt (ikke skrevet av noarkit)" in capsys.readouterr().out


def test_the_library_does_the_same(folder: Path) -> None:
    outcomes = {run.path.name: run.outcome for run in noarkit.forget_runs(folder, KeepPolicy(last=3))}
    assert outcomes == {"d0": "kept", "d1": "kept", "d40": "kept", "d400": "removed", "unproven": "kept"}
    assert noarkit.erase_traces(folder / "d40").is_complete and not (folder / "d40").exists()


def test_rules_name_what_a_person_would_by_hand() -> None:
    now = datetime(2026, 11, 24, 12, tzinfo=UTC)
    moments = [now - timedelta(hours=hours) for hours in (0, 1, 20, 24, 24 * 8, 24 * 31, 24 * 365, 24 * 366)]
    seconds = [moment.timestamp() for moment in moments]

    def kept_places(**rules: float) -> set[int]:
        reasons = KeepPolicy(**rules).reasons(seconds, now.timestamp())  # type: ignore[arg-type]  # as named
        return {n for n, names in enumerate(reasons) if names}

    assert kept_places(last=2) == {0, 1}
    assert kept_places(within_s=DAY_S) == {0, 1, 2, 3}
    assert kept_places(daily=2) == {0, 2}  # today, and the evening before
    assert kept_places(weekly=2) == {0, 4}
    assert kept_places(monthly=3) == {0, 5, 6}
    assert kept_places(yearly=5) == {0, 6}
    assert kept_places(last=1, yearly=2) == {0, 6}
    assert kept_places(last=99) == set(range(8))


@pytest.mark.parametrize(("text", "days"), [("90d", 90), ("2y", 730), ("1m2w", 44), ("48h", 2), ("1Y", 365)])
def test_spans_are_read(text: str, days: int) -> None:
    assert parse_span(text, "--keep-within") == days * DAY_S


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "9x", "1d 2", "1e9d"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        parse_span(text, "--keep-within")

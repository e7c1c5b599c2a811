"""`noarkit doctor --run --until`: what would spoil the night is told the evening before, with the code it has."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.cli.console import size
from noarkit.cli.main import main
from noarkit.errors import PlanChanged
from noarkit.graph.freeze import digest
from noarkit.loading.folder import RunFolder
from noarkit.safe.certificates import certificates_end
from tests.archive.certificates import Identity, write


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A plan of one file, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files" / "case").mkdir(parents=True)
    (tmp_path / "files" / "case" / "a.txt").write_text("a", "utf-8")
    assert main(["plan", "files", "-o", "run"], {"HOME": str(tmp_path)}) == 0
    capsys.readouterr()
    return tmp_path / "run"


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str, **environment: str) -> tuple[int, dict[str, str]]:
    """The exit code, and how each check went."""
    code = main(["doctor", "--json", *arguments], {"HOME": "/nonexistent", **environment})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, {line["check"]: line["state"] for line in lines if line["event"] == "check"}


def test_a_good_evening(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = doctor(capsys, "--run", "run", "--until", "06:00")
    assert code == 0
    assert {told[name] for name in ("window", "plan", "written", "room", "source")} == {"ok"}


def test_sizes_are_told_in_bytes_beside_the_words_for_people(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--json", "--run", "run"], {"HOME": "/nonexistent"})
    lines = {line.get("check"): line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (lines["plan"]["size"], lines["plan"]["size_bytes"]) == ("1 B", 1)
    for check, names in (("disk", ["free"]), ("room", ["free", "needed"])):
        assert [size(lines[check][f"{name}_bytes"]) for name in names] == [lines[check][name] for name in names]


def test_a_plan_that_was_changed_ends_the_evening(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(run / "graph.db")) as graph, graph:
        graph.execute("UPDATE entity SET type = 'Mappe' WHERE type = 'Basisregistrering'")
    code, told = doctor(capsys, "--run", "run")
    assert (code, told["plan"]) == (PlanChanged.exit_code, "fault")


def test_a_source_that_is_gone_is_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run.parent / "files").rename(run.parent / "moved")
    assert doctor(capsys, "--run", "run") == (8, {**doctor(capsys, "--run", "run")[1], "source": "fault"})


def test_a_run_that_somebody_works_on_is_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunFolder(run).locked():
        code, told = doctor(capsys, "--run", "run")
    assert (code, told["run-held"]) == (0, "note")


def test_a_source_that_may_be_written_to_is_more_than_is_needed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, "--run", "run")[1]["source-writable"] == "note"


def test_no_room_for_what_is_left_has_the_code_of_a_full_disk(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(run / "graph.db")) as graph, graph:
        graph.execute("UPDATE shard SET bytes = 1000000000000000000")
        RunFolder(run).write_plan({**RunFolder(run).plan(), "sha256": digest(graph)})
    code, told = doctor(capsys, "--run", "run", "--archive", f"embedded:{run.parent / 'archive'}")
    assert (code, told["room-short"]) == (10, "fault")


@pytest.mark.parametrize(
    ("days", "check", "state", "code"),
    [(400, "certificate", "ok", 0), (10, "certificate-soon", "note", 0), (-1, "certificate-ends", "fault", 2)],
)
def test_a_certificate_of_our_own_must_last_the_night(
    days: int, check: str, state: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(Identity("client", days=(-10, days)), tmp_path)
    found = certificates_end(path)
    assert found is not None and abs(found - datetime.now(UTC) - timedelta(days=days)) < timedelta(hours=1)
    assert doctor(capsys, NOARKIT_ARCHIVE_CERT=str(path))[1][check] == state
    assert doctor(capsys, NOARKIT_ARCHIVE_CERT=str(path))[0] == code


def test_one_that_ends_before_the_window_does_will_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Identity("client", days=(-10, 2)), tmp_path)
    late = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    code, told = doctor(capsys, "--until", late, NOARKIT_ARCHIVE_CERT=str(path))
    assert (code, told["certificate-ends"]) == (2, "fault")
    old = write(Identity("authority", days=(-10, -1), is_authority=True), tmp_path)
    code, told = doctor(capsys, NOARKIT_ARCHIVE_CA=str(old))
    assert (code, told["certificate-soon"]) == (0, "note")  # a bundle may hold one that nobody needs


def test_a_file_that_is_no_certificate_and_a_key_that_lies_open_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    assert doctor(capsys, NOARKIT_ARCHIVE_CERT=str(bad))[1]["certificate"] == "fault"
    key = tmp_path / "key.pem"
    key.touch(0o640)
    code, told = doctor(capsys, NOARKIT_ARCHIVE_KEY=str(key))
    assert (code, told["key-open"]) == (2, "fault")
    key.chmod(0o600)
    assert "key-open" not in doctor(capsys, NOARKIT_ARCHIVE_KEY=str(key))[1]


def test_a_secret_that_children_could_see_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, "--until", "06:00", NOARKIT_CLIENT_SECRET="x")[1]["secret-seen"] == "note"


def test_a_folder_that_this_account_cannot_write_to_is_told(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "run"
        shutil.copytree(run, place)
        for one in (Path(name), place, *place.iterdir()):
            one.chmod(0o555 if one.is_dir() else 0o444)
        monkeypatch.chdir(name)
        with as_nobody():
            code, told = doctor(capsys, "--run", str(place))
        place.chmod(0o700)
        Path(name).chmod(0o700)
    assert (code, told["plan"], told["written"], told["source"]) == (2, "ok", "fault", "fault")


@contextmanager
def as_nobody() -> Iterator[None]:
    """For as long as the block lasts root has no more rights than anybody."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)

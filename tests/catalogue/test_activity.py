"""What goes on is told while it goes on, from the journal, and is history afterwards."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

import noarkit
from noarkit.catalogue.activity import ActivityFollower
from noarkit.safe.event_log import read_events, watched_log
from tests.rights import held_to_file_rights
from tests.waiting import PATIENCE_S


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan of forty files."""
    monkeypatch.chdir(tmp_path)
    for folder in range(4):
        (tmp_path / "files" / str(folder)).mkdir(parents=True)
        for number in range(10):
            (tmp_path / "files" / str(folder) / f"{number}.txt").write_text(f"{folder} {number}")
    noarkit.plan("files", "run")
    return tmp_path / "run"


def test_a_loaded_run_tells_its_numbers_shards_and_minutes(run: Path) -> None:
    noarkit.ingest(run, archive="embedded:archive", workers=0)
    activity = ActivityFollower(run).now()
    assert (activity.job, activity.is_running) == ("ingest", False)
    assert activity.numbers is not None and activity.numbers.archived == 40
    assert len(activity.shards) >= 2
    assert all(shard.done == shard.chunks > 0 for shard in activity.shards)
    # a record has three objects and its folder one; the spine comes on top
    assert sum(minute.objects for minute in activity.minutes) >= 40 * 3 + 4
    assert sum(minute.bytes for minute in activity.minutes) == 40 * 3
    json.dumps(activity.to_dict())


def test_a_run_that_was_only_planned_has_no_shards_at_work(run: Path) -> None:
    activity = ActivityFollower(run).now()
    assert (activity.job, activity.is_running, activity.shards) == ("plan", False, ())
    assert activity.numbers is not None and activity.numbers.open == 40
    assert activity.approval is None
    noarkit.approve(run, by="Kari")
    approval = ActivityFollower(run).now().approval
    assert approval is not None and approval.by == "Kari"


def test_what_went_wrong_is_told_newest_first(run: Path, tmp_path: Path) -> None:
    (tmp_path / "files" / "1" / "3.txt").unlink()
    (tmp_path / "files" / "2" / "3.txt").chmod(0)
    with held_to_file_rights():
        noarkit.ingest(run, archive="embedded:archive", workers=0)
    troubles = [(event.name, event.data.get("code")) for event in ActivityFollower(run).now().troubles]
    assert sorted(troubles) == [("set_aside", "F201"), ("set_aside", "F202")]


def test_a_run_is_followed_while_another_process_loads_it_and_after_its_death(run: Path, tmp_path: Path) -> None:
    follower = ActivityFollower(run)
    command = [sys.executable, "-m", "noarkit", "ingest", "run", "--archive", "embedded:archive", "--max-rate", "4/s"]
    with Popen(command, cwd=tmp_path, stdout=PIPE, stderr=PIPE) as process:
        deadline = time.monotonic() + PATIENCE_S
        activity = follower.now()
        while not (activity.is_running and activity.counts.get("chunk_done")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
            activity = follower.now()
        assert any(shard.done for shard in activity.shards)
        assert activity.owner.startswith(f"process {process.pid} on ")
        process.kill()
    after = follower.now()
    assert not after.is_running
    assert after.counts["chunk_done"] >= activity.counts["chunk_done"]


def test_each_look_reads_only_what_came_since_the_last(run: Path) -> None:
    follower = ActivityFollower(run)
    before = follower.now().counts
    log = run / "run.log"
    size = log.stat().st_size
    with log.open("r+b") as file:  # what was read already is not asked for again
        file.write(b"#" * 10)
        file.seek(0, os.SEEK_END)
        file.write(
            b'{"time": "2026-01-01T00:00:00", "event": "planned", "entities": {"Arkiv": 1}}\n{"time": "unfinished'
        )
    assert follower.now().counts == {**before, "planned": before.get("planned", 0) + 1}
    assert read_events(log, size)[1] < log.stat().st_size


def test_a_package_is_logged_only_while_somebody_watches_it(run: Path, tmp_path: Path) -> None:
    noarkit.ingest(run, archive="embedded:archive", workers=0)
    noarkit.extract("package", archive="embedded:archive")
    assert not watched_log(tmp_path / "package").exists()
    watched_log(tmp_path / "second").touch(0o600)
    noarkit.extract("second", archive="embedded:archive")
    activity = ActivityFollower(tmp_path / "second").now()
    assert (activity.job, activity.is_running) == ("extract", False)
    assert activity.counts["package_made"] == 1
    assert sum(minute.bytes for minute in activity.minutes) >= 40 * 3


def test_a_log_that_is_a_link_is_not_written_to(run: Path, tmp_path: Path) -> None:
    noarkit.ingest(run, archive="embedded:archive", workers=0)
    (tmp_path / "mine").write_text("mine")
    watched_log(tmp_path / "package").symlink_to(tmp_path / "mine")
    noarkit.extract("package", archive="embedded:archive")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_package_whose_maker_was_killed_is_not_worked_on(tmp_path: Path) -> None:
    begin = '{"time": "2026-01-01T00:00:00+00:00", "event": "extract_begins"}\n'
    watched_log(tmp_path / "package").write_text(begin)
    killed_at = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    follower = ActivityFollower(tmp_path / "package", lambda: killed_at + now_s)
    now_s = 30
    assert follower.now().is_running
    now_s = 90
    assert not follower.now().is_running


def test_a_job_that_begins_again_after_a_kill_has_ended_when_it_ends(tmp_path: Path) -> None:
    moment = datetime.now(UTC).isoformat()
    names = ("extract_begins", "extract_begins", "extract_ends")
    lines = [json.dumps({"time": moment, "event": name}) for name in names]
    watched_log(tmp_path / "package").write_text("\n".join(lines) + "\n")
    assert not ActivityFollower(tmp_path / "package").now().is_running


def test_a_line_longer_than_a_block_is_passed_over(tmp_path: Path) -> None:
    line = b'{"time": "2026-01-01T00:00:00+00:00", "event": "planned"}\n'
    watched_log(tmp_path / "package").write_bytes(line + b"x" * (9 << 20) + b"\n" + line)
    assert ActivityFollower(tmp_path / "package").now().counts == {"planned": 2}

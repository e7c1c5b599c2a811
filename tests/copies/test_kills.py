"""Killed at any step, or without room, the same command goes on: the store is whole, and nothing is made twice."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from noarkit.copies import coordinator
from noarkit.copies.checking import check_store
from noarkit.copies.coordinator import DerivingOptions, DerivingTools
from noarkit.copies.store import CopyStore
from noarkit.errors import DiskFull, RunLocked
from noarkit.forms.finders import open_source
from tests.copies.fake import FakePolicy, toolbox
from tests.faults.test_disk_full import elsewhere, fill, small_disk
from tests.forked import Forked, run_forked
from tests.processes import command_line, running_with
from tests.waiting import came

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    "a.1": "good\na",
    "b.1": "good\nb",
    "c.1": "good\nnever-valid",
    "d.2": "good\nnever-valid too",
    "e.4": "good\ne",
    "f.5": "left",
    "g.1": "good\na",
}
MADE = {"good\na", "good\nb", "good\ne"}


def command(place: Path, step: int) -> list[str]:
    program = ROOT / "tests" / "copies" / "programs" / "derive_until.py"
    return [str(program), *(str(place / name) for name in ("source", "copies", "log")), str(step)]


def run(place: Path, step: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return run_forked(command(place, step), cwd=ROOT, env=environment)


def write_source(place: Path) -> None:
    (place / "source").mkdir()
    for name, text in DOCUMENTS.items():
        (place / "source" / name).write_text(text)


def log_of(place: Path) -> Counter[str]:
    return Counter((place / "log").read_text().splitlines() if (place / "log").exists() else [])


def settled(place: Path) -> dict[str, str]:
    """The documents with a final state, by their names."""
    try:
        with closing(sqlite3.connect(place / "copies" / "derive.db")) as db:
            rows = db.execute(
                "SELECT d.name, c.state FROM document d JOIN copy c ON c.n = d.copy"
                " WHERE c.state NOT IN ('planned', 'working')"
            ).fetchall()
    except sqlite3.OperationalError:  # killed before there were tables
        return {}
    return dict(rows)


def check_end(place: Path) -> None:
    """Every document has its outcome, every copy its bytes, and no other file is there."""
    assert settled(place) == {
        "a.1": "made",
        "b.1": "made",
        "c.1": "failed",
        "d.2": "failed",
        "e.4": "made",
        "f.5": "left",
        "g.1": "made",
    }
    objects = {path.name: path.read_text() for path in (place / "copies" / "objects").rglob("*") if path.is_file()}
    assert set(objects.values()) == MADE
    assert all(hashlib.sha256(text.encode()).hexdigest() == name for name, text in objects.items())
    with CopyStore.open(place / "copies") as store:
        assert check_store(store).good
    assert {path.name for path in (place / "copies").iterdir()} == {"derive.db", "derive.lock", "objects"}


def test_killed_at_any_step_it_goes_on_and_makes_nothing_twice(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    write_source(whole)
    steps = int(run(whole, 0).stdout)
    check_end(whole)
    assert steps > 60
    for step in range(1, steps + 1, max(1, steps // 6)):
        place = tmp_path / str(step)
        place.mkdir()
        write_source(place)
        assert run(place, step).returncode == -signal.SIGKILL
        before, runs = settled(place), log_of(place)
        assert run(place, 0).returncode == 0
        check_end(place)
        for name in before:  # what had its outcome was not converted again
            again = {key: count for key, count in (log_of(place) - runs).items() if key.endswith(f" {name}")}
            assert again == {}, (step, name)
        counts = log_of(place)
        shy = counts.pop("good e.4", 0)  # two converters are asked
        assert (max(counts.values()) <= 2, shy <= 4) == (True, True), (step, counts, shy)


def test_a_killed_coordinator_takes_its_workers_and_their_tools_with_it(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.1").write_text("hang")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = Forked(command(tmp_path, 0), cwd=ROOT, env=environment)
    assert came(lambda: programs_at(tmp_path))
    process.kill()
    process.wait()
    assert came(lambda: not programs_at(tmp_path))


def programs_at(place: Path) -> list[int]:
    """The converters' programs that work below a folder."""
    running = running_with(str(place), "misbehave.py")
    return [pid for pid in running if b"derive_until" not in command_line(pid)]


@pytest.mark.parametrize("room", [500_000, 1_200_000])
def test_a_full_disk_stops_it_and_room_lets_it_go_on(tmp_path: Path, request: pytest.FixtureRequest, room: int) -> None:
    if elsewhere(request):
        return
    write_source(tmp_path)
    (tmp_path / "source" / "large.1").write_text("good\n" + "x" * 400_000)
    tools = DerivingTools(FakePolicy(), partial(toolbox, tmp_path / "log"), lambda event: None)
    copies = tmp_path / "disk" / "copies"
    source = open_source(str(tmp_path / "source"))
    with small_disk(tmp_path / "disk", 4):
        keeper = fill(tmp_path / "disk", room)
        for _ in range(2):
            with pytest.raises(DiskFull), CopyStore.open(copies, create=True) as store:
                coordinator.derive(source, store, tools, DerivingOptions(workers=1))
        keeper.unlink()
        with CopyStore.open(copies) as store:
            coordinator.derive(source, store, tools, DerivingOptions(workers=1))
            assert check_store(store).good
        with closing(sqlite3.connect(copies / "derive.db")) as db:
            states = db.execute("SELECT state, count(*) FROM copy GROUP BY 1 ORDER BY 1").fetchall()
        assert dict(states)["made"] == 4


def test_two_commands_at_a_time_do_not_share_a_store(tmp_path: Path) -> None:
    write_source(tmp_path)
    tools = DerivingTools(FakePolicy(), partial(toolbox, tmp_path / "log"), lambda event: None)
    source = open_source(str(tmp_path / "source"))
    with CopyStore.open(tmp_path / "copies", create=True) as store:

        def second() -> bool:
            with pytest.raises(RunLocked), CopyStore.open(tmp_path / "copies") as other:
                coordinator.derive(source, other, tools, DerivingOptions(workers=1))
            return True

        first = DerivingTools(tools.policy, tools.factory, tools.emit, is_stopped=second)
        assert coordinator.derive(source, store, first, DerivingOptions(workers=1)).stopped

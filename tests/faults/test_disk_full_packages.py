"""Disks that fill up while packages are made or databases are read: exit code 10, nothing half under the final name,
and the same command with room ends well."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.test_disk_full import elsewhere, fill, small_disk
from tests.faults.world import DEEP
from tests.forked import run_forked
from tests.waiting import PATIENCE_S

DISK_MB = 24
FORMS = ("bagit", "eark-sip", "dias-aip", "noark5-zip", "siard", "sqlite")


def noarkit(*words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """One command line."""
    environment = {**os.environ, "HOME": str(home), "NOARKIT_LANG": "en"}
    return run_forked(["noarkit", *words], env=environment, cwd=home, timeout=PATIENCE_S)


def database(place: Path) -> Path:
    """A database of some megabytes."""
    with closing(sqlite3.connect(place)) as db:
        db.execute("CREATE TABLE letter (id INTEGER PRIMARY KEY, title TEXT, body BLOB)")
        rows = ((number, f"Brev {number}", os.urandom(20_000)) for number in range(300))
        db.executemany("INSERT INTO letter VALUES (?, ?, ?)", rows)
        db.commit()
    return place


def folder(place: Path) -> Path:
    """A folder of some megabytes."""
    place.mkdir()
    for number in range(60):
        (place / f"{number}.txt").write_bytes(os.urandom(100_000))
    return place


def prepared(form: str, home: Path) -> tuple[str, ...]:
    """The command that makes a package of that form, without its target."""
    if form == "siard":
        return ("convert", str(database(home / "a.db")), "--as", "siard")
    if form == "sqlite":
        made = home / "a.siard"
        assert (
            noarkit("convert", str(database(home / "a.db")), "--as", "siard", "-o", str(made), home=home).returncode
            == 0
        )
        return ("convert", str(made), "--as", "sqlite")
    source = str(folder(home / "files"))
    return ("convert", source, "--as", "bagit" if form == "noark5-zip" else form)


def target_of(form: str, disk: Path) -> Path:
    """Where it is made."""
    tails = {"siard": ".siard", "sqlite": ".db", "noark5-zip": ".zip"}
    return disk / f"made{tails.get(form, '')}"


@pytest.mark.parametrize("form", FORMS if DEEP else FORMS[::2])
def test_a_full_disk_under_a_package_leaves_nothing_half_and_room_lets_it_be_made(
    form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    command = prepared(form, tmp_path)
    with small_disk(tmp_path / "disk", DISK_MB):
        keeper = fill(tmp_path / "disk", 2_500_000)
        target = target_of(form, tmp_path / "disk")
        for _ in range(2):
            end = noarkit(*command, "-o", str(target), home=tmp_path)
            assert end.returncode == 10, end.stderr
            assert not target.exists()
        keeper.unlink()
        end = noarkit(*command, "-o", str(target), home=tmp_path)
        assert end.returncode == 0, end.stderr
        if form != "sqlite":
            assert noarkit("validate", str(target), home=tmp_path).returncode == 0
        left = {path.name for path in (tmp_path / "disk").iterdir()}
        assert left <= {target.name, f"{target.name}_lobs", "made_lobs"}


def test_a_full_disk_under_a_database_in_use_stops_planning_and_room_lets_it_be_planned(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    place = database(tmp_path / "a.db")
    with closing(sqlite3.connect(place)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("UPDATE letter SET title = title || '!'")
        db.commit()
        with small_disk(tmp_path / "disk", DISK_MB):
            keeper = fill(tmp_path / "disk", 2_500_000)
            url, run = f"sqlite:///{place}", str(tmp_path / "disk" / "run")
            recipe = tmp_path / "recipe.toml"
            assert noarkit("recipe", "new", url, "-o", str(recipe), home=tmp_path).returncode == 0
            end = noarkit("plan", url, "--recipe", str(recipe), "-o", run, home=tmp_path)
            assert end.returncode == 10, end.stderr
            keeper.unlink()
            end = noarkit("plan", url, "--recipe", str(recipe), "-o", run, home=tmp_path)
            assert end.returncode == 0, end.stderr

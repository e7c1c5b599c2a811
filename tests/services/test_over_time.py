"""Marks, look-back and sweeps of a connection: what is read when, as the manual says it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.config import Sources, load
from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    made = make_rig(tmp_path, monkeypatch)
    made.set([thing(n, OLD) for n in range(3)])
    return made


def test_another_archive_has_marks_of_its_own(rig: Rig) -> None:
    rig.load("first")
    other = f"embedded:{rig.folder / 'other'}"
    config = load(
        Sources(flags={"archive.url": other}, environment={"HOME": str(rig.folder)}, file=rig.folder / "noarkit.toml")
    )
    settings = replace(rig.settings, config=config)
    planned = noarkit.plan("world:main", rig.folder / "second", archive=other, settings=settings)
    assert planned.records["mapped"] == 3
    noarkit.ingest(rig.folder / "second", archive=other, workers=0, settings=settings)
    assert rig.load("third").numbers.read == 0


def test_without_its_memory_a_run_reads_all_and_archives_nothing_twice(rig: Rig) -> None:
    rig.load("first")
    assert rig.run("connect", "world:main", "forget", "--marks")[0] == 0
    numbers = rig.load("second").numbers
    assert (numbers.read, numbers.already_there, numbers.archived, numbers.new_versions) == (3, 3, 0, 0)


def test_what_shows_up_late_within_the_look_back_is_taken(rig: Rig) -> None:
    rig.load("first")
    minutes = [thing(10 + n, rig.now - timedelta(minutes=n)) for n in (1, 4, 6, 9)]
    rig.set([*(thing(n, OLD) for n in range(3)), *minutes])
    assert rig.load("second").numbers.archived == 2, "five minutes are looked back"


@pytest.mark.parametrize(("days", "taken"), [(29, 0), (31, 1)])
def test_a_sweep_comes_every_so_many_days(rig: Rig, days: int, taken: int) -> None:
    rig.load("first")
    rig.set([*(thing(n, OLD) for n in range(3)), thing(9, OLD)])
    rig.now += timedelta(days=days)
    assert rig.load("second").numbers.archived == taken


def test_how_often_is_a_setting_of_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None
) -> None:
    rig = make_rig(tmp_path, monkeypatch, sweep_days=2)
    rig.set([thing(1, OLD)])
    rig.load("first")
    rig.set([thing(1, OLD), thing(2, OLD)])
    rig.now += timedelta(days=1)
    assert rig.load("second").numbers.archived == 0
    rig.now += timedelta(days=1)
    assert rig.load("third").numbers.archived == 1, "two days after the last sweep, whatever ran between"

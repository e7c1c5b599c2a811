"""What the marks missed is taken by a sweep, or by comparing with what is known, and the run says so."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from noarkit.services.connections import read_connection
from noarkit.services.source.run_watermarks import known_file
from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    return make_rig(tmp_path, monkeypatch)


def test_a_sweep_says_what_it_healed_when_it_is_planned_and_when_it_is_loaded(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(3)])
    rig.load("first")
    assert rig.events("healed") == [], "a first run has missed nothing"
    hidden = [thing(n, OLD) for n in range(3, 5)] + [thing(9, OLD, stream="slips")]
    rig.set([*(thing(n, OLD) for n in range(3)), *hidden, thing(7, rig.now)])
    assert rig.load("second").numbers.read == 1
    assert rig.events("healed") == [], "what is new is no loss"
    rig.now += timedelta(days=31)
    rig.plan("third")
    healed = {"connection": "world:main", "streams": {"letters": 2, "slips": 1}}
    assert rig.events("healed") == [healed]
    rig.ingest("third")
    assert rig.events("healed") == [healed, healed], "once by the plan, and once by the load"
    rig.now += timedelta(days=31)
    rig.load("fourth")
    assert rig.events("healed") == []


def test_what_was_left_out_and_is_asked_for_again_was_not_missed(rig: Rig) -> None:
    rig.set([thing(1, OLD, troubles={"letter.txt": 404}), thing(2, OLD)])
    rig.load("first")
    rig.set([thing(1, OLD), thing(2, OLD)])
    rig.now += timedelta(days=31)
    assert rig.load("second").numbers.archived == 1
    assert rig.events("healed") == []


def test_without_keys_nobody_says_that_anything_was_missed(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(3)])
    rig.load("first")
    connection = read_connection("world:main", rig.settings.config, rig.settings.environment)
    assert connection is not None
    known_file(connection, rig.archive).unlink()
    rig.now += timedelta(days=31)
    assert rig.load("second").numbers.already_there == 3
    assert rig.events("healed") == []


@pytest.mark.parametrize(("lang", "sentence"), [("en", "had missed it: 2 (letters 2)"), ("nb", "ikke fikk det med: 2")])
def test_a_person_and_a_script_are_told(rig: Rig, lang: str, sentence: str) -> None:
    rig.now -= timedelta(days=31)  # the commands go by the clock of this machine
    rig.set([thing(1, OLD)])
    rig.load("first")
    rig.set([thing(n, OLD) for n in range(1, 4)])
    code, _, said = rig.run("ingest", "world:main", "-o", "second", "--lang", lang)
    assert code == 0 and said.count(sentence) == 2, said
    rig.set([thing(n, OLD) for n in range(1, 5)])
    assert rig.run("connect", "world:main", "forget", "--marks")[0] == 0
    code, out, _ = rig.run("ingest", "world:main", "-o", "third", "--json")
    assert code == 0
    assert [line for line in map(json.loads, out.splitlines()) if line["event"] == "healed"] == []

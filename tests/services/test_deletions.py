"""What is deleted in a service stays in the archive, and is reported once; what comes back is read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    return make_rig(tmp_path, monkeypatch)


def reported(rig: Rig, run: str) -> str:
    """What a run lists as skipped."""
    return (rig.folder / run / "skipped.csv").read_text("utf-8-sig")


def test_a_deletion_is_reported_once_and_the_record_stays(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(3)])
    rig.load("first")
    rig.set([thing(n, OLD) for n in range(2)])
    second = rig.load("second")
    assert (second.numbers.read, second.numbers.skipped) == (1, 1)
    assert "11:letters:2:deleted" in reported(rig, "second")
    assert rig.load("third").numbers.read == 0, "once"
    assert rig.verify("first").verdict != "not_verified", "the archive holds what was deleted there"


def test_what_comes_back_after_it_was_gone_is_reported_again_when_it_goes_again(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(2)])
    rig.load("first")
    rig.set([thing(0, OLD)])
    rig.load("second")
    rig.set([thing(0, OLD), thing(1, rig.now)])
    assert rig.load("third").numbers.already_there == 1
    rig.set([thing(0, OLD)])
    assert rig.load("fourth").numbers.skipped == 1

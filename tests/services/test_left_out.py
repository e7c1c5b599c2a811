"""What a run left out of a connection: asked for again by itself until it is archived, gone or accepted."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from noarkit.errors import ItemGone, ItemUnreadable, SourceFault
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.services.registry import find_kind
from noarkit.words.texts import explain
from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)
GONE = {"troubles": {"letter.txt": 404}}


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    return make_rig(tmp_path, monkeypatch, sweep_days=100_000)


def codes(rig: Rig, run: str) -> dict[str, str | None]:
    """What was left out of a run, and under which code."""
    return {outcome.key: outcome.code for outcome in outcomes(RunFolder(rig.folder / run), "set_aside", "refused")}


def skipped(rig: Rig, run: str) -> dict[str, object]:
    """What a run lists as skipped, and why."""
    found = outcomes(RunFolder(rig.folder / run), "skipped")
    return {outcome.key: outcome.data["reason"] for outcome in found}


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, ItemGone.code), (410, ItemGone.code), (403, ItemUnreadable.code), (422, SourceFault.code)],
)
def test_only_a_refusal_of_rights_is_called_one(rig: Rig, status: int, code: str) -> None:
    rig.set([thing(1, OLD, troubles={"letter.txt": status}), thing(2, OLD, refused=status), thing(3, OLD)])
    rig.load("run")
    assert codes(rig, "run") == {"11:letters:1": code, "11:letters:2": code}
    for lang, permission in (("en", "permission"), ("nb", "tilgang")):
        meaning = " ".join(explain(code, lang) or ())
        assert (permission in meaning.casefold()) == (code == ItemUnreadable.code), meaning


def test_one_thing_that_is_left_out_is_asked_for_again_and_nothing_else_is(rig: Rig) -> None:
    things = [thing(n, OLD) for n in range(6)]
    rig.set([{**things[0], **GONE}, *things[1:]])
    assert rig.load("first").numbers.set_aside == 1
    second = rig.load("second").numbers
    assert (second.read, second.set_aside) == (1, 1), "not the whole stream"
    assert rig.load("third").numbers.read == 1, "until something becomes of it"
    rig.set(things)
    fourth = rig.load("fourth").numbers
    assert (fourth.read, fourth.archived) == (1, 1)
    assert rig.load("fifth").numbers.read == 0


def test_a_stream_that_cannot_be_asked_by_id_is_read_whole_again_and_the_others_are_not(rig: Rig) -> None:
    slips = [thing(n, OLD, stream="slips") for n in range(3)]
    rig.set([*(thing(n, OLD) for n in range(3)), {**slips[0], "refused": 403}, *slips[1:]])
    assert rig.load("first").numbers.set_aside == 1
    second = rig.load("second").numbers
    assert (second.read, second.already_there, second.set_aside) == (3, 2, 1)


def test_what_is_gone_for_good_is_accepted_by_key_and_its_record_is_taken_without_it(rig: Rig) -> None:
    papers = {"letter.txt": "the letter", "receipt.txt": "the receipt", "note.txt": "the note"}
    rig.set(
        [
            thing(1, OLD, papers=papers, troubles={"receipt.txt": 404, "note.txt": 410}),
            thing(2, OLD, refused=404),
            thing(3, OLD),
        ]
    )
    rig.load("first")
    with (rig.folder / "first" / "set-aside.csv").open(encoding="utf-8-sig") as file:
        keys = [row["key"] for row in csv.DictReader(file, delimiter=";")]
    assert keys == ["11:letters:1", "11:letters:2"]
    accepts = [word for key in keys for word in ("--accept", key)]
    code, _, said = rig.run("retry", "first", *accepts)
    assert code == 3, "this run did leave them out"
    assert "noarkit plan world:main -o" in said
    rig.now += timedelta(days=20_000)  # the command went by the clock of this machine
    second = rig.load("second").numbers
    assert (second.read, second.archived, second.set_aside) == (4, 1, 0)
    lost = ("paper:letters/1/note.txt", "paper:letters/1/receipt.txt", "11:letters:2")
    assert skipped(rig, "second") == dict.fromkeys(lost, "accepted-as-gone")
    assert rig.load("third").numbers.read == 0, "neither is asked for again"


def test_what_was_accepted_as_gone_and_is_there_again_is_taken(rig: Rig) -> None:
    rig.set([thing(1, OLD, **GONE)])
    rig.load("first")
    assert rig.run("retry", "first", "--accept", "11:letters:1")[0] == 3
    rig.set([thing(1, OLD)])
    rig.now += timedelta(days=20_000)
    numbers = rig.load("second").numbers
    assert (numbers.read, numbers.archived, numbers.skipped) == (1, 1, 0)


@pytest.mark.parametrize("key", ["11:letters:2", "11:letters:9"])
def test_what_is_not_gone_cannot_be_accepted_as_gone(rig: Rig, key: str) -> None:
    rig.set([thing(1, OLD), thing(2, OLD, refused=403)])
    rig.load("first")
    code, _, said = rig.run("retry", "first", "--accept", key)
    assert code == 2 and f"--accept {key}" in said


@pytest.mark.parametrize("entry", ["1042", "a:b", "år/7"])
def test_an_entry_of_a_spend_service_is_asked_for_again_by_its_id(entry: str) -> None:
    kind = find_kind("spend")
    key = ":".join(quote(part, safe="") for part in ("company 1", "entry", entry))
    assert kind.again_id(key) == ("entries", entry)
    assert kind.again_id("company 1:job:9") is None
    assert kind.again_id("company 1:codelist:tags:2026") is None

"""A history is played by the clock of its stand-in and by the calls that it meets, is written and read again, and the
same seed draws the same one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault, NoarkitError
from noarkit.services.standins.control import Control
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.chance import ChanceChange, Chances, draw_history
from noarkit.services.standins.histories.player import HistoryClock, HistoryPlayer, make_clock, pick, start_player
from noarkit.services.standins.histories.script import Change, History, read_history, write_history

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def _values(dice: SeededRandom) -> dict[str, object]:
    return {"n": dice.number("n", 9)}


CHANCES = Chances((ChanceChange("edit", ("A", "B"), 2, _values), ChanceChange("delete", ("A",))), ("/a", "/b"))


def player_of(*changes: Change, call_s: float = 0.0) -> tuple[HistoryPlayer, list[str]]:
    """A player, and the names of what it applied."""
    applied: list[str] = []

    def apply(change: Change) -> str:
        applied.append(change.which)
        return change.which

    history = History(changes, start=START, speed=0.0, call_s=call_s)
    return HistoryPlayer(history, apply, make_clock(history)), applied


def test_changes_happen_when_their_moment_has_come_in_its_order() -> None:
    player, applied = player_of(Change("edit", "late", at_s=20), Change("edit", "early", at_s=10))
    player.play_due()
    assert applied == []
    player.clock.advance(10)
    player.on_call("/any")
    assert applied == ["early"]
    player.clock.advance(60)
    player.play_due()
    assert applied == ["early", "late"]


def test_a_change_waits_for_the_call_of_its_number_and_happens_before_it_is_answered() -> None:
    player, applied = player_of(Change("edit", "x", at_s=5, call="/Deals", number=2))
    player.on_call("/crm/Deals")
    player.clock.advance(5)
    for path in ("/crm/Deals", "/crm/Notes"):
        player.on_call(path)
    assert applied == [], "the first call came before its moment, and notes are another list"
    player.on_call("/crm/Deals")
    player.on_call("/crm/Deals")
    assert applied == ["x"], "once"


def test_what_happens_until_a_moment_happens_at_its_own() -> None:
    player, _ = player_of(Change("edit", "x", at_s=5), Change("edit", "y", at_s=9), Change("edit", "z", at_s=11))
    player.advance_to(10)
    assert [(found.object_id, found.at) for found in player.applied] == [
        ("x", START + timedelta(seconds=5)),
        ("y", START + timedelta(seconds=9)),
    ]
    assert player.clock.elapsed_s == 10


def test_calls_let_time_pass_and_bring_what_is_due() -> None:
    player, applied = player_of(Change("edit", "x", at_s=3), call_s=1.0)
    player.on_call("/")
    player.on_call("/")
    assert applied == []
    player.on_call("/")
    assert applied == ["x"] and player.clock.now() == START + timedelta(seconds=3)


def test_while_a_history_is_paused_its_calls_let_no_time_pass_and_bring_nothing() -> None:
    player, applied = player_of(Change("edit", "x", at_s=1), Change("edit", "y", call="/a"), call_s=1.0)
    player.play_due()
    with player.paused():
        for _ in range(3):
            player.on_call("/a")
        assert applied == [] and player.clock.elapsed_s == 0
    player.on_call("/a")
    assert applied == ["x", "y"] and player.clock.elapsed_s == 1


def test_the_clock_of_the_service_is_set_and_writes_another_zone_while_moments_come_as_before() -> None:
    player, applied = player_of(
        Change("clock", values={"ahead_s": 90}), Change("zone", values={"hours": -7}), Change("edit", "x", at_s=60)
    )
    player.play_due()
    assert player.clock.now() == START + timedelta(seconds=90)
    assert player.clock.zone == timedelta(hours=-7)
    assert applied == []


def test_a_clock_runs_as_fast_as_it_is_told() -> None:
    now = [0.0]
    clock = HistoryClock(START, speed=60.0, monotonic_s=lambda: now[0])
    now[0] = 2.0
    assert (clock.elapsed_s, clock.now()) == (120.0, START + timedelta(minutes=2))


def test_a_call_of_the_stand_in_is_heard_by_its_player() -> None:
    control, applied = Control(), list[str]()

    def apply(change: Change) -> str:
        applied.append(change.which)
        return change.which

    history = History((Change("edit", "x", call="/a"),), speed=0.0)
    assert start_player(history, lambda: {"edit": apply}, make_clock(history), control) is not None
    control.take("/a")
    assert applied == ["x"]


def test_a_change_that_a_stand_in_does_not_know_is_refused_and_those_it_knows_are_named() -> None:
    with pytest.raises(ConfigFault) as told:
        start_player(History((Change("burn"),)), lambda: {"edit": str}, HistoryClock(), Control())
    assert "burn" in str(told.value.data["where"]) and "edit" in str(told.value.data["where"])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    history = History(
        (Change("edit", "A/3", {"Stage": "Ærlig", "n": 2}, 61.5), Change("delete", "B/1", {}, 7_200, "/Notes", 3)),
        START, 2.0, 0.5, 3,
    )  # fmt: skip
    write_history(tmp_path / "h.jsonl", history)
    assert '"at": "0:01:01.5"' in (tmp_path / "h.jsonl").read_text()
    assert read_history(tmp_path / "h.jsonl") == history


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", "{}", '{"what": "edit", "at": "soon"}', '{"what": "edit", "wich": "Deals"}', '{"history": 2}',
     '{"what": "edit", "values": []}', '{"what": "edit", "number": "x"}', '{"history": 1, "pages": 2}'],
)  # fmt: skip
def test_a_line_that_is_no_change_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_text(f'# a remark\n{{"at": 1, "what": "edit"}}\n{line}\n')
    with pytest.raises(ConfigFault) as told:
        read_history(path)
    assert told.value.data["where"] == f"{path}:3"


def test_a_file_that_is_not_there_is_a_fault_and_no_trace(tmp_path: Path) -> None:
    with pytest.raises(NoarkitError):
        read_history(tmp_path / "none")


def test_the_same_seed_draws_the_same_history_and_another_seed_another() -> None:
    first = draw_history(CHANCES, 7)
    assert first == draw_history(CHANCES, 7)
    assert first != draw_history(CHANCES, 8)
    assert {change.what for change in first.changes} >= {"edit", "delete"}
    assert any(change.call for change in first.changes)


def test_an_object_is_meant_by_its_id_or_its_place_counted_around() -> None:
    assert pick("Deals/b", ["a", "b"]) == "b"
    assert pick("Deals/4", ["a", "b", "c"]) == "b"
    assert pick("Deals", ["a", "b"]) == "a"
    assert pick("Deals/4", []) == "" == pick("Deals/x", ["a"])

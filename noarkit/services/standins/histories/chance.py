"""Histories drawn from a seed: which changes a service knows, how often each comes, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.player import CLOCK, ZONE
from noarkit.services.standins.histories.script import Change, History

_MOST_PLACES = 40
_REVERSED_COUNT = 3
_PAGES = (None, 2, 3, 5)
_AHEAD_S = (-90.0, -20.0, 0.0, 20.0, 90.0)
_HOURS = (-7.0, 0.0, 1.0, 2.0, 5.5)


@dataclass(frozen=True, slots=True)
class ChanceChange:
    """A change that may be drawn: what it is, to which lists it may happen, its values, and its weight."""

    what: str
    lists: tuple[str, ...]
    weight: int = 1
    values: Callable[[SeededRandom], Mapping[str, object]] = lambda dice: {}


@dataclass(frozen=True, slots=True)
class Chances:
    """What may happen in a service, and the calls of lists that it may happen between. `reversals` names the change
    that takes another back."""

    changes: Sequence[ChanceChange]
    calls: Sequence[str]
    reversals: Mapping[str, str] = field(default_factory=dict)


def draw_history(chances: Chances, seed: int, *, length_s: float = 3_600.0, count: int = 24) -> History:
    """Draws a history; the same seed gives the same one."""
    deck = [change for change in chances.changes for _ in range(change.weight)]
    changes: list[Change] = []
    for place in range(count):
        dice = SeededRandom("history", seed, place)
        candidate = dice.choose("what", deck)
        at_s = float(dice.number("at", int(length_s)))
        if changes and dice.is_hit("together", 20):
            at_s = changes[-1].at_s  # at the same moment, with the same timestamp
        call = dice.choose("call", chances.calls) if dice.is_hit("during", 35) else ""
        which = f"{dice.choose('list', candidate.lists)}/{dice.number('which', _MOST_PLACES)}"
        number = 1 + dice.number("number", 4) if call else 1
        changes.append(Change(candidate.what, which, candidate.values(dice), at_s, call, number))
    changes += _reversed_changes(chances, seed, length_s)
    dice = SeededRandom("history", seed)
    if dice.is_hit("skewed", 40):
        values = {"ahead_s": dice.choose("ahead", _AHEAD_S)}
        changes.append(Change(CLOCK, "", values, float(dice.number("skewed-at", int(length_s)))))
    if dice.is_hit("zoned", 40):
        values = {"hours": dice.choose("hours", _HOURS)}
        changes.append(Change(ZONE, "", values, float(dice.number("zoned-at", int(length_s)))))
    rows = dice.choose("pages", _PAGES)
    return History(tuple(sorted(changes, key=lambda change: change.at_s)), page_rows=rows)


def _reversed_changes(chances: Chances, seed: int, length_s: float) -> Iterator[Change]:
    """Draws changes of the first sixth of a history, each with the one that takes it back in the last two thirds: what
    nobody could see when it was first read, and what somebody sees later with its old times."""
    candidates = [change for change in chances.changes if change.what in chances.reversals]
    for place in range(_REVERSED_COUNT if candidates else 0):
        dice = SeededRandom("reversed", seed, place)
        candidate = dice.choose("what", candidates)
        which = f"{dice.choose('list', candidate.lists)}/{dice.number('which', _MOST_PLACES)}"
        begin_s = float(dice.number("begin", int(length_s / 6)))
        end_s = length_s / 3 + float(dice.number("end", int(length_s * 2 / 3)))
        yield Change(candidate.what, which, candidate.values(dice), begin_s)
        yield Change(chances.reversals[candidate.what], which, {}, end_s)

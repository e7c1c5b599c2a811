"""Random schedules: what a seed means in a mode. The same seed always means the same."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.faults.chaos.proxy import Fault
from tests.faults.chaos.shape import Shape, shape_of


@dataclass(frozen=True)
class Mode:
    """What an archive grants: its settings, the account, and whether that may finalise what it made. With `earlier`
    another run has loaded the first half, and left it open."""

    settings: str = ""
    account: str = "admin"
    token_ttl_s: float = 0.0
    closes: bool = True
    earlier: bool = False


MODES: Mapping[str, Mode] = {
    "standard": Mode(),
    "no-versions": Mode("honours_versions = false\n"),
    "no-uuids": Mode(account="plain", closes=False),
    "short-tokens": Mode("token_ttl_s = 3\n", token_ttl_s=3.0),
    "many-shards": Mode(),
    "second-run": Mode(account="plain", earlier=True),
}
LOST_WORKERS = "lost-workers"
"""The mode in which workers are killed and the client is not: as `many-shards`, with two to four workers."""
_LOSSES = ("before:lose", "after:lose", "late:lose")
STATUSES = ("400", "401", "403", "404", "409", "429", "500", "502", "503", "504")
_NO_ANSWER = ("reset", "never", "cut", "truncated", "html", "empty")
_LOOK_UP = (*_NO_ANSWER, *STATUSES, "wrong", "page")
_GOOD = ("good", "slow", "trickle", "drop")
_MOST = {"transaction": 26, "query": 70, "upload": 24, "token": 5, "download": 24}
_MOST_OF_WORKERS = {"transaction": 8, "query": 24, "upload": 8, "token": 3}
_LASTING = ("before:html", "before:500", "before:503", "before:429", "before:401", "before:reset")
_HIDDEN = ("reset", "never", "cut", "truncated", "html", "empty", "wrong", *STATUSES)
COMMIT_FAULTS = (
    *(f"after:{answer}" for answer in _HIDDEN),
    *("twice:second", "twice:reset", "late:500", "late:never", "late:409", "late:400", "before:500", "before:409"),
)
LOOK_UPS = (*(f"before:{answer}" for answer in _LOOK_UP), "after:slow")
_LAST_TRANSACTION = 17
_KILLS = ("before:kill", "after:kill", "before:stop", "after:stop")


@dataclass(frozen=True)
class Schedule:
    """One trial: what is loaded into which archive, and what goes wrong. A `child` is a client that can be killed."""

    seed: int
    mode: str
    shape: Shape
    faults: tuple[Fault, ...]
    child: bool = False
    workers: int = 0


def pairs(mode: str) -> list[Schedule]:
    """Every commit fault at every transaction of a small run, with every kind of answer to the look-up after it."""
    shape = Shape(0, 6, 2, 4, 300, 25, 4 if mode == "many-shards" else 20_000)
    return [
        Schedule(place, mode, shape, (Fault("transaction", nth, kind, then=(answer,)),))
        for place, (nth, kind, answer) in enumerate(
            itertools.product(range(1, _LAST_TRANSACTION + 1), COMMIT_FAULTS, LOOK_UPS), 1
        )
    ]


def mode_named(name: str) -> Mode:
    """A mode by its name."""
    return MODES["many-shards"] if name == LOST_WORKERS else MODES[name]


def schedule_of(seed: int, mode: str) -> Schedule:
    """The schedule of a seed."""
    if mode == LOST_WORKERS:
        return _losing(seed)
    chance = random.Random(f"{seed} {mode}")
    shape = shape_of(seed, mode)
    child = chance.random() < 0.05
    faults = [_fault(chance, shape) for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6)))]
    if child:
        call = chance.choice(("transaction", "transaction", "upload", "query"))
        faults.append(Fault(call, chance.randint(1, _most(call, shape)), chance.choice(_KILLS)))
    workers = 2 if child and mode == "many-shards" and chance.random() < 0.5 else 0
    return Schedule(seed, mode, shape, tuple(faults), child, workers)


def _losing(seed: int) -> Schedule:
    """Workers that are lost at one to six steps, often at calls in a row, and in every other schedule a fault more."""
    chance = random.Random(f"{seed} {LOST_WORKERS}")
    shape = shape_of(seed, "many-shards")
    faults = []
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        call = chance.choices(("transaction", "query", "upload", "token"), (50, 30, 15, 5))[0]
        kind = chance.choice(_LOSSES if call == "transaction" else _LOSSES[:2])
        faults.append(Fault(call, chance.randint(1, _MOST_OF_WORKERS[call]), kind, chance.choice((1, 1, 2, 4))))
    if chance.random() < 0.5:
        fault = _fault(chance, shape)
        if not fault.kind.startswith("toolate"):
            faults.append(fault)
    return Schedule(seed, LOST_WORKERS, shape, tuple(faults), child=True, workers=chance.choice((1, 2, 4)))


def sampled(mode: str, first: int, last: int) -> list[int]:
    """So few of these seeds that all of what any of them has go wrong still goes wrong: each call at each moment, each
    answer, each way to strike the client. The same ones every time."""
    met = {seed: _troubles(schedule_of(seed, mode)) for seed in range(first, last + 1)}
    missing = set().union(*met.values())
    chosen = []
    while missing:
        best = max(met, key=lambda seed: (len(met[seed] & missing), -seed))
        missing -= met[best]
        chosen.append(best)
    return sorted(chosen)


def _troubles(schedule: Schedule) -> set[tuple[str, ...]]:
    """What goes wrong in a schedule, by kind."""
    found: set[tuple[str, ...]] = set()
    for fault in schedule.faults:
        when, _, answer = fault.kind.partition(":")
        strikes = f"{when}:{answer}" in _KILLS
        found |= {(fault.kind,)} if strikes else {(fault.call, when), (answer,)}
    return found


def _fault(chance: random.Random, shape: Shape) -> Fault:
    call = chance.choices(("transaction", "query", "upload", "token", "download"), (50, 25, 15, 4, 6))[0]
    nth = chance.randint(1, _most(call, shape))
    if chance.random() < 0.08:
        return Fault(call, nth, chance.choice(_LASTING), times=chance.choice((3, 10, 40)))
    then = tuple(f"before:{chance.choice(_LOOK_UP)}" for _ in range(chance.choice((0, 0, 1, 1, 2))))
    times = chance.choice((1, 1, 1, 1, 2, 3))
    return Fault(call, nth, _kind(chance, call), times, then if call == "transaction" else ())


def _kind(chance: random.Random, call: str) -> str:
    if call == "transaction":
        when = chance.choices(("before", "after", "late", "toolate", "twice"), (25, 45, 12, 8, 10))[0]
        if when == "twice":
            return f"twice:{chance.choice(('good', 'second', 'reset'))}"
        answers: Sequence[str] = (*_NO_ANSWER, *STATUSES, "wrong") + (_GOOD[1:] if when == "after" else ())
        return f"{when}:{chance.choice(answers)}"
    if call == "upload" and chance.random() < 0.1:
        return "corrupt:good"
    if call in ("upload", "token"):
        when = chance.choice(("before", "after", "twice" if call == "upload" else "after"))
        return f"{when}:{chance.choice((*_NO_ANSWER, *STATUSES) + (_GOOD[1:] if when == 'after' else ()))}"
    when = chance.choice(("before", "before", "after"))
    return f"{when}:{chance.choice(_LOOK_UP if when == 'before' else ('cut', 'truncated', 'slow', 'trickle', 'drop'))}"


def _most(call: str, shape: Shape) -> int:
    if call in ("upload", "download"):
        return max(1, min(_MOST[call], shape.records))
    return _MOST[call]

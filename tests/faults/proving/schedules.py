"""Random schedules: what a seed means. The same seed always means the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.faults.chaos.proxy import Fault
from tests.faults.chaos.shape import Shape

PAGES = ("page403", "page404", "page400", "squid403", "squid404")
"""Refusals that a proxy makes by itself: as a page for people, or saying that it was the proxy."""
LIES = ("page", "wrong", "stale")
"""Good answers that are not true: none, one about something else, one from before."""
_NO_ANSWER = ("reset", "never", "html", "empty", "500", "502", "503", "504", "429", *PAGES)
_SPOILT = ("cut", "truncated", "slow", "trickle", "drop")
_LASTING = ("reset", "html", "500", "503", "504", "page403", "page404", "squid403")
_READS = (("query", 62), ("download", 25), ("token", 3), ("code-lists", 4), ("change-log", 6))
_MOST = {"query": 60, "download": 12, "token": 2, "code-lists": 2, "change-log": 8, "transaction": 12, "upload": 10}


@dataclass(frozen=True)
class Schedule:
    """One trial. `loads` says that the load itself is in trouble too, `harm` that something in the archive is changed
    before it is verified."""

    seed: int
    shape: Shape
    faults: tuple[Fault, ...]
    loads: bool = False
    harm: bool = False

    @property
    def lies(self) -> bool:
        """True if a good answer is not true somewhere."""
        return any(fault.kind.partition(":")[2] in LIES for fault in self.faults)


SHAPES = (
    Shape(1, 3, 1, 10, 5000, 25, 20_000),
    Shape(2, 5, 3, 2, 20, 1000, 20_000),
    Shape(3, 5, 2, 4, 300, 80, 20_000),
    Shape(4, 8, 3, 10, 300, 25, 20_000),
)
"""What is loaded: few, so that a load that nothing troubles is made once for many verifications."""


def schedule_of(seed: int) -> Schedule:
    """The schedule of a seed."""
    chance = random.Random(f"proving {seed}")
    kind, shape = chance.random(), chance.choice(SHAPES)
    loads, harm = kind < 0.25, kind > 0.9
    faults = [_fault(chance, loads=loads, may_lie=not harm) for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6, 8)))]
    return Schedule(seed, shape, tuple(_one_lie(faults)), loads, harm)


def _fault(chance: random.Random, *, loads: bool, may_lie: bool) -> Fault:
    reads = (*_READS, ("transaction", 40), ("upload", 15)) if loads else _READS
    call = chance.choices([name for name, _ in reads], [weight for _, weight in reads])[0]
    nth = chance.randint(1, _MOST[call] * (2 if loads and call == "query" else 1))
    if chance.random() < 0.1:
        return Fault(call, nth, f"before:{chance.choice(_LASTING)}", times=chance.choice((3, 10, 40)))
    if chance.random() < 0.35:
        return Fault(call, nth, f"after:{chance.choice(_SPOILT)}", chance.choice((1, 1, 2)))
    lies = LIES if may_lie and call == "query" else ()
    return Fault(call, nth, f"before:{chance.choice((*_NO_ANSWER, *lies, *lies))}", chance.choice((1, 1, 1, 2, 3)))


def _one_lie(faults: list[Fault]) -> list[Fault]:
    """At most one lie, told once: what lies twice in the same way is the archive, for all that a client can know."""
    kept, lied = [], False
    for fault in faults:
        if fault.kind.partition(":")[2] in LIES:
            if lied:
                continue
            lied = True
            fault = Fault(fault.call, fault.nth, fault.kind)
        kept.append(fault)
    return kept

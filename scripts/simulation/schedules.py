"""Random schedules: what a seed means in a mode. The same seed always means the same."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from scripts.simulation.machines import Rules
from scripts.simulation.plans import Shape


@dataclass(frozen=True, slots=True)
class Mode:
    """What protects a load: an archive that honours versions, an account that may set uuids; and the engine.

    Where versions are not honoured, nothing but time protects: then no request may reach the archive later than its
    deadline, which is what that deadline promises.
    """

    honours_versions: bool = True
    may_set_uuids: bool = False
    cluster: bool = True


MODES: Mapping[str, Mode] = {
    "versions": Mode(),
    "uuids": Mode(may_set_uuids=True),
    "no-versions": Mode(honours_versions=False),
    "processes": Mode(cluster=False),
    "processes-no-versions": Mode(honours_versions=False, cluster=False),
}
SHAPES = (Shape(), Shape(records=7, folders=3, chunk_actions=12, shard_entities=9), Shape(6, 2, 30, 40, linked=False))


@dataclass(frozen=True, slots=True)
class Trouble:
    """What becomes of the n-th request of a kind; for `outcomes`, of the n-th that the coordinator hears of."""

    call: str
    nth: int
    fate: str

    def __str__(self) -> str:
        return f"{self.call} {self.nth} {self.fate}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """One trial."""

    seed: int
    mode: str
    shape: Shape
    machines: int
    troubles: tuple[Trouble, ...]

    @property
    def rules(self) -> Rules:
        """How its machines live."""
        return Rules(machines=self.machines, cluster=MODES[self.mode].cluster)


# what becomes of a transaction: it never leaves, or it lands and nobody hears of it, or it lands when all gave up
_IN_TIME = (
    *("away", "409", "429", "503", "unsent", "lost", "lost", "broken", "late:20", "late:50"),
    *("kill", "dies", "dies", "gone:30", "gone:50", "stops:30", "stops:100", "stops:100", "stops:300"),
    *("split:30", "split:90", "split:90", "cut:90", "coordinator", "coordinator"),
)
_TOO_LATE = ("late:70", "late:90", "late:200", "gone:90", "gone:200", "hang:30", "hang:100", "hang:200")
_OTHERS = ("away", "429", "503", "unsent", "lost", "kill", "dies", "stops:100", "split:90", "cut:90", "coordinator")
_MOST = {"transaction": 22, "query": 60, "upload": 10, "outcomes": 40}


def schedule_of(seed: int, mode: str) -> Schedule:
    """The schedule of a seed."""
    chance = random.Random(f"{seed} {mode}")
    shape = chance.choice(SHAPES)
    troubles = tuple(_trouble(chance, MODES[mode]) for _ in range(chance.choice((1, 2, 2, 3, 3, 4, 5, 7))))
    return Schedule(seed, mode, shape, chance.choice((1, 2, 3)), troubles)


def _trouble(chance: random.Random, mode: Mode) -> Trouble:
    call = chance.choices(("transaction", "query", "upload", "outcomes"), (60, 16, 9, 15))[0]
    nth = chance.randint(1, _MOST[call])
    if call == "outcomes":
        return Trouble(call, nth, chance.choice(("kill-before", "kill-after")))
    if call != "transaction":
        return Trouble(call, nth, chance.choice(_OTHERS))
    return Trouble(call, nth, chance.choice((*_IN_TIME, *(_TOO_LATE if mode.honours_versions else ()))))


def parse_troubles(text: str) -> tuple[Trouble, ...]:
    """Troubles as a failing schedule prints them: `transaction 3 lost, query 7 away`."""
    parts = [part.split() for part in text.split(",") if part.strip()]
    return tuple(Trouble(call, int(nth), fate) for call, nth, fate in parts)

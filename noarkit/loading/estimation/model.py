"""How long a load takes with so many workers, and what limits it.

A worker goes through requests one by one: it waits for the network, for the archive, for the source, and computes.
What waits side by side with others is *think* time; what is one at a time is a *station* with a queue (the archive's
own work, this machine's processors, the coordinator, a limit of rate, the source). How many shards go through in a
second is then computed exactly, worker by worker, as for any closed network of queues (mean value analysis). Shards
are given out in order, so few or long ones leave workers idle at the end; that is counted shard by shard.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.loading.estimation.demand import Demand, Work
from noarkit.loading.estimation.figures import Figures, Level

_BUSY = 0.85
_MOST = 0.5
_TAIL = 0.9
LIMITS = (
    "latency",
    "archive",
    "concurrency",
    "processors",
    "coordinator",
    "rate",
    "source",
    "shards",
    "longest_shard",
    "start",
    "spine",
    "links",
    "closing",
)
"""Every limit that a load can meet."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where and how a load runs. `processors` are those of one machine; None: each worker has its own.

    `calls_per_s` and `bytes_per_s` are limits of rate, `source_bytes_per_s` and `source_calls_per_s` what the source
    gives to all workers together.
    """

    processors: int | None = None
    calls_per_s: float | None = None
    bytes_per_s: float | None = None
    source_bytes_per_s: float | None = None
    source_calls_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """What a load takes with so many workers, phase by phase, and the limit that it meets."""

    workers: int
    seconds: float
    limit: str
    phases: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)


def time_of(demand: Demand, figures: Figures, setup: Setup, workers: int, level: Level = "likely") -> Timing:
    """The time of a load with `workers` workers."""
    alone = {
        "start": figures.seconds(demand.start, level)
        + figures.here.at(level)
        + figures.here_entity.at(level) * demand.total.entities,
        "spine": figures.seconds(demand.spine.plus(demand.guards), level),
        "links": figures.seconds(demand.links, level),
        "closing": figures.seconds(demand.closing, level),
    }
    units, limit, busy = _units(demand, figures, setup, workers, level)
    phases = {"start": alone["start"], "spine": alone["spine"], "units": units}
    phases |= {"links": alone["links"], "closing": alone["closing"]}
    total = sum(phases.values())
    if units < _MOST * total:
        limit = max(alone, key=lambda name: alone[name])
    return Timing(workers, total, limit, phases, busy)


def _units(
    demand: Demand, figures: Figures, setup: Setup, workers: int, level: Level
) -> tuple[float, str, Mapping[str, float]]:
    """The seconds of all shards of units, their limit, and how busy each station is."""
    count = len(demand.shards)
    if not count:
        return 0.0, "latency", {}
    at_once = min(workers, count)
    stations, think_s = _stations(demand, figures, setup, level)
    flows = shards_per_second(at_once, think_s, stations)
    alone_s = think_s + sum(stations.values())
    guard_s = figures.seconds(demand.guards, level)
    seconds_of = {shard: figures.seconds(shard, level) + guard_s for shard in set(demand.shards)}
    durations = [seconds_of[shard] for shard in demand.shards]
    # what no worker does for itself: limits of rate, the coordinator's share
    added_s = max(alone_s - sum(durations) / count, 0.0)
    durations = [duration + added_s for duration in durations]
    paces = [flow * alone_s / (number + 1) for number, flow in enumerate(flows)]
    seconds = makespan(durations, paces)
    busy = {name: flows[-1] * demand_s for name, demand_s in stations.items()}
    slowest = [duration / paces[-1] for duration in durations]
    return seconds, _limit(workers, slowest, seconds, busy), busy


def _limit(workers: int, durations: Sequence[float], seconds: float, busy: Mapping[str, float]) -> str:
    busiest = max(busy, key=lambda name: busy[name], default="")
    if busiest and busy[busiest] >= _BUSY:
        return busiest
    if max(durations) >= _TAIL * seconds and len(durations) > 1 and workers > 1:
        return "shards" if workers > len(durations) else "longest_shard"
    if workers > len(durations):
        return "shards"
    return "latency"


def _stations(demand: Demand, figures: Figures, setup: Setup, level: Level) -> tuple[dict[str, float], float]:
    """What an average shard takes of each station, and what it waits beside them, in seconds."""
    count, units = len(demand.shards), demand.units
    archive_s = figures.archive_seconds(units, level) / count
    own_s = figures.client_seconds(units, level) / count
    stations = {"archive": archive_s * figures.archive_share.at(level)}
    processors_s = archive_s * figures.processor_share.at(level) + own_s
    waiting_s = archive_s - stations["archive"] - (processors_s - own_s)
    if setup.processors is None:
        waiting_s += processors_s
    else:
        # several processors are one that is as quick as all of them, and a wait (Seidmann)
        stations["processors"] = processors_s / setup.processors
        waiting_s += processors_s - stations["processors"]
    if figures.concurrency is not None:
        stations["concurrency"] = archive_s / figures.concurrency
        waiting_s = max(waiting_s - stations["concurrency"], 0.0)
    stations["coordinator"] = figures.seconds(demand.guards, level)
    stations["coordinator"] += figures.journal_entity.at(level) * units.entities / count
    waiting_s += _source(figures, setup, units, count, level, stations)
    rates = [
        units.requests / count / setup.calls_per_s if setup.calls_per_s else 0.0,
        units.bytes / count / setup.bytes_per_s if setup.bytes_per_s else 0.0,
    ]
    if any(rates):
        stations["rate"] = max(rates)
        waiting_s = max(waiting_s - stations["rate"], 0.0)
    return stations, waiting_s


def _source(figures: Figures, setup: Setup, units: Work, count: int, level: Level, stations: dict[str, float]) -> float:
    """Adds the source as a station where it has a limit; what is waited for it beside that."""
    reading_s = figures.source_seconds(units, level) / count
    limits = [
        units.bytes / count / setup.source_bytes_per_s if setup.source_bytes_per_s else 0.0,
        units.uploads / count / setup.source_calls_per_s if setup.source_calls_per_s else 0.0,
    ]
    if not any(limits):
        return reading_s
    stations["source"] = max(limits)
    return max(reading_s - stations["source"], 0.0)


def shards_per_second(workers: int, think_s: float, stations: Mapping[str, float]) -> list[float]:
    """How many shards go through in a second with one worker, with two, up to so many: exact mean value analysis of a
    closed network, one class of work."""
    queues = dict.fromkeys(stations, 0.0)
    flows: list[float] = []
    for at_once in range(1, workers + 1):
        residence = {name: seconds * (1.0 + queues[name]) for name, seconds in stations.items()}
        flows.append(at_once / (think_s + sum(residence.values())))
        queues = {name: flows[-1] * seconds for name, seconds in residence.items()}
    return flows


def makespan(durations: Iterable[float], paces: Sequence[float]) -> float:
    """When the last of these is done, where each is given in its order to the worker that is free first.

    `paces` say how fast each goes on while one, two, ... of them are worked on: 1 is as fast as alone.
    """
    ends: list[float] = []  # in the time of one that works alone
    progress = now_s = 0.0

    def finish_first() -> None:
        nonlocal progress, now_s
        pace = paces[len(ends) - 1]
        end = heapq.heappop(ends)
        now_s += (end - progress) / pace
        progress = end

    for duration in durations:
        if len(ends) == len(paces):
            finish_first()
        heapq.heappush(ends, progress + duration)
    while ends:
        finish_first()
    return now_s


def fitted_share(alone_per_s: float, together_per_s: float, workers: int, processors: float = 0.0) -> float:
    """Which share of a request the archive works on it alone, where `workers` workers together did so many a second.

    `processors` is the share that is known to be work of this machine's processors.
    """
    alone_s = 1 / alone_per_s
    low, high = 0.0, 1.0 - processors
    for _ in range(40):
        middle = (low + high) / 2
        stations = {"archive": middle * alone_s, "processors": processors * alone_s}
        flow = shards_per_second(workers, (1 - middle - processors) * alone_s, stations)[-1]
        low, high = (middle, high) if flow > together_per_s else (low, middle)
    return (low + high) / 2

"""How a load grows with its workers: 1 to 200 virtual machines on a modelled archive, beside what the estimate says.

`detailed`   every chunk runs the real code of a worker; every request has its own way through the modelled archive.
`aggregate`  for plans that nobody can hold here: coordinator, journal, leases and guards are real, shard by shard; what
             a worker does within a shard is one span of virtual time, and entities are counted, not made.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.events import Event
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from noarkit.loading.estimation.demand import Demand, Work, demand_of, synthetic_demand
from noarkit.loading.estimation.figures import DEFAULTS, Figure, Figures
from noarkit.loading.estimation.model import Setup, time_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import ChunkDone, Outcome, ShardDone
from noarkit.loading.run import load
from noarkit.loading.stopping import StopRequest
from scripts.simulation.holdings import Holdings
from scripts.simulation.machines import Leased, Rules, VirtualWorkers
from scripts.simulation.plans import Shape, make_plan
from scripts.simulation.search import context_maker, load_settings, patient
from scripts.simulation.service import Machine, Service, Speed, VirtualArchive
from scripts.simulation.world import World

JOURNAL_S, JOURNAL_ENTITY_S = 0.000_3, 0.000_015
_SLICES = 20
_BUSY = 0.85
_TAIL = 0.5
_RATE_MET = 0.6  # workers that were refused pause longer than they must, so that a limit is never quite reached

SPEEDS: Mapping[str, Speed] = {
    "latency": Speed(latency_s=0.05, spread=0.3),
    "throughput": Speed(latency_s=0.05, spread=0.3, servers=1, query_s=0.001, upload_s=0.002, transaction_s=0.004),
    "concurrency": Speed(latency_s=0.02, servers=16, query_s=0.01, upload_s=0.03, transaction_s=0.05),
    "rate": Speed(latency_s=0.05, calls_per_s=400.0),
    "outages": Speed(latency_s=0.05, spread=0.3, outages=((60.0, 120.0), (300.0, 330.0))),
}
"""Archives: far away; quick, but one request at a time; with sixteen servers; with a limit of rate; sometimes away."""


@dataclass(frozen=True, slots=True)
class Point:
    """One load: its workers, what it took in virtual time, its limit, and what the estimate says."""

    workers: int
    seconds: float
    limit: str
    estimated_s: float
    estimated_limit: str
    calls: int
    refused_calls: int
    real_s: float
    shards: int


def detailed(folder: RunFolder, speed: Speed, workers: int) -> Point:
    """Loads a real plan with so many machines."""
    demand = demand_of(folder)
    world = World()
    service = Service(world, Holdings(), speed, random.Random(workers))
    rules = _rules(workers)
    machines = [Machine(number) for number in range(workers)]
    with ExitStack() as opened:
        pool = VirtualWorkers(world, rules, context_maker(service, folder, opened), machines)
        return _point(folder, demand, service, pool, workers)


def aggregate(folder: RunFolder, demand: Demand, speed: Speed, workers: int) -> Point:
    """Loads a plan of which only shards exist."""
    world = World()
    service = Service(world, Holdings(), speed, random.Random(workers))
    machines = [Machine(number) for number in range(workers)]
    pool = _AggregateWorkers(service, _rules(workers), machines, demand)
    return _point(folder, demand, service, pool, workers)


def make_detailed_plan(folder: RunFolder, records: int, shards: int) -> None:
    """A real plan of so many records in about so many shards."""
    each = max(records // shards, 1)
    make_plan(folder, Shape(records, shards, 200, 4 * each, linked=False))


def make_aggregate_plan(folder: RunFolder, demand: Demand) -> None:
    """A plan that has shards, and one chunk in each that stands for all of it."""
    folder.path.mkdir(parents=True)
    store = GraphStore.create(folder.graph)
    store.remember("external_system", "simulated")
    works = [Work(transactions=1, entities=0), *demand.shards]
    store.db.execute("BEGIN")
    store.db.executemany(
        "INSERT INTO shard VALUES (?, ?, ?, ?)",
        ((n, "unit" if n else "spine", work.entities, work.bytes) for n, work in enumerate(works)),
    )
    store.db.executemany(
        "INSERT INTO chunk VALUES (?,0,?,?,?,?,?,?,?,?,?,?,?)",
        ((n, f"{n}/0", work.entities, work.actions, 0, work.bytes, n, 0, 0, n, 0, 0) for n, work in enumerate(works)),
    )
    store.db.execute("COMMIT")
    folder.write_plan({"sha256": digest(store.db)})
    store.db.execute("PRAGMA journal_mode = DELETE")
    store.close()


def figures_of(speed: Speed, demand: Demand) -> Figures:
    """What a probe would measure of a modelled archive."""
    spread = 1.0 + speed.spread * speed.spread / 2  # the mean of a lognormal distribution beside its median

    def exact(seconds: float) -> Figure:
        return Figure(seconds, seconds, seconds)

    figures = replace(
        DEFAULTS,
        query=exact(speed.latency_s * spread + speed.query_s),
        upload=exact(speed.latency_s * spread + speed.upload_s),
        byte=exact(speed.byte_s),
        transaction=exact(speed.latency_s * spread + speed.transaction_s),
        action=exact(speed.action_s),
        source_open=exact(0.0),
        source_byte=exact(0.0),
        entity=exact(0.0),
        here=exact(0.0),
        here_entity=exact(0.0),
        journal_entity=exact(JOURNAL_ENTITY_S),
        processor_share=exact(0.0),
        archive_share=exact(0.0),
    )
    if speed.servers is None or not demand.shards:
        return figures
    share = _service_s(speed, demand.units) / figures.archive_seconds(demand.units) / speed.servers
    return replace(figures, archive_share=exact(share))


def _rules(workers: int) -> Rules:
    return Rules(machines=workers, cluster=False, journal_s=JOURNAL_S, journal_entity_s=JOURNAL_ENTITY_S, detect_s=30.0)


def _point(folder: RunFolder, demand: Demand, service: Service, pool: VirtualWorkers, workers: int) -> Point:
    world, began = service.world, time.perf_counter()
    archive: Archive = patient(VirtualArchive(service, Machine()), service, resends=True)
    spans: dict[str, float] = {}

    def listen(event: Event, /) -> None:
        if event.name == "shard_started":
            spans.setdefault("first" if event.data["kind"] == "unit" else "spine", world.now_s)
            spans["last"] = world.now_s

    result = load(
        folder,
        archive,
        lambda: pool,
        load_settings(world),
        stop_request=StopRequest(),
        emit=listen,
        now_s=lambda: world.now_s,
    )
    assert result.exit_code == 0, result
    seconds = world.now_s
    world.end_tasks()
    world.close()
    model = time_of(replace(demand, closing=Work()), figures_of(service.speed, demand), _setup(service.speed), workers)
    limit = _limit(service, pool, workers, len(demand.shards), spans, seconds)
    return Point(
        workers, seconds, limit, model.seconds, model.limit, service.calls, service.refused_calls,
        time.perf_counter() - began, len(demand.shards),
    )  # fmt: skip


def _setup(speed: Speed) -> Setup:
    return Setup(calls_per_s=speed.calls_per_s)


def _limit(
    service: Service, pool: VirtualWorkers, workers: int, shards: int, spans: Mapping[str, float], seconds: float
) -> str:
    """Which limit a load met, by how busy everything was while units were loaded."""
    first_s = spans.get("first", 0.0)
    span_s = seconds - first_s
    if first_s > seconds / 2:
        return "start"
    if service.speed.servers and service.busy_s / service.speed.servers > _BUSY * span_s:
        return "archive"
    if pool.coordinator_s + 2 * shards * (service.speed.latency_s + service.speed.query_s) > _BUSY * span_s:
        return "coordinator"
    rate = service.speed.calls_per_s
    if rate is not None and service.refused_calls and service.calls > _RATE_MET * rate * span_s:
        return "rate"
    if workers > shards:
        return "shards"
    if spans["last"] - first_s < _TAIL * span_s and workers > 1:
        return "longest_shard"
    return "latency"


def _service_s(speed: Speed, work: Work) -> float:
    """How long an archive works on some work."""
    return (
        work.queries * speed.query_s
        + work.uploads * speed.upload_s
        + work.bytes * speed.byte_s
        + work.transactions * speed.transaction_s
        + work.actions * speed.action_s
    )


class _AggregateWorkers(VirtualWorkers):
    """Machines that work through a whole shard in some slices of time."""

    def __init__(self, service: Service, rules: Rules, machines: list[Machine], demand: Demand) -> None:
        super().__init__(service.world, rules, lambda *_: None, machines)  # type: ignore[arg-type]  # never called
        self._service = service
        self._works = dict(enumerate((demand.spine, *demand.shards)))

    def work(self, leased: Leased) -> None:
        for outcome in self._outcomes_of(leased):
            self.say(leased, outcome)

    def entities_of(self, outcome: Outcome) -> int:
        if not isinstance(outcome, ChunkDone):
            return 0
        return self._works[int(outcome.chunk.partition("/")[0])].entities

    def _outcomes_of(self, leased: Leased) -> Iterator[Outcome]:
        service, world, speed = self._service, self._service.world, self._service.speed
        work = self._works[leased.lease.shard]
        service_s = _service_s(speed, work) / _SLICES
        for _ in range(_SLICES):
            world.sleep(sum(2 * service.one_way_s() for _ in range(4)) / 4 * work.requests / _SLICES)
            if speed.servers:
                world.sleep_until(service.finish_at(world.now_s, service_s))
            else:
                world.sleep(service_s)
        service.calls += work.requests
        for task in leased.lease.tasks:
            yield ChunkDone(task.key, {})
        yield ShardDone(leased.lease.shard)


def scale(place: Path, name: str, counts: tuple[int, ...], *, documents: int, shards: int, real: bool) -> list[Point]:
    """The same plan with each number of workers."""
    points: list[Point] = []
    demand = synthetic_demand(documents)
    for count in counts:
        folder = RunFolder(place / f"{name}-{count}")
        if real:
            make_detailed_plan(folder, documents, shards)
            points.append(detailed(folder, SPEEDS[name], count))
        else:
            make_aggregate_plan(folder, demand)
            points.append(aggregate(folder, demand, SPEEDS[name], count))
    return points

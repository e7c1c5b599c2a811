"""Estimates the load of one run: time by workers with its range, requests, disk, memory, cost, and the limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import ClassVar

from noarkit.errors import SourceFault
from noarkit.graph.entity import Content
from noarkit.graph.store import GraphStore
from noarkit.loading.compose import compose
from noarkit.loading.contents import OpenContent
from noarkit.loading.estimation.demand import Demand, Work
from noarkit.loading.estimation.figures import Figure, Figures, Measurement, figure_of
from noarkit.loading.estimation.model import Setup, Timing, time_of
from noarkit.loading.folder import AS_RUN, RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.results import HIDDEN, SPREAD, JsonObject, Result, json_field, json_value
from noarkit.safe.digest import sha256_of_stream

WORKER_COUNTS = (1, 2, 4, 8, 16, 32, 64)
_MODEL_SURE = (0.85, 1.2)
"""What the model itself may be wrong by, beside its figures."""
_SAMPLE_S = 1.5
_MOST_SAMPLED = 24
_SMALL_BYTES = 64 * 1024
_CHUNKS_COMPOSED = 5
_HERE_ENTITY = 1.5  # the digest of the plan, the journal, lists and reports, beside composing
# measured on runs of files and of a database
_JOURNAL_BYTES_AN_ENTITY, _JOURNAL_BYTES_A_FILE, _JOURNAL_BYTES_A_CHUNK = 22, 75, 120
_REPORT_BYTES_A_RECORD, _RUN_BYTES = 57, 130_000
_MEBIBYTE = 1024 * 1024
_COORDINATOR_BYTES, _WORKER_BYTES = 66 * _MEBIBYTE, 62 * _MEBIBYTE


@dataclass(frozen=True, slots=True)
class Prices:
    """What the use of an archive costs: for a thousand calls, and for a gigabyte that is sent."""

    thousand_calls: float = 0.0
    gigabyte: float = 0.0

    def of(self, work: Work) -> float:
        """The price of some work."""
        return work.requests / 1000 * self.thousand_calls + work.bytes / 1e9 * self.gigabyte


def _tenths(seconds: float) -> float:
    return round(seconds, 1)


def _hundredths(price: float) -> float:
    return round(price, 2)


def _as_data(figures: Figures) -> dict[str, object]:
    return figures.as_data()


@dataclass(frozen=True, slots=True)
class WorkerTime(JsonObject):
    """What a load takes with so many workers, in seconds, and the limit that it meets."""

    workers: int
    low_s: float = field(metadata=json_field(form=_tenths))
    likely_s: float = field(metadata=json_field(form=_tenths))
    high_s: float = field(metadata=json_field(form=_tenths))
    limit: str
    phases: Mapping[str, float] = field(default_factory=dict, metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class EstimateResult(Result):
    """An estimate. `times` hold the number of workers of a load as it would be started, and others beside it.

    `origin` says what the figures are: `"probe"`, `"run"` (an earlier load, `measured_by`) or `"default"`.
    """

    EVENT: ClassVar = "estimate"

    folder: RunFolder = field(metadata=AS_RUN)
    archive: str | None
    origin: str
    measured_by: str
    workers: int
    times: tuple[WorkerTime, ...]
    work: Work = field(metadata=SPREAD)
    run_bytes: int
    memory_bytes: int
    credits: int
    price: float = field(metadata=json_field(form=_hundredths))
    figures: Figures = field(metadata=json_field(form=_as_data))
    calls: int = field(default=0, metadata=json_field("probe_calls"))

    @property
    @json_value(spread=True)
    def time(self) -> WorkerTime:
        """The time with the number of workers that a load would have."""
        return next(entry for entry in self.times if entry.workers == self.workers)

    @property
    @json_value()
    def phases(self) -> Mapping[str, float]:
        """How long each phase of that time takes, in seconds."""
        return {name: round(seconds, 1) for name, seconds in self.time.phases.items()}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Where a load would run: the archive's name, workers, limits, prices, and whether each call costs credits."""

    archive: str | None
    workers: int
    setup: Setup
    prices: Prices = field(default_factory=Prices)
    source_has_credits: bool = False


def estimate_load(
    folder: RunFolder, demand: Demand, measurement: Measurement, circumstances: Circumstances
) -> EstimateResult:
    """The estimate of a run by these figures."""
    counts = sorted({*WORKER_COUNTS, max(circumstances.workers, 1)})
    work = demand.total
    return EstimateResult(
        folder=folder,
        archive=circumstances.archive,
        origin=measurement.origin,
        measured_by=measurement.where,
        workers=max(circumstances.workers, 1),
        times=tuple(worker_times(demand, measurement.figures, circumstances.setup, counts)),
        work=work,
        run_bytes=_run_bytes(folder, work),
        memory_bytes=_COORDINATOR_BYTES + circumstances.workers * _WORKER_BYTES,
        credits=work.uploads if circumstances.source_has_credits else 0,
        price=circumstances.prices.of(work),
        figures=measurement.figures,
        calls=measurement.calls,
    )


def worker_times(demand: Demand, figures: Figures, setup: Setup, counts: Sequence[int]) -> Iterator[WorkerTime]:
    """The times with these numbers of workers."""
    for count in counts:
        likely = time_of(demand, figures, setup, count)
        low: Timing = time_of(demand, figures, setup, count, "low")
        high: Timing = time_of(demand, figures, setup, count, "high")
        low_s, high_s = low.seconds * _MODEL_SURE[0], high.seconds * _MODEL_SURE[1]
        yield WorkerTime(count, low_s, likely.seconds, high_s, likely.limit, likely.phases)


def with_own_figures(figures: Figures, folder: RunFolder, open_content: OpenContent | None) -> Figures:
    """Figures with what this machine takes to compose the plan's chunks, and its source to be read (None: as it is)."""
    with closing(GraphStore.open(folder.graph)) as graph:
        composing = _measure_composing(graph)
        if composing is not None:
            figures = replace(figures, entity=composing, here_entity=composing.scaled(_HERE_ENTITY))
        if open_content is None:
            return figures
        opening, byte = _measure_source(graph, open_content)
    return replace(figures, source_open=opening or figures.source_open, source_byte=byte or figures.source_byte)


def _measure_composing(graph: GraphStore) -> Figure | None:
    """What an entity takes from the plan to a transaction: of the processor at best, with all else on it at worst."""
    facts = RunFacts("0" * 16, "estimate", False, False, True, 0.0)
    processor_s: list[float] = []
    elapsed_s: list[float] = []
    for chunk in graph.chunks():
        if chunk.shard == 0:
            continue
        began, processor_began = time.perf_counter(), time.process_time()
        entities = list(graph.between(chunk.first, chunk.last))
        links = graph.links_between(chunk.first, chunk.last)
        outside = {entity.parent: "1" for entity in entities if entity.parent is not None}
        compose(entities, links, outside, {}, facts)
        processor_s.append((time.process_time() - processor_began) / len(entities))
        elapsed_s.append((time.perf_counter() - began) / len(entities))
        if len(elapsed_s) == _CHUNKS_COMPOSED:
            break
    if not elapsed_s:
        return None
    best, worst = figure_of(processor_s), figure_of(elapsed_s)
    return Figure(best.likely, (best.likely + worst.likely) / 2, worst.high)


def _measure_source(graph: GraphStore, open_content: OpenContent) -> tuple[Figure | None, Figure | None]:
    """What a content takes to be opened, and each byte to be read and hashed: of a sample across the plan."""
    small: list[float] = []
    large: list[tuple[int, float]] = []
    ends_s = time.perf_counter() + _SAMPLE_S
    for content in _sample(graph):
        began = time.perf_counter()
        try:
            with open_content(content) as stream:
                sha256_of_stream(stream)
        except SourceFault:
            continue  # a load sets it aside
        seconds, size = time.perf_counter() - began, content.size_bytes or 0
        if size <= _SMALL_BYTES:
            small.append(seconds)
        else:
            large.append((size, seconds))
        if time.perf_counter() > ends_s:
            break
    opening = figure_of(small) if small else None
    before_s = opening.likely if opening else 0.0
    return opening, figure_of([max(seconds - before_s, 0.0) / size for size, seconds in large]) if large else None


def _sample(graph: GraphStore) -> Iterator[Content]:
    """Contents from all over the plan."""
    first, last = graph.db.execute("SELECT min(entity), max(entity) FROM content").fetchone()
    if first is None:
        return
    step = max((last - first) // _MOST_SAMPLED, 1)
    for number in range(first, last + 1, step):
        row = graph.db.execute("SELECT entity FROM content WHERE entity >= ? LIMIT 1", (number,)).fetchone()
        content = graph.content(row[0]) if row else None
        if content is not None:
            yield content


def _run_bytes(folder: RunFolder, work: Work) -> int:
    """How large the run's folder will be in the end: plan, journal, lists and reports."""
    planned = sum(path.stat().st_size for path in folder.path.iterdir() if path.is_file())
    journal = (
        work.entities * _JOURNAL_BYTES_AN_ENTITY
        + work.uploads * _JOURNAL_BYTES_A_FILE
        + work.transactions * _JOURNAL_BYTES_A_CHUNK
    )
    return planned + journal + max(work.uploads, work.entities // 5) * _REPORT_BYTES_A_RECORD + _RUN_BYTES

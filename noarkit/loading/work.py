"""Works on a leased shard, chunk by chunk: the same generator runs in this process or in a child."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from noarkit.archive.port import Archive
from noarkit.archive.values import Link, Query
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused, NoarkitError, Paused
from noarkit.events import Listener
from noarkit.graph.store import GraphStore
from noarkit.loading.chunk_loader import ChunkLoader
from noarkit.loading.contents import ContentUploader, Gate, OpenContent
from noarkit.loading.lease import BundleLeftOut, Lease, LinksMade, Outcome, ShardDone, ShardStopped
from noarkit.loading.settling import Clock
from noarkit.loading.spine import SpineLoader


def nothing_to_hear(emit: Listener) -> None:
    """Of a source that says nothing while it is opened."""


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The resources of a worker: its connection to the archive, its reader of the graph, its access to the source, and
    how to hear what the source says."""

    archive: Archive
    graph: GraphStore
    open_content: OpenContent
    gate: Gate
    listen: Callable[[Listener], None] = nothing_to_hear


class WorkerFactory(Protocol):
    """Makes a `WorkerContext` in the process that uses it. It must be picklable where workers are processes."""

    def __call__(self) -> AbstractContextManager[WorkerContext]: ...


@dataclass(frozen=True, slots=True)
class WorkerControl:
    """The coordinator's control of a worker: a steady clock, a sleep that ends early, and whether to stop."""

    now_s: Callable[[], float]
    sleep_s: Callable[[float], None]
    should_stop: Callable[[], bool]

    def wait_until(self, moment_s: float) -> None:
        """Sleeps until a time of the steady clock; Paused where the run is to stop meanwhile."""
        while (remaining_s := moment_s - self.now_s()) > 0:
            if self.should_stop():
                raise Paused()
            self.sleep_s(min(remaining_s, 0.5))


def run_lease(lease: Lease, context: WorkerContext, control: WorkerControl) -> Iterator[Outcome]:
    """Carries out a lease. Its last outcome is ShardDone, or ShardStopped where it had to stop."""
    try:
        has_stopped = yield from _run_lease(lease, context, control)
    # A worker never dies of a fault of the domain: it ends its lease with a reason. Anything else is a defect, and is
    # left to end the process, which the coordinator notices as a lost worker.
    except Paused:
        yield ShardStopped(lease.shard, None, 0)
        return
    except NoarkitError as fault:
        yield ShardStopped(lease.shard, fault.code, fault.exit_code, dict(fault.data))
        return
    yield ShardStopped(lease.shard, None, 0) if has_stopped else ShardDone(lease.shard)


def _run_lease(lease: Lease, context: WorkerContext, control: WorkerControl) -> Generator[Outcome, None, bool]:
    clock = Clock(control.now_s, control.wait_until)
    if lease.kind == "links":
        yield from LinkLoader(lease, context.archive, context.graph, clock).load()
        return False
    loader: SpineLoader | ChunkLoader
    if lease.kind == "spine":
        loader = SpineLoader(lease, context.archive, context.graph, clock)
    else:
        contents = ContentUploader(context.archive, context.open_content, control.now_s, context.gate)
        loader = ChunkLoader(lease, context.archive, context.graph, contents, clock)
    if isinstance(loader, ChunkLoader):
        # Doubts of the whole shard in one wait, before anything new is sent: a later chunk may refer to what is in
        # doubt.
        yield from loader.settle_all(lease.tasks)
    for task in lease.tasks:
        # Between chunks. Within one, only a wait can be broken off (`Paused`), and what was sent is on record by then.
        if control.should_stop():
            return True
        yield from loader.load(task)
    return False


LateLink = tuple[int, str, int]
_BATCH_SIZE = 200


class LinkLoader:
    """Makes the late links of a lease, in batches."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, clock: Clock) -> None:
        self._lease = lease
        self._archive = archive
        self._graph = graph
        self._clock = clock

    def load(self) -> Iterator[Outcome]:
        """Makes every link of the lease; a link with an end that was left out is skipped."""
        links = [
            link
            for link in self._lease.late_links
            if link[0] in self._lease.known_ids and link[2] in self._lease.known_ids
        ]
        for start in range(0, len(links), _BATCH_SIZE):
            yield from self._make_batch(links[start : start + _BATCH_SIZE])

    def _make_batch(self, links: Sequence[LateLink]) -> Iterator[Outcome]:
        types = {n: self._graph.entity(n).type for n, _, _ in links}
        for attempt in range(self._lease.facts.attempts):
            # A link is its own proof: before each attempt the archive is asked which stand, so no journal row or anchor
            # is needed, and links of a lost answer are not made twice.
            open_links = [link for link in links if not self._exists(link, types)]
            if not open_links:
                break
            sent_at = self._clock.now_s()
            try:
                self._archive.transaction([self._action(link, types) for link in open_links])
                break
            except (ArchiveRefused, ArchiveNotFound) as fault:
                if not all(self._exists(link, types) for link in open_links):
                    yield from self._one_by_one(open_links, types, fault)
                    return
            except ArchiveFault as fault:
                if not fault.transient or attempt + 1 == self._lease.facts.attempts:
                    raise
                # As for chunks: what was not answered may still be carried out until the deadline.
                if fault.fate_unknown:
                    self._clock.wait_until(sent_at + self._lease.facts.deadline_s)
        yield LinksMade(tuple(links))

    def _one_by_one(
        self, links: Sequence[LateLink], types: Mapping[int, str], fault: ArchiveFault
    ) -> Iterator[Outcome]:
        if len(links) == 1:
            bundle = self._graph.entity(links[0][0]).bundle
            yield BundleLeftOut(bundle, "refused", fault.code, {**fault.data, "link": links[0][1]})
            # Also told as made: it has its outcome, refused, and must not be tried again by every resume.
            yield LinksMade(tuple(links))
            return
        for link in links:
            yield from self._make_batch([link])

    def _exists(self, link: LateLink, types: Mapping[int, str]) -> bool:
        entity, name, target = link
        known_ids = self._lease.known_ids
        query = Query(
            types[entity], f"id = @a && {name}.id = @b", {"@a": known_ids[entity], "@b": known_ids[target]}, limit=1
        )
        return bool(self._archive.query(query).objects)

    def _action(self, link: LateLink, types: Mapping[int, str]) -> Link:
        entity, name, target = link
        return Link(types[entity], self._lease.known_ids[entity], name, (self._lease.known_ids[target],))

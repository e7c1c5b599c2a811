"""Works on a leased shard, chunk by chunk: the same generator runs in this process or in a child."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from noarkit.archive.port import Archive
from noarkit.errors import NoarkitError, Paused
from noarkit.graph.store import GraphStore
from noarkit.loading.chunk_loader import ChunkLoader
from noarkit.loading.contents import ContentUploader, Gate, OpenContent
from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped
from noarkit.loading.links import LinkLoader
from noarkit.loading.settling import Clock
from noarkit.loading.spine import SpineLoader


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The resources of a worker: its connection to the archive, its reader of the graph, its access to the source."""

    archive: Archive
    graph: GraphStore
    open_content: OpenContent
    gate: Gate


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
        yield from loader.settle_all(lease.tasks)
    for task in lease.tasks:
        if control.should_stop():
            return True
        yield from loader.load(task)
    return False

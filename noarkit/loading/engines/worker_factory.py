"""Makes the resources of a worker on this machine, in the process that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from noarkit.archive.dryrun import DryRunArchive
from noarkit.archive.http import connect
from noarkit.archive.port import Archive
from noarkit.archive.retry import RetryingArchive, RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.events import Listener, ignore_event
from noarkit.graph.store import GraphStore
from noarkit.loading.contents import Gate, OpenContent, no_gate
from noarkit.loading.governor import GovernedArchive, Rate
from noarkit.loading.work import WorkerContext, nothing_to_hear


@dataclass(frozen=True, slots=True)
class LocalWorkerFactory:
    """Opens the archive, the plan and the source once for a worker's life. `rate` is this worker's share."""

    graph: Path
    settings: ArchiveSettings
    open_content: OpenContent
    gate: Gate = no_gate
    rate: Rate = field(default_factory=Rate)
    dry_run: bool = False
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    listen: Callable[[Listener], None] = nothing_to_hear

    @contextmanager
    def __call__(self) -> Iterator[WorkerContext]:
        # a worker asks what became of a transaction before it sends it again
        policy = replace(self.policy, resends=False)
        archive = connect_archive(self.settings, self.rate, dry_run=self.dry_run, policy=policy)
        with closing(archive), closing(GraphStore.open(self.graph)) as graph:
            yield WorkerContext(archive, graph, self.open_content, self.gate, self.listen)


def connect_archive(
    settings: ArchiveSettings,
    rate: Rate | None = None,
    *,
    dry_run: bool = False,
    policy: RetryPolicy | None = None,
    emit: Listener = ignore_event,
    heard_date: Callable[[float], None] | None = None,
) -> Archive:
    """Connects to an archive, wrapped with retries and rate limits, and with a dry run where nothing may be changed."""
    archive = RetryingArchive(GovernedArchive(connect(settings, heard_date), rate or Rate()), policy, emit=emit)
    return DryRunArchive(archive) if dry_run else archive

"""The tools of a worker on this machine, made anew in the process that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from noarkit.archive.dryrun import DryRun
from noarkit.archive.http import connect
from noarkit.archive.port import Archive
from noarkit.archive.retry import Policy, Retrying
from noarkit.archive.settings import ArchiveSettings
from noarkit.events import Listener, nobody
from noarkit.graph.store import GraphStore
from noarkit.load.contents import Gate, OpenContent, no_gate
from noarkit.load.governor import Governed, Rate
from noarkit.load.work import Bench


@dataclass(frozen=True, slots=True)
class LocalWorkshop:
    """Opens the archive, the plan and the source once for a worker's life. `rate` is this worker's share."""

    graph: Path
    settings: ArchiveSettings
    open_content: OpenContent
    gate: Gate = no_gate
    rate: Rate = field(default_factory=Rate)
    dry_run: bool = False
    policy: Policy = field(default_factory=Policy)

    @contextmanager
    def __call__(self) -> Iterator[Bench]:
        # a worker asks what became of a transaction before it sends it again
        policy = replace(self.policy, resends=False)
        archive = opened(self.settings, self.rate, dry_run=self.dry_run, policy=policy)
        with closing(archive), closing(GraphStore.open(self.graph)) as graph:
            yield Bench(archive, graph, self.open_content, self.gate)


def opened(
    settings: ArchiveSettings,
    rate: Rate | None = None,
    *,
    dry_run: bool = False,
    policy: Policy | None = None,
    tell: Listener = nobody,
    heard_date: Callable[[float], None] | None = None,
) -> Archive:
    """A session with all that wraps one: patience, pace, and nothing changed where the run is only rehearsed."""
    archive = Retrying(Governed(connect(settings, heard_date), rate or Rate()), policy, tell=tell)
    return DryRun(archive) if dry_run else archive

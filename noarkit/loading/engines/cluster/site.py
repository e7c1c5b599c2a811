"""What a worker has on its own machine for a run: the frozen plan, the source, and an account at the archive.

The plan is the one of the run's folder, where that can be read under the same path, else what the coordinator sends.
It is proven by its sha256 either way. Addresses and secrets of the archive are this machine's own settings: no secret
ever goes over the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.retry import RetryingArchive, RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.errors import OtherArchive, OtherPlace, PlanChanged
from noarkit.loading import preflight
from noarkit.loading.contents import no_gate
from noarkit.loading.engines.cluster.fence import FencedArchive
from noarkit.loading.engines.cluster.worker import BenchHooks
from noarkit.loading.engines.remote import RunReference
from noarkit.loading.folder import RunFolder
from noarkit.loading.governor import GovernedArchive, Rate
from noarkit.loading.work import WorkerContext
from noarkit.records import Source
from noarkit.safe.workplace import temporary_folder


@dataclass(frozen=True, slots=True)
class WorkerSite:
    """How this machine finds what a run needs: `archive_settings` of its archive's address, `reopen` of its folder."""

    archive_settings: Callable[[str], ArchiveSettings]
    reopen: Callable[[RunFolder], Source]


@dataclass(frozen=True, slots=True)
class LocalBench:
    """The resources of a worker for one run; its rate can be changed."""

    context: WorkerContext
    governed: GovernedArchive

    def set_rate(self, rate: Rate) -> None:
        """Goes on at another rate."""
        self.governed.set_rate(rate)

    def slow_down(self) -> None:
        """Doubles the pause before each call."""
        self.governed.slow_down()


@contextmanager
def open_bench(site: WorkerSite, run: RunReference, hooks: BenchHooks) -> Iterator[LocalBench]:
    """The resources for a run. Raises `PlanChanged`, `OtherPlace`, `OtherArchive`, faults of settings and source."""
    settings = site.archive_settings(run.archive)
    account = settings.credentials.client_id
    if account != run.account:
        # Uploads belong to the account that made them, and what one account may not see looks absent to it.
        raise OtherPlace(where="archive.client_id", why="other-account", expected=run.account, found=account)
    with _plan_of(run, hooks) as folder, closing(folder.open_graph()) as store:
        open_content = hooks.open_shipped if run.ships else site.reopen(folder).open
        # A worker asks what became of a transaction before it sends it again.
        policy = replace(RetryPolicy(), resends=False)
        governed = GovernedArchive(FencedArchive(connect(settings), hooks.check), Rate(), on_busy=hooks.busy)
        with closing(RetryingArchive(governed, policy)) as archive:
            identity = preflight.find_identity(archive) or run.archive
            if identity != run.identity:
                raise OtherArchive(where=settings.base_url, expected=run.identity, found=identity)
            yield LocalBench(WorkerContext(archive, store, open_content, no_gate), governed)


@contextmanager
def _plan_of(run: RunReference, hooks: BenchHooks) -> Iterator[RunFolder]:
    """The folder of a run, or one with what the coordinator sends. Raises `PlanChanged` where another plan is there."""
    folder = RunFolder(Path(run.folder))
    if not folder.graph.is_file():
        with temporary_folder("plan") as place:
            folder = RunFolder(place)
            hooks.fetch_plan(folder.graph)
            folder.write_plan({"sha256": run.plan})
            yield folder
        return
    found = folder.plan().get("sha256")
    if found != run.plan:
        raise PlanChanged(where=str(folder.graph), frozen=run.plan, found=found)
    yield folder

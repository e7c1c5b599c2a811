"""Loads with many machines: the certificates of a cluster, its scheduler, its workers, and where a run finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from noarkit.api.destination import destination
from noarkit.api.origins import reopen_source
from noarkit.archive.settings import ArchiveSettings, settings_of
from noarkit.errors import UsageFault
from noarkit.forms.finders import reopen
from noarkit.loading.engines.remote import ClusterTarget
from noarkit.loading.folder import RunFolder
from noarkit.loading.options import Cluster
from noarkit.records import Source, SourceIdentity, keyed
from noarkit.safe.remote_jobs import JobWorkers
from noarkit.settings import Settings
from noarkit.wings import require_wing


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How the workers of this machine are to be. `source_map` says what stands where on this machine (old → new)."""

    scheduler: str
    tls: Path | None
    slots: int = 1
    listen: tuple[str, int] | None = None
    source_map: Mapping[str, str] = field(default_factory=dict)
    beat_s: float = 2.0


def cluster_target(cluster: Cluster | None, *, dry_run: bool, check_command: str | None) -> ClusterTarget | None:
    """The cluster that a run is to be loaded by, if any. Raises `UsageFault`."""
    if cluster is None:
        return None
    require_wing("cluster")
    from noarkit.loading.engines.cluster.tls import read_address

    for option, is_wanted in (("--dry-run", dry_run), ("--check-command", bool(check_command))):
        if is_wanted:
            raise UsageFault(what="not-with-engine", where=option)
    read_address(cluster.scheduler, "--engine")
    return ClusterTarget(cluster.scheduler, Path(cluster.tls), ships=cluster.ship)


@contextmanager
def cluster_jobs(cluster: Cluster) -> Iterator[JobWorkers]:
    """The workers of a cluster for heavy work, for as long as a block lasts. Raises `UsageFault`, `EngineAway`,
    `EngineTrust`, `OtherVersion`."""
    require_wing("cluster")
    from noarkit.api.heavy_jobs import KINDS
    from noarkit.loading.engines.cluster.jobs import open_cluster_jobs
    from noarkit.loading.engines.cluster.tls import read_address

    read_address(cluster.scheduler, "--engine")
    target = ClusterTarget(cluster.scheduler, Path(cluster.tls))
    with open_cluster_jobs(target, KINDS) as workers:
        yield workers


def serve_workers(
    options: WorkerOptions,
    settings: Settings,
    *,
    should_stop: Callable[[], bool],
    on_begin: Callable[[], None],
    on_ready: Callable[[Sequence[str]], None],
) -> None:
    """Runs the workers of this machine until it is to stop; `on_begin` hears that all options are good.

    Raises `UsageFault`, `ConfigFault`, `EngineTrust`."""
    require_wing("cluster")
    from noarkit.api.heavy_jobs import JobSite, job_table
    from noarkit.loading.engines.cluster import tls
    from noarkit.loading.engines.cluster.site import WorkerSite, open_bench
    from noarkit.loading.engines.cluster.slots import Slots, WorkerSetup

    tls.read_address(options.scheduler, "noarkit worker")
    tls.security(options.tls, "worker", datetime.fromtimestamp(settings.now_s(), UTC))
    on_begin()
    site = WorkerSite(partial(_archive_settings, settings), partial(_reopen, settings, options.source_map))
    host, port = options.listen or (None, 0)
    relocate = partial(_relocate, options.source_map)
    job_site = JobSite(relocate, partial(_archive_settings, settings), partial(_reopen_place, settings, relocate))
    setup = WorkerSetup(
        scheduler=options.scheduler,
        tls=Path(options.tls or ""),
        open_bench=partial(open_bench, site),
        listen_host=host,
        first_port=port,
        slots=options.slots,
        beat_s=options.beat_s,
        jobs=job_table(job_site),
    )
    Slots(setup, on_ready).run(should_stop)


def parse_source_map(pairs: Sequence[str]) -> dict[str, str]:
    """`OLD=NEW` each. Raises `UsageFault`."""
    mapping = {}
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not sign or not old or not new:
            raise UsageFault(
                what="bad-value", where=f"--source-map {pair}", fix="--source-map", value=pair, own="paths"
            )
        mapping[old.rstrip("/") or "/"] = str(Path(new).absolute()) if new.startswith(("/", ".")) else new
    return mapping


def parse_listen(text: str, default_port: int) -> tuple[str, int]:
    """`HOST:PORT` or `HOST`. Raises `UsageFault`."""
    host, sign, port = text.rpartition(":") if "]" not in text.rpartition(":")[2] else (text, "", "")
    if not sign:
        host, port = text, str(default_port)
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageFault(what="bad-value", where=f"--listen {text}", fix="--listen", own="address")
    return host.strip("[]"), int(port)


def _archive_settings(settings: Settings, address: str) -> ArchiveSettings:
    """This machine's own settings for the archive of a run; its address, too, where they name one."""
    place = destination(settings.config, settings.environment, address)
    own = settings.config.archive.url
    config = replace(settings.config.archive, url=own if own and not own.startswith("embedded:") else place.name)
    return settings_of(config, settings.environment)


def _reopen(settings: Settings, source_map: Mapping[str, str], folder: RunFolder) -> Source:
    return reopen_source(folder, settings, relocate=partial(_relocate, source_map))


def _reopen_place(settings: Settings, relocate: Callable[[str], str], identity: SourceIdentity) -> Source:
    """A source that is a path, where that is on this machine. Raises `SourceGone`."""
    return keyed(reopen(replace(identity, where=relocate(identity.where))), settings.config.connections)


def _relocate(source_map: Mapping[str, str], address: str) -> str:
    """Where a place of the coordinator's machine is on this one: by the longest prefix that fits."""
    for old in sorted(source_map, key=len, reverse=True):
        if address == old or address.startswith(old.rstrip("/") + "/"):
            return source_map[old] + address[len(old) :]
    return address

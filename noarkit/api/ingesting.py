"""Loads a planned run into an archive, the first time and every time it goes on."""

from __future__ import annotations

from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from noarkit.api.destination import destination, open_target
from noarkit.api.origins import is_bundle, reopen_source
from noarkit.api.reporting import write_run_results
from noarkit.errors import UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.graph.store import GraphStore
from noarkit.loading.contents import no_gate
from noarkit.loading.coordinator import StopRequest
from noarkit.loading.engines import assembly, watermarks
from noarkit.loading.engines.assembly import IngestResult, LoadOptions
from noarkit.loading.engines.limits import parse_error_limit, parse_until
from noarkit.loading.engines.runlog import log_run
from noarkit.loading.folder import RunFolder
from noarkit.loading.gate import command_gate
from noarkit.loading.governor import Rate, read_rate
from noarkit.records import Source, released
from noarkit.settings import Place, Settings, resolve_settings


def ingest(
    run: Place,
    *,
    source: Source | None = None,
    archive: str | None = None,
    until: str | None = None,
    max_rate: str | None = None,
    max_errors: str | None = None,
    dry_run: bool = False,
    workers: int | None = None,
    check_command: str | None = None,
    todays_dates: bool = False,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> IngestResult:
    """Loads the plan in the folder `run` into an archive, and closes what it made. The same call again goes on.

    A sealed bundle becomes a run by `receive`.

    Options:
        source: the source that was planned, where its reader has no registered name.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        until: when to stop: a time of day (`06:00`) or a moment (`2026-11-23T06:00`).
        max_rate: the most calls or bytes a second (`20/s`, `5MB/s`).
        max_errors: how many items may be set aside: a number or a share (`50`, `1%`).
        dry_run: asks the archive only what it can answer without changing anything.
        workers: the number of processes that load; 0 loads in this process.
        check_command: a command that sees every file before it is uploaded; its refusal sets the item aside.
        todays_dates: goes on where journal posts would get the dates of today, because the account may not set them.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `RunLocked`, `PlanChanged`, `OtherArchive`, `SourceGone`, `UsageFault`, and faults of the archive.
    """
    final_settings = resolve_settings(archive, settings)
    if is_bundle(run):
        raise UsageFault(what="run-wanted", where=str(run), do=f"noarkit ingest {run} -o RUN")
    folder = RunFolder(Path(run))
    reopened = reopen_source(folder, final_settings, source)
    options = LoadOptions(
        until=parse_until(until, datetime.fromtimestamp(final_settings.now_s(), UTC), _zone(folder)) if until else None,
        rate=read_rate(max_rate) if max_rate else Rate(),
        error_limit=parse_error_limit(max_errors) if max_errors else None,
        dry_run=dry_run,
        workers=workers,
        gate=command_gate(check_command) if check_command else no_gate,
        todays_dates=todays_dates,
    )
    return _load(
        folder,
        reopened,
        options,
        StopRequest() if stop_request is None else stop_request,
        final_settings,
        emit=listener,
    )


def _load(
    folder: RunFolder,
    source: Source,
    options: LoadOptions,
    stop_request: StopRequest,
    settings: Settings,
    *,
    emit: Listener,
) -> IngestResult:
    archive_place = destination(settings.config, settings.environment, folder.archive_name())
    with ExitStack() as stack:
        stack.enter_context(released(source))
        emit_logged = stack.enter_context(log_run(folder.path, emit, settings.now_s, "ingest"))
        target = stack.enter_context(open_target(archive_place, rehearse=options.dry_run))
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        watermarks.check_archive(folder, target, emit_logged)
        try:
            result = assembly.ingest_run(
                folder, source, target, options, stop_request=stop_request, emit=emit_logged, now_s=settings.now_s
            )
            watermarks.keep_watermarks(source, result, settings.now_s())
            return result
        finally:
            if not options.dry_run:
                write_run_results(folder, settings.config.lang)


def _zone(folder: RunFolder) -> ZoneInfo:
    with closing(GraphStore.open(folder.graph)) as graph:
        return ZoneInfo(graph.meta("zone") or "UTC")

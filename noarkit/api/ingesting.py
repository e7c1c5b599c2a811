"""Loads a planned run into an archive, the first time and every time it goes on."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack
from zoneinfo import ZoneInfo

from noarkit.api.clustering import cluster_target
from noarkit.api.destination import destination, open_target
from noarkit.api.loaded_before import refuse_load_of_loaded
from noarkit.api.origins import is_bundle, reopen_source, source_of
from noarkit.api.reporting import write_run_results
from noarkit.errors import SourceGone, UsageFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.loading.acceptance import is_bound
from noarkit.loading.approval import require_approval
from noarkit.loading.contents import no_gate
from noarkit.loading.engines import assembly, watermarks
from noarkit.loading.engines.assembly import IngestResult, LoadOptions
from noarkit.loading.engines.limits import parse_error_limit, parse_until
from noarkit.loading.folder import RunFolder
from noarkit.loading.gate import command_gate
from noarkit.loading.governor import Rate, read_rate
from noarkit.loading.merge import check_before_load
from noarkit.loading.next_step import command_line, propose_run
from noarkit.loading.open_run import open_run
from noarkit.loading.options import IngestKeywords, IngestOptions
from noarkit.loading.part import parse_part
from noarkit.loading.request import RunRequest, run_request
from noarkit.loading.state import read_state, refuse_delivered
from noarkit.loading.stopping import StopRequest
from noarkit.option_fields import takes_options, values_given
from noarkit.records import AbsentSource, Listening, Source, innermost, released
from noarkit.safe.event_log import log_run
from noarkit.settings import Place, Settings, resolve_settings

EVENTS: EventFields = {"other_archive": {"archive": "text", "planned": "text?", "configured": "text?"}}


@takes_options(IngestOptions)
def ingest(
    run: Place,
    *,
    source: Source | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
    **keywords: Unpack[IngestKeywords],
) -> IngestResult:
    """Loads the plan in the folder `run` into an archive, and closes what it made. The same call again goes on.

    Options:
        source: the source that was planned, where its reader has no registered name.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        until: when to stop: a time of day (`06:00`) or a moment (`2026-11-23T06:00`).
        max_rate: the most calls or bytes a second (`20/s`, `5MB/s`).
        max_errors: how many items may be set aside: a number or a share (`50`, `1%`).
        dry_run: asks the archive only what it can answer without changing anything.
        workers: the number of processes that load; 0 loads in this process.
        check_command: a command that sees every file before it is uploaded; its refusal sets the item aside.
        todays_dates: loads although the account may not set the plan's dates and numbers; the archive's are taken.
        approved_only: loads only a plan that a person approved as it is (`approve`).
        shard: a part of the run, beside other machines: `"spine"`, `"1/8"` to `"8/8"`, after `merge_runs` `"links"`.
        cluster: the machines that load, in place of this one (`Cluster`).
        as_new: does not ask whether the archive holds the same already, from the same folder by another path.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `RunLocked`, `PlanChanged`, `NotApproved`, `SourceValuesLost`, `OtherArchive`, `SourceGone`, `UsageFault`,
    archive faults; with a `shard` also `PartNotReady`, with a `cluster` also `EngineAway`, `EngineTrust`, `NoWorkers`,
    `OtherVersion`.
    """
    options = IngestOptions(**keywords)
    return ingest_with(
        run,
        options,
        resolve_settings(options.archive, settings),
        source=source,
        stop_request=stop_request,
        emit=listener,
    )


def ingest_with(
    run: Place | RunFolder,
    options: IngestOptions,
    settings: Settings,
    *,
    source: Source | None = None,
    stop_request: StopRequest | None = None,
    emit: Listener = ignore_event,
) -> IngestResult:
    """The same as `ingest`, for a caller that has the options as one value."""
    is_combined = options.dry_run or options.cluster is not None
    folder = _run_to_load(run, approved_only=options.approved_only, shard=options.shard, is_combined=is_combined)
    load_options = LoadOptions(
        until=_moment(options.until, folder, settings.now_s()) if options.until else None,
        rate=read_rate(options.max_rate) if options.max_rate else Rate(),
        error_limit=parse_error_limit(options.max_errors) if options.max_errors else None,
        dry_run=options.dry_run,
        workers=options.workers,
        gate=command_gate(options.check_command) if options.check_command else no_gate,
        todays_dates=options.todays_dates,
        operator=settings.config.operator,
        request=_request(settings, options),
        cluster=cluster_target(options.cluster, dry_run=options.dry_run, check_command=options.check_command),
    )
    with hold_run(folder, is_rehearsal=options.dry_run) as held_folder:
        return _load(held_folder, source, load_options, stop_request, settings, emit=emit)


def hold_run(folder: RunFolder, *, is_rehearsal: bool) -> AbstractContextManager[RunFolder]:
    """Holds the run that is to be loaded, from the first look at it to its last list; a rehearsal has a run of its own.
    Raises `RunLocked`."""
    return nullcontext(folder) if is_rehearsal else open_run(folder)


def _request(settings: Settings, options: IngestOptions) -> RunRequest:
    """How this load is asked for, to be remembered; the archive in its full form, where this call names one."""
    place = destination(settings.config, settings.environment)
    values = values_given(replace(options, archive=place.name if place.is_named else None))
    return run_request("ingest", **values, **settings.explicit)


def _moment(until: str, folder: RunFolder, now_s: float) -> datetime:
    return parse_until(until, datetime.fromtimestamp(now_s, UTC), _zone(folder))


def _run_to_load(run: Place | RunFolder, *, approved_only: bool, shard: str | None, is_combined: bool) -> RunFolder:
    if not isinstance(run, RunFolder) and is_bundle(run):
        command = command_line("ingest", run, "-o", propose_run(str(run)))
        raise UsageFault(what="run-wanted", where=str(run), do=shlex.join(command))
    folder = run if isinstance(run, RunFolder) else RunFolder(Path(run), parse_part(shard) if shard else None)
    if folder.part is not None and is_combined:
        raise UsageFault(what="part-alone", where=f"--shard {shard}")
    refuse_delivered(folder)
    check_before_load(folder)
    if approved_only:
        require_approval(folder)
    return folder


def _load(
    folder: RunFolder,
    planned_source: Source | None,
    options: LoadOptions,
    stop_request: StopRequest | None,
    settings: Settings,
    *,
    emit: Listener,
) -> IngestResult:
    stop_request = StopRequest() if stop_request is None else stop_request
    source = _reopen(folder, settings, planned_source)
    begun_with, planned_for = folder.archive_name(), folder.planned_archive()
    archive_place = destination(settings.config, settings.environment, begun_with or planned_for)
    if options.cluster is not None and archive_place.embedded is not None:
        raise UsageFault(what="engine-embedded", where=archive_place.name, do="noarkit serve")
    with ExitStack() as stack:
        stack.enter_context(released(source))
        emit_logged = stack.enter_context(log_run(folder.path, emit, settings.now_s, "ingest", name=folder.log.name))
        target = stack.enter_context(open_target(archive_place, rehearse=options.dry_run))
        if isinstance(teller := innermost(source), Listening):
            teller.listen(emit_logged)
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        if begun_with is None and planned_for is not None:
            _emit_other_archive(planned_for, target.name, settings, emit_logged)
        watermarks.check_archive(folder, source, target, emit_logged)
        if options.request is not None and not is_bound(folder):
            refuse_load_of_loaded(target, folder, source, options.request, emit_logged)
        try:
            result = assembly.ingest_run(
                folder, source, target, options, stop_request=stop_request, emit=emit_logged, now_s=settings.now_s
            )
            if folder.part is None:
                watermarks.keep_watermarks(source, result, settings.now_s(), emit_logged)
            return result
        finally:
            if not options.dry_run and folder.part is None:
                write_run_results(folder, settings.config.lang)


def _reopen(folder: RunFolder, settings: Settings, planned_source: Source | None) -> Source:
    """The source of a run; one that is gone is missed only where something remains to be loaded."""
    try:
        return reopen_source(folder, settings, planned_source)
    except SourceGone as gone:
        if not read_state(folder).is_finished:
            raise
        return AbsentSource(source_of(folder), gone)


def _emit_other_archive(planned_for: str, name: str, settings: Settings, emit: Listener) -> None:
    """Says so where a plan goes into another archive than it was made for, or than the configured one."""
    configured = destination(settings.config, settings.environment).name if settings.config.archive.url else name
    if name != planned_for:
        emit(Event("other_archive", {"archive": name, "planned": planned_for}))
    elif configured != name:
        emit(Event("other_archive", {"archive": name, "configured": configured}))


def _zone(folder: RunFolder) -> ZoneInfo:
    with closing(folder.graph_store()) as graph:
        return ZoneInfo(graph.meta("zone") or "UTC")

"""Retries what a load left out: what was set aside or refused, and documents that are damaged in the archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from noarkit.api.ingesting import ingest_with
from noarkit.api.origins import reopen_source, source_of
from noarkit.events import Listener, ignore_event
from noarkit.loading.approval import require_approval
from noarkit.loading.engines import accepted_losses, assembly
from noarkit.loading.engines.assembly import IngestResult
from noarkit.loading.folder import RunFolder
from noarkit.loading.options import LOAD_ONLY, IngestOptions, RetryKeywords
from noarkit.loading.stopping import StopRequest
from noarkit.option_fields import takes_options
from noarkit.records import Source, released
from noarkit.safe.clocks import iso_seconds
from noarkit.service_names import is_connection_name
from noarkit.settings import Place, Settings, imprint, resolve_settings

if TYPE_CHECKING:
    from noarkit.services.source.accepted_losses import AcceptedLoss


@takes_options(IngestOptions, without=LOAD_ONLY)
def retry(
    run: Place,
    *,
    fault: str | None = None,
    accept: Sequence[str] = (),
    source: Source | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
    **keywords: Unpack[RetryKeywords],
) -> IngestResult:
    """Loads what an earlier load of the run set aside or the archive refused, and nothing else that is done.

    What the plan itself set aside needs a new plan.

    Options:
        fault: only what was left out with this code (`F202`).
        accept: keys of findings that are accepted as they are, or as gone from a service, in the name of the caller.
        source: the source that was planned, where its reader has no registered name.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        until: when to stop: a time of day (`06:00`) or a moment (`2026-11-23T06:00`).
        max_rate: the most calls or bytes a second (`20/s`, `5MB/s`).
        max_errors: how many items may be set aside: a number or a share (`50`, `1%`).
        workers: the number of processes that load; 0 loads in this process.
        cluster: the machines that load, in place of this one (`Cluster`).
        check_command: a command that sees every file before it is uploaded; its refusal sets the item aside.
        todays_dates: loads although the account may not set the plan's dates and numbers; the archive's are taken.
        approved_only: loads only if a person approved the plan as it is (`approve`).
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `UsageFault` for a key that is no finding, and what `ingest` raises.
    """
    options = IngestOptions(**keywords)
    resolved = resolve_settings(options.archive, settings)
    if options.approved_only:
        require_approval(RunFolder(Path(run)))
    reopen(run, fault=fault, accept=accept, settings=resolved)
    return ingest_with(run, options, resolved, source=source, stop_request=stop_request, emit=listener)


def accept_losses(run: Place, accept: Sequence[str], *, settings: Settings | None = None) -> tuple[AcceptedLoss, ...]:
    """Accepts what of these keys a connection no longer has; returns it."""
    folder, resolved = RunFolder(Path(run)), resolve_settings(None, settings)
    if not accept or not is_connection_name(source_of(folder).where):
        return ()
    source, author = reopen_source(folder, resolved), "{operator}@{machine}".format_map(imprint(resolved).to_dict())
    with released(source):
        return accepted_losses.accept_losses(folder, source, accept, author, iso_seconds(resolved.now_s()))


def without_losses(accept: Sequence[str], losses: Sequence[AcceptedLoss]) -> tuple[str, ...]:
    """The keys that are none of what was accepted as gone."""
    keys = {loss.record_key for loss in losses}
    return tuple(key for key in accept if key not in keys)


def reopen(
    run: Place, *, fault: str | None = None, accept: Sequence[str] = (), settings: Settings | None = None
) -> int:
    """The first half of `retry`: opens what was left out for the next `ingest`; returns how many items."""
    folder = RunFolder(Path(run))
    findings = without_losses(accept, accept_losses(run, accept, settings=settings))
    if findings:
        assembly.accept_findings(folder, findings, resolve_settings(None, settings).now_s())
    return assembly.reopen_items(folder, fault.upper() if fault else None) if folder.journal.exists() else 0

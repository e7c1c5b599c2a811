"""Takes what a run made out of the archive again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from noarkit.api.destination import destination, open_target
from noarkit.api.reporting import write_run_results
from noarkit.events import Event, Listener, ignore_event
from noarkit.loading.clocks import ArchiveClock, system_clocks
from noarkit.loading.engines.assembly import check_reachable
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.retraction.run import RetractResult, RetractSettings
from noarkit.loading.retraction.run import retract as retract_run
from noarkit.loading.stopping import StopRequest
from noarkit.safe.event_log import log_run
from noarkit.settings import Place, Settings, resolve_settings

_OWNER = "admin"


def retract(
    run: Place,
    *,
    delete: bool = False,
    closed: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> RetractResult:
    """Says what a run made that can be taken out of the archive; with `delete` it is deleted, and nothing else.

    What another run made or was there before stays, and so does what somebody closed, changed, moved or used since; the
    result names it. The same call again goes on. A run that was retracted is loaded no more: plan its source again.

    Options:
        delete: deletes; without it nothing is changed.
        closed: takes also what the run itself closed.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `UsageFault` for a run that was never loaded, `OtherArchive`, `RunLocked`, `NotAllowed` where the account may
    delete nothing, and other faults of the archive.
    """
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    folder.plan()
    request = StopRequest() if stop_request is None else stop_request
    with log_run(folder.path, listener, final_settings.now_s, "retract") as emit_logged:
        result = _retract(folder, final_settings, request, emit_logged, delete=delete, closed=closed)
    if delete:
        write_run_results(folder, final_settings.config.lang)
    return result


def _retract(
    folder: RunFolder, settings: Settings, stop_request: StopRequest, emit: Listener, *, delete: bool, closed: bool
) -> RetractResult:
    archive_place = destination(settings.config, settings.environment, folder.remembered_archive())
    archive_clock = ArchiveClock()
    # of an archive of one's own one may delete; its usual client only loads and extracts
    client_id = _OWNER if archive_place.embedded is not None else ""
    with open_target(archive_place, reads=True, client_id=client_id) as target:
        emit(Event("target", {"archive": target.name, "account": target.account}))
        check_reachable(target, emit)
        retract_settings = RetractSettings(
            target.name,
            target.account,
            deletes=delete,
            takes_closed=closed,
            deadline_s=target.deadline_s,
            clocks=system_clocks(archive_clock.now_s),
        )
        with closing(connect_archive(target.settings, emit=emit, heard_date=archive_clock.set_from_date)) as connection:
            return retract_run(
                folder, connection, retract_settings, stop_request=stop_request, emit=emit, now_s=settings.now_s
            )

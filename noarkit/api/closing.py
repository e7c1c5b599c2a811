"""Closes what a run made: finalises every object, documents first."""

from __future__ import annotations

from pathlib import Path

from noarkit.api.destination import destination, open_target
from noarkit.api.reporting import write_run_results
from noarkit.events import Event, Listener, ignore_event
from noarkit.loading.close import CloseResult
from noarkit.loading.engines import assembly
from noarkit.loading.folder import RunFolder
from noarkit.loading.stopping import StopRequest
from noarkit.safe.event_log import log_run
from noarkit.settings import Place, Settings, resolve_settings


def close(
    run: Place,
    *,
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> CloseResult:
    """Finalises everything that a run made, documents first. The same call again goes on.

    Options:
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `OtherArchive`, `RunLocked`, and faults of the archive.
    """
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    folder.plan()
    archive_place = destination(final_settings.config, final_settings.environment, folder.remembered_archive())
    with (
        log_run(folder.path, listener, final_settings.now_s, "close") as emit_logged,
        open_target(archive_place) as target,
    ):
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        closed = assembly.close_run(
            folder,
            target,
            stop_request=StopRequest() if stop_request is None else stop_request,
            emit=emit_logged,
            now_s=final_settings.now_s,
        )
    write_run_results(folder, final_settings.config.lang)
    return closed

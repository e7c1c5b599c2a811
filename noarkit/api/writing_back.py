"""Writes the archive's ids back into the records of the service that a run was made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.api.origins import reopen_source, source_of
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import archive_ids
from noarkit.records import innermost, released
from noarkit.safe.event_log import log_run
from noarkit.service_names import is_service
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.services.source.writeback import WriteBackResult


def write_back(
    run: Place, field: str, *, settings: Settings | None = None, listener: Listener = ignore_event
) -> WriteBackResult:
    """Writes the archive's ids of a loaded run's case files into a field of the records they were made of.

    What was written before a failure stays written; the same call again goes on. `field` is the field's name there.

    Options:
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` for a source that takes nothing from us, and faults of the service.
    """
    require_wing("services")
    from noarkit.services.source import ConnectorSource
    from noarkit.services.source.writeback import CASE_FILES
    from noarkit.services.source.writeback import write_back as write_ids

    final_settings = resolve_settings(None, settings)
    folder = RunFolder(Path(run))
    source = innermost(reopen_source(folder, final_settings))
    if not isinstance(source, ConnectorSource):
        raise _takes_no_ids()
    with released(source), log_run(folder.path, listener, final_settings.now_s, "write-back") as emit_logged:
        return write_ids(source, folder.path, field, archive_ids(folder, *CASE_FILES), emit_logged)


def check_takes_ids(folder: RunFolder) -> None:
    """Raises `UsageFault` for a run from a source that the archive's ids cannot be written back to."""
    kind = source_of(folder).kind
    if not is_service(kind):
        raise _takes_no_ids()
    require_wing("services")
    from noarkit.services.registry import find_kind

    if not find_kind(kind).takes_ids:
        raise _takes_no_ids()


def _takes_no_ids() -> UsageFault:
    return UsageFault(what="bad-value", where="--write-back", fix="", drop="--write-back")

"""Scans a source: counts what it holds, changing nothing."""

from __future__ import annotations

from noarkit.api.origins import source_at
from noarkit.documents.detect import emit_few_types
from noarkit.events import Listener, ignore_event
from noarkit.records import Source, accept_damage, released
from noarkit.services.registry import is_connection_name
from noarkit.settings import Place, Settings
from noarkit.sources.scan import ScanResult
from noarkit.sources.scan import scan as scan_source


def scan(
    source: Place | Source,
    *,
    source_kind: str | None = None,
    despite_damage: bool = False,
    encoding: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> ScanResult:
    """Reads a source and counts what it holds. Changes nothing.

    Options:
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        despite_damage: counts a bag or SIARD archive whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `SourceGone`, `UsageFault`, `PackageFault`.
    """
    with released(source_at(source, settings, kind=source_kind, emit=listener, encoding=encoding)) as place:
        if not is_connection_name(str(source)):
            emit_few_types(listener)
        return scan_source(accept_damage(place, despite_damage=despite_damage), listener)

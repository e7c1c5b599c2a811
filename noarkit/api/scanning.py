"""Scans a source: counts what it holds, changing nothing."""

from __future__ import annotations

from typing import Unpack

from noarkit.api.source_reading import find_asked, read_as_asked
from noarkit.documents.detect import emit_few_types
from noarkit.events import Listener, ignore_event
from noarkit.loading.options import SourceKeywords, SourceOptions
from noarkit.option_fields import takes_options
from noarkit.records import Source, released
from noarkit.service_names import is_connection_name
from noarkit.settings import Place, Settings
from noarkit.sources.scan import ScanResult
from noarkit.sources.scan import scan as scan_source


@takes_options(SourceOptions)
def scan(
    source: Place | Source,
    *,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
    **options: Unpack[SourceKeywords],
) -> ScanResult:
    """Reads a source and counts what it holds. Changes nothing.

    Options:
        recipe: a file or a `Recipe`, which says what of the source is read; as for `plan` the source's own without one.
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        take_incomplete: counts records of an extract whose files are missing or damaged, as `plan` with the same does.
        despite_damage: counts a bag or SIARD archive whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        include: patterns of names and paths; of a folder of files, those that none takes in are left out (`"*.pdf"`).
        exclude: patterns of what is left out (`"*.tmp"`, `"Kladd/"`).
        shallow_root: the folder below which files outside of an E-ARK package are read.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `SourceGone`, `UsageFault`, `PackageFault`, `PlanFault` for a recipe that cannot be used.
    """
    return scan_with(source, SourceOptions(**options), settings, listener)


def scan_with(source: Place | Source, options: SourceOptions, settings: Settings | None, emit: Listener) -> ScanResult:
    """The same as `scan`, for a caller that has the options as one value."""
    with released(find_asked(source, options, settings, emit=emit)) as place:
        if not is_connection_name(str(source)):
            emit_few_types(emit)
        return scan_source(read_as_asked(place, options), emit)

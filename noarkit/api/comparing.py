"""Compares two extracts, or an extract and an archive."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from noarkit.api.destination import destination, open_target
from noarkit.errors import UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.comparison import By, CompareResult, compare_extracts, compare_with_archive
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.places import allow, is_archive_address, recognise
from noarkit.settings import Place, Settings, resolve_settings


def compare(
    left: Place, right: Place, *, by: By = "id", settings: Settings | None = None, listener: Listener = ignore_event
) -> CompareResult:
    """Compares two extracts, or an extract and an archive (an address, or `embedded:DIR`). Changes nothing.

    Options:
        by: what makes two units the same: their `id`, or the `key` they have in the source.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `PackageFault` where neither is an extract, `UsageFault` for two archives, and faults of the archive.
    """
    sides = (str(left), str(right))
    for side in sides:
        allow(recognise(side), "compare")
    archives = [side for side in sides if is_archive(side)]
    if not archives:
        return compare_extracts(Path(left), Path(right), by)
    if len(archives) == 2:
        raise UsageFault(what="two-archives", where=" ".join(sides))
    resolved = resolve_settings(archives[0], settings)
    package = next(side for side in sides if not is_archive(side))
    with (
        open_target(destination(resolved.config, resolved.environment), reads=True) as archive_target,
        closing(connect_archive(archive_target.settings)) as connection,
    ):
        listener(Event("target", {"archive": archive_target.name, "account": archive_target.account}))
        return compare_with_archive(Path(package), connection, by, resolved.config.zone)


def is_archive(side: str) -> bool:
    """True for the name of an archive, which a package cannot have."""
    return is_archive_address(side)

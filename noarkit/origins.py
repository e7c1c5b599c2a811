"""The source behind what a user names: a path, a URL, a connection, a run that was planned, or a source itself."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit import airgap
from noarkit.errors import UsageFault
from noarkit.events import Listener, nobody
from noarkit.graph.store import GraphStore
from noarkit.load.folder import RunFolder
from noarkit.load.receiving import is_received
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.unpack import LIMITS
from noarkit.site import Place, Site, site
from noarkit.sources.connector import find_connection, is_connection_name, reopen_connection, standing
from noarkit.sources.opening import open_source as find_source
from noarkit.sources.opening import reopen
from noarkit.sources.port import Settling, Source, SourceIdentity, keyed


def open_source(place: Place, *, settings: Site | None = None) -> Source:
    """The source behind a path, URL or name, as a value: to ask for a recipe, or to give to `scan` and `plan`.

    Raises `SourceGone`, `UsageFault`, `ConfigFault`.
    """
    return source_at(place, settings)


def source_at(
    source: Place | Source,
    here: Site | None,
    archive: str | None = None,
    kind: str | None = None,
    tell: Listener = nobody,
    *,
    encoding: str | None = None,
) -> Source:
    """The source that is meant: one given, a connection (read from its marks for that archive), or a place, which
    `kind` says what to read as. Names in its archive file that are no UTF-8 are read in `encoding`."""
    limits = replace(LIMITS, encoding=named_encoding(encoding))
    if not isinstance(source, str | Path):
        if not hasattr(source, "identity"):
            raise UsageFault(
                what="reader-bare", where=type(source).__name__, do="noarkit.from_reader(reader, 'my-system')"
            )
        return source
    where = os.fspath(source)
    if kind is None and is_connection_name(where):
        here = here or site()
        now = datetime.fromtimestamp(here.now_s(), UTC)
        found = find_connection(where, here.config, here.environment, now)
        if found is not None:
            return standing.from_marks(found, archive)
    found_there = find_source(where, kind, tell, limits)
    return found_there if here is None else keyed(found_there, here.config.connections)


def source_of(folder: RunFolder) -> SourceIdentity:
    """The source that a run was planned from. Raises `JournalFault` where the folder holds no plan."""
    folder.plan()
    with closing(GraphStore.open(folder.graph)) as graph:
        kind, where = graph.meta("source_kind") or "", graph.meta("source_where") or ""
        found = json.loads(graph.meta("source_settings") or "{}")
    return SourceIdentity(kind, where, found)


def same_source(folder: RunFolder, source: Place, kind: str | None = None) -> None:
    """Raises `UsageFault` where a run was planned from another source than this, read as `kind`."""
    named = os.fspath(source) if isinstance(source, str | Path) else ""
    where = named if is_connection_name(named) else source_at(source, None, kind=kind).identity.where
    if source_of(folder).where != where:
        raise UsageFault(what="run-of-other-source", where=str(folder.path))


def reopened(folder: RunFolder, here: Site, given: Source | None = None) -> Source:
    """The source of a run: the one given, which must be that one, or what is found where the plan says; the bundle
    for a run that came in one."""
    if is_received(folder):
        return airgap.bundle_of(folder)
    identity = source_of(folder)
    if given is not None:
        found = source_at(given, here)
        if (found.identity.kind, found.identity.where) != (identity.kind, identity.where):
            raise UsageFault(what="run-of-other-source", where=str(folder.path))
        return settled(found, folder.path)
    service = reopen_connection(identity, here.config, here.environment, folder.path)
    return settled(service or keyed(reopen(identity), here.config.connections), folder.path)


def settled(source: Source, folder: Path) -> Source:
    """The source, told where the run lies that it is read for."""
    if isinstance(source, Settling):
        source.settle(folder)
    return source

"""Opens the source that a user names: by path, URL or connection, of a planned run, or given as an object."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.airgap.source.index import INDEX, is_received
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.finders import open_source as find_source
from noarkit.forms.finders import reopen
from noarkit.loading.folder import RunFolder
from noarkit.places import allow, own_kind, recognise
from noarkit.records import COPIES_SETTING, DOCUMENT_LIST, Settling, Source, SourceIdentity, keyed
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.paths import without_climbs
from noarkit.safe.unpack import LIMITS
from noarkit.service_names import is_connection_name
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.wings import require_wing


def open_source(place: Place, *, settings: Settings | None = None) -> Source:
    """The source behind a path, URL or name, as a value: to ask for a recipe, or to give to `scan` and `plan`.

    Raises `SourceGone`, `UsageFault`, `ConfigFault`.
    """
    return source_at(place, settings)


def source_at(
    source: Place | Source,
    settings: Settings | None,
    archive: str | None = None,
    kind: str | None = None,
    emit: Listener = ignore_event,
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
    address = os.fspath(source)
    if kind is None and is_connection_name(address):
        require_wing("services")
        from noarkit.services.source import find_connection, run_watermarks

        settings = settings or resolve_settings()
        now = datetime.fromtimestamp(settings.now_s(), UTC)
        connection = find_connection(address, settings.config, settings.environment, now)
        if connection is not None:
            return run_watermarks.resume_source(connection, archive)
    if os.path.lexists(address):
        address = str(without_climbs(Path(address)))
    place = recognise(address, limits, source_kind=kind, emit=emit)
    allow(place, "read", kind)
    found_there = find_source(place.address, kind, emit, limits, detected=place.detected)
    return found_there if settings is None else keyed(found_there, settings.config.connections)


def is_bundle(place: object) -> bool:
    """True for a place where a sealed bundle lies, or what is left of one."""
    return isinstance(place, str | Path) and own_kind(Path(place)) == "sealed"


def source_of(folder: RunFolder) -> SourceIdentity:
    """The source that a run was planned from. Raises `JournalFault` where the folder holds no plan."""
    folder.plan()
    with closing(folder.graph_store()) as graph:
        kind, address = graph.meta("source_kind") or "", graph.meta("source_where") or ""
        source_settings = json.loads(graph.meta("source_settings") or "{}")
    return SourceIdentity(kind, address, source_settings)


def check_same_source(folder: RunFolder, source: Place, kind: str | None = None) -> None:
    """Raises `UsageFault` where a run was planned from another source than this, read as `kind`."""
    name = os.fspath(source) if isinstance(source, str | Path) else ""
    address = name if is_connection_name(name) else source_at(source, None, kind=kind).identity.where
    if source_of(folder).where != address:
        raise UsageFault(what="run-of-other-source", where=str(folder.path))


def reopen_source(
    folder: RunFolder,
    settings: Settings,
    source: Source | None = None,
    *,
    relocate: Callable[[str], str] = lambda address: address,
) -> Source:
    """The source of a run: the one given, which must be that one, or what is found where the plan says; the bundle
    for a run that came in one. `relocate` says where that place is on this machine."""
    if is_received(folder.path):
        from noarkit.airgap.source.source import SealedSource

        folder.plan()
        return SealedSource(folder.graph, folder.path / INDEX)
    identity = source_of(folder)
    copies = identity.settings.get(COPIES_SETTING)
    inner_settings = {name: value for name, value in identity.settings.items() if name != COPIES_SETTING}
    inner = replace(identity, where=relocate(identity.where), settings=inner_settings)
    reopened = _reopen_inner(folder, inner, settings, source)
    if copies is not None:
        require_wing("copies")
        from noarkit.copies.lookup import StoreLookup
        from noarkit.copies.planning import SourceWithCopies

        reopened = SourceWithCopies(reopened, Path(relocate(str(copies))), StoreLookup)
    return prepare_source(reopened, folder.path)


def _reopen_inner(
    folder: RunFolder, identity: SourceIdentity, settings: Settings, source: Source | None = None
) -> Source:
    """The source that stands behind the copies of a run, if it has any."""
    if source is not None:
        own_source = source_at(source, settings)
        if (own_source.identity.kind, own_source.identity.where) != (identity.kind, identity.where):
            raise UsageFault(what="run-of-other-source", where=str(folder.path))
        return own_source
    if identity.kind == DOCUMENT_LIST:
        require_wing("copies")
        from noarkit.copies.archived import DocumentList

        return DocumentList(Path(identity.where))
    if is_connection_name(identity.where):
        require_wing("services")
        from noarkit.services.source import reopen_connection

        service = reopen_connection(identity, settings.config, settings.environment, folder.path)
        if service is not None:
            return service
    return keyed(reopen(identity), settings.config.connections)


def prepare_source(source: Source, folder: Path) -> Source:
    """Prepares a source for the run that it is read for, where it needs to know the run's folder."""
    if isinstance(source, Settling):
        source.settle(folder)
    return source

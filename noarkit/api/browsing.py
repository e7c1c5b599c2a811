"""Looks into a place of any kind: a run, a package, a database, a folder, an archive."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path

from noarkit.api.destination import EMBEDDED, destination, open_target
from noarkit.api.origins import reopen_source
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.places.archive import ArchivePlace
from noarkit.catalogue.places.files import FilesPlace, PackedFilesPlace
from noarkit.catalogue.places.forms import find_package_place
from noarkit.catalogue.places.run import RunPlace
from noarkit.catalogue.port import Place
from noarkit.catalogue.store import catalogue_path, is_current, write_catalogue
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.loading.engines import assembly
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.places import allow, is_archive_address, recognise
from noarkit.safe.disk import may_write_in
from noarkit.safe.paths import missing_path_fault
from noarkit.settings import Place as PlaceName
from noarkit.settings import Settings, resolve_settings
from noarkit.sources.database import find_database

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SQLITE = "sqlite:///"


def open_catalogue(
    place: PlaceName, *, settings: Settings | None = None, listener: Listener = ignore_event, refresh: bool = False
) -> Catalogue:
    """Opens the catalogue of a place: a run, a package or extract, a database, a folder, or an archive.

    It is made where there is none yet or the place has changed since, with events `"cataloguing"`, and with `refresh`
    in any case. It lies beside the place, or in the cache folder of the user where nothing may be written there.

    Raises `SourceGone`, `UsageFault` for what is no place, and what reading the place raises.
    """
    resolved = resolve_settings(None, settings)
    with ExitStack() as stack:
        found_place = find_place(place, resolved, listener)
        stack.callback(found_place.close)
        path = home_of(found_place, resolved)
        if refresh or not is_current(path, found_place.identity):
            write_catalogue(path, found_place.identity, found_place.items(listener), listener)
        catalogue = Catalogue(path, found_place, resolved.config.zone)
        stack.pop_all()
    return catalogue


def find_place(place: PlaceName, settings: Settings, listener: Listener = ignore_event) -> Place:
    """The place behind a path, a URL or a name, by looking. Raises `SourceGone`, `UsageFault`."""
    where = os.fspath(place)
    path = Path(where)
    if is_archive_address(where) and not os.path.lexists(path):
        return _connected_archive(where, settings, listener)
    if not os.path.lexists(path):
        return _database(where, settings)
    recognised = recognise(path, emit=listener)
    allow(recognised, "look")
    if recognised.kind == "database":
        return _database(f"{_SQLITE}{path.resolve()}", settings)
    if recognised.kind == "run":
        return RunPlace(path, lambda: reopen_source(RunFolder(path), settings))
    if recognised.detected is not None and (package := find_package_place(path, recognised.detected)) is not None:
        return package
    return PackedFilesPlace(path) if recognised.kind == "archived" else FilesPlace(path)


def _database(where: str, settings: Settings) -> Place:
    """The database at a URL. Raises `SourceGone`, `UsageFault` for what is none."""
    source = find_database(where)
    if source is None and _SCHEME.match(where):
        raise UsageFault(what="not-a-place", where=where)
    if source is None:
        raise missing_path_fault(where)
    from noarkit.catalogue.places.database import DatabasePlace

    return DatabasePlace(source.keyed(settings.config.connections), settings.now_s)


def _connected_archive(where: str, settings: Settings, listener: Listener) -> Place:
    """The archive at an address, or in the folder of an embedded one, connected until the place is closed."""
    resolved = resolve_settings(where, settings)
    with ExitStack() as stack:
        target = stack.enter_context(open_target(destination(resolved.config, resolved.environment), reads=True))
        assembly.check_reachable(target, listener)
        archive = stack.enter_context(closing(connect_archive(target.settings, emit=listener)))
        return ArchivePlace(archive, target.name, resolved.now_s, stack.pop_all().close)


def home_of(place: Place, settings: Settings) -> Path:
    """Where the catalogue of a place lies: beside it; in the user's cache folder for one that lies nowhere, or where
    nothing may be written."""
    beside = _path_of(place)
    if beside is not None and beside.name and may_write_in(beside.parent):
        return catalogue_path(beside)
    path = cached_catalogue(place.identity.where, settings)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def cached_catalogue(where: str, settings: Settings) -> Path:
    """Where the catalogue of a place lies that has none beside it: in the user's cache folder."""
    base = settings.environment.get("XDG_CACHE_HOME") or str(
        Path(settings.environment.get("HOME", "~")).expanduser() / ".cache"
    )
    name = sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return catalogue_path(Path(base) / "noarkit" / "catalogues" / name)


def _path_of(place: Place) -> Path | None:
    """The file or folder of a place, if it has one."""
    kind, where = place.identity.kind, place.identity.where
    if kind == "database":
        return Path(where.removeprefix(_SQLITE)) if where.startswith(_SQLITE) else None
    if kind == "archive":
        return Path(where.removeprefix(EMBEDDED)) if where.startswith(EMBEDDED) else None
    return Path(where)

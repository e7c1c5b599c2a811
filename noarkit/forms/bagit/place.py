"""Finds the source in a bag: what lies in it goes on to the reader of its own form."""

from __future__ import annotations

import os
from pathlib import Path

from noarkit.errors import SourceGone
from noarkit.forms.bagit.source import BagSource
from noarkit.forms.bagit.spec import PAYLOAD
from noarkit.forms.container.storage import FolderStorage, SubfolderStorage, open_storage
from noarkit.forms.finders import find_package
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.noark5.source import ExtractSource
from noarkit.forms.package_form import SourcePlace
from noarkit.records import DESPITE_DAMAGE, Source, SourceIdentity, limits_of


def source_in_bag(place: SourcePlace) -> Source:
    """What lies in the bag at a place: a package of another form, or the files of the bag."""
    path = place.detected.root if place.detected is not None else Path(place.where)
    if path.is_dir():
        inner = path / PAYLOAD
        inner_source = find_package(str(inner), place.depth + 1) if inner.is_dir() else None
        return inner_source or BagSource(path)
    storage = open_storage(path, place.limits, twins=True, emit=place.listener)
    if isinstance(storage, FolderStorage):
        return BagSource(path)
    try:
        has_extract = find_extract_root(SubfolderStorage(storage, PAYLOAD)) is not None
    except BaseException:
        storage.close()
        raise
    if not has_extract:
        return BagSource(path, storage, limits=place.limits)
    storage.close()
    return ExtractSource(path)


def reopen_bag(identity: SourceIdentity) -> Source:
    """The bag that a plan was made from. Raises `SourceGone`."""
    despite = identity.settings.get(DESPITE_DAMAGE) is True
    bag = BagSource(Path(identity.where), despite=despite, limits=limits_of(identity))
    if not os.path.lexists(identity.where):
        raise SourceGone(where=identity.where, why="ENOENT")
    return bag

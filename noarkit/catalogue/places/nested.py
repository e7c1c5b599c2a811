"""Packages within a package: an archived database in a delivery, a package in a bag.

Each is a place of its own whose items lie in the item of its file. One that lies in an archive file is copied out, into
a folder that goes with whoever holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

from noarkit.catalogue.places.descriptions import fault_item
from noarkit.catalogue.port import Document, Item, Place
from noarkit.errors import HostileInput, PackageFault
from noarkit.events import Listener
from noarkit.forms.container.storage import Storage
from noarkit.records import ContentStream
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.paths import resolve_inside
from noarkit.safe.workplace import folder_for_owner

FindPlace = Callable[[Path], Place | None]
"""The place of the package at a path; None if there is none."""

INNER = "inner"
_SUFFIXES = (".siard", ".zip", ".tar", ".tar.gz", ".tgz")


class NestedPlaces:
    """The packages within one package, opened as they are asked for."""

    def __init__(self, find_place: FindPlace) -> None:
        self._find_place = find_place
        self._places: dict[str, Place | None] = {}

    def items(self, storage: Storage, name: str, emit: Listener) -> Iterator[Item]:
        """What lies in the file of that name, if it is a package; what is wrong with it, if it cannot be read."""
        if not name.lower().endswith(_SUFFIXES):
            return
        try:
            place = self._place(storage, name)
            for item in place.items(emit) if place is not None else ():
                yield _moved(item, name)
        except (PackageFault, HostileInput, OSError) as error:
            fault = PackageFault(where=name, why="unreadable") if isinstance(error, OSError) else error
            yield fault_item(name, fault, name)

    def open(self, storage: Storage, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens a document of one of them, by what stands behind `INNER` in its locator. Raises what opening the
        package raises, `FileNotFoundError` where there is none."""
        name, _, inner = locator.partition(":")
        place = self._place(storage, unquote(name))
        if place is None:
            raise FileNotFoundError(name)
        return place.open(inner)

    def close(self) -> None:
        """Lets them go."""
        for place in self._places.values():
            if place is not None:
                place.close()
        self._places.clear()

    def _place(self, storage: Storage, name: str) -> Place | None:
        if name not in self._places:
            self._places[name] = self._find_place(self._path(storage, name))
        return self._places[name]

    def _path(self, storage: Storage, name: str) -> Path:
        if storage.folder is not None:
            return resolve_inside(storage.folder, name)
        path = folder_for_owner(self, "inner") / name.rpartition("/")[2]
        with storage.open(name) as source, path.open("xb") as target:
            while block := source.read(BLOCK_BYTES):
                target.write(block)
        return path


def _moved(item: Item, name: str) -> Item:
    """An item of a package as one of the package around it."""
    return replace(
        item,
        ref=f"{name}!{item.ref}",
        parent=name if item.parent is None else f"{name}!{item.parent}",
        links=tuple((kind, f"{name}!{ref}") for kind, ref in item.links),
        documents=tuple(_moved_document(document, name) for document in item.documents),
    )


def _moved_document(document: Document, name: str) -> Document:
    locator = None if document.locator is None else f"{INNER}:{quote(name, safe='')}:{document.locator}"
    return replace(document, ref=f"{name}!{document.ref}", locator=locator)

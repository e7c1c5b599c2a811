"""A package as a place: E-ARK, DIAS or BagIt, packed or not.

A Noark 5 extract in it is shown as its archive; all else as the folders and files that lie there, with their checksums
and the events that PREMIS tells of each. Documents that describe the package show what they state.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from noarkit.catalogue.places.descriptions import describe_document, fault_item
from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.places.nested import INNER, FindPlace, NestedPlaces
from noarkit.catalogue.places.package_files import ListedFile, PackageFiles
from noarkit.catalogue.places.package_forms import PackageView, present_files, view_package
from noarkit.catalogue.places.unit_items import no_custody
from noarkit.catalogue.port import IN_EXTRACT, PACKAGE, CustodyStep, Document, Item, Json, PlaceIdentity
from noarkit.catalogue.rows import NumberedItems
from noarkit.errors import HostileInput, ItemVanished, PackageFault, SourceGone
from noarkit.events import Listener
from noarkit.forms.container.contents import PackageContents, open_named
from noarkit.forms.container.digests import stamp_of
from noarkit.forms.dias.read.located import locate
from noarkit.forms.dias.spec import LOG
from noarkit.forms.metadata.premis_entities import EVERY_NAMESPACE, read_entities
from noarkit.forms.metadata.premis_objects import event_of, object_of
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.fixity import BY_MANIFEST, BY_METS, Fixity, checked
from noarkit.safe.tree import walk_tree

_BESIDE, _EXTRACT = "beside", IN_EXTRACT.rstrip(":")
_LOCATOR_COLONS = 2


class PackagePlace:
    """The package of that form (`"eark"`, `"dias"`, `"bagit"`) at a path: a folder, a zip or a tar.

    `find_inner` finds packages within it; without it they are files.
    """

    def __init__(self, path: Path, form: str, find_inner: FindPlace | None = None) -> None:
        self.path = path.absolute()
        self.form = form
        self._states_as = BY_MANIFEST if form == "bagit" else BY_METS
        self._nested = NestedPlaces(find_inner) if find_inner is not None else None
        self._place: Path | None = None
        self._contents: PackageContents | None = None
        self._extract: ExtractPlace | None = None
        self._above = ""
        self._listed: PackageFiles | None = None
        self._listing = threading.Lock()

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `package`. Size and time of the archive file, or of every file of a folder, tell when it has changed."""
        return PlaceIdentity("package", self.path.name, str(self.path), _fingerprint(self.path))

    def items(self, emit: Listener) -> NumberedItems:
        """The extract in it, if there is one; then the package with its metadata and its files.

        Raises `SourceGone` where it is not there, and what `safe` refuses.
        """
        return NumberedItems(lambda: self._stream(emit, numbered=False), lambda: self._stream(emit, numbered=True))

    def _stream(self, emit: Listener, *, numbered: bool) -> Iterator[Any]:  # Any: items, and rows where numbered
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        with ExitStack() as stack:
            files = stack.enter_context(closing(PackageFiles()))
            try:
                view = stack.enter_context(view_package(self.form, self.path))
            except HostileInput:
                raise
            except PackageFault as fault:
                yield fault_item(self.path.name, fault)
                return
            try:
                files.add(view.files)
            except HostileInput:
                raise
            except PackageFault as fault:  # its lists are broken: what lies there is shown
                view.faults.append(fault)
                files.add(present_files(view.storage))
            _read_premis(view, files)
            above = _extract_folder(view)
            if above is not None:
                extract = self._extract_place(view.place, above, files)
                items = extract.items(emit)
                yield from items.batches() if numbered else items
            for item in _package_items(view, files, above):
                yield item
                if self._nested is not None and item.type == "file" and not item.fault:
                    yield from self._nested.items(view.storage, item.ref, emit)

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """Opens a file. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        if locator.count(":") < _LOCATOR_COLONS:
            raise ItemVanished(key=locator)
        kind, _, name = locator.partition(":")
        if kind == _EXTRACT:
            with self._found_extract().open(name) as stream:
                yield checked(stream, *self._statements_of(name, self._above))
        elif kind == INNER:
            with self._open_inner(name) as stream:
                yield stream
        elif kind == _BESIDE:
            beside = name.removeprefix(":")
            with open_named(self._located().parent, Content(locator, beside), beside) as stream:
                yield stream
        else:
            if self._contents is None:
                self._contents = PackageContents(self._located(), self._states_as)
            with self._contents.open(Content(locator, locator.rpartition("/")[2])) as stream:
                yield checked(stream, *self._statements_of(locator))

    def _statements_of(self, locator: str, above: str = "") -> tuple[Fixity, ...]:
        """What the lists of the package state of a file, by its locator there or in the folder `above`."""
        with self._listing:
            if self._listed is None:
                self._listed = PackageFiles()
                with suppress(PackageFault), view_package(self.form, self.path) as view:
                    self._listed.add(file for file in view.files if file.digests)
            names = _names_of(locator, above)
            file = next((file for file in map(self._listed.find, names) if file is not None), None)
        pairs = [] if file is None else [entry.partition(":") for entry in file.digests.split()]
        return tuple(Fixity(algorithm, digest, by=self._states_as) for algorithm, _, digest in pairs)

    @contextmanager
    def _open_inner(self, locator: str) -> Iterator[ContentStream]:
        if self._nested is None:
            raise ItemVanished(key=locator)
        with view_package(self.form, self.path) as view, self._nested.open(view.storage, locator) as stream:
            yield stream

    def close(self) -> None:
        """Lets the package go."""
        if self._nested is not None:
            self._nested.close()
        self._contents = None
        if self._listed is not None:
            self._listed.close()
            self._listed = None
        if self._extract is not None:
            self._extract.close()

    def _located(self) -> Path:
        """Where its files lie: a DIAS package may be named by the folder of its tar."""
        if self._place is None:
            self._place = locate(self.path).place if self.form == "dias" else self.path
        return self._place

    def _extract_place(self, place: Path, above: str, files: PackageFiles) -> ExtractPlace:
        self._above = "" if place.is_file() else above
        root = place if place.is_file() else place / above
        custody = _custody_from(files, self._above) if files.has_events else no_custody
        self._extract = ExtractPlace(root, custody, IN_EXTRACT)
        return self._extract

    def _found_extract(self) -> ExtractPlace:
        if self._extract is None:
            with view_package(self.form, self.path) as view:
                above = _extract_folder(view)
                if above is None:
                    raise ItemVanished(key=str(self.path))
                self._above = "" if view.place.is_file() else above
                self._extract = ExtractPlace(view.place if view.place.is_file() else view.place / above)
        return self._extract


def _custody_from(files: PackageFiles, above: str) -> Callable[[str], tuple[CustodyStep, ...]]:
    def custody(locator: str) -> tuple[CustodyStep, ...]:
        return next((steps for name in _names_of(locator, above) if (steps := files.custody(name))), ())

    return custody


def _names_of(locator: str, above: str) -> tuple[str, str]:
    """What a file may be called in the lists of its package."""
    name = locator.split(":", 2)[2].rpartition(":")[2].partition("//")[0]
    name = f"{above}/{name}" if above else name
    # in an archive file, names begin with the folder that everything lies in
    return name, name.partition("/")[2]


def _fingerprint(path: Path) -> str:
    if path.is_file():
        return stamp_of(path.stat())
    facts = hashlib.sha256()
    if path.is_dir():
        for entry in walk_tree(path):
            if entry.kind == "file":
                stamp = stamp_of((path / entry.name).stat(follow_symlinks=False))
                facts.update(f"{entry.name}\0{stamp}\n".encode("utf-8", "surrogateescape"))
    return facts.hexdigest()


def _extract_folder(view: PackageView) -> str | None:
    """The folder of the package that holds an extract, empty for its top; None if there is none."""
    extract = find_extract_root(view.storage)
    if extract is None:
        return None
    above = str(getattr(extract, "above", "")).rstrip("/")
    name = f"{STRUCTURE}.xml"
    try:
        with extract.open(name):
            return above
    except (OSError, PackageFault):
        return None


def _read_premis(view: PackageView, files: PackageFiles) -> None:
    """Learns the objects and events of every PREMIS document. What cannot be read is told with the document itself."""
    names = [file.name for file in files if file.metadata and file.locator and _is_premis(file.name)]
    for name in names:
        folder = name.rpartition("/")[0]
        try:
            with view.storage.open(name) as source:
                for entity in read_entities(source, name, EVERY_NAMESPACE):
                    if entity.kind == "object":
                        entry = object_of(entity)
                        places = (entry.location, entry.original_name, *entry.identifiers)
                        files.add_object(entry.identifiers, places, folder)
                    elif entity.kind == "event":
                        files.add_event(event_of(entity))
        except (PackageFault, OSError):
            continue
    files.index_objects()


def _is_premis(name: str) -> bool:
    last = name.rpartition("/")[2].lower()
    return last.endswith(".xml") and ("premis" in last or last == LOG)


def _package_items(view: PackageView, files: PackageFiles, extract_folder: str | None) -> Iterator[Item]:
    """The package, then its folders and files by name, without those of the extract."""
    fault = view.faults[0].code if view.faults else ""
    yield Item(PACKAGE, None, PACKAGE, view.title, fault=fault, fields=view.fields)
    if view.beside is not None:
        with view.beside.open("rb") as source:
            name = view.beside.name
            size = view.beside.stat().st_size
            yield describe_document(source, name, size, parent=PACKAGE, locator=f"{_BESIDE}::{name}")
    skip = None if extract_folder is None else f"{extract_folder}/" if extract_folder else ""
    open_folders: list[str] = []
    for file in files:
        if skip is not None and file.name.startswith(skip):
            continue
        *folders, _ = file.name.split("/")
        shared = 0
        while shared < len(folders) and open_folders[shared : shared + 1] == folders[shared : shared + 1]:
            shared += 1
        open_folders = folders
        for depth in range(shared, len(folders)):
            above = "/".join(folders[:depth])
            ref = "/".join(folders[: depth + 1])
            yield Item(f"{ref}/", f"{above}/" if above else PACKAGE, "folder", folders[depth])
        yield _file_item(view, files, file, f"{'/'.join(folders)}/" if folders else PACKAGE)


def _file_item(view: PackageView, files: PackageFiles, file: ListedFile, parent: str) -> Item:
    if file.metadata and file.locator and file.name.lower().endswith(".xml"):
        return _description_item(view, files, file, parent)
    name = file.name.rpartition("/")[2]
    history = files.events(file.name)
    document = _document(files, file)
    fields = dict(document.fields)
    title = file.original_name.rpartition("/")[2] or name
    return Item(
        *(file.name, parent, "file", title),
        day=file.created[:10],
        fault=file.fault,
        fields=fields,
        documents=(document,),
        history=history,
    )


def _description_item(view: PackageView, files: PackageFiles, file: ListedFile, parent: str) -> Item:
    try:
        with view.storage.open(file.name) as source:
            item = describe_document(source, file.name, parent=parent)
    except OSError as error:
        fault = PackageFault(where=file.name, why="unreadable", detail=str(error.strerror))
        return fault_item(file.name, fault, parent)
    document = _document(files, file)
    return replace(item, documents=(document,), history=(*item.history, *files.events(file.name)))


def _document(files: PackageFiles, file: ListedFile) -> Document:
    name = file.name.rpartition("/")[2]
    facts: dict[str, Json] = {
        "name": file.name,
        "original_name": file.original_name,
        "checksum": file.checksum,
        "algorithm": file.algorithm,
        "media_type": file.media_type,
        "puid": file.puid,
        "created": file.created,
        "size": file.size_bytes,
    }
    fields: dict[str, Json] = {key: value for key, value in facts.items() if value not in ("", None)}
    if not file.listed:
        fields["listed"] = False
    sha256 = file.checksum if file.algorithm == "sha256" else ""
    # the checksum is stated, and no step is known to have seen it
    steps = [CustodyStep("created", file.created)] if file.created else []
    return Document(
        ref=f"{file.name}#file",
        title=name,
        name=name,
        media_type=file.media_type,
        puid=file.puid,
        size_bytes=file.size_bytes,
        sha256=sha256,
        locator=file.locator or None,
        fields=fields,
        custody=(*steps, *files.custody(file.name)),
    )

"""Files as a place: the tree of a folder, or of what is packed in a zip or tar, with one document for each file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from noarkit.catalogue.places.fingerprints import fingerprint_of
from noarkit.catalogue.places.noark_objects import plain_fields
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.errors import ItemVanished
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.storage import ArchiveStorage
from noarkit.forms.container.without_secrets import secret_names
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import ContentStream, Groundwork, SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.safe.secret_files import SKIPPED_SECRETS, is_secret_path
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

FOLDER, FILE = "folder", "file"
_WHOLE = "/"
"""The reference of an archive file itself; none of its members has it."""
_POLICY = FilePolicy(look_inside=False, registers=False, empty_folders="record")
_MOST_STATED = 100_000
_STATED_FIELDS = ("size", "modified", "created", "owner", "group", "mode")


class FilesPlace:
    """A folder, or one file."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._tree = FileTree(self._path, _POLICY)
        evidence = _evidence(self._path) if self._path.is_dir() else (self._path,)
        self._identity = PlaceIdentity("files", self._path.name or "/", str(self._path), fingerprint_of(*evidence))

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `files`; its fingerprint follows the names of all folders and files, and, where there are not too many,
        their sizes and times."""
        return self._identity

    def items(self, emit: Listener) -> Iterator[Item]:
        """Folders and files in the order of their names. Raises `SourceGone`."""
        folders = _Folders()
        for found_item in self._tree.records(ignore_event):
            key = _key(found_item)
            yield from folders.above(key)
            if not key.endswith("/"):
                yield _file(found_item, key)

    def open(self, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens a file as it is now. Raises `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`."""
        return self._tree.open(Content(locator, locator.rpartition("/")[2]))

    def close(self) -> None:
        """Nothing is held open."""


class PackedFilesPlace:
    """A zip or tar: one document, as in any folder, below which stands what is packed in it."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._storage: ArchiveStorage | None = None
        self._identity = PlaceIdentity("files", self._path.name, str(self._path), fingerprint_of(self._path))

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `files`; its fingerprint follows the size and time of the archive file."""
        return self._identity

    def items(self, emit: Listener) -> Iterator[Item]:
        """The file itself, and below it its folders and files in the order of their names. Raises what `safe`
        refuses."""
        name = self._path.name
        secrets = secret_names(self._files(emit))
        if secrets:
            yield replace(_file(Skipped(name, SKIPPED_SECRETS), name), ref=_WHOLE)
        else:
            document = Document(_WHOLE, name, name, size_bytes=self._path.stat().st_size, locator=_WHOLE)
            yield Item(_WHOLE, None, FILE, name, documents=(document,))
        for item in self._members(secrets):
            yield item if item.parent is not None else replace(item, parent=_WHOLE)

    def _members(self, secrets: frozenset[str]) -> Iterator[Item]:
        folders = _Folders()
        for file in self._files().files():
            yield from folders.above(file.name)
            name = file.name.rpartition("/")[2]
            if file.name in secrets:
                yield _file(Skipped(file.name, SKIPPED_SECRETS), file.name)
                continue
            document = Document(file.name, name, name, size_bytes=file.size_bytes, locator=file.name)
            fields = plain_fields({"size": file.size_bytes})
            yield Item(file.name, _parent(file.name), FILE, name, fields=fields, documents=(document,))

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """Opens a file. Raises `ItemVanished`, and what `safe` refuses."""
        if locator == _WHOLE:
            if is_secret_path(self._path, with_members=True):
                raise ItemVanished(key=self._path.name, why="ENOENT")
            with FileTree(self._path, _POLICY).open(Content(self._path.name, self._path.name)) as whole:
                yield whole
            return
        try:
            with self._files().open(locator) as stream:
                yield _Packed(stream)
        except FileNotFoundError as error:
            raise ItemVanished(key=locator, why="ENOENT") from error

    def close(self) -> None:
        """Lets the archive file go."""
        if self._storage is not None:
            self._storage.close()
        self._storage = None

    def _files(self, emit: Listener = ignore_event) -> ArchiveStorage:
        if self._storage is None:
            self._storage = ArchiveStorage(self._path, top=False, twins=True, emit=emit)
        return self._storage


class _Packed(NamedTuple):
    """The bytes of a packed file, which nobody changes beneath us."""

    stream: Readable

    def read(self, size: int = -1, /) -> bytes:
        return self.stream.read(size)

    def still_the_same(self) -> bool:
        return True


class _Folders:
    """Makes an item of each folder when its first file comes. Files of a folder come one after the other, so no more
    than the way down is remembered."""

    def __init__(self) -> None:
        self._open: list[str] = []

    def above(self, key: str) -> Iterator[Item]:
        """The folders of a file, or of an empty folder, that have not come yet."""
        names = key.split("/")[:-1]
        common = 0
        while common < min(len(names), len(self._open)) and names[common] == self._open[common]:
            common += 1
        for depth in range(common, len(names)):
            ref = "/".join(names[: depth + 1]) + "/"
            yield Item(ref, _parent(ref.rstrip("/")), FOLDER, names[depth])
        self._open = names


def _key(found_item: SourceItem) -> str:
    assert not isinstance(found_item, Groundwork)  # noqa: S101  # files have none
    return found_item.key if isinstance(found_item, SourceRecord) else found_item.record_key


def _file(found_item: SourceItem, key: str) -> Item:
    """The item of a file; one that the source does not take is told with its fault, or as skipped."""
    parent, name = _parent(key), key.rpartition("/")[2]
    if isinstance(found_item, SetAside):
        return Item(key, parent, FILE, name, fault=found_item.code, fields=plain_fields(found_item.data))
    if isinstance(found_item, Skipped):
        return Item(key, parent, FILE, name, state="skipped", fields=plain_fields({"reason": found_item.reason}))
    assert isinstance(found_item, SourceRecord)  # noqa: S101  # a source yields nothing else
    facts = found_item.fields
    fields = plain_fields(
        {name: facts.get(name) for name in _STATED_FIELDS} | {"warnings": [note.code for note in found_item.notes]}
    )
    title, modified = str(facts.get("name") or name), str(facts.get("modified") or "")
    size = facts.get("size")
    document = Document(
        key, title, title, size_bytes=size if isinstance(size, int) else None, locator=found_item.contents[0].locator
    )
    return Item(key, parent, FILE, title, day=modified[:10], fields=fields, documents=(document,))


def _parent(key: str) -> str | None:
    above = key.rpartition("/")[0]
    return f"{above}/" if above else None


def _evidence(root: Path) -> Iterable[str]:
    """Every folder by path and time, every file by name; of the first many files also size and time."""
    stated = 0
    waiting = [str(root)]
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder, follow_symlinks=False)  # noqa: PTH116  # there may be millions
            yield f"{folder}\0{status.st_mtime_ns}"
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield f"{folder}\0?"
            continue
        for entry in ordered:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif stated < _MOST_STATED:
                stated += 1
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                yield f"{entry.name}\0{status.st_size}\0{status.st_mtime_ns}"

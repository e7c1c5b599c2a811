"""A bag of plain files as a source: each listed file a record, whose bytes must be what the manifests say.

Records have the fields that records of a file tree have, so that the same recipes fit. What is listed and not there, or
there and not listed, is set aside. A bag in a zip or tar is read where it lies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from noarkit.errors import (
    ItemMalformed,
    ItemUnreadable,
    ItemVanished,
    PackageFault,
    SourceFault,
    SourceGone,
    UnsafePath,
)
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, Note, SetAside
from noarkit.packages.bagit.read import Bag, BagEntry, open_bag
from noarkit.packages.bagit.spec import hash_name
from noarkit.packages.forms import look
from noarkit.packages.holding.located import Located, LocatedStream, locator_of
from noarkit.safe.paths import open_inside
from noarkit.safe.unpack import form_of
from noarkit.sources.bag.streams import BagStream, FileBytes
from noarkit.sources.files import policy
from noarkit.sources.files.detect import HEAD_BYTES, MediaTypes
from noarkit.sources.files.names import key_of, readable
from noarkit.sources.files.records import timestamp
from noarkit.sources.port import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.sources.recipe.proposal import observe, propose

KIND = "bag"
_TELL_EVERY = 10_000
_LOOKED_AT = 20_000
_LONGEST_SYSTEM = 200


def find_bag(where: str) -> BagSource | None:
    """The bag at a path, in a folder, zip or tar; None for anything else. Raises what `safe` refuses."""
    path = Path(where)
    if not path.exists() or look(path).form != "bagit":
        return None
    return BagSource(look(path).root)


class BagSource:
    """The payload of a bag."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._located = Located(self.path)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `bag`, and where it lies."""
        return SourceIdentity(KIND, str(self.path))

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """Every file that the manifests list, by name. Raises `SourceGone`, and `PackageFault` for what is no bag."""
        for count, item in enumerate(self._records(), start=1):
            yield item
            if count % _TELL_EVERY == 0:
                tell(Event("source_read", {"items": count}))

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a file by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithm, expected, locator = content.locator.split(":", 2)
        if self.path.is_dir():
            with self._file(locator) as file:
                yield BagStream(FileBytes(file, content), algorithm, expected)
        else:
            with self._located.open(locator) as packed:
                yield BagStream(LocatedStream(packed, self._located, content.modified_ns), algorithm, expected)

    def default_recipe(self) -> str:
        """That of a file tree: one record with one document and one version for every file."""
        text = resources.files("noarkit.sources.files").joinpath("default-recipe.toml").read_text("utf-8")
        text = text.replace('kind = "files"', f'kind = "{KIND}"')
        text = text.replace('external_system = "files"', f"external_system = {_toml(self._system())}")
        return text.replace('{ tittel = "Filer" }', f"{{ tittel = {_toml(f'Filer: {self._name()}')} }}")

    def proposal(self, tell: Listener) -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        seen = (item for item in islice(self.records(tell), _LOOKED_AT) if isinstance(item, SourceRecord))
        return propose(observe(seen), source_kind=KIND, external_system=self._system())

    def _records(self) -> Iterator[SourceItem]:
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        with open_bag(self.path) as bag:
            reading = _Reading(bag, self.path, self._name())
            for entry in bag.entries(whole=False):
                yield reading.item(entry)
            for name in bag.unlisted():
                key = key_of(name.encode())
                yield SetAside(key, ItemMalformed.code, {"key": key, "why": "unlisted"})

    @contextmanager
    def _file(self, name: str) -> Iterator[BinaryIO]:
        try:
            file = open_inside(self.path, name)
        except FileNotFoundError as error:
            raise ItemVanished(key=name) from error
        except (OSError, UnsafePath) as error:
            raise ItemUnreadable(key=name, why=str(getattr(error, "strerror", None) or error)) from error
        with file:
            yield file

    def _name(self) -> str:
        return readable(self.path.name) or "/"

    def _system(self) -> str:
        where = key_of(str(self.path).encode("utf-8", "surrogateescape"))
        if len(where) > _LONGEST_SYSTEM:
            where = f"…{where[-80:]} {hashlib.sha256(where.encode()).hexdigest()[:32]}"
        return f"{KIND}:{where}"


class _Reading:
    """One walk through a bag."""

    def __init__(self, bag: Bag, path: Path, name: str) -> None:
        self._bag = bag
        self._path = path
        self._name = name
        self._folder = path.is_dir()
        self._modified_ns = None if self._folder else path.stat().st_mtime_ns
        # in a packed tar every look inside would unpack anew
        looks = self._folder or form_of(path) in ("zip", "tar")
        self._media_types = MediaTypes() if looks else None

    def item(self, entry: BagEntry) -> SourceItem:
        """The record of a listed file, or why there is none."""
        key = key_of(entry.name.encode())
        if entry.size_bytes is None:
            return SetAside(key, ItemVanished.code, {"key": key})
        try:
            return self._record(entry, key)
        except SourceFault as fault:
            return SetAside(key, fault.code, fault.data)

    def _record(self, entry: BagEntry, key: str) -> SourceRecord:
        stored, member = self._bag.stored(entry.name)
        modified_ns = self._modified_ns
        if self._folder:
            with suppress(OSError):
                modified_ns = (self._path / stored).stat(follow_symlinks=False).st_mtime_ns
        steps = [readable(step) for step in entry.name.split("/")]
        head = self._head(entry)
        stem, dot, ext = steps[-1].rpartition(".")
        media_type = self._media_types.of(head, ext.lower()) if self._media_types else None
        sha256, proof = _proof(entry)
        locator = locator_of(member) if member is not None else stored
        content = Content(f"{proof}:{locator}", steps[-1], entry.size_bytes, modified_ns, sha256, media_type)
        fields: dict[str, object] = {
            "path": "/".join(steps),
            "parts": steps,
            "folder": "/".join(steps[:-1]),
            "folders": steps[:-1],
            "top": steps[0] if len(steps) > 1 else "",
            "root": self._name,
            "name": steps[-1],
            "stem": stem or steps[-1],
            "ext": ext.lower() if dot and stem else "",
            "depth": len(steps) - 1,
            "size": entry.size_bytes,
            "modified": timestamp(modified_ns) if self._folder and modified_ns is not None else None,
            "created": None,
            "owner": "",
            "group": "",
            "mode": "",
            "media_type": media_type,
            "puid": None,
            "mail": {},
            "register": {},
            "bag": dict(self._bag.info),
        }
        notes: tuple[Note, ...] = () if entry.size_bytes else (policy.EMPTY,)
        return SourceRecord("file", key, fields, (content,), notes)

    def _head(self, entry: BagEntry) -> bytes:
        if self._media_types is None:
            return b""
        try:
            with self._bag.open(entry.name) as file:
                return file.read(HEAD_BYTES)
        except (OSError, PackageFault, UnsafePath) as error:
            raise ItemUnreadable(key=entry.name, why=type(error).__name__) from error


def _proof(entry: BagEntry) -> tuple[str | None, str]:
    """The sha256 where a manifest tells it; else the strongest checksum that is there, to be made while reading."""
    digests = {hash_name(algorithm) or "": digest for algorithm, digest in entry.digests.items()}
    if "sha256" in digests:
        return digests["sha256"], ":"
    name = max(digests, key=lambda one: len(digests[one]), default="")
    return None, f"{name}:{digests[name]}" if name else ":"


def _toml(text: str) -> str:
    return json.dumps(text.replace("\x7f", "\ufffd"), ensure_ascii=False)

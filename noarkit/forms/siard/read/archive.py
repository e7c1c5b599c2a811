"""Opens a SIARD archive of any version: what it says of its database, the rows of its tables, and its large values.

    with open_siard(Path("records.siard")) as siard:
        for schema, table in siard.archive.tables():
            for batch in siard.rows(schema, table): ...

Nothing is unpacked and nothing is written. Large values are found inside the ZIP or below the folder it stands in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import unquote

from lxml import etree

from noarkit.errors import PackageFault, UnsafePath
from noarkit.events import Listener, ignore_event
from noarkit.forms.siard.cells import Cell, Unknown, UserTypes, cells_of, user_types
from noarkit.forms.siard.escapes import text_of
from noarkit.forms.siard.model import Archive, Column, MessageDigest, Schema, Table
from noarkit.forms.siard.read import danish
from noarkit.forms.siard.read.places import FolderPlace, Place, ZipPlace, is_plain, with_name
from noarkit.forms.siard.read.rows import Large, RawRow, Strays, raw_rows
from noarkit.forms.siard.spec import CLASSES, FROM_10, ITEMS, METADATA, READ, Item
from noarkit.safe import xml
from noarkit.safe.digest import Readable
from noarkit.safe.paths import open_inside
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of


@dataclass(frozen=True, slots=True)
class LargeLocation:
    """Where a large value stands: inside the archive (`outside` is False), or below the folder beside it."""

    name: str
    outside: bool
    size_bytes: int
    elsewhere: bool = False
    """True where it stands neither where its cell says nor where any writer is known to mean."""


class Siard:
    """One open archive."""

    def __init__(self, path: Path, place: Place) -> None:
        self.path = path
        self.place = place
        self.variant = "siard"
        self.root: etree._Element | None = None
        if place.size_of(METADATA) is not None:
            with place.open(METADATA) as source:
                self.archive, self.root = read_metadata(with_name(source, METADATA))
        elif place.size_of(danish.INDEX) is not None:
            self.variant = "siard-dk"
            with place.open(danish.INDEX) as source:
                self.archive = danish.read_index(with_name(source, danish.INDEX))
        else:
            raise PackageFault(where=str(path), why="no-siard-metadata")
        self.types: UserTypes = user_types(self.archive)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the archive go."""
        self.place.close()

    def base(self, schema: Schema, table: Table) -> str:
        """Where a table's files stand, without their tails. Raises `UnsafePath` for folders that are no plain names."""
        above = "Tables" if self.variant == "siard-dk" else f"content/{schema.folder}"
        name = f"{above}/{table.folder}/{table.folder}"
        if not is_plain(name):
            raise UnsafePath(where=name, why="climbs")
        if self.place.size_of(f"{name}.xml") is None:
            near = [
                candidate
                for candidate in self.place.find_similar(f"{table.folder}.xml")
                if _is_table(candidate, above, table.folder)
            ]
            return near[0].removesuffix(".xml") if len(near) == 1 else name
        return name

    def cells(self, schema: Schema, table: Table, unknown: Unknown | None = None) -> tuple[Cell, ...]:
        """The shape of a table's cells; `unknown` hears of types that nobody knows."""
        return cells_of(table, schema.name, self.types, unknown)

    def rows(self, schema: Schema, table: Table, *, stray: Strays | None = None) -> Iterator[list[RawRow]]:
        """The rows of a table as they stand, many at a time."""
        name = f"{self.base(schema, table)}.xml"
        tags = [f"c{number}" for number in range(1, len(table.columns) + 1)]
        with self.place.open(name) as source:
            yield from raw_rows(source, name, tags, stray=stray)

    def find(self, schema: Schema, table: Table, column: Column, number: int, large: Large) -> LargeLocation | None:
        """Where the value of a cell stands; None if nothing is. `number` is the column's, from 1.

        Writers disagree on what a name is relative to: every way that any of them means is tried, inside first. Raises
        `UnsafePath` for a name that leads out.
        """
        spelt = _path(large.file)
        folders = (_path(self.archive.lob_folder), _path(column.lob_folder))
        names = [spelt]
        if self.variant == "siard":
            above = f"content/{schema.folder}/{table.folder}"
            names += [f"{above}/{spelt}", f"{above}/lob{number}/{spelt}", f"{above}/{folders[1]}/{spelt}"]
            names += [f"{folders[1]}/{spelt}", f"content/{folders[1]}/{spelt}", _join_parts(*folders, spelt)]
        for name in dict.fromkeys(map(_normalised, names)):
            size = self.place.size_of(name) if is_plain(name) else None
            if size is not None:
                return LargeLocation(name, False, size)
        return self._find_outside(folders, spelt) or self._find_elsewhere(schema, table, number, large)

    def _find_elsewhere(self, schema: Schema, table: Table, number: int, large: Large) -> LargeLocation | None:
        """A file of that name elsewhere: in the column's folder, the table's, or anywhere, where it is the only one."""
        names = [
            name for name in self.place.find_similar(_path(large.file)) if name.count("/") > 1 and not _is_xml_of(name)
        ]
        last = _path(large.file).rpartition("/")[2].casefold()
        exact = [name for name in names if name.rpartition("/")[2].casefold() == last]
        home = [name for name in exact or names if name.startswith(f"content/{schema.folder}/{table.folder}")]
        own = re.compile(rf"lob_?{number}(?![0-9])", re.IGNORECASE)
        column = [name for name in home if own.search(name.rpartition("/")[0])]
        for candidates in (column, home, exact or names):
            sized = [(name, self.place.size_of(name) or 0) for name in candidates]
            fitting = (
                [candidate for candidate in sized if large.length is None or candidate[1] >= large.length]
                if len(sized) > 1
                else sized
            )
            if len(fitting) == 1:
                return LargeLocation(fitting[0][0], False, fitting[0][1], True)
            if candidates:
                return None  # several: nobody knows which
        return None

    def _find_outside(self, folders: tuple[str, str], spelt: str) -> LargeLocation | None:
        beside = [(*folders, spelt), (folders[1], spelt), (folders[0], spelt), (spelt,)]
        unsafe_path: UnsafePath | None = None
        for parts in dict.fromkeys(beside):
            name = _normalised(_join_parts(*parts)).removeprefix("../")  # the archive itself is the first step up
            try:
                with open_inside(self.path.parent, name) as file:
                    return LargeLocation(name, True, os.fstat(file.fileno()).st_size)
            except UnsafePath as error:
                unsafe_path = error
            except OSError:
                continue  # not there, or not ours: told by who asked
        if unsafe_path is not None:
            raise unsafe_path
        return None

    @contextmanager
    def _outside(self, name: str) -> Iterator[Readable]:
        try:
            file = open_inside(self.path.parent, name)
        except OSError as error:
            raise PackageFault(where=name, why="not-there") from error
        with file:
            yield file

    def open(self, location: LargeLocation) -> AbstractContextManager[Readable]:
        """The bytes of a large value."""
        return self._outside(location.name) if location.outside else self.place.open(location.name)


def open_siard(path: Path, limits: UnpackLimits = LIMITS) -> Siard:
    """The archive at `path`: a `.siard` by whatever name, or a folder that holds what one would.

    Raises `PackageFault` for what is none, and whatever `safe` refuses.
    """
    place = place_of(path, limits)
    try:
        return Siard(path, place)
    except BaseException:
        place.close()
        raise


def place_of(path: Path, limits: UnpackLimits = LIMITS, emit: Listener = ignore_event) -> Place:
    """The files of whatever stands at `path`. Raises `PackageFault` for what is neither folder nor ZIP."""
    return FolderPlace(path) if path.is_dir() else _zip(path, limits, emit)


def looks_like_siard(path: Path) -> bool:
    """True if a look tells a SIARD archive: by its files, never by its name. Raises nothing for what is broken."""
    if path.is_dir():
        return (path / METADATA).is_file() or (path / danish.INDEX).is_file()
    try:
        if form_of(path) != "zip":
            return False
    except OSError:
        return False
    return _holds_metadata(path)


def _zip(path: Path, limits: UnpackLimits, emit: Listener) -> ZipPlace:
    if form_of(path) != "zip":
        raise PackageFault(where=str(path), why="not-an-archive-file")
    return ZipPlace(path, limits, emit)


def _holds_metadata(path: Path) -> bool:
    """The header stands last, where it was written as the specification has it: the directory is near the end."""
    spelt = METADATA.encode()
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        at = size
        while at > 0:
            begin = max(0, at - _STEP)
            file.seek(begin)
            if spelt in file.read(at - begin + len(spelt)):
                return True
            at = begin
            if size - at > _FAR:
                return False
    return False


_STEP = 1024 * 1024
_FAR = 512 * 1024 * 1024


def _path(uri: str) -> str:
    """A relative reference as a path; one with a scheme or a root leads nowhere we go."""
    path = uri.strip().replace("\\", "/")
    path = path.removeprefix("file:")
    return unquote(path).strip() if "%" in path else path


def _is_table(name: str, above: str, folder: str) -> bool:
    """True for a table's XML in a folder that is called as the metadata say, but for what follows behind."""
    parts = name.split("/")
    return (
        len(parts) == above.count("/") + 3
        and parts[-1].casefold() == f"{folder}.xml".casefold()
        and parts[-2].casefold().startswith(folder.casefold())
        and "/".join(parts[:-2]).casefold().startswith(above.casefold())
    )


def _is_xml_of(name: str) -> bool:
    """True for the rows of a table, which are no large value."""
    parts = name.split("/")
    return len(parts) == 4 and parts[3].casefold() in (f"{parts[2]}.xml".casefold(), f"{parts[2]}.xsd".casefold())


def _join_parts(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _normalised(name: str) -> str:
    """Without empty and lone-dot steps; the root, and steps up, stay to be judged."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return ("/" if name.startswith("/") else "") + "/".join(parts)


_LIMITS = xml.XmlLimits(max_bytes=512 * 1024 * 1024, max_depth=60)
_OLD_DIGEST = re.compile(r"(MD5|SHA-?1|SHA-?256)?[\s:]*([0-9A-Fa-f]{32,64})")
_TRUE = ("true", "1")


def read_metadata(source: BinaryIO) -> tuple[Archive, etree._Element]:
    """What the document says, and the document. Raises `PackageFault` where it is no SIARD metadata that we know."""
    root = xml.parse(source, limits=_LIMITS)
    where = str(getattr(source, "name", "metadata.xml"))
    if _local(root) != "siardArchive":
        raise PackageFault(where=where, why="no-siard-metadata", detail=_local(root))
    version = (root.get("version") or "").strip()
    if version not in READ:
        raise PackageFault(where=where, why="siard-version", detail=version)
    fields = _fields(root, Archive)
    if version == "1.0":
        fields["digests"] = _old_digest(root)
    return Archive(**{**fields, "version": version}), root


def _fields(element: etree._Element, kind: type) -> dict[str, Any]:  # values of any field of the model
    item_by_tag = _items_by_tag(kind)
    values: dict[str, Any] = {}  # the same
    for child in element:
        if not isinstance(child.tag, str):
            continue
        tag = _local(child)
        item = item_by_tag.get(tag)
        if item is None:
            old = FROM_10.get((kind.__name__, tag))
            if old is not None:
                values[old] = text_of(child.text or "")
        elif item.kind == "many":
            values[item.field] = (*values.get(item.field, ()), _value(child, item))
        else:
            values[item.field] = _value(child, item)
    for item in ITEMS[kind]:  # what has no default must at least be empty
        if item.least and item.field not in values and item.kind not in ("list", "many", "integer", "boolean"):
            values[item.field] = ""
    return values


def _value(element: etree._Element, item: Item) -> object:
    if item.kind == "list":
        kind = CLASSES[item.of]
        return tuple(kind(**_fields(child, kind)) for child in element if isinstance(child.tag, str))
    if item.kind in ("one", "many") and item.of:
        kind = CLASSES[item.of]
        return kind(**_fields(element, kind))
    text = text_of(element.text or "")
    if item.kind == "boolean":
        return text.strip() in _TRUE
    if item.kind == "integer":
        return _number(text)
    return text.strip() if item.kind in ("type", "choice", "folder", "uri", "date") else text


def _number(text: str) -> int | None:
    spelt = text.strip()
    return int(spelt) if spelt.removeprefix("-").isdecimal() and len(spelt) < 20 else None


@cache
def _items_by_tag(kind: type) -> Mapping[str, Item]:
    return {item.tag: item for item in ITEMS[kind]}


def _old_digest(root: etree._Element) -> tuple[MessageDigest, ...]:
    """1.0 has one text, whose first letters may tell the algorithm."""
    for child in root:
        if isinstance(child.tag, str) and _local(child) == "messageDigest":
            match = _OLD_DIGEST.fullmatch((child.text or "").strip())
            if match is not None:
                by_length = {32: "MD5", 40: "SHA-1", 64: "SHA-256"}
                return (MessageDigest(by_length.get(len(match[2]), "MD5"), match[2]),)
    return ()


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname

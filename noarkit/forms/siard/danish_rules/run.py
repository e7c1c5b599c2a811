"""Validates a delivery in the Danish variant (SIARDDK): the indices exist, files match their MD5, tables match
tableIndex.xml.

Not checked: the XML schemas, the values of the tables, docIndex.xml, and the contents of the context documentation. A
delivery on several media is validated whole where they lie side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault, UnsafePath, UnsafeXml
from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.forms.findings import Tally, rules_of
from noarkit.forms.siard.model import Schema, Table
from noarkit.forms.siard.read import danish
from noarkit.forms.siard.read.archive import Siard
from noarkit.forms.siard.read.places import FolderPlace, Place, with_name
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.paths import checked_parts
from noarkit.safe.spill import KeySet

RULES = rules_of("noarkit.forms.siard.danish_rules")
FILE_INDEX = "Indices/fileIndex.xml"
INDICES = ("Indices/archiveIndex.xml", "Indices/contextDocumentationIndex.xml", FILE_INDEX, danish.INDEX)
MISSING_INDEX = "SIARDDK-1"
UNREADABLE_INDEX = "SIARDDK-2"
MISSING_FILE = "SIARDDK-3"
CHANGED_FILE = "SIARDDK-4"
UNLISTED_FILE = "SIARDDK-5"
MISSING_TABLE = "SIARDDK-6"
UNREADABLE_TABLE = "SIARDDK-7"
ROW_COUNT = "SIARDDK-8"
UNKNOWN_ELEMENT = "SIARDDK-9"
MISSING_MEDIUM = "SIARDDK-10"
_MAX_DEPTH = 20
_MAX_STRAYS = 100


def validate_delivery(path: Path, place: Place, tally: Tally) -> tuple[int, int]:
    """Checks every rule; returns how many tables and rows were counted."""
    for name in INDICES:
        if place.size_of(name) is None:
            tally.add(MISSING_INDEX, name)
    _check_files(path, place, tally)
    try:
        siard = Siard(path, place)
    except (PackageFault, UnsafeXml) as fault:
        tally.add(UNREADABLE_INDEX, danish.INDEX, why=_why(fault))
        return 0, 0
    tables = list(siard.archive.tables())
    return len(tables), sum(_check_table(siard, schema, table, tally) for schema, table in tables)


def _check_table(siard: Siard, schema: Schema, table: Table, tally: Tally) -> int:
    name = f"{siard.base(schema, table)}.xml"
    if siard.place.size_of(name) is None:
        tally.add(MISSING_TABLE, name, name=table.name)
        return 0
    rows = 0
    strays: list[str] = []
    try:
        for batch in siard.rows(schema, table, stray=lambda stray: strays.append(stray.name)):
            rows += len(batch)
    except (PackageFault, UnsafeXml) as fault:
        tally.add(UNREADABLE_TABLE, name, why=_why(fault))
        return rows
    for stray in strays[:_MAX_STRAYS]:
        tally.add(UNKNOWN_ELEMENT, name, name=stray)
    if rows != table.rows:
        tally.add(ROW_COUNT, name, expected=table.rows, found=rows)
    return rows


def _check_files(path: Path, place: Place, tally: Tally) -> None:
    """Checks each file that fileIndex.xml lists, and finds each file that it does not."""
    if place.size_of(FILE_INDEX) is None:
        return  # told already: an index is missing
    with KeySet() as listed_names:
        try:
            with place.open(FILE_INDEX) as source:
                for name, digest in _list_files(cast(BinaryIO, source)):
                    listed_names.add(name)
                    _check_file(path, name, digest, tally)
        except (PackageFault, UnsafeXml) as fault:
            tally.add(UNREADABLE_INDEX, FILE_INDEX, why=_why(fault))
            return  # what the rest of the index lists is unknown, so no file can be called unlisted
        for name in place.names():
            if name != FILE_INDEX and not listed_names.has(f"{path.name}/{name}"):
                tally.add(UNLISTED_FILE, name)


def _check_file(path: Path, name: str, digest: str, tally: Tally) -> None:
    medium, _, path_in_medium = name.partition("/")
    medium_folder = path if medium == path.name else path.parent / medium
    try:
        checked_parts(name)
        if not medium_folder.is_dir() or medium_folder.is_symlink():
            tally.add(MISSING_MEDIUM, FILE_INDEX, name=medium)
            return
        with closing(FolderPlace(medium_folder)) as place, place.open(path_in_medium) as source:
            hasher = hashlib.md5(usedforsecurity=False)
            while block := source.read(BLOCK_BYTES):
                hasher.update(block)
    except (PackageFault, UnsafePath, OSError):
        tally.add(MISSING_FILE, FILE_INDEX, name=name)
        return
    if hasher.hexdigest() != digest:
        tally.add(CHANGED_FILE, name, expected=digest, found=hasher.hexdigest())


def _list_files(source: BinaryIO) -> Iterator[tuple[str, str]]:
    """Yields each file: its medium and its path there, and its MD5."""
    return read_items(with_name(source, FILE_INDEX), FILE_INDEX, _Files)


class _Files(XmlReader[tuple[str, str]]):
    """Reads fileIndex.xml: collects folder, name and MD5 of each `f`."""

    def __init__(self, parser: XMLParserType) -> None:
        super().__init__(parser, FILE_INDEX, _MAX_DEPTH)
        self._depth = 0
        self._fields: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Checks the root; begins a file at `f`, and a text at its members."""
        self._depth += 1
        self._check_depth(self._depth)
        local = name.rpartition(" ")[2]
        if self._depth == 1 and local != "fileIndex":
            raise PackageFault(where=FILE_INDEX, why="no-siard-metadata", detail=local)
        if local == "f":
            self._fields = {}
        elif local in ("foN", "fiN", "md5"):
            self._text = []

    def end(self, name: str) -> None:
        """Keeps the text of a member; adds the file when its `f` ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._text is not None and local in ("foN", "fiN", "md5"):
            self._fields[local], self._text = "".join(self._text).strip(), None
        elif local == "f":
            folder = self._fields.get("foN", "").replace("\\", "/").strip("/")
            self._items.append((f"{folder}/{self._fields.get('fiN', '')}", self._fields.get("md5", "").lower()))


def _why(fault: PackageFault | UnsafeXml) -> str:
    return str(fault.data.get("detail") or fault.data.get("why") or "")

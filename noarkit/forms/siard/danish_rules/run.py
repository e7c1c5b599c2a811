"""Judges a delivery in the Danish variant: its indices, each file against its MD5, each table against its index.

Not judged: the XML schemas, the values of the tables, the documents' index and the context documentation. A delivery on
several media is judged whole where they lie side by side.
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
from noarkit.safe.scratch import scratch

RULES = rules_of("noarkit.forms.siard.danish_rules")
FILE_INDEX = "Indices/fileIndex.xml"
INDICES = ("Indices/archiveIndex.xml", "Indices/contextDocumentationIndex.xml", FILE_INDEX, danish.INDEX)
_MAX_DEPTH = 20


def judge(path: Path, place: Place, tally: Tally) -> tuple[int, int]:
    """Holds a delivery to every rule; returns how many tables and rows were counted."""
    for name in INDICES:
        if place.size_of(name) is None:
            tally.add("SIARDDK-1", name)
    _judge_files(path, place, tally)
    try:
        siard = Siard(path, place)
    except (PackageFault, UnsafeXml) as fault:
        tally.add("SIARDDK-2", danish.INDEX, why=_why(fault))
        return 0, 0
    tables = list(siard.archive.tables())
    return len(tables), sum(_judge_table(siard, schema, table, tally) for schema, table in tables)


def _judge_table(siard: Siard, schema: Schema, table: Table, tally: Tally) -> int:
    name = f"{siard.base(schema, table)}.xml"
    if siard.place.size_of(name) is None:
        tally.add("SIARDDK-6", name, name=table.name)
        return 0
    rows = 0
    strays: list[str] = []
    try:
        for batch in siard.rows(schema, table, stray=lambda stray: strays.append(stray.name)):
            rows += len(batch)
    except (PackageFault, UnsafeXml) as fault:
        tally.add("SIARDDK-7", name, why=_why(fault))
        return rows
    for stray in strays[:100]:
        tally.add("SIARDDK-9", name, name=stray)
    if rows != table.rows:
        tally.add("SIARDDK-8", name, expected=table.rows, found=rows)
    return rows


def _judge_files(path: Path, place: Place, tally: Tally) -> None:
    """Every file that fileIndex.xml lists, and every file that it does not."""
    if place.size_of(FILE_INDEX) is None:
        return
    with closing(scratch()) as db:
        db.execute("CREATE TABLE seen (name TEXT PRIMARY KEY) WITHOUT ROWID")
        try:
            with place.open(FILE_INDEX) as source:
                for name, digest in _list_files(cast(BinaryIO, source)):
                    db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (name,))
                    _judge_file(path, name, digest, tally)
        except (PackageFault, UnsafeXml) as fault:
            tally.add("SIARDDK-2", FILE_INDEX, why=_why(fault))
            return
        for name in place.names():
            row = db.execute("SELECT 1 FROM seen WHERE name = ?", (f"{path.name}/{name}",)).fetchone()
            if row is None and name != FILE_INDEX:
                tally.add("SIARDDK-5", name)


def _judge_file(path: Path, name: str, digest: str, tally: Tally) -> None:
    medium, _, below = name.partition("/")
    home = path if medium == path.name else path.parent / medium
    try:
        checked_parts(name)
        exists = home.is_dir() and not home.is_symlink()
        if not exists:
            tally.add("SIARDDK-10", FILE_INDEX, name=medium)
            return
        with closing(FolderPlace(home)) as place, place.open(below) as source:
            running = hashlib.md5(usedforsecurity=False)
            while block := source.read(BLOCK_BYTES):
                running.update(block)
    except (PackageFault, UnsafePath, OSError):
        tally.add("SIARDDK-3", FILE_INDEX, name=name)
        return
    if running.hexdigest() != digest:
        tally.add("SIARDDK-4", name, expected=digest, found=running.hexdigest())


def _list_files(source: BinaryIO) -> Iterator[tuple[str, str]]:
    """Each file by its medium and its path there, with its MD5."""
    return read_items(with_name(source, FILE_INDEX), FILE_INDEX, _Files)


class _Files(XmlReader[tuple[str, str]]):
    """The state between two events."""

    def __init__(self, parser: XMLParserType) -> None:
        super().__init__(parser, FILE_INDEX, _MAX_DEPTH)
        self._depth = 0
        self._told: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._check_depth(self._depth)
        local = name.rpartition(" ")[2]
        if self._depth == 1 and local != "fileIndex":
            raise PackageFault(where=FILE_INDEX, why="no-siard-metadata", detail=local)
        if local == "f":
            self._told = {}
        elif local in ("foN", "fiN", "md5"):
            self._text = []

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._text is not None and local in ("foN", "fiN", "md5"):
            self._told[local], self._text = "".join(self._text).strip(), None
        elif local == "f":
            folder = self._told.get("foN", "").replace("\\", "/").strip("/")
            self._items.append((f"{folder}/{self._told.get('fiN', '')}", self._told.get("md5", "").lower()))


def _why(fault: PackageFault | UnsafeXml) -> str:
    return str(fault.data.get("detail") or fault.data.get("why") or "")

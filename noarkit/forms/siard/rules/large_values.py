"""Checks large values in files of their own: existence, length and digest, as their cells say."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.escapes import text_of
from noarkit.forms.siard.model import Schema, Table
from noarkit.forms.siard.read.archive import LargeLocation, Siard
from noarkit.forms.siard.read.proof import same_digest
from noarkit.forms.siard.read.rows import Large
from noarkit.forms.siard.rules.rows import LargeCell
from noarkit.forms.siard.spec import HASHES
from noarkit.forms.siard.types import TEXTUAL
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.spill import KeySet

_LOB = re.compile(r"content/[^/]+/[^/]+/[^/]+/[^/]+")


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A table and what its cells are."""

    schema: Schema
    table: Table
    cells: tuple[Cell, ...]
    file: str


class LargeCheck:
    """The large values of one archive, and which files they name."""

    def __init__(self, siard: Siard, tally: Tally) -> None:
        self._siard = siard
        self._tally = tally
        self._named_files = KeySet()
        self.count = 0
        self.size_bytes = 0

    def close(self) -> None:
        """Forgets it."""
        self._named_files.close()

    def check(self, place: TablePlace, cells: Iterable[LargeCell]) -> None:
        """Some cells that name files."""
        for cell in cells:
            if 0 <= cell.column < len(place.cells):
                self._check(place, cell)

    def _check(self, place: TablePlace, cell: LargeCell) -> None:
        attributes = cell.attributes
        if not attributes.get("length", "").strip():
            self._add("SIARD-T_6.4-5", place, cell, missing="length")
        missing = [name for name in ("digestType", "digest") if not attributes.get(name, "").strip()]
        if missing and self._siard.archive.version not in ("1.0", "2.0"):
            self._add("SIARD-T_6.4-5-NO-DIGEST", place, cell, missing=", ".join(missing))
        spelt = attributes.get("length", "").strip()
        length = int(spelt) if spelt.isdecimal() and len(spelt) < 20 else None
        large = Large(
            text_of(attributes["file"]), length, attributes.get("digestType", ""), attributes.get("digest", "")
        )
        column = place.table.columns[cell.column]
        try:
            large_file = self._siard.find(place.schema, place.table, column, cell.column + 1, large)
        except HostileInput as error:
            self._add("SIARD-T_6.4-5-PATH", place, cell, name=large.file, why=error.data.get("why"))
            return
        if large_file is None:
            self._add("SIARD-T_6.4-5-FILE", place, cell, name=large.file)
            return
        if large_file.elsewhere:
            self._add("SIARD-T_6.4-5-PLACE", place, cell, name=large.file, found=large_file.name)
        if not large_file.outside:
            self._named_files.add(large_file.name)
        self.count += 1
        self.size_bytes += large_file.size_bytes
        self._measure(place, cell, large, large_file)

    def _measure(self, place: TablePlace, cell: LargeCell, large: Large, large_file: LargeLocation) -> None:
        type_ = place.cells[cell.column].type
        textual = type_ is not None and type_.kind in TEXTUAL
        algorithm = HASHES.get(large.digest_type.strip())
        hasher = hashlib.new(algorithm) if algorithm else None
        letters = _CharacterCounter() if textual else None
        size = 0
        try:
            with self._siard.open(large_file) as source:
                while block := source.read(BLOCK_BYTES):
                    size += len(block)
                    if hasher is not None:
                        hasher.update(block)
                    if letters is not None:
                        letters.take(block)
        except PackageFault as error:
            self._add("SIARD-T_6.4-5-FILE", place, cell, name=large_file.name, why=error.data.get("why"))
            return
        if letters is not None and not letters.finish():
            self._add("SIARD-T_6.4-5-TEXT", place, cell, name=large_file.name)
            return
        actual_length = size if letters is None else letters.count
        if large.length is not None and large.length != actual_length:
            code = "SIARD-T_6.4-5-UNIT" if large.length == size else "SIARD-T_6.4-5-LENGTH"
            self._add(code, place, cell, name=large_file.name, expected=large.length, found=actual_length)
        if hasher is not None and large.digest and not same_digest(large.digest, hasher.digest()):
            self._add("SIARD-T_6.4-5-DIGEST", place, cell, name=large_file.name)

    def check_unused(self) -> None:
        """Files of large values that no cell names."""
        for name in self._siard.place.names():
            if _LOB.fullmatch(name) and not self._named_files.has(name):
                self._tally.add("SIARD-T_6.4-5-UNUSED", name)

    def _add(self, code: str, place: TablePlace, cell: LargeCell, **data: object) -> None:
        column = place.table.columns[cell.column].name
        self._tally.add_hit(Hit(code, place.file, line=cell.line, data=place_data({"column": column, **data})))


class _CharacterCounter:
    """Counts the signs of a text in UTF-8 as it passes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._good = True
        self.count = 0

    def take(self, block: bytes, *, final: bool = False) -> None:
        """Some more of it."""
        if self._good:
            try:
                self.count += len(self._decoder.decode(block, final))
            except UnicodeDecodeError:
                self._good = False

    def finish(self) -> bool:
        """True if all of it was UTF-8."""
        self.take(b"", final=True)
        return self._good

"""Large values on their way into an archive: short ones into their cell, long ones into a file inside or beside it.

Bytes are counted and hashed as they pass; a value that comes as a stream is never held whole.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Protocol, runtime_checkable

from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.escapes import escaped
from noarkit.forms.siard.types import TEXTUAL
from noarkit.forms.siard.values import UnfitValue
from noarkit.forms.siard.write.zipped import Part, ZipWriter
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.digest import BLOCK_BYTES, Readable

_FILES_PER_FOLDER = 10_000
_SUFFIXES = {"clob": "txt", "xml": "xml", "text": "txt"}


@runtime_checkable
class Lob(Protocol):
    """A value to be read as a stream: bytes, or a text in UTF-8."""

    def open(self) -> AbstractContextManager[Readable]:
        """The bytes, from the first on."""
        ...


WriteFile = Callable[[str, Iterator[bytes]], None]
"""Writes a file: its name inside, and its blocks."""


class InsideStore:
    """Puts large values into the ZIP itself."""

    def __init__(self, zipped: ZipWriter, folder: Path, level: int) -> None:
        self._zipped = zipped
        self._folder = folder
        self._level = level

    def name(self, table: tuple[str, str], column: int, number: int, tail: str) -> tuple[str, str]:
        """The name inside the archive, and what the cell calls it."""
        name = f"content/{table[0]}/{table[1]}/lob{column + 1}/record{number}.{tail}"
        return name, name

    def write_file(self, name: str, blocks: Iterator[bytes]) -> None:
        """Writes one, small ones at once."""
        first = next(blocks, b"")
        second = next(blocks, None)
        if second is None:
            self._zipped.add(name, first, self._level)
            return
        part = Part(self._folder, self._level)
        try:
            for block in chain((first, second), blocks):
                part.write(block)
            part.finish()
            self._zipped.add_part(name, part)
        finally:
            part.close()


class OutsideStore:
    """Puts large values into files below a folder that stands beside the archive."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._home = ConfinedFolder(folder)

    def name(self, table: tuple[str, str], column: int, number: int, tail: str) -> tuple[str, str]:
        """The name below the folder, and what the cell calls it: that below the column's own folder."""
        short = f"part{number // _FILES_PER_FOLDER}/record{number}.{tail}"
        return f"{column_folder(table, column)}{short}", short

    def write_file(self, name: str, blocks: Iterator[bytes]) -> None:
        """Writes one."""
        with os.fdopen(self._home.create(name), "wb") as file:
            for block in blocks:
                file.write(block)

    def close(self) -> None:
        """Lets the folder go."""
        self._home.close()


def column_folder(table: tuple[str, str], column: int) -> str:
    """What the folder of a column is called, where large values stand outside."""
    return f"{table[0]}/{table[1]}/lob{column + 1}/"


class LargeCells:
    """Writes the large cells of one table. `files` and `size_bytes` count what went into files."""

    def __init__(self, where: InsideStore | OutsideStore, table: tuple[str, str], most_inline: int) -> None:
        self._where = where
        self._table = table
        self._most = most_inline
        self._numbers: dict[int, int] = {}
        self.files = 0
        self.size_bytes = 0

    def __call__(self, column: int, cell: Cell, value: object) -> str:
        """The cell as it stands in the table's XML."""
        kind = cell.type.kind if cell.type is not None else "blob"
        textual = kind in TEXTUAL
        if textual and isinstance(value, str):
            return self._text(column, cell, value)
        if textual or not isinstance(value, (bytes, bytearray, memoryview)):
            if isinstance(value, Lob):
                return self._stream(column, cell, value, textual=textual)
            raise UnfitValue(f"{type(value).__name__} as {kind}")
        if len(value) <= self._most:
            return f"<{cell.tag}>{value.hex().upper()}</{cell.tag}>"
        return self._file(column, cell, _blocks(memoryview(value)), len(value))

    def _text(self, column: int, cell: Cell, value: str) -> str:
        if len(value) > self._most:
            try:
                return self._file(column, cell, _blocks(memoryview(value.encode())), len(value))
            except UnicodeEncodeError:
                pass  # what UTF-8 cannot hold stands in the cell, escaped
        return f"<{cell.tag}>{escaped(value)}</{cell.tag}>"

    def _stream(self, column: int, cell: Cell, value: Lob, *, textual: bool) -> str:
        with value.open() as source:
            head = _read(source, self._most + 1)
            if len(head) <= self._most:
                return f"<{cell.tag}>{escaped(head.decode()) if textual else head.hex().upper()}</{cell.tag}>"
            remaining = iter(lambda: source.read(BLOCK_BYTES), b"")
            return self._file(column, cell, chain((head,), remaining), None if textual else -1)

    def _file(self, column: int, cell: Cell, blocks: Iterator[bytes], length: int | None) -> str:
        """`length` is -1 where bytes are to be counted, None if signs are."""
        kind = cell.type.kind if cell.type is not None else "blob"
        number = self._numbers.get(column, 0)
        self._numbers[column] = number + 1
        name, cell_name = self._where.name(self._table, column, number, _SUFFIXES.get(kind, "bin"))
        hashed_blocks = _HashedBlocks(blocks, signs=length is None)
        self._where.write_file(name, iter(hashed_blocks))
        self.files += 1
        self.size_bytes += hashed_blocks.size_bytes
        value_length = hashed_blocks.signs if length is None else hashed_blocks.size_bytes if length < 0 else length
        attributes = (
            f'file="{cell_name}" length="{value_length}" digestType="SHA-256" digest="{hashed_blocks.digest()}"'
        )
        return f"<{cell.tag} {attributes}/>"


class _HashedBlocks:
    """Counts and hashes blocks as they pass."""

    def __init__(self, blocks: Iterator[bytes], *, signs: bool) -> None:
        self._blocks = blocks
        self._decoder = codecs.getincrementaldecoder("utf-8")() if signs else None
        self._hash = hashlib.sha256()
        self.size_bytes = 0
        self.signs = 0

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self._hash.update(block)
            self.size_bytes += len(block)
            if self._decoder is not None:
                self.signs += len(self._decoder.decode(block))
            yield block

    def digest(self) -> str:
        """The SHA-256 of all that passed."""
        return self._hash.hexdigest()


def _blocks(view: memoryview) -> Iterator[bytes]:
    for start in range(0, len(view), BLOCK_BYTES):
        yield bytes(view[start : start + BLOCK_BYTES])


def _read(source: Readable, size: int) -> bytes:
    content = b""
    while len(content) < size and (block := source.read(size - len(content))):
        content += block
    return content

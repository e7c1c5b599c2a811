"""Registers in use: those that stand beside the files and add to their records, and the one that leads."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

from noarkit.errors import ItemMalformed, ItemVanished, SourceFault
from noarkit.graph.entity import Note, SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.safe import folder_handles
from noarkit.safe.spill import KeySet
from noarkit.sources.files import folders, policy
from noarkit.sources.files.file_filter import FileFilter, Folder, FoundFile, folder_at, set_aside
from noarkit.sources.files.names import key_of, text_of
from noarkit.sources.files.register import rows
from noarkit.sources.files.register.rows import Register
from noarkit.sources.files.streams import WITHIN


class FolderRegisters:
    """The registers that reach the folder at hand: its own, and those of the folders above it.

    They are opened from the `root` down, since the walk may be elsewhere by then.
    """

    def __init__(self, root: int, column: str) -> None:
        self._root = root
        self._column = column
        self._folder: Folder | None = None
        self._reaching: list[tuple[Folder, Register]] = []
        self._unreadable: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        while self._reaching:
            self._reaching.pop()[1].close()

    def enrich(self, record: SourceRecord, file: FoundFile) -> SourceRecord:
        """The record with what the nearest register that knows its file says of it."""
        if file.folder is not self._folder:
            self._enter(file.folder)
        if record.key in self._unreadable:
            return replace(record, notes=(*record.notes, policy.REGISTER_UNREADABLE))
        text = text_of(file.name)
        for folder, register in reversed(self._reaching):
            row, notes = register.look_up(file.folder.text[len(folder.text) :] + text, text)
            if row:
                return _with_row(record, row, notes)
        return record

    def _enter(self, folder: Folder) -> None:
        self._folder = folder
        while self._reaching and not folder.key.startswith(self._reaching[-1][0].key):
            self._reaching.pop()[1].close()
        if self._reaching and self._reaching[-1][0] is folder:
            return
        unreadable = set()
        present = set(folder.names[0])
        for name in rows.NAMES:
            if name in present:
                key = folder.key + key_of(name)
                try:
                    self._reaching.append((folder, self._open(name, folder, key)))
                except SourceFault:
                    unreadable.add(key)
        self._unreadable = frozenset(unreadable)

    def _open(self, name: bytes, folder: Folder, key: str) -> Register:
        with folders.faults(key):
            parent = folders.reach(self._root, folder.steps)
        try:
            return open_register(name, parent, key=key, column=self._column)
        finally:
            folder_handles.close(parent)


def open_register(name: bytes, parent: int, *, key: str, column: str) -> Register:
    """The register `name` in an open folder. Raises a `SourceFault`."""
    with folders.faults(key), os.fdopen(folders.open_file(name, parent, key=key), "rb") as file:
        return rows.read_register(file, where=key, column=column)


class NamedFile(NamedTuple):
    """A file that a row names, the row, and the key of the record they make."""

    file: FoundFile
    row: rows.Row
    key: str


class LeadingRegister:
    """A register whose rows are the records. Use as a context."""

    def __init__(self, root: int, path: str, column: str, file_filter: FileFilter) -> None:
        self._root = root
        self._filter = file_filter
        *steps, name = path.encode("utf-8", "surrogateescape").split(b"/")
        self.key = "/".join(map(key_of, (*steps, name)))
        self._steps = tuple(steps)
        with folders.faults(self.key):
            parent = folders.reach(root, steps)
        try:
            self._register = open_register(name, parent, key=self.key, column=column)
        finally:
            folder_handles.close(parent)
        self._named = KeySet()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._register.close()
        self._named.close()

    def files(self) -> Iterator[NamedFile | SetAside | Skipped]:
        """For each row the file it names, or why it is not to be had."""
        for entry in self._register.entries():
            row_key = f"{self.key}{WITHIN}row/{entry.number + 1}"
            if not entry.path:
                yield set_aside(ItemMalformed(key=row_key, why="no file named"))
                continue
            yield from self._find_file(entry, row_key)

    def has_file(self, key: str) -> bool:
        """True for the register itself and every file that a row named."""
        return key == self.key or self._named.has(key)

    def _find_file(self, entry: rows.Entry, row_key: str) -> Iterator[NamedFile | SetAside | Skipped]:
        fault: SourceFault = ItemVanished(key=row_key, why="ENOENT")
        for path in _path_encodings(entry.path):
            steps = (*self._steps, *path.split(b"/"))
            if any(step in (b"", b".", b"..") for step in steps):
                fault = ItemMalformed(key=row_key, why="a path that leads elsewhere")
                break
            try:
                parent = folders.reach(self._root, steps[:-1])
            except OSError as error:
                fault = folders.fault(row_key, error)
                continue
            try:
                status = folder_handles.status_in(steps[-1], parent)
                folder = folder_at(steps[:-1], parent)
                key = folder.key + key_of(steps[-1])
                key = _with_number(key, self._named.count_up(key) - 1)
                item = self._filter.check(folder, steps[-1], status)
                yield NamedFile(item, entry.row, key) if isinstance(item, FoundFile) else replace(item, record_key=key)
                return
            except OSError as error:
                fault = folders.fault(row_key, error)
            finally:
                folder_handles.close(parent)
        yield set_aside(fault)


def with_register_row(record: SourceItem, row: rows.Row, key: str) -> SourceItem:
    """The record of a file as its row has it."""
    if not isinstance(record, SourceRecord):
        return record
    if WITHIN not in record.key:
        record = replace(record, key=key)
    return _with_row(record, row, ())


def _with_row(record: SourceRecord, row: rows.Row, notes: tuple[Note, ...]) -> SourceRecord:
    return replace(record, fields={**record.fields, "register": row}, notes=(*record.notes, *notes))


def _path_encodings(path: str) -> list[bytes]:
    """The bytes a path may have on disk: as written, or with its letters composed the one way or the other."""
    forms = (path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path))
    return list(dict.fromkeys(form.encode("utf-8", "surrogateescape") for form in forms))


def _with_number(key: str, again: int) -> str:
    return f"{key}{WITHIN}{again + 1}" if again else key

"""A Noark 5 extract as a place: in a folder, a zip or a tar, of every version that can be read.

Archive units become items in the order of the structure, with every element as a field; documents are opened where
they lie. Where the structure breaks off, what stands before is shown, and the fault is an item of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from noarkit.catalogue.places.change_log import ChangeLog
from noarkit.catalogue.places.descriptions import describe_addml, fault_item
from noarkit.catalogue.places.extract_rows import LARGE_BYTES, unit_rows
from noarkit.catalogue.places.unit_items import LookUps, UnitItems, no_custody
from noarkit.catalogue.port import CustodyStep, Item, PlaceIdentity
from noarkit.catalogue.rows import NumberedItems, RowBatch, StartOver
from noarkit.errors import ItemVanished, PackageFault, SourceGone
from noarkit.events import Listener
from noarkit.forms.noark5.read.portions import CannotCut
from noarkit.forms.noark5.read.structure import units
from noarkit.forms.noark5.source.files import DocumentFiles
from noarkit.forms.noark5.source.packed import PackedFiles
from noarkit.forms.noark5.spec import CHANGE_LOG, DESCRIPTION, DOCUMENT_FOLDERS, STRUCTURE
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.spill import IDS_AT_HAND, KeySet

_LOCATOR_COLONS = 2


class ExtractPlace:
    """The extract in the folder that holds its arkivstruktur.xml, or in an archive file.

    `custody` says what a package around it tells of a file, by its locator; `prefix` is what locators begin with there.
    A structure of `large_bytes` or more is read by processes side by side.
    """

    def __init__(
        self,
        path: Path,
        custody: Callable[[str], tuple[CustodyStep, ...]] = no_custody,
        prefix: str = "",
        *,
        large_bytes: int = LARGE_BYTES,
    ) -> None:
        self.path = path.absolute()
        self._custody = custody
        self._prefix = prefix
        self._large_bytes = large_bytes
        self._files = PackedFiles(self.path) if self.path.is_file() else DocumentFiles(self.path)

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `extract`. Sizes and times of its XML, or of the archive file, tell when it has changed."""
        return PlaceIdentity("extract", self.path.name, str(self.path), _fingerprint(self.path))

    def items(self, emit: Listener) -> NumberedItems:
        """Every archive unit once, parents first; then what the description says of the whole.

        Raises `SourceGone` where the extract is not there, and what `safe` refuses.
        """
        return NumberedItems(lambda: self._stream(numbered=False), lambda: self._stream(numbered=True))

    def _stream(self, *, numbered: bool) -> Iterator[Any]:  # Any: items, and rows where they are numbered
        structure = self._files.root / f"{STRUCTURE}.xml"
        if not structure.is_file():
            raise SourceGone(where=str(self.path), why="ENOENT")
        with closing(ChangeLog()) as log:
            faults = list(self._read_log(log))
            look_ups = LookUps(self._files.content, log, self._custody, self._prefix)
            is_read = False
            if numbered:
                is_read = yield from self._rows(structure, log, look_ups)
            if not is_read:
                log.forget_matches()
                try:
                    yield from _units_of(structure, look_ups)
                except PackageFault as fault:
                    faults.append(fault_item(f"{STRUCTURE}.xml", fault))
            yield from faults
            yield from log.unmatched()
        yield from self._description()

    def _rows(self, structure: Path, log: ChangeLog, look_ups: LookUps) -> Generator[RowBatch | StartOver, None, bool]:
        """The units as rows; False, and a start anew, where they must be read as a stream."""
        # what looks into tables of this process cannot be asked in another
        in_children = self._custody is no_custody and isinstance(self._files, DocumentFiles)
        try:
            for rows in unit_rows(structure, look_ups, large_bytes=self._large_bytes if in_children else None):
                for number, unit in rows.logged:
                    rows.batch.changes += [
                        (number, change.at, change.actor, change.field, change.before, change.after)
                        for change in log.of((unit,))
                    ]
                yield rows.batch
        except (CannotCut, PackageFault):
            yield StartOver()
            return False
        return True

    def open(self, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens a document. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        if locator.count(":") < _LOCATOR_COLONS:
            raise ItemVanished(key=locator)
        return self._files.open(Content(locator, locator.rpartition("/")[2]))

    def close(self) -> None:
        """Lets the archive file go."""

    def _read_log(self, log: ChangeLog) -> Iterator[Item]:
        path = self._files.root / f"{CHANGE_LOG}.xml"
        if path.is_file():
            try:
                log.read(path)
            except PackageFault as fault:
                yield fault_item(f"{CHANGE_LOG}.xml", fault)

    def _description(self) -> Iterator[Item]:
        path = self._files.root / f"{DESCRIPTION}.xml"
        if path.is_file():
            yield describe_addml(path)


def _units_of(structure: Path, look_ups: LookUps) -> Iterator[Item]:
    with KeySet(IDS_AT_HAND) as seen_ids:
        unit_items = UnitItems(look_ups)
        for unit in units(structure, seen_ids.add):
            yield unit_items.item(unit)


def _fingerprint(path: Path) -> str:
    """Changes with the archive file; in a folder with every file at its top, and with the folders of documents."""
    facts = hashlib.sha256()
    entries = [path] if path.is_file() else sorted(path.iterdir()) if path.is_dir() else []
    for entry in entries:
        if entry.is_file() or entry.name in DOCUMENT_FOLDERS:
            status = entry.stat()
            size = status.st_size if entry.is_file() else 0
            facts.update(f"{entry.name}\0{size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return facts.hexdigest()

"""A delivery of flat files as a source of records: its rows by the recipes of databases, its other files as they lie.

The files are read once into an SQLite database of ours, in the folder of a run or in a temporary one, and that is read
as any database is. A file with another checksum than the description has is damage, and refuses the whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.errors import PackageFault, SourceGone
from noarkit.events import Listener, ignore_event
from noarkit.forms.addml import KIND
from noarkit.forms.addml.description import find_description, read_description
from noarkit.forms.addml.losses import losses_of, read_losses
from noarkit.forms.addml.model import Description
from noarkit.forms.addml.tables import FILE_KIND, Place, make_tables
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.keys import key_of
from noarkit.safe.spill import IDS_AT_HAND, KeySet
from noarkit.sources.database.documents import read_settings
from noarkit.sources.database.source import DatabaseSource
from noarkit.sources.database.table_copy import TableCopy, reopen_copy
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

_BASE = "base"
_LOCATOR = f"{FILE_KIND}:"
SKIPPED_TABLE = "a file of a table: its records are rows"
SKIPPED_TABLE_DAMAGED = "a file of a table, taken although its checksum is another"
SKIPPED_DAMAGED = "a file taken although its checksum is another"
SKIPPED_DOCUMENT = "a document of a row"
_FILE_RULE = """
# What lies beside the tables: the description itself, papers of the delivery.
[[map]]
for = "file"
type = "Basisregistrering"
[map.fields]
tittel = "= record.path"
dokumentetsDato = "= record.modified | default(none)"

[[map.parents]]
key = "= 'addml/files'"
type = "Mappe"
fields = { tittel = "= record.root" }
"""


def reopen(identity: SourceIdentity) -> AddmlSource:
    """The delivery that a plan was made from. Raises `SourceGone` where it is not there, or is another."""
    path = Path(identity.where)
    return AddmlSource(path, reopen_copy(AddmlTables(path.absolute()), identity))


@dataclass(frozen=True, slots=True)
class AddmlTables:
    """The delivery where it lies, and how its tables are copied."""

    path: Path
    kind: str = KIND

    @property
    def name(self) -> str:
        """What the copy is called."""
        return self.path.name or KIND

    def mark(self) -> str:
        """What changes where a file of the tables is replaced: sizes and times of them all. Raises `SourceGone`."""
        place, description = self._describe()
        digest = hashlib.blake2b(digest_size=16)
        for name in (None, *(place.name_of(file.path) for file in description.files)):
            path = place.description if name is None else place.root / name
            try:
                status = path.stat()
            except OSError:
                continue  # gone since it was found, which changes the digest as well
            line = f"{path.name} {status.st_size} {status.st_mtime_ns}\n"
            digest.update(line.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def read_terms(self, settings: Mapping[str, object]) -> dict[str, object]:
        """The terms as they stand."""
        return read_settings(settings).settings()

    def copy_terms(self, settings: Mapping[str, object]) -> Mapping[str, object]:
        """The terms for the copy: names of files begin in the delivery."""
        base = settings.get(_BASE)
        return {**settings, _BASE: str(self.path / (base if isinstance(base, str) else ""))}

    def write_copy(self, target: Path, emit: Listener) -> None:
        """The tables as SQLite, and what was lost of them beside it."""
        make_tables(*self._describe(), target, emit)

    def losses_of(self, copy: Path) -> Path:
        """What could not be read, beside the copy."""
        return losses_of(copy)

    def _describe(self) -> tuple[Place, Description]:
        path = find_description(self.path)
        if path is None:
            raise SourceGone(where=str(self.path), why="ENOENT")
        return Place(self.path, path), read_description(path)


class AddmlSource:
    """The tables of a delivery, on a recipe's terms, and the files beside them."""

    def __init__(self, path: Path, tables: TableCopy | None = None) -> None:
        self.path = path.absolute()
        self._tables = tables or TableCopy(AddmlTables(self.path))
        self._tree = FileTree(self.path, FilePolicy(registers=False))

    def __reduce__(self) -> tuple[object, ...]:
        return AddmlSource, (self.path, self._tables)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `"addml"`, the path, the terms, and what tells this delivery from another."""
        return self._tables.identity

    def fitted(self, settings: Mapping[str, object]) -> AddmlSource:
        """The same delivery on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        return AddmlSource(self.path, self._tables.fitted(settings))

    def despite_damage(self) -> AddmlSource:
        """The same delivery, taken as it is where the checksum of a file is another."""
        self._tables.despite = True
        return self

    def settle(self, folder: Path) -> None:
        """The copy is made in this folder, of a run, or moved there."""
        self._tables.settle(folder)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every row of every table once, tables that others refer to first, and then every file that is none of them.
        Records that are not as described are set aside with their line.

        Raises `SourceGone`, `PackageFault` where the description cannot be read or a file has another checksum.
        """
        database = self._tables.read(emit)
        copy = Path(database.address.file)
        of_tables = self._files_of_tables(copy)
        yield from _left_out(copy, of_tables)
        with KeySet(IDS_AT_HAND) as documents:
            for item in database.records(emit):
                if isinstance(item, SourceRecord) and item.contents:
                    self._note_documents(database, item, documents)
                yield item
            for item in self._tree.records(emit):
                yield self._file_item(item, of_tables, documents)

    def _files_of_tables(self, copy: Path) -> dict[str, str]:
        """Why each file of a table is no record, by its key. Raises `PackageFault` for another checksum."""
        reasons: dict[str, str] = {}
        for loss in read_losses(copy):
            if loss.outcome == "damage" and not self._tables.despite:
                raise PackageFault(
                    where=f"{self.path}/{loss.key}",
                    why="damaged-source",
                    despite="--despite-damage",
                    detail="ADDML checksum",
                )
            if loss.outcome == "file":
                reasons.setdefault(loss.key, SKIPPED_TABLE)
            elif loss.outcome == "damage" and loss.key in reasons:
                reasons[loss.key] = SKIPPED_TABLE_DAMAGED
        return reasons

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document by its locator. Raises `ItemVanished`, `ItemChanged`, `SourceGone`."""
        if content.locator.startswith(_LOCATOR):
            return self._tree.open(replace(content, locator=content.locator.removeprefix(_LOCATOR)))
        return self._tables.open(content)

    def default_recipe(self) -> str:
        """The proposal: tables differ too much for one recipe to fit them all."""
        return self.proposal(ignore_event)

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the tables, with a rule for the files beside them."""
        database = self._tables.read(emit)
        text = database.proposal(emit, lang=lang, here=self.path)
        text = text.replace('kind = "database"', f'kind = "{KIND}"', 1).replace(" (sqlite)", f" ({KIND})")
        return f"{text.rstrip()}\n{_FILE_RULE}"

    def profile(self, emit: Listener) -> Mapping[str, object]:
        """What a scan tells of tables, keys, relations and columns."""
        return self._tables.read(emit).profile(emit)

    def _note_documents(self, database: DatabaseSource, record: SourceRecord, documents: KeySet) -> None:
        """Remembers the files that a row names as its documents."""
        for column in database.settings.columns_of(record.kind):
            value = record.fields.get(column.column)
            if column.form == "file" and isinstance(value, str) and value:
                path = os.path.normpath(Path(database.settings.base, value.replace("\\", "/")))
                name = os.path.relpath(path, self.path)
                documents.add(key_of(os.fsencode(name)))

    def _file_item(self, item: SourceItem, of_tables: Mapping[str, str], documents: KeySet) -> SourceItem:
        if not isinstance(item, SourceRecord):
            return item
        if item.key in of_tables:
            return Skipped(item.key, of_tables[item.key])
        if item.contents and not documents.add(item.key):
            return Skipped(item.key, SKIPPED_DOCUMENT)
        contents = tuple(replace(content, locator=f"{_LOCATOR}{content.locator}") for content in item.contents)
        return replace(item, contents=contents)


def _left_out(copy: Path, of_tables: Mapping[str, str]) -> Iterator[SetAside | Skipped]:
    """What could not be read, each under a key of its own."""
    with KeySet(IDS_AT_HAND) as taken_keys:
        for loss in read_losses(copy):
            key = loss.key if loss.outcome != "damage" else f"{loss.key}#checksum"
            if loss.outcome == "file" or (loss.outcome == "damage" and loss.key in of_tables):
                continue
            number = 1
            unique = key
            while not taken_keys.add(unique):  # a file that the description names twice
                number += 1
                unique = f"{key}-{number}"
            if loss.outcome == "aside":
                yield SetAside(unique, loss.code, {**loss.data, "key": unique})
            else:
                yield Skipped(unique, loss.code or SKIPPED_DAMAGED)

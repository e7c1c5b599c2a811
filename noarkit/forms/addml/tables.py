"""The flat files of a delivery as a database of ours: a table for each record type, with its keys and relations.

A table whose primary key is missing, empty somewhere or held twice has the number of each record as its key.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.errors import ItemMalformed, ItemVanished, NoarkitError, PackageFault
from noarkit.events import Event, Listener
from noarkit.forms.addml import spec
from noarkit.forms.addml.description import entries_of
from noarkit.forms.addml.losses import Loss, LossWriter, losses_of
from noarkit.forms.addml.model import Description, FileDefinition, FlatFile, RecordType
from noarkit.forms.addml.read import BrokenRecord, FlatRecord, HeaderRecord, read_records, why_unreadable
from noarkit.forms.addml.values import Convert, KeptText, UnfitValue, declared_type, reader_of
from noarkit.safe.atomic import no_room, place_new, sync_folder, temporary_name
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_PACKAGE, Fixity, checked
from noarkit.safe.keys import key_of
from noarkit.safe.paths import checked_parts, open_inside

FILE_KIND = "file"
"""The kind of the records of other files; no table is called so."""
ROW_NUMBER = "row_number"
_MOST_COLUMNS = 1_900
_BATCH = 2_000
_HEADER = "a header line"
_KEPT = "values that are not of their type, kept as they stand"


@dataclass(frozen=True, slots=True)
class Place:
    """A delivery on disk: its folder, and the description in it."""

    root: Path
    description: Path

    def name_of(self, path: str) -> str | None:
        """Where below the root a file lies that the description names; None if it does not. Letters may differ in
        case, and a folder such as DATA may be left out."""
        base = self.description.parent
        try:
            parts = checked_parts(path)
        except NoarkitError:
            return None
        match = _entry_below(base, parts)
        if match is None:
            folders = [entry for entry in entries_of(base) if entry.is_dir() and not entry.is_symlink()]
            matches = [entry for folder in folders if (entry := _entry_below(folder, parts)) is not None]
            match = matches[0] if len(matches) == 1 else None
        return None if match is None else match.relative_to(self.root).as_posix()

    def key_of(self, name: str) -> str:
        """The key of a file in the tree."""
        return key_of(os.fsencode(name))


@dataclass(slots=True)
class Table:
    """A table on its way."""

    label: str
    record_type: RecordType
    columns: tuple[str, ...]
    readers: tuple[Convert, ...]
    is_keyed: bool
    rows: list[tuple[object, ...]] = field(default_factory=list)
    count: int = 0
    kept: set[str] = field(default_factory=set)


class _KeyBroken(Exception):
    """A primary key that does not hold."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.label)
        self.table = table


def make_tables(place: Place, description: Description, target: Path, emit: Listener) -> None:
    """Makes the database at `target`, whole or not at all, and what is to be told beside it."""
    part = target.parent / temporary_name()
    losses = part.with_name(f"{part.name}-losses")
    with no_room(target):
        try:
            with losses.open("w", encoding="utf-8") as told, closing(sqlite3.connect(part, isolation_level=None)) as db:
                for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32768"):
                    db.execute(f"PRAGMA {pragma}")
                _Filler(db, place, description, LossWriter(told), emit).fill()
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            losses.replace(losses_of(target))
            place_new(part, target)
            sync_folder(target.parent)
        finally:
            part.unlink(missing_ok=True)
            losses.unlink(missing_ok=True)


class _Filler:
    """Fills the database with one definition after the other."""

    def __init__(
        self, db: sqlite3.Connection, place: Place, description: Description, losses: LossWriter, emit: Listener
    ) -> None:
        self._db = db
        self._place = place
        self._description = description
        self._losses = losses
        self._emit = emit
        self._total = 0
        self._tables: dict[str, list[Table]] = {}

    def fill(self) -> None:
        """All tables, each with the rows of every file of its definition."""
        names = {FILE_KIND}
        for definition in self._description.definitions.values():
            if any(file.definition == definition.name for file in self._description.files):
                self._define(definition, names)
        for file in self._description.files:
            if file.definition not in self._description.definitions:
                self._aside(file.name, ItemMalformed.code, "addml-undefined")
        for name in self._tables:
            self._fill_definition(self._description.definitions[name])
        for file in self._description.files:
            if file.definition not in self._tables:
                self._check_file(file)

    def _define(self, definition: FileDefinition, names: set[str]) -> None:
        why = why_unreadable(definition)
        if not why and any(len(record.fields) > _MOST_COLUMNS for record in definition.record_types):
            why = "addml-too-wide"
        if why:
            self._aside(definition.name, ItemMalformed.code, why)
            return
        self._tables[definition.name] = [
            _table(definition, record, _distinct(_label(definition, record), names))
            for record in definition.record_types
        ]

    def _fill_definition(self, definition: FileDefinition) -> None:
        tables = self._tables[definition.name]
        mark = self._losses.mark()
        total = self._total
        while True:
            for table in tables:
                self._db.execute(f"DROP TABLE IF EXISTS {_quoted(table.label)}")
                self._db.execute(self._create_statement(table))
                table.count, table.rows, table.kept = 0, [], set()
            self._db.execute("BEGIN")
            try:
                for file in self._description.files:
                    if file.definition == definition.name:
                        self._fill_file(definition, tables, file)
                self._db.execute("COMMIT")
                break
            except _KeyBroken as broken:
                self._db.execute("COMMIT")  # what was taken goes with the table
                broken.table.is_keyed = False
                self._losses.take_back(mark)
                self._total = total
        for table in tables:
            for column in sorted(table.kept):
                self._losses.write(Loss("skip", f"{table.label}#{column}", _KEPT))

    def _fill_file(self, definition: FileDefinition, tables: list[Table], file: FlatFile) -> None:
        name = self._place.name_of(file.path)
        if name is None:
            self._aside(file.path, ItemVanished.code, "addml-not-there")
            return
        key = self._place.key_of(name)
        algorithm = spec.HASHES.get(file.algorithm, "") if file.checksum else ""
        if file.checksum and not algorithm:
            self._aside(f"{key}#checksum", ItemMalformed.code, "addml-unknown-checksum")
        with self._opened(name) as source:
            reader = checked(source, Fixity(algorithm, file.checksum, by=BY_PACKAGE))
            count = self._read_file(definition, tables, reader, key)
            reader.read_through()  # the checksum is of the whole file
        self._losses.write(Loss("file", key))
        if reader.differences():
            self._losses.write(Loss("damage", key))
        if file.record_count is not None and file.record_count != count:
            data = {"planned": file.record_count, "found": count}
            self._aside(f"{key}#records", ItemMalformed.code, "addml-record-count", data)

    @contextmanager
    def _opened(self, name: str) -> Iterator[Readable]:
        """A file of the delivery. Raises `PackageFault` where it cannot be read."""
        try:
            with open_inside(self._place.root, name) as source:
                yield source
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise  # it is the disk of the copy that is full
            raise PackageFault(where=str(self._place.root / name), why="unreadable", detail=str(error)) from error

    def _check_file(self, file: FlatFile) -> None:
        """Holds a file that is no table to its checksum."""
        name, algorithm = self._place.name_of(file.path), spec.HASHES.get(file.algorithm, "")
        if name is None:
            self._aside(file.path, ItemVanished.code, "addml-not-there")
        elif file.checksum and algorithm:
            with self._opened(name) as source:
                reader = checked(source, Fixity(algorithm, file.checksum, by=BY_PACKAGE)).read_through()
            if reader.differences():
                self._losses.write(Loss("damage", self._place.key_of(name)))

    def _read_file(self, definition: FileDefinition, tables: list[Table], source: Readable, key: str) -> int:
        """The records of one file; how many there were, broken ones too."""
        count = 0
        for item in read_records(source, definition):
            if isinstance(item, HeaderRecord):
                self._losses.write(Loss("skip", f"{key}#{item.line}", _HEADER))
                continue
            count += 1
            if isinstance(item, BrokenRecord):
                self._aside(f"{key}#{item.line}", ItemMalformed.code, item.why)
                continue
            table = tables[item.type_index]
            table.count += 1
            if (row := self._row(table, item, key)) is not None:
                table.rows.append(row)
                if len(table.rows) >= _BATCH:
                    self._insert(table)
        for table in tables:
            self._insert(table)
        return count

    def _row(self, table: Table, record: FlatRecord, key: str) -> tuple[object, ...] | None:
        values: list[object] = [] if table.is_keyed else [table.count]
        fields = table.record_type.fields
        kept: list[str] = []
        for column, described, read, text in zip(table.columns, fields, table.readers, record.values, strict=True):
            try:
                value = read(text)
            except UnfitValue:
                data = {"field": described.name}
                self._aside(f"{key}#{record.line}", ItemMalformed.code, "addml-unfit", data)
                return None
            if isinstance(value, KeptText):
                kept.append(column)
                value = str(value)
            values.append(value)
        table.kept.update(kept)
        return tuple(values)

    def _insert(self, table: Table) -> None:
        if not table.rows:
            return
        width = len(table.columns) + (0 if table.is_keyed else 1)
        statement = f"INSERT INTO {_quoted(table.label)} VALUES ({', '.join('?' * width)})"  # noqa: S608  # quoted
        try:
            self._db.executemany(statement, table.rows)
        except sqlite3.IntegrityError as error:
            raise _KeyBroken(table) from error
        self._total += len(table.rows)
        table.rows.clear()
        self._emit(Event("source_read", {"items": self._total}))

    def _create_statement(self, table: Table) -> str:
        columns = dict(zip((part.name for part in table.record_type.fields), table.columns, strict=True))
        key = [columns[name] for name in table.record_type.primary_key if name in columns] if table.is_keyed else []
        lines = [
            f"{_quoted(column)} {declared_type(part.type)}{' NOT NULL' if column in key else ''}"
            for column, part in zip(table.columns, table.record_type.fields, strict=True)
        ]
        if not key:
            key = [_row_number(table)]
            lines.insert(0, f"{_quoted(key[0])} BIGINT NOT NULL")
        lines.append(f"PRIMARY KEY ({', '.join(map(_quoted, key))})")
        lines += self._relations(table, columns)
        inner = ",\n  ".join(lines)
        return f"CREATE TABLE {_quoted(table.label)} (\n  {inner}\n)"

    def _relations(self, table: Table, columns: Mapping[str, str]) -> Iterator[str]:
        """Foreign keys, where what they refer to is there."""
        for foreign in table.record_type.foreign_keys:
            targets = self._tables.get(foreign.file_definition, [])
            target = next((one for one in targets if foreign.record_type in ("", one.record_type.name)), None)
            if target is None or not all(name in columns for name in foreign.columns):
                continue
            named = dict(zip((part.name for part in target.record_type.fields), target.columns, strict=True))
            referred = foreign.references or target.record_type.primary_key
            if len(referred) == len(foreign.columns) and referred and all(name in named for name in referred):
                ours = ", ".join(_quoted(columns[name]) for name in foreign.columns)
                theirs = ", ".join(_quoted(named[name]) for name in referred)
                yield f"FOREIGN KEY ({ours}) REFERENCES {_quoted(target.label)} ({theirs})"

    def _aside(self, key: str, code: str, why: str, data: Mapping[str, object] | None = None) -> None:
        self._losses.write(Loss("aside", key, code, {"key": key, "what": key, "why": why, **(data or {})}))


def _table(definition: FileDefinition, record: RecordType, label: str) -> Table:
    used: set[str] = set()
    fixed = definition.layout is not None and not definition.layout.delimiter
    columns = tuple(_distinct(part.name or f"c{at}", used) for at, part in enumerate(record.fields, start=1))
    names = {part.name for part in record.fields}
    is_keyed = bool(record.primary_key) and all(name in names for name in record.primary_key)
    return Table(label, record, columns, tuple(reader_of(part.type, fixed=fixed) for part in record.fields), is_keyed)


def _label(definition: FileDefinition, record: RecordType) -> str:
    name = definition.name if len(definition.record_types) == 1 else f"{definition.name}.{record.name}"
    return f"_{name}" if name.lower().startswith("sqlite_") else name or "table"


def _distinct(name: str, used: set[str]) -> str:
    """A name that SQLite can tell from those that are used: `"a"` and `"A"` are one to it."""
    name = name.replace("\0", "\ufffd")
    while name.lower() in used:
        name += "_"
    used.add(name.lower())
    return name


def _row_number(table: Table) -> str:
    return _distinct(ROW_NUMBER, {column.lower() for column in table.columns})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _entry_below(folder: Path, parts: Sequence[str]) -> Path | None:
    """The file at a path, whose letters may differ in case where only one such is there."""
    exact = folder.joinpath(*parts)
    if exact.is_file():
        return exact
    at = folder
    for part in parts:
        if not at.is_dir():
            return None
        matches = [entry for entry in entries_of(at) if entry.name.lower() == part.lower()]
        if len(matches) != 1:
            return None
        at = matches[0]
    return at if at.is_file() else None

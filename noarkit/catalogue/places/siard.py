"""A SIARD archive as a place: its schemas, their tables with columns and keys, and every row with its large values.

A row is called by its primary key, so that foreign keys are links to rows without a look-up; only keys of other columns
are learnt beforehand, into a table on disk. Rows are read as they stream by, however many there are.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from noarkit.catalogue.places.descriptions import fault_item
from noarkit.catalogue.places.siard_keys import ReferencedKeys, key_text, row_ref, table_ref
from noarkit.catalogue.port import Document, Item, Json, PlaceIdentity
from noarkit.errors import (
    HostileInput,
    ItemUnreadable,
    ItemVanished,
    NoarkitError,
    PackageFault,
    SourceGone,
    UnsafePath,
)
from noarkit.events import Listener
from noarkit.forms.container.digests import stamp_of
from noarkit.forms.siard.model import Archive, Column, ForeignKey, Schema, Table
from noarkit.forms.siard.read.archive import LargeLocation, Siard, open_siard
from noarkit.forms.siard.read.rows import Large, Nested, Raw, RawRow
from noarkit.records import ContentStream
from noarkit.safe.digest import Readable

DATABASE = "database"
_OUTSIDE, _INSIDE, _CELL = "beside", "inside", "cell"
_BINARY = re.compile(r"(?:LONG\s?)?(?:BLOB|BINARY|VARBINARY|BYTEA)", re.IGNORECASE)
_TITLE_PARTS = 3
_LONGEST_PART = 100
_DATES = ("DATE", "TIMESTAMP")


class SiardPlace:
    """The archive at `path`, a file or the folder that holds what one would."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._open_archive: Siard | None = None

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `package`. Size and time of the file, or of its metadata, tell when it has changed."""
        return PlaceIdentity("package", self.path.name, str(self.path), _fingerprint(self.path))

    def items(self, emit: Listener) -> Iterator[Item]:
        """The database, its schemas, tables and rows. A table that breaks off shows what stands before, and its fault.

        Raises `SourceGone`, and what `safe` refuses.
        """
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        try:
            siard = self._siard()
        except HostileInput:
            raise
        except PackageFault as fault:
            yield fault_item(self.path.name, fault)
            return
        yield _database_item(siard.archive, self.path.name)
        with closing(ReferencedKeys()) as keys:
            keys.learn(siard)
            for schema in siard.archive.schemas:
                yield from self._schema(siard, schema, keys)

    def _schema(self, siard: Siard, schema: Schema, keys: ReferencedKeys) -> Iterator[Item]:
        ref = table_ref(schema.name)
        yield Item(
            *(ref, DATABASE, "schema", schema.name), fields=_plain(asdict(schema), ("tables", "views", "routines"))
        )
        for table in schema.tables:
            yield _table_item(schema, table)
            try:
                yield from _rows(siard, schema, table, keys)
            except HostileInput:
                raise
            except NoarkitError as fault:
                yield fault_item(table_ref(schema.name, table.name), fault, table_ref(schema.name, table.name))
        for number, view in enumerate(schema.views, 1):
            yield Item(f"{ref}/view:{number}", ref, "view", view.name, fields=_plain(asdict(view)))
        for number, routine in enumerate(schema.routines, 1):
            yield Item(f"{ref}/routine:{number}", ref, "routine", routine.name, fields=_plain(asdict(routine)))

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """Opens a large value. Raises `ItemVanished`, `ItemUnreadable`."""
        where, _, name = locator.partition(":")
        if where == _CELL:
            yield _LargeStream(io.BytesIO(bytes.fromhex(name)), self.path)
            return
        if where not in (_OUTSIDE, _INSIDE):
            raise ItemVanished(key=locator)
        try:
            opening: AbstractContextManager[Readable] = self._siard().open(LargeLocation(name, where == _OUTSIDE, 0))
            with opening as content:
                yield _LargeStream(content, self.path)
        except (PackageFault, HostileInput, OSError) as fault:
            raise ItemUnreadable(key=name, why=type(fault).__name__) from fault

    def close(self) -> None:
        """Lets the archive go."""
        if self._open_archive is not None:
            self._open_archive.close()
            self._open_archive = None

    def _siard(self) -> Siard:
        if self._open_archive is None:
            self._open_archive = open_siard(self.path)
        return self._open_archive


class _LargeStream:
    """The bytes of a large value."""

    def __init__(self, content: Readable, path: Path) -> None:
        self._content = content
        self._path = path
        self._stamp = _fingerprint(path)

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        return self._content.read(size)

    def still_the_same(self) -> bool:
        """True where nobody wrote to the archive meanwhile."""
        return _fingerprint(self._path) == self._stamp


def _fingerprint(path: Path) -> str:
    try:
        if path.is_dir():
            return " ".join(stamp_of(entry.stat()) for entry in sorted((path / "header").glob("*")))
        return stamp_of(path.stat())
    except OSError:
        return ""


def _database_item(archive: Archive, name: str) -> Item:
    fields = _plain(asdict(archive), ("schemas",))
    return Item(DATABASE, None, DATABASE, archive.dbname or name, day=archive.archival_date[:10], fields=fields)


def _table_item(schema: Schema, table: Table) -> Item:
    links = [
        (key.name, table_ref(key.referenced_schema or schema.name, key.referenced_table)) for key in table.foreign_keys
    ]
    return Item(
        *(table_ref(schema.name, table.name), table_ref(schema.name), "table", table.name),
        fields=_plain(asdict(table)),
        links=tuple(dict.fromkeys(links)),
    )


def _plain(values: Mapping[str, object], leave_out: Sequence[str] = ()) -> dict[str, Json]:
    """What is said, without what is not."""
    fields: dict[str, Json] = {}
    for name, value in values.items():
        if name not in leave_out and value not in (None, "", (), []):
            fields[name] = _json(value)
    return fields


def _json(value: object) -> Json:
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, (list, tuple)):
        return [_json(entry) for entry in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@dataclass(frozen=True, slots=True)
class _TableReader:
    """A table whose rows are read, and where its columns are."""

    siard: Siard
    schema: Schema
    table: Table
    names: tuple[str, ...]
    key: tuple[int, ...]
    foreign: tuple[tuple[ForeignKey, tuple[int, ...]], ...]
    dates: tuple[int, ...]
    plain: tuple[int, ...]


def _reader(siard: Siard, schema: Schema, table: Table) -> _TableReader:
    names = tuple(column.name for column in table.columns)
    places = {name: number for number, name in enumerate(names)}
    key = tuple(places[name] for name in (table.primary_key.columns if table.primary_key else ()) if name in places)
    foreign = tuple(
        (entry, tuple(places[pair.column] for pair in entry.references))
        for entry in table.foreign_keys
        if entry.references and all(pair.column in places for pair in entry.references)
    )
    in_keys = {*key, *(place for _, columns in foreign for place in columns)}
    dates = tuple(number for number, column in enumerate(table.columns) if column.type.upper().startswith(_DATES))
    plain = tuple(number for number in range(len(names)) if number not in in_keys and number not in dates)
    return _TableReader(siard, schema, table, names, key, foreign, dates, plain)


def _rows(siard: Siard, schema: Schema, table: Table, keys: ReferencedKeys) -> Iterator[Item]:
    reader = _reader(siard, schema, table)
    number = 0
    for batch in siard.rows(schema, table, stray=lambda _: None):
        for row in batch:
            number += 1
            yield _row_item(reader, row, number, keys)


def _row_item(reader: _TableReader, row: RawRow, number: int, keys: ReferencedKeys) -> Item:
    ident = key_text([row[place] for place in reader.key]) if reader.key else None
    above = table_ref(reader.schema.name, reader.table.name)
    ref = row_ref(above, ident, number)
    documents: list[Document] = []
    faults: list[str] = []
    for place, value in enumerate(row):
        if isinstance(value, Large):
            column = reader.table.columns[place]
            documents.append(_document(reader, ref, (place, column), value, faults))
        else:
            documents += _documents_in_cell(ref, reader.table.columns[place], value)
    links: list[tuple[str, str]] = []
    for foreign_key, places in reader.foreign:
        target = keys.target(reader.schema, foreign_key, [row[place] for place in places])
        if target is not None:
            links.append((foreign_key.name, target))
    return Item(
        *(ref, above, "row", _title(reader, row) or ident or str(number), ident or "", _day(reader, row)),
        fault=next(iter(faults), ""),
        fields={name: _cell(value) for name, value in zip(reader.names, row, strict=True)},
        links=tuple(links),
        documents=tuple(documents),
    )


def _title(reader: _TableReader, row: RawRow) -> str:
    """The first short texts that are neither keys nor dates."""
    parts: list[str] = []
    for place in reader.plain:
        value = row[place]
        if isinstance(value, str) and value.strip() and len(value) <= _LONGEST_PART:
            parts.append(value.strip())
            if len(parts) == _TITLE_PARTS:
                break
    return " · ".join(parts)


def _day(reader: _TableReader, row: RawRow) -> str:
    return next((value[:10] for place in reader.dates if isinstance(value := row[place], str) and value), "")


def _cell(value: Raw) -> Json:
    if isinstance(value, Large):
        return value.file
    if isinstance(value, Nested):
        return {tag: _cell(part) for tag, part in value.parts.items()}
    return value


def _documents_in_cell(ref: str, column: Column, value: Raw) -> Iterator[Document]:
    """A small binary value that stands in its cell, as a document; and the large values within a structured one, which
    cannot be opened here."""
    if isinstance(value, Nested):
        for tag, part in value.parts.items():
            if isinstance(part, Large):
                yield Document(ref=f"{ref}#{column.name}.{tag}", title=column.name, size_bytes=part.length)
            elif isinstance(part, Nested):
                yield from _documents_in_cell(f"{ref}#{column.name}.{tag}", column, part)
    elif isinstance(value, str) and value and _BINARY.match(column.type) and (content := _bytes_of(value)) is not None:
        yield Document(
            ref=f"{ref}#{column.name}",
            title=column.name,
            media_type=column.mime_type,
            size_bytes=len(content),
            sha256=sha256(content).hexdigest(),
            locator=f"{_CELL}:{value}",
        )


def _bytes_of(value: str) -> bytes | None:
    try:
        return bytes.fromhex(value)
    except ValueError:
        return None


def _document(reader: _TableReader, ref: str, cell: tuple[int, Column], large: Large, faults: list[str]) -> Document:
    place, column = cell
    location: LargeLocation | None = None
    try:
        location = reader.siard.find(reader.schema, reader.table, column, place + 1, large)
        if location is None:
            faults.append(ItemVanished.code)
    except UnsafePath as fault:
        faults.append(fault.code)
    is_sha256 = large.digest_type.upper().replace("-", "") == "SHA256"
    locator = None
    if location is not None:
        locator = f"{_OUTSIDE if location.outside else _INSIDE}:{location.name}"
    return Document(
        ref=f"{ref}#{column.name}",
        title=column.name,
        name=large.file.replace("\\", "/").rpartition("/")[2],
        media_type=column.mime_type,
        size_bytes=location.size_bytes if location is not None else large.length,
        sha256=large.digest.lower() if is_sha256 else "",
        locator=locator,
        fields=_plain(
            {"file": large.file, "length": large.length, "digestType": large.digest_type, "digest": large.digest}
        ),
    )

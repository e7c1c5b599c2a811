"""Writes a database as a SIARD archive: one pass over each table, rows in batches, the header last.

    made = write_siard(source, Path("records.siard"), SiardOrder(version="2.2"))

The archive appears whole or not at all. A killed build of a source that is the same as before (`stamp`) goes on after
the last table that was finished; one whose state nobody can prove the same (a database that lives) starts over.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable
from urllib.parse import quote

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.container.packager import MadePackage, OnWhole
from noarkit.forms.container.progress import Progress
from noarkit.forms.siard.cells import Cell, UserTypes, cells_of, user_types
from noarkit.forms.siard.copied import CopiedRows
from noarkit.forms.siard.model import Archive, MessageDigest, Schema, Table
from noarkit.forms.siard.schemas import metadata_schema, table_schema
from noarkit.forms.siard.spec import (
    METADATA,
    METADATA_SCHEMA,
    WRITTEN,
    XSI,
    Version,
    table_base,
    table_namespace,
    version_mark,
)
from noarkit.forms.siard.write.copied_rows import CopyWriter
from noarkit.forms.siard.write.fitting import fit_to_version
from noarkit.forms.siard.write.large_values import InsideStore, LargeCells, OutsideStore, column_folder
from noarkit.forms.siard.write.metadata import metadata_xml
from noarkit.forms.siard.write.rows import RowWriter
from noarkit.forms.siard.write.zipped import Part, ZipWriter
from noarkit.safe.atomic import no_room, place_new, sync_folder, sync_tree

_FIRST_BATCH = 64
_FEW = 32
_MOST_IN_A_BATCH = 2_000
_AIM = 512 * 1024
_TELL_EVERY = 100_000
_MOST_HELD = 4 * 1024 * 1024


class SiardSource(Protocol):
    """A database at one moment."""

    @property
    def archive(self) -> Archive:
        """What it is: schemas, tables, keys; folders and row counts are the writer's."""
        ...

    @property
    def stamp(self) -> str:
        """What is the same in another process exactly where all rows are the same, in the same order; empty if
        nobody can tell: then a killed build starts over."""
        ...

    def rows(self, schema: Schema, table: Table) -> Iterator[Sequence[object]]:
        """The rows of a table, a value for each column: None, text, number, bytes, date, time, a `Lob`, a list for an
        array or a structure. A text in a column of another kind is taken as XML's own form of it."""
        ...


@runtime_checkable
class CopySource(Protocol):
    """A source that can give some tables as PostgreSQL's COPY writes them, which is quicker."""

    def copied(self, schema: Schema, table: Table) -> Iterator[CopiedRows] | None:
        """Some rows at a time. None for a table that must be read by rows."""
        ...


@dataclass(frozen=True, slots=True)
class SiardOrder:
    """How an archive shall be made. Values longer than `most_inline` (bytes or signs) of large columns go into files,
    inside the ZIP or beside it. `level` packs: 0 not at all, 9 most."""

    version: Version = "2.2"
    lobs: Literal["inside", "outside"] = "inside"
    most_inline: int = 4_000
    level: int = 1


@dataclass(frozen=True, slots=True)
class _TableFacts:
    """What a table became: facts for the metadata."""

    rows: int
    nulls: tuple[int, ...]
    longest: dict[int, int]
    files: int


def lob_folder_of(target: Path) -> Path:
    """Where large values stand that are kept outside."""
    return target.with_name(f"{target.name.removesuffix('.siard')}_lobs")


def write_siard(
    source: SiardSource,
    target: Path,
    order: SiardOrder,
    *,
    before_named: OnWhole | None = None,
    emit: Listener = ignore_event,
) -> MadePackage:
    """Makes the archive at `target`, which must not be there. `before_named` is told of it before it gets its name.

    Raises `UsageFault`, `RunLocked` where another process makes the same, `PackageFault` for a value that no cell can
    hold, and whatever the source raises.
    """
    if order.version not in WRITTEN:
        raise UsageFault(what="siard-version", where=str(order.version))
    stamp = source.stamp
    job = f"siard 1 {order} {stamp or secrets.token_hex(8)}"
    with no_room(target):
        for place in (target, lob_folder_of(target)):
            if os.path.lexists(place) and (place == target or order.lobs == "outside"):
                raise UsageFault(what="exists", where=str(place))
        progress = Progress(target, job)
        if order.lobs == "outside" and not progress.same_boot:
            progress.clear()  # files beside may be lost where the machine went down
            progress = Progress(target, job)
        is_complete = False
        try:
            with closing(_Build(source, target, order, progress, emit)) as build:
                package = build.run(before_named)
            is_complete = True
        finally:
            if is_complete or not stamp:
                progress.clear()
            else:
                progress.close()
    return package


class _Build:
    """One archive on its way."""

    def __init__(
        self, source: SiardSource, target: Path, order: SiardOrder, progress: Progress, emit: Listener
    ) -> None:
        self._source = source
        self._target = target
        self._order = order
        self._progress = progress
        self._emit = emit
        self._path = progress.folder / "package"
        lengths = json.loads(progress.get("lengths") or "[0, 0, 0]")
        self._resumed = lengths[0] > 0
        self._stack = ExitStack()
        self._zipped = ZipWriter(self._path, progress.folder / "directory", tuple(lengths))
        self._stack.callback(self._zipped.close)
        self._lobs = progress.folder / "lobs"
        self._where: InsideStore | OutsideStore = InsideStore(self._zipped, progress.folder, order.level)
        if order.lobs == "outside":
            self._where = OutsideStore(self._lobs)
            self._stack.callback(self._where.close)

    def close(self) -> None:
        """Lets the files go."""
        self._stack.close()

    def run(self, before_named: OnWhole | None) -> MadePackage:
        """Every table, then the header, then the name."""
        archive = _with_folders(self._source.archive, self._order)
        types = user_types(archive)
        self._emit(Event("package_begun", {"resumed": self._resumed, "files": self._zipped.count}))
        finished = {
            (schema.folder, table.folder): self._table(schema, table, types) for schema, table in archive.tables()
        }
        archive = _with_table_facts(archive, finished, self._order, self._target)
        if self._order.lobs == "outside":
            sync_tree(self._lobs)
        self._header(archive)
        self._zipped.finish()
        package = MadePackage(self._target, self._zipped.count, self._zipped.at, self._resumed)
        self.close()
        if before_named is not None:
            before_named(package)
        self._place()
        self._emit(Event("package_made", {"files": package.files, "bytes": package.size_bytes}))
        return package

    def _table(self, schema: Schema, table: Table, types: UserTypes) -> _TableFacts:
        key = f"table {schema.folder}/{table.folder}"
        stored_fact = self._progress.get(key)
        if stored_fact is not None:
            rows, nulls, longest, files = json.loads(stored_fact)
            return _TableFacts(rows, tuple(nulls), {int(number): most for number, most in longest.items()}, files)
        before = self._zipped.at
        cells = cells_of(table, schema.name, types)
        finished = self._write_table(schema, table, cells)
        folders = (schema.folder, table.folder)
        fact = json.dumps([finished.rows, finished.nulls, finished.longest, finished.files])
        xsd = table_schema(folders, _cells_with_facts(cells, finished))
        self._zipped.add(f"{table_base(*folders)}.xsd", xsd, self._order.level)
        if self._source.stamp:  # only what may be gone on with is worth its time on disk
            # at once: a table that counts as written while the archive is cut off before it would be missing from it
            self._progress.put_facts({key: fact, "lengths": json.dumps(self._zipped.lengths())})
        size = self._zipped.at - before
        self._emit(Event("package_files", {"files": 2 + finished.files, "bytes": size}))
        return finished

    def _write_table(self, schema: Schema, table: Table, cells: tuple[Cell, ...]) -> _TableFacts:
        folders = (schema.folder, table.folder)
        larges = LargeCells(self._where, folders, self._order.most_inline)
        names = [column.name for column in table.columns]
        writer = RowWriter(f"{schema.name}.{table.name}", names, cells, larges, self._order.most_inline)
        part = Part(self._progress.folder, self._order.level)
        with closing(part):
            namespace = table_namespace(*folders)
            location = f'xsi:schemaLocation="{namespace} {table.folder}.xsd"'
            head = f'<?xml version="1.0" encoding="utf-8"?>\n<table xmlns="{namespace}" xmlns:xsi="{XSI}" {location}>\n'
            part.write(head.encode())
            source = self._source
            copied = source.copied(schema, table) if isinstance(source, CopySource) else None
            if copied is not None:
                count = self._write_copied(copied, CopyWriter(writer, cells, self._order.most_inline), part)
            else:
                bulky = [number for number, cell in enumerate(cells) if cell.large]
                count = self._write_rows(_Batches(source.rows(schema, table), bulky), writer, part)
            part.write(b"</table>\n")
            part.finish()
            self._zipped.add_part(f"{table_base(*folders)}.xml", part)
        return _TableFacts(count, tuple(sorted(writer.nulls)), writer.longest, larges.files)

    def _write_rows(self, batches: _Batches, writer: RowWriter, part: Part) -> int:
        """Batches are as long as keeps their XML near half a megabyte."""
        count, last_emitted, size = 0, 0, _FIRST_BATCH
        while batch := batches.take(size):
            text = writer.text(batch)
            part.write(text.encode())
            count += len(batch)
            size = max(1, min(_MOST_IN_A_BATCH, len(batch) * 2, _AIM * len(batch) // len(text)))
            if count - last_emitted >= _TELL_EVERY:
                last_emitted = count
                self._emit(Event("source_read", {"items": count}))
        return count

    def _write_copied(self, batches: Iterator[CopiedRows], writer: CopyWriter, part: Part) -> int:
        count = last_emitted = 0
        for rows in batches:
            part.write(writer.text(rows).encode())
            count += rows.count
            if count - last_emitted >= _TELL_EVERY:
                last_emitted = count
                self._emit(Event("source_read", {"items": count}))
        return count

    def _header(self, archive: Archive) -> None:
        digest = MessageDigest("SHA-256", self._zipped.digest())
        self._zipped.folder("header/")
        self._zipped.folder("header/siardversion/")
        self._zipped.folder(version_mark(archive.version))
        self._zipped.add(METADATA_SCHEMA, metadata_schema(archive.version), self._order.level)
        self._zipped.add(METADATA, metadata_xml(replace(archive, digests=(digest,))), self._order.level)

    def _place(self) -> None:
        """The last step: until here nothing bears the target's name. What stands beside comes first."""
        folder = lob_folder_of(self._target)
        if self._order.lobs == "outside":
            try:
                self._lobs.rename(folder)
            except OSError as error:
                raise PackageFault(where=str(folder), why="not-placed", detail=error.strerror) from error
        try:
            place_new(self._path, self._target)
        except UsageFault:
            if self._order.lobs == "outside":
                shutil.rmtree(folder, ignore_errors=True)  # ours, and of an archive that is not
            raise
        sync_folder(self._target.parent)


class _Batches:
    """Rows some at a time: as many as are wanted, or fewer where their large values would fill the memory."""

    def __init__(self, rows: Iterator[Sequence[object]], bulky: Sequence[int]) -> None:
        self._rows = rows
        self._bulky = bulky

    def take(self, size: int) -> list[Sequence[object]]:
        """The next ones; none at the end."""
        if not self._bulky:
            return list(islice(self._rows, size))
        batch: list[Sequence[object]] = []
        size_bytes = 0
        while len(batch) < size and size_bytes < _MOST_HELD and (rows := list(islice(self._rows, min(size, _FEW)))):
            batch += rows
            size_bytes += sum(self._size(at, rows) for at in self._bulky)
        return batch

    def _size(self, at: int, rows: Sequence[Sequence[object]]) -> int:
        """How much the values of a column are; one that is a stream is nothing yet."""
        values = map(itemgetter(at), rows)
        try:
            return sum(map(len, filter(None, values)))
        except TypeError:
            column_values = (row[at] for row in rows)
            return sum(len(value) for value in column_values if isinstance(value, (bytes, str)))


def _with_folders(archive: Archive, order: SiardOrder) -> Archive:
    """With folders, and types as the version has them."""
    schemas = tuple(
        replace(
            fit_to_version(schema, order.version),
            folder=f"schema{number}",
            tables=tuple(
                replace(fit_to_version(table, order.version), folder=f"table{index}")
                for index, table in enumerate(schema.tables)
            ),
        )
        for number, schema in enumerate(archive.schemas)
    )
    today = datetime.now(UTC).date().isoformat()
    return replace(archive, version=order.version, schemas=schemas, archival_date=archive.archival_date or today)


def _with_table_facts(
    archive: Archive, finished: dict[tuple[str, str], _TableFacts], order: SiardOrder, target: Path
) -> Archive:
    """With what only the rows could tell."""
    outside = order.lobs == "outside"
    types = user_types(archive)
    schemas = tuple(
        replace(
            schema,
            tables=tuple(
                _with_facts(schema, table, finished[schema.folder, table.folder], types, outside=outside)
                for table in schema.tables
            ),
        )
        for schema in archive.schemas
    )
    folder = f"../{quote(lob_folder_of(target).name)}/" if outside else ""
    return replace(archive, schemas=schemas, lob_folder=folder)


def _with_facts(schema: Schema, table: Table, facts: _TableFacts, types: UserTypes, *, outside: bool) -> Table:
    cells = cells_of(table, schema.name, types)
    columns = []
    for number, (column, cell) in enumerate(zip(table.columns, cells, strict=True)):
        new_column = column
        if number in facts.nulls and column.nullable is False:
            new_column = replace(new_column, nullable=True)
        if cell.shape == "array":
            new_column = replace(new_column, cardinality=max(column.cardinality or 0, facts.longest.get(number, 0)))
        if outside and cell.large:
            new_column = replace(new_column, lob_folder=column_folder((schema.folder, table.folder), number))
        columns.append(new_column)
    return replace(table, columns=tuple(columns), rows=facts.rows)


def _cells_with_facts(cells: Sequence[Cell], facts: _TableFacts) -> tuple[Cell, ...]:
    return tuple(
        replace(
            cell,
            nullable=cell.nullable or number in facts.nulls,
            cardinality=None if cell.shape != "array" else max(cell.cardinality or 0, facts.longest.get(number, 0)),
        )
        for number, cell in enumerate(cells)
    )

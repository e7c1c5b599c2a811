"""A SIARD archive as a SQLite database: every table, key, row and large value, readable with any SQLite tool.

Values keep what they are: NULL and the empty text differ, decimals that a double cannot hold stay texts, dates and
times stand in ISO form (`2024-01-02 03:04:05`), arrays and structures as JSON, views and routines in tables `siard_*`.
Of a table with more columns than SQLite has (about 2,000), the last are in one, `"siard_more"`, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.container.packager import MadePackage, OnWhole
from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.model import Archive, Schema, Table
from noarkit.forms.siard.read.archive import Siard, open_siard
from noarkit.forms.siard.read.gaps import Gap, GapListener, GapReporter, ignore_gap
from noarkit.forms.siard.read.places import ZipPlace
from noarkit.forms.siard.read.proof import same_digest, wrong_digests
from noarkit.forms.siard.read.rows import Large, Nested, Raw, RawRow, Stray
from noarkit.forms.siard.spec import HASHES
from noarkit.forms.siard.sqlite.tables import (
    MOST_COLUMNS,
    column_names,
    create_statement,
    fill_siard_tables,
    is_decimal,
    is_sqlite,
    quoted,
)
from noarkit.forms.siard.sqlite.tables import Shape as TableShape
from noarkit.forms.siard.types import TEXTUAL, CellKind
from noarkit.safe.atomic import no_room, place_new, sync_folder, temporary_name
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.unpack import LIMITS, UnpackLimits

_MOST_BYTES = 1_000_000_000
_INT64 = 2**63
_GAPS = 1_000
"""So many elements for each that is there may be NULL."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """One table on its way: what it is called there, and how each column is read."""

    schema: Schema
    table: Table
    name: str
    cells: tuple[Cell, ...]
    convert: tuple[Callable[[str], object], ...]
    gaps: GapReporter


@dataclass(frozen=True, slots=True)
class SqliteOrder:
    """How the database shall be. `gaps` hears of each place where something is not there, or not as the archive says.

    With `bare` there are the tables of the archive and no others, every decimal is the text it was (`12.50`), and a
    value whose digest is wrong is left out.
    """

    limits: UnpackLimits = LIMITS
    bare: bool = False
    gaps: GapListener = ignore_gap


def sqlite_of(
    path: Path,
    target: Path,
    order: SqliteOrder | None = None,
    *,
    before_named: OnWhole | None = None,
    emit: Listener = ignore_event,
) -> MadePackage:
    """Makes the database at `target`, whole or not at all; `before_named` is told of it before it gets its name.
    Raises `UsageFault` where something is there.

    What can be read is read: a table whose XML is broken has no rows, a large value that is not there is NULL in its
    row, a type that nobody knows is read as its name suggests, a key that does not hold is left out; each is told to
    the order's `gaps`.
    """
    order = order or SqliteOrder()
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    part = target.parent / temporary_name()
    with open_siard(path, order.limits) as siard, no_room(target):
        try:
            with closing(sqlite3.connect(part, isolation_level=None)) as db:
                rows = _fill(db, siard, order, emit)
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            package = MadePackage(target, rows, part.stat().st_size, False)
            if before_named is not None:
                before_named(package)
            place_new(part, target)
            sync_folder(target.parent)
        finally:
            part.unlink(missing_ok=True)
            part.with_name(part.name + "-journal").unlink(missing_ok=True)
    emit(Event("package_made", {"files": 1, "bytes": package.size_bytes}))
    return package


def names_of(archive: Archive) -> dict[tuple[str, str], str]:
    """What each table (by its folders) is called where there are no schemas: `table`, and `schema.table` outside the
    schema that needs no naming (`public`, else the first). SQLite does not tell `A` from `a`: a twin gets a stroke."""
    usual = next((candidate.name for candidate in archive.schemas if candidate.name == "public"), None)
    if usual is None and archive.schemas:
        usual = archive.schemas[0].name
    names: dict[tuple[str, str], str] = {}
    used_names: set[str] = set()
    for schema, table in archive.tables():
        plain = schema.name == usual and table.name and not table.name.lower().startswith(("sqlite_", "siard_"))
        name = table.name if plain else f"{schema.name}.{table.name}"
        while name.lower() in used_names:
            name += "_"
        used_names.add(name.lower())
        names[schema.folder, table.folder] = name
    return names


def _fill(db: sqlite3.Connection, siard: Siard, order: SqliteOrder, emit: Listener) -> int:
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32768"):
        db.execute(f"PRAGMA {pragma}")
    names = names_of(siard.archive)
    if isinstance(siard.place, ZipPlace):
        for digest, _ in wrong_digests(siard.path, siard.place, siard.archive.digests):
            order.gaps(Gap(siard.archive.dbname, 0, "", digest.algorithm, "message-digest"))
    own = is_sqlite(siard.archive) and not order.bare
    total = 0
    for schema, table in siard.archive.tables():
        name = names[schema.folder, table.folder]
        gaps = GapReporter(name, order.gaps, withholds=order.bare)
        cells = siard.cells(schema, table, _unknown(gaps))
        convert = tuple(_double if own and is_decimal(cell) else converter(cell) for cell in cells)
        shape = _Shape(schema, table, name, cells, convert, gaps)
        total += _fill_whole(db, siard, shape, (names, order.bare), emit)
    if not order.bare:
        fill_siard_tables(db, siard.archive, names)
    return total


def _unknown(gaps: GapReporter) -> Callable[[str, str], None]:
    return lambda where, name: gaps("unknown-sql-type", where.rpartition(".")[2], name, row=0)


def _fill_whole(
    db: sqlite3.Connection,
    siard: Siard,
    shape: _Shape,
    names_and_bare: tuple[dict[tuple[str, str], str], bool],
    emit: Listener,
) -> int:
    """A table and its rows; none, and told, where its XML cannot be read to its end."""
    names, bare = names_and_bare
    create = _create(shape, names, siard.archive, exact=bare)
    db.execute(create)
    try:
        return _fill_readable(db, siard, shape, names_and_bare, emit)
    except PackageFault as fault:
        if fault.data.get("why") == "not-in-sqlite":
            raise
        if db.in_transaction:
            db.execute("COMMIT")  # what was taken goes with the table
        db.execute(f"DROP TABLE {quoted(shape.name)}")
        db.execute(create)
        shape.gaps("table-broken", name=_fault_text(fault), row=0)
        return 0


def _create(shape: _Shape, names: dict[tuple[str, str], str], archive: Archive, *, exact: bool) -> str:
    return create_statement(TableShape(shape.schema, shape.table, shape.name, shape.cells, names, exact), archive)


def _fault_text(fault: PackageFault) -> str:
    """Where a table cannot be read, and why."""
    where, line, why = (fault.data.get(name) for name in ("where", "line", "why"))
    return f"{where}{f' ({line})' if line else ''}: {why}"


def _fill_readable(
    db: sqlite3.Connection,
    siard: Siard,
    shape: _Shape,
    names_and_bare: tuple[dict[tuple[str, str], str], bool],
    emit: Listener,
) -> int:
    """The rows of a table; where a key does not hold, once more without any."""
    names, bare = names_and_bare
    gaps = shape.gaps
    if siard.place.size_of(f"{siard.base(shape.schema, shape.table)}.xml") is None:
        gaps("table-not-there", name=f"{siard.base(shape.schema, shape.table)}.xml", row=0)
        return 0
    gaps.begin_rows()
    try:
        count = _fill_table(db, siard, shape, emit)
    except sqlite3.IntegrityError as error:
        db.execute("COMMIT")  # what was taken goes with the table
        db.execute(f"DROP TABLE {quoted(shape.name)}")
        loose = tuple(replace(cell, nullable=True) for cell in shape.cells)
        shape = replace(shape, cells=loose, table=replace(shape.table, primary_key=None, candidate_keys=()))
        db.execute(_create(shape, names, siard.archive, exact=bare))
        gaps.restart_rows()
        count = _fill_table(db, siard, shape, emit)
        gaps("key-broken", name=str(error), row=0)
    if count != shape.table.rows:
        gaps("rows-differ", name=f"{count} <> {shape.table.rows}", row=0)
    return count


def _fill_table(db: sqlite3.Connection, siard: Siard, shape: _Shape, emit: Listener) -> int:
    placeholders = ", ".join("?" * min(len(shape.table.columns), MOST_COLUMNS))
    insert = f"INSERT INTO {quoted(shape.name)} VALUES ({placeholders})"  # noqa: S608  # quoted
    count = 0
    db.execute("BEGIN")
    try:
        for batch in siard.rows(shape.schema, shape.table, stray=lambda one: _report_stray(shape, one)):
            db.executemany(insert, _converted(batch, shape, siard, count))
            count += len(batch)
            emit(Event("source_read", {"items": count}))
        db.execute("COMMIT")
    except sqlite3.IntegrityError:
        raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
            raise
        raise PackageFault(where=shape.name, why="not-in-sqlite", detail=str(error)) from error
    return count


def _report_stray(shape: _Shape, element: Stray) -> None:
    shape.gaps("stray-element", name=f"{element.name} ({element.line})", row=0)


def _converted(batch: Sequence[RawRow], shape: _Shape, siard: Siard, before: int) -> Iterator[Sequence[object]]:
    """Rows with values as SQLite takes them, column by column; so many rows stood `before` them."""
    columns: list[Sequence[object]] = []
    for number, values in enumerate(zip(*batch, strict=True)):
        cell, convert = shape.cells[number], shape.convert[number]
        if set(map(type, values)) == {str}:
            columns.append(list(map(convert, values)) if convert is not _clean_text else values)
        else:
            columns.append(list(_converted_values(values, cell, convert, (siard, shape, number, before))))
    if len(columns) > MOST_COLUMNS:
        columns = [*columns[: MOST_COLUMNS - 1], list(_overflow_json(columns, shape.table))]
    return zip(*columns, strict=True)


def _overflow_json(columns: Sequence[Sequence[object]], table: Table) -> Iterator[str]:
    """The values of the columns that SQLite has no room for, by their names; NULLs are left out."""
    names = column_names(table)[MOST_COLUMNS - 1 :]
    for row in zip(*columns[MOST_COLUMNS - 1 :], strict=True):
        value_by_name = {name: _in_json(value) for name, value in zip(names, row, strict=True) if value is not None}
        yield json.dumps(value_by_name, ensure_ascii=False)


def _in_json(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _converted_values(
    values: Sequence[Raw], cell: Cell, convert: Callable[[str], object], at: tuple[Siard, _Shape, int, int]
) -> Iterator[object]:
    siard, shape, number, before = at
    column = shape.table.columns[number].name
    for row, raw in enumerate(values, start=before + 1):
        if raw is None:
            yield None
        elif isinstance(raw, str):
            yield convert(raw)
        elif isinstance(raw, Large):
            shape.gaps.row = row
            yield _large(raw, cell, (siard, shape, number))
        else:
            shape.gaps.row = row
            for large in _larges(raw):
                shape.gaps("lob-nested", column, large.file)
            yield json.dumps(plain(raw, cell), ensure_ascii=False)


def _larges(raw: Nested) -> Iterator[Large]:
    """Files that parts of a value name: no cell of SQLite holds several."""
    for part in raw.parts.values():
        if isinstance(part, Large):
            yield part
        elif isinstance(part, Nested):
            yield from _larges(part)


def _large(raw: Large, cell: Cell, at: tuple[Siard, _Shape, int]) -> object:
    """The bytes of a file; None, and told, where they are not to be had."""
    siard, shape, number = at
    column = shape.table.columns[number]
    location = siard.find(shape.schema, shape.table, column, number + 1, raw)
    if location is None:
        shape.gaps("lob-not-there", column.name, raw.file)
        return None
    if location.size_bytes > _MOST_BYTES:
        raise PackageFault(where=location.name, why="not-in-sqlite", detail=f"{location.size_bytes} bytes")
    content = bytearray()
    try:
        with siard.open(location) as source:
            while block := source.read(BLOCK_BYTES):
                content += block
                if len(content) > _MOST_BYTES:
                    raise PackageFault(where=location.name, why="not-in-sqlite")
    except PackageFault as error:
        if error.data.get("why") == "not-in-sqlite":
            raise
        shape.gaps("lob-unreadable", column.name, location.name)
        return None
    algorithm = HASHES.get(raw.digest_type.strip())
    if algorithm and raw.digest and not same_digest(raw.digest, hashlib.new(algorithm, content).digest()):
        shape.gaps("lob-digest", column.name, location.name)
        if shape.gaps.withholds:
            return None
    textual = cell.type is not None and cell.type.kind in TEXTUAL
    return content.decode("utf-8", "replace") if textual else bytes(content)


def plain(raw: Raw, cell: Cell) -> object:
    """A cell as JSON's values: an array as a list, a structure as a list of its parts. An array that is nearly empty
    is a mapping by the names of its elements."""
    if raw is None:
        return None
    if cell.shape == "value" or isinstance(raw, Large):
        if isinstance(raw, Nested):
            return {tag: plain(nested, cell) for tag, nested in raw.parts.items()}
        if isinstance(raw, Large):
            return {"file": raw.file}
        value = converter(cell)(raw)
        return value.hex() if isinstance(value, bytes) else value
    parts = raw.parts if isinstance(raw, Nested) else {}
    if cell.shape == "structure":
        return [plain(parts.get(part.tag), part) for part in cell.parts]
    last = max((int(tag[1:]) for tag in parts if tag[1:].isdecimal() and len(tag) < 20), default=0)
    if last > _GAPS * (len(parts) + 1):  # nearly all of it would be NULLs that nobody wrote
        return {tag: plain(nested, cell.parts[0]) for tag, nested in parts.items()}
    return [plain(parts.get(f"a{number}"), cell.parts[0]) for number in range(1, last + 1)]


def converter(cell: Cell) -> Callable[[str], object]:
    """What turns the text of a cell into a value; what is no value of its kind stays a text."""
    if cell.shape != "value" or cell.type is None:
        return lambda text: json.dumps(plain(Nested(text), cell), ensure_ascii=False)
    if cell.type.kind == "timestamp":
        return _zoned if cell.type.zoned else _unzoned
    return _CONVERTERS[cell.type.kind]


def _clean_text(text: str) -> object:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _stripped(text: str) -> object:
    return text.strip()


def _integer(text: str) -> object:
    try:
        number = int(text) if len(text) <= 20 else None
    except ValueError:
        return text
    return text if number is None or not -_INT64 <= number < _INT64 else number


def _float(text: str) -> object:
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number != number else number


def _double(text: str) -> object:
    """A number that was SQLite's own before: an integer, or the double that its digits are the shortest text of."""
    integer = _integer(text.strip())
    return integer if isinstance(integer, int) else _float(text.strip())


def _boolean(text: str) -> object:
    stripped = text.strip()
    return {"true": 1, "1": 1, "false": 0, "0": 0}.get(stripped, text)


def _hex(text: str) -> object:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text


def _without_z(text: str) -> object:
    return text.strip().removesuffix("Z")


def _unzoned(text: str) -> object:
    return text.strip().removesuffix("Z").replace("T", " ")


def _zoned(text: str) -> object:
    stripped = text.strip()
    return f"{stripped[:-1]}+00:00" if stripped.endswith("Z") else stripped


_CONVERTERS: dict[CellKind, Callable[[str], object]] = {
    "integer": _integer,
    "decimal": _stripped,
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "text": _clean_text,
    "clob": _clean_text,
    "xml": _clean_text,
    "hex": _hex,
    "blob": _hex,
    "datalink": _hex,
    "date": _without_z,
    "time": _without_z,
    "timestamp": _unzoned,
    "interval": _stripped,
}

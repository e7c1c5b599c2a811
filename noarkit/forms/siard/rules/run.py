"""Validates one SIARD archive: files, metadata, table schemas, rows and large values, in constant memory.

    report = validate_siard(Path("records.siard"))

A hostile archive file (links, twins, bombs, ways out) is refused by its own fault; everything else becomes a finding.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.findings import Hit, Tally, ValidateResult, place_data, rules_of
from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.danish_rules import run as siarddk
from noarkit.forms.siard.model import Column, Schema, Table
from noarkit.forms.siard.read import danish
from noarkit.forms.siard.read.archive import Siard, place_of
from noarkit.forms.siard.read.places import Place, ZipPlace, with_name
from noarkit.forms.siard.rules import metadata, structure
from noarkit.forms.siard.rules.expected import Expected, TableSchema, read_table_schema
from noarkit.forms.siard.rules.large_values import LargeCheck, TablePlace
from noarkit.forms.siard.rules.rows import RowCheck
from noarkit.forms.siard.spec import METADATA
from noarkit.forms.siard.types import ALSO, XSD_TYPES
from noarkit.safe.unpack import LIMITS, UnpackLimits

RULES = rules_of("noarkit.forms.siard.rules")
_ZIP_CODES = {
    "broken-archive-file": "SIARD-G_4.1-1",
    "cut-short": "SIARD-G_4.1-1",
    "encrypted": "SIARD-G_4.1-3",
    "unknown-compression": "SIARD-G_4.1-2",
}


@dataclass(slots=True)
class _Totals:
    """What a report shows in numbers."""

    version: str = ""
    tables: int = 0
    rows: int = 0
    files: int = 0
    size_bytes: int = 0

    def summary(self) -> dict[str, tuple[str, ...]]:
        """By name."""
        facts = {"tables": self.tables, "rows": self.rows, "files": self.files, "bytes": self.size_bytes}
        return {name: (str(number),) for name, number in facts.items()}


def validate_siard(
    path: Path,
    *,
    limits: UnpackLimits = LIMITS,
    emit: Listener = ignore_event,
    now_s: Callable[[], float] = time.perf_counter,
) -> ValidateResult:
    """All that can be said of the archive at `path`. Raises what `safe` refuses, `PackageFault` for what is none."""
    began = now_s()
    tally = Tally(RULES)
    totals = _Totals()
    try:
        place = place_of(path, limits, emit)
    except PackageFault as error:
        code = _ZIP_CODES.get(str(error.data.get("why")))
        if code is None:
            raise
        tally.add(code, path.name, why=error.data.get("why"), method="-")
    else:
        with closing(place):
            if place.size_of(METADATA) is None and place.size_of(danish.INDEX) is not None:
                return _validate_siarddk(path, place, began, now_s)
            _judge(path, place, tally, totals, emit)
    rules = tuple(RULES.values())
    summary = totals.summary()
    return ValidateResult(str(path), "siard", totals.version, summary, rules, tally.outcomes({}), (), now_s() - began)


def _validate_siarddk(path: Path, place: Place, began: float, now_s: Callable[[], float]) -> ValidateResult:
    """The Danish variant has its own rules."""
    tally = Tally(siarddk.RULES)
    tables, rows = siarddk.validate_delivery(path.absolute(), place, tally)
    summary = {"tables": (str(tables),), "rows": (str(rows),)}
    rules = tuple(siarddk.RULES.values())
    return ValidateResult(str(path), "siard", "DK", summary, rules, tally.outcomes({}), (), now_s() - began)


def _judge(path: Path, place: Place, tally: Tally, totals: _Totals, emit: Listener) -> None:
    structure.check_packing(path, place, tally)
    structure.check_files(place, tally)
    if place.size_of(METADATA) is None:
        return
    try:
        siard = Siard(path, place)
    except PackageFault as error:
        reason = error.data.get("detail") or error.data.get("why")
        line = error.data.get("line")
        data = place_data({"why": reason})
        tally.add_hit(Hit("SIARD-M_5.0-1", METADATA, line=line if isinstance(line, int) else None, data=data))
        return
    totals.version = siard.archive.version
    _judge_metadata(path, siard, tally)
    structure.check_correspondence(place, siard.archive, tally)
    with closing(LargeCheck(siard, tally)) as larges:
        for schema, table in siard.archive.tables():
            totals.tables += 1
            totals.rows += _judge_table(siard, schema, table, tally, larges)
            emit(Event("source_read", {"items": totals.rows}))
        larges.check_unused()
        totals.files, totals.size_bytes = larges.count, larges.size_bytes


def _judge_metadata(path: Path, siard: Siard, tally: Tally) -> None:
    structure.check_version(siard.place, siard.archive, tally)
    if siard.root is not None:
        metadata.check_schema(siard.root, siard.archive.version, tally)
    if isinstance(siard.place, ZipPlace):
        metadata.check_digests(path, siard.place, siard.archive.digests, tally)
    metadata.check_names(siard.archive, siard.types, tally)


def _judge_table(siard: Siard, schema: Schema, table: Table, tally: Tally, larges: LargeCheck) -> int:
    """The rows that were counted."""
    base = siard.base(schema, table)
    unknown: list[str] = []
    try:
        cells = siard.cells(schema, table, lambda location, name: unknown.append(name))
    except PackageFault:
        return 0  # an endless type was reported by its own rule
    place = TablePlace(schema, table, cells, f"{base}.xml")
    table_schema = _schema_of(siard, f"{base}.xsd", tally)
    if table_schema is not None and not unknown:  # an unknown type was reported by its own rule
        check_table_schema(f"{base}.xsd", table, cells, table_schema, tally)
    if siard.place.size_of(place.file) is None:
        return 0
    return _judge_rows(siard, place, table_schema, tally, larges)


def _schema_of(siard: Siard, name: str, tally: Tally) -> TableSchema | None:
    if siard.place.size_of(name) is None:
        return None
    try:
        with siard.place.open(name) as source:
            return read_table_schema(with_name(source, name))
    except PackageFault as error:
        _tell_fault(tally, "SIARD-T_6.1-1", name, error)
        return None


def _judge_rows(siard: Siard, place: TablePlace, schema: TableSchema | None, tally: Tally, larges: LargeCheck) -> int:
    columns = schema.columns if schema is not None else tuple(map(_column_only, place.cells))

    def complain(code: str, line: int, **data: object) -> None:
        if tally.has_room(code):
            tally.add_hit(Hit(code, place.file, line=line, data=place_data(data)))
        else:
            tally.count_hits(code, 1)

    check = RowCheck(columns, complain)
    try:
        with siard.place.open(place.file) as source:
            for cells in check.run(source, place.file):
                larges.check(place, cells)
    except PackageFault as error:
        _tell_fault(tally, "SIARD-T_6.0-1-XML", place.file, error)
        return check.rows
    if check.rows != place.table.rows:
        tally.add("SIARD-P_4.3-10", place.file, expected=place.table.rows, found=check.rows)
    return check.rows


def _column_only(cell: object) -> Expected:
    """Where a table has no schema, its rows are held to the names of its columns alone."""
    return Expected(str(getattr(cell, "tag", "")), "", True, loose=True)


def _tell_fault(tally: Tally, code: str, name: str, error: PackageFault) -> None:
    line = error.data.get("line")
    data = place_data({"why": error.data.get("detail") or error.data.get("why")})
    tally.add_hit(Hit(code, name, line=line if isinstance(line, int) else None, data=data))


_BOUNDS = {"dateType": ("0001-01-01", "10000-01-01"), "dateTimeType": ("0001-01-01T", "10000-01-01T")}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A column as the metadata has it, and as the table's schema has it."""

    column: Column
    cell: Cell
    expected: Expected


def check_table_schema(file: str, table: Table, cells: tuple[Cell, ...], schema: TableSchema, tally: Tally) -> None:
    """Columns in number, order, type and presence; how many rows there may be; what dates there may be."""
    if len(schema.columns) != len(table.columns):
        tally.add("SIARD-P_4.3-2", file, expected=len(table.columns), found=len(schema.columns))
    for number, expected in enumerate(schema.columns, start=1):
        if expected.name != f"c{number}":
            tally.add("SIARD-P_4.3-8", file, expected=f"c{number}", found=expected.name)
    for column, cell, expected in zip(table.columns, cells, schema.columns, strict=False):
        _check_column(file, _Pair(column, cell, expected), tally)
    if table.rows < schema.least or (schema.most is not None and table.rows > schema.most):
        tally.add("SIARD-P_4.3-10", file, expected=f"{schema.least}-{schema.most or ''}", found=table.rows)
    used_types = {expected.type for expected in schema.columns}
    for name, (least, most) in schema.bounds.items():
        first, last = _BOUNDS[name]
        if name in used_types and not (least.startswith(first) and most.startswith((last, "9999-12-31"))):
            tally.add("SIARD-T_6.3-1", file, type=name, name=f"{least}-{most}")


def _check_column(file: str, pair: _Pair, tally: Tally) -> None:
    cell, expected = pair.cell, pair.expected
    if cell.nullable != expected.optional:
        is_nullable = "true" if cell.nullable else "false"
        tally.add(
            "SIARD-P_4.3-7", file, name=expected.name, expected=is_nullable, found="false" if cell.nullable else "true"
        )
    if cell.shape == "value":
        code = "SIARD-P_4.3-4" if pair.column.type_name else "SIARD-P_4.3-3"
        _check_type(file, cell, expected, code, tally)
    else:
        _check_parts(file, cell, expected, tally)


def _check_parts(file: str, cell: Cell, expected: Expected, tally: Tally) -> None:
    """An array's elements, or the parts of a structure, as deep as they go."""
    if expected.loose:
        return
    is_array = cell.shape == "array"
    expected_parts = tuple(cell.elements(len(expected.parts))) if is_array else cell.parts
    code = "SIARD-P_4.3-5" if is_array else "SIARD-P_4.3-6"
    if len(expected_parts) != len(expected.parts):
        tally.add("SIARD-P_4.3-9", file, name=expected.name, expected=len(expected_parts), found=len(expected.parts))
    for part, part_schema in zip(expected_parts, expected.parts, strict=False):
        if part.tag != part_schema.name:
            tally.add("SIARD-P_4.3-9", file, name=expected.name, expected=part.tag, found=part_schema.name)
        elif part.shape == "value":
            _check_type(file, part, part_schema, code, tally)
        else:
            _check_parts(file, part, part_schema, tally)


def _check_type(file: str, cell: Cell, expected: Expected, code: str, tally: Tally) -> None:
    if cell.type is None:
        return
    kind = cell.type.kind
    if expected.type != XSD_TYPES[kind] and expected.type not in ALSO.get(kind, frozenset()):
        expected_type = XSD_TYPES[kind]
        tally.add(
            code, file, name=expected.name, type=cell.type.name, expected=expected_type, found=expected.type or "-"
        )

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
from noarkit.forms.siard.danish_rules import run as siarddk
from noarkit.forms.siard.model import Schema, Table
from noarkit.forms.siard.read import danish
from noarkit.forms.siard.read.archive import Siard, place_of
from noarkit.forms.siard.read.places import Place, ZipPlace, with_name
from noarkit.forms.siard.rules import metadata, structure
from noarkit.forms.siard.rules.expected import Expected, TableSchema, read_table_schema
from noarkit.forms.siard.rules.large_values import LargeCheck, TablePlace
from noarkit.forms.siard.rules.rows import RowCheck
from noarkit.forms.siard.rules.tables import check_table_schema
from noarkit.forms.siard.spec import METADATA
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
    tables, rows = siarddk.judge(path.absolute(), place, tally)
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

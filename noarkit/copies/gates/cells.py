"""Are the cells of a spreadsheet those of its original: each at its place, with its text or number?

A spreadsheet that is damaged in the middle is opened all the same, with the cells before the damage; so the original is
read record by record, by nobody who makes spreadsheets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from noarkit.copies.port import Failure, Finding
from noarkit.copies.reasons import Reason
from noarkit.documents.cells import Cell
from noarkit.documents.ods_sheets import ods_cells
from noarkit.documents.sheets import rows_of_all
from noarkit.documents.xls_cells import read_workbook
from noarkit.errors import PackageFault

_CLOSE = 1e-9
_CLOSE_IN_TIME = 2e-6
"""Of a day: a sixth of a second."""
_MOST_CELLS = 3_000_000
_NOT_COUNTED = ("sheets", "cells", "numbers")


@dataclass(slots=True)
class _Tally:
    """What was found of the cells of an original: how many of each kind there are, and in the copy too."""

    original: Counter[str] = field(default_factory=Counter)
    copy: Counter[str] = field(default_factory=Counter)
    differing: int = 0
    """Results of formulas that are others in the copy."""


def compare_cells(source: Path, format_name: str, copy: Path) -> Sequence[Finding] | Failure:
    """The cells of a spreadsheet against those of a copy in OpenDocument. Raises `DocumentRefused`."""
    cells = _cells_of(source, format_name)
    if cells is None:
        return (Finding("not-counted", {"kinds": list(_NOT_COUNTED)}),)
    by_place = {(cell.sheet, cell.row, cell.column): cell for cell in islice(cells, _MOST_CELLS)}
    if len(by_place) == _MOST_CELLS:
        return (Finding("not-counted", {"kinds": list(_NOT_COUNTED)}),)
    try:
        tally = _compare(by_place, copy)
    except PackageFault:
        return Failure(Reason.NO_RESULT, {"why": "broken-workbook"})
    return _findings(tally)


def _cells_of(source: Path, format_name: str) -> Iterator[Cell] | None:
    if format_name == "xls":
        workbook = read_workbook(source)
        return None if workbook is None else workbook.cells()
    return _cells_of_xlsx(source) if format_name == "xlsx" else None


def _cells_of_xlsx(source: Path) -> Iterator[Cell]:
    """The cells of a workbook since 2007. Whether one is a number or a text is no longer known of them."""
    with source.open("rb") as file:
        for sheet, row in rows_of_all(file):
            for column, cell in enumerate(row.cells):
                if cell.value:
                    yield Cell(sheet, row.number - 1, column, None, bool(cell.formula))


def _compare(by_place: dict[tuple[str, int, int], Cell], copy: Path) -> _Tally:
    tally = _Tally()
    for cell in by_place.values():
        tally.original[_kind(cell)] += 1
    sheets = {cell.sheet for cell in by_place.values()}
    tally.original["sheets"] = len(sheets)
    with copy.open("rb") as file:
        for cell in ods_cells(file):
            if cell.sheet in sheets:
                sheets.discard(cell.sheet)
                tally.copy["sheets"] += 1
            original = by_place.pop((cell.sheet, cell.row, cell.column), None)
            if original is not None:
                is_same = _is_same(original, cell)
                tally.copy[_kind(original)] += is_same or original.is_formula
                tally.differing += original.is_formula and not is_same
    return tally


def _kind(cell: Cell) -> str:
    return "numbers" if isinstance(cell.value, float) else "cells"


def _is_same(original: Cell, cell: Cell) -> bool:
    if original.value is None:
        return True
    if isinstance(original.value, str):
        return isinstance(cell.value, str) and _plain(original.value) == _plain(cell.value)
    if not isinstance(cell.value, float):
        return False
    close = _CLOSE_IN_TIME if cell.is_moment else 0.0
    return math.isclose(original.value, cell.value, rel_tol=_CLOSE, abs_tol=close)


def _plain(text: str) -> str:
    """A text without its blanks, which two formats keep in two ways."""
    return "".join(text.split())


def _findings(tally: _Tally) -> Sequence[Finding] | Failure:
    missing = sum((tally.original - tally.copy).values())
    if missing:
        return Failure(Reason.TEXT_MISSING, {"missing": missing, "cells": tally.original.total()})
    findings = [
        Finding("counted", {"kind": kind, "original": count, "copy": tally.copy[kind]})
        for kind, count in sorted(tally.original.items())
        if count
    ]
    if tally.differing:
        findings.append(Finding("values-differ", {"count": tally.differing}))
    return findings

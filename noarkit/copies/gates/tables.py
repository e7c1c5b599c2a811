"""Is each cell of a spreadsheet in the tables that were made of it, and what do tables not hold?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.converters.tables import ROW, TABULAR, BookRow, book_rows, column_names
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.containers import format_of_file
from noarkit.documents.content_counts import contents_of
from noarkit.documents.ods_sheets import ods_cells
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.sheets import rows_of_all
from noarkit.errors import PackageFault
from noarkit.forms.siard.model import Schema, Table
from noarkit.forms.siard.read.archive import Siard, open_siard

_ANYWHERE = 0
"""The number of a row whose number nobody knows; rows are counted from 1."""


@dataclass(frozen=True, slots=True)
class TablesGate:
    """Tables of a spreadsheet hold each of its cells at its place."""

    name: str = "tables"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails on the first row that differs; tells formulas, pictures and charts, which no table holds."""
        if task.target != "siard":
            return ()
        try:
            format_name = format_of_file(task.source, task.name, task.identity.media_type or "")
            if format_name not in TABULAR:
                return Failure(Reason.WRONG_FORMAT, {"wanted": task.target, "is": format_name})
            with open_siard(product.path) as siard:
                failure = _compare(book_rows(task.source, format_name), siard)
            return failure if failure is not None else list(_losses(task.source, format_name))
        except DocumentRefused as refused:
            return Failure(Reason(refused.reason), refused.data)
        except PackageFault:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})


def _compare(originals: Iterator[BookRow], siard: Siard) -> Failure | None:
    """Row by row, in the order that both have."""
    cells = missing = 0
    copies = _copied_rows(siard)
    for sheet, number, values in originals:
        cells += sum(map(bool, values))
        copy = next(copies, None)
        if copy is None or copy[0] != sheet or copy[1] not in (number, _ANYWHERE):
            missing += sum(map(bool, values))
            break
        missing += sum(
            bool(value)
            for value, copied in zip(_padded(values, len(copy[2])), copy[2], strict=False)
            if value != copied
        )
    if missing or next(copies, None) is not None:
        return Failure(Reason.TEXT_MISSING, {"missing": missing, "cells": cells})
    return None


def _padded(values: list[str], width: int) -> list[str]:
    return [*values, *[""] * (width - len(values))]


def _copied_rows(siard: Siard) -> Iterator[BookRow]:
    """The rows of the sheets as their tables tell them. What names the columns was a row too, in a place that no table
    tells."""
    for schema, table in siard.archive.tables():
        names = [column.name for column in table.columns if column.name != ROW]
        if names != column_names((), len(names)):
            yield table.description, _ANYWHERE, names
        yield from _rows_of(siard, schema, table)


def _rows_of(siard: Siard, schema: Schema, table: Table) -> Iterator[BookRow]:
    for batch in siard.rows(schema, table):
        for row in batch:
            number, *values = ("" if value is None else str(value) for value in row)
            yield table.description, int(number), values


def _losses(source: Path, format_name: str) -> Iterator[Finding]:
    yield Finding("layout-dropped")
    with source.open("rb") as file:
        if format_name == "ods":
            formulas = sum(cell.is_formula for cell in ods_cells(file))
        else:
            formulas = sum(bool(cell.formula) for _, row in rows_of_all(file) for cell in row.cells)
    if formulas:
        yield Finding("formulas-as-values", {"count": formulas})
    contents = contents_of(source, format_name)
    if contents is not None and (objects := sum(counts.total() for counts in contents.items.values())):
        yield Finding("objects-dropped", {"count": objects})

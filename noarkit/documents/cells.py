"""A cell of a spreadsheet, wherever it was read from."""

from __future__ import annotations

from typing import NamedTuple

CellValue = float | str | None
"""A number (also a day, counted as its program counts it, and a truth as 1 or 0), a text, or None for an error."""


class Cell(NamedTuple):
    """A cell that holds something, by its place, counted from 0. `is_moment` is True for a day or a time of day."""

    sheet: str
    row: int
    column: int
    value: CellValue
    is_formula: bool = False
    is_moment: bool = False

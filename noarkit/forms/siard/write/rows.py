"""Writes the rows of one table as XML, many at a time: each column in one go, then one join for all.

What a column holds decides how: texts are searched once for signs that need care, numbers are written as they are, and
only a column with NULLs in this batch is tagged cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from noarkit.errors import PackageFault
from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.escapes import escaped
from noarkit.forms.siard.types import TEXTUAL
from noarkit.forms.siard.values import UnfitValue, format_column, format_value

_NONE = type(None)

LargeCell = Callable[[int, Cell, object], str]
"""Writes a large value: the number of its column, its shape, and what it is."""


class RowWriter:
    """The rows of one table. `longest` says how many elements the arrays had at most, by column number, and `nulls`
    which columns had a NULL."""

    def __init__(
        self, where: str, names: Sequence[str], cells: Sequence[Cell], large: LargeCell, most_inline: int
    ) -> None:
        self._where = where
        self._names = names
        self._cells = cells
        self._large = large
        self._most_inline = most_inline
        self._templates: dict[tuple[bool, ...], str] = {}
        self.longest: dict[int, int] = {}
        self.nulls: set[int] = set()

    def text(self, rows: Sequence[Sequence[object]]) -> str:
        """The XML of some rows. Raises `PackageFault` for a value that cannot stand in its column."""
        try:
            columns = tuple(zip(*rows, strict=True))
        except ValueError as error:
            raise PackageFault(where=self._where, why="row-width") from error
        return self.columns_text(columns)

    def columns_text(self, columns: Sequence[Sequence[object]]) -> str:
        """The XML of some rows that are given column by column."""
        if len(columns) != len(self._cells):
            raise PackageFault(where=self._where, why="row-width")
        text_columns: list[Sequence[object]] = []
        tagged: list[bool] = []
        for number, (cell, values) in enumerate(zip(self._cells, columns, strict=True)):
            try:
                texts, bare = self._column(number, cell, values)
            except UnfitValue as error:
                where = f"{self._where}.{self._names[number]}"
                raise PackageFault(where=where, why="value-unfit", detail=str(error)) from error
            text_columns.append(texts)
            tagged.append(not bare)
        return "".join(map(self._template(tuple(tagged)).__mod__, zip(*text_columns, strict=True)))

    def _column(self, number: int, cell: Cell, values: Sequence[object]) -> tuple[Sequence[object], bool]:
        """The cells of a column, and whether they still want their tags."""
        has_nulls = None in values
        if has_nulls:
            self.nulls.add(number)
        if cell.shape != "value" or (cell.large and not self._all_short(cell, values)):
            return ["" if value is None else self._single(number, cell, value) for value in values], False
        kind = cell.type.kind if cell.type is not None else "text"
        if not has_nulls:
            return format_column(kind, values), True
        texts = iter(format_column(kind, [value for value in values if value is not None]))
        begin, end = f"<{cell.tag}>", f"</{cell.tag}>"
        return ["" if value is None else f"{begin}{next(texts)}{end}" for value in values], False

    def _all_short(self, cell: Cell, values: Sequence[object]) -> bool:
        """True if every value of a large column stands in its cell, as those of other columns do."""
        expected_type = str if cell.type is not None and cell.type.kind in TEXTUAL else bytes
        if not set(map(type, values)) <= {expected_type, _NONE}:
            return False
        return max((len(value) for value in values if value is not None), default=0) <= self._most_inline  # type: ignore[arg-type]  # texts or bytes

    def _single(self, number: int, cell: Cell, value: object) -> str:
        if cell.large:
            return self._large(number, cell, value)
        return self._nested(number, cell, value)

    def _nested(self, number: int, cell: Cell, value: object) -> str:
        if value is None:
            return ""
        if cell.shape == "value":
            kind = cell.type.kind if cell.type is not None else "text"
            return f"<{cell.tag}>{escaped(format_value(kind, value))}</{cell.tag}>"
        if cell.shape == "array":
            if not isinstance(value, (list, tuple)):
                raise UnfitValue(f"{type(value).__name__} as array")
            self.longest[number] = max(self.longest.get(number, 0), len(value))
            pairs = zip(cell.elements(len(value)), value, strict=False)
        else:
            inner = tuple(value.values()) if isinstance(value, Mapping) else value
            if not isinstance(inner, (list, tuple)) or len(inner) != len(cell.parts):
                raise UnfitValue(f"{type(value).__name__} as structure")
            pairs = zip(cell.parts, inner, strict=False)
        return (
            f"<{cell.tag}>{''.join(self._nested(number, part, part_value) for part, part_value in pairs)}</{cell.tag}>"
        )

    def _template(self, tagged: tuple[bool, ...]) -> str:
        template = self._templates.get(tagged)
        if template is None:
            inner = (
                "%s" if has_tags else f"<{cell.tag}>%s</{cell.tag}>"
                for cell, has_tags in zip(self._cells, tagged, strict=True)
            )
            template = self._templates[tagged] = f"<row>{''.join(inner)}</row>\n"
        return template

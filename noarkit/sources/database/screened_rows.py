"""What a proposed recipe does so that nothing screened is told by a row that is open, or by the text of a row.

The columns that become a title, a party or the name of a document have fields that screening withholds; a description
has none, so the text of a row leaves them out. Who is a party of a screened row alone is screened as that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from noarkit.sources.database.expressions import path, quoted
from noarkit.sources.database.rows import child_name
from noarkit.sources.database.schema import Schema, Table


class ScreenedRows:
    """The tables of a database that have a column of screening, and what their rows say in fields of their own.

    Relations that `officers` fits lead to who handles a case, whose name is no secret of it."""

    def __init__(self, schema: Schema, officers: str) -> None:
        self._schema = schema
        self._officers = re.compile(officers, re.IGNORECASE)
        self._columns: dict[str, str] = {}
        self._named: dict[str, tuple[str, ...]] = {}

    def see(self, table: Table, named_columns: Sequence[str | None], screening: str = "") -> None:
        """Notes the columns of a table that have fields of their own, and that of its screening."""
        self._named[table.label] = tuple(dict.fromkeys(filter(None, named_columns)))
        if screening:
            self._columns[table.label] = screening

    def text_without(self) -> dict[str, tuple[str, ...]]:
        """The columns that texts of rows do not repeat, by table; none where nothing is screened."""
        return {label: names for label, names in self._named.items() if names} if self._columns else {}

    def by_references(self, table: Table) -> str:
        """The screening of a row as that of the rows that refer to it, and of what these lie in; empty for none."""
        expression = " or ".join(self._codes_of(table))
        return f"= {expression}" if expression else ""

    def _codes_of(self, table: Table) -> Iterator[str]:
        referring = list(self._schema.referring(table.name))
        for child, back in referring:
            if self._officers.search(back.name):
                continue
            rows = path(child_name(table, child, back, [one for one, _ in referring]))
            if child.label in self._columns:
                yield self._codes(rows, self._columns[child.label])
            for relation in child.relations:
                above = self._columns.get(relation.table.label)
                if relation != back and above is not None:
                    yield self._codes(f"{rows} | pluck('{quoted(relation.name)}') | compact", above)

    def _codes(self, rows: str, column: str) -> str:
        return f"({rows} | pluck('{quoted(column)}') | codes('{quoted(column)}') | first)"

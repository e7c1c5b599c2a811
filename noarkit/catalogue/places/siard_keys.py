"""What rows of a SIARD archive are called, and which row a foreign key leads to.

A row bears the values of its primary key, or its number where its table has none. A foreign key that refers to other
columns is looked up in a table on disk, which is filled beforehand from the tables so referred to, and from no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from noarkit.errors import PackageFault
from noarkit.forms.siard.model import ForeignKey, Schema, Table
from noarkit.forms.siard.read.archive import Siard
from noarkit.forms.siard.read.rows import Raw
from noarkit.safe.scratch import scratch

_BATCH = 5_000


def table_ref(*names: str) -> str:
    """What a schema or table is called."""
    return "/".join(_escape(name) for name in names)


def row_ref(table: str, key: str | None, number: int) -> str:
    """What a row is called: by its key, else by its number from 1."""
    return f"{table}/#{number}" if key is None else f"{table}/{key}"


def key_text(values: Sequence[Raw]) -> str | None:
    """The values of a key as one text; None where one of them is no plain value."""
    texts = [value for value in values if isinstance(value, str)]
    return ",".join(_escape(text) for text in texts) if texts and len(texts) == len(values) else None


def _escape(text: str) -> str:
    if not any(sign in text for sign in "%/,#"):
        return text
    return text.replace("%", "%25").replace("/", "%2F").replace(",", "%2C").replace("#", "%23")


class ReferencedKeys:
    """Which row each foreign key of one archive leads to."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE target (key TEXT PRIMARY KEY, ref TEXT) WITHOUT ROWID")
        self._tables: dict[tuple[str, str], Table] = {}

    def learn(self, siard: Siard) -> None:
        """Reads the tables that are referred to by other columns than their primary key."""
        self._tables = {(schema.name, table.name): table for schema, table in siard.archive.tables()}
        schemas = {schema.name: schema for schema in siard.archive.schemas}
        alternative: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        for schema, table in siard.archive.tables():
            for key in table.foreign_keys:
                place = (key.referenced_schema or schema.name, key.referenced_table)
                columns = _referenced_columns(key)
                if place in self._tables and not _is_primary(self._tables[place], columns):
                    alternative.setdefault(place, set()).add(columns)
        for (schema_name, table_name), keys in alternative.items():
            rows = self._rows(siard, schemas[schema_name], self._tables[schema_name, table_name], keys)
            with suppress(PackageFault):  # told where the rows of that table are shown
                while batch := list(islice(rows, _BATCH)):
                    self._db.executemany("INSERT OR IGNORE INTO target VALUES (?,?)", batch)

    def _rows(
        self, siard: Siard, schema: Schema, table: Table, keys: set[tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        places = {column.name: number for number, column in enumerate(table.columns)}
        own = [places[name] for name in (table.primary_key.columns if table.primary_key else ()) if name in places]
        above, number = table_ref(schema.name, table.name), 0
        known_keys = [key for key in sorted(keys) if all(name in places for name in key)]
        for batch in siard.rows(schema, table, stray=lambda _: None):
            for row in batch:
                number += 1
                ref = row_ref(above, key_text([row[place] for place in own]) if own else None, number)
                for key in known_keys:
                    value = key_text([row[places[name]] for name in key])
                    if value is not None:
                        yield f"{above}({','.join(key)}){value}", ref

    def target(self, schema: Schema, key: ForeignKey, values: Sequence[Raw]) -> str | None:
        """The ref of the row that a foreign key with these values leads to; None for NULL, and where there is none."""
        above = table_ref(key.referenced_schema or schema.name, key.referenced_table)
        table = self._tables.get((key.referenced_schema or schema.name, key.referenced_table))
        by_column = sorted(zip(_columns(key), values, strict=True), key=lambda pair: pair[0])
        columns = tuple(name for name, _ in by_column)
        if table is None or any(not isinstance(value, str) for value in values):
            return None
        if _is_primary(table, columns) and table.primary_key is not None:
            of_column = dict(by_column)
            text = key_text([of_column[name] for name in table.primary_key.columns])
            return None if text is None else row_ref(above, text, 0)
        value = key_text([value for _, value in by_column])
        row = self._db.execute("SELECT ref FROM target WHERE key = ?", (f"{above}({','.join(columns)}){value}",))
        found_ref = row.fetchone()
        return None if found_ref is None else str(found_ref[0])

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()


def _columns(key: ForeignKey) -> list[str]:
    return [pair.referenced or pair.column for pair in key.references]


def _referenced_columns(key: ForeignKey) -> tuple[str, ...]:
    return tuple(sorted(_columns(key)))


def _is_primary(table: Table, columns: tuple[str, ...]) -> bool:
    return table.primary_key is not None and tuple(sorted(table.primary_key.columns)) == columns

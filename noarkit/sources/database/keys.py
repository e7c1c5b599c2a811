"""How rows are told apart: by their keys, and by what they hold where they have none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from noarkit.errors import ItemVanished
from noarkit.safe.spill import KeySet
from noarkit.sources.database.columns import Column
from noarkit.sources.database.rows import label_text, placeholder
from noarkit.sources.database.schema import Schema, Table
from noarkit.sources.database.session import Row, Session
from noarkit.sources.database.values import Kind

NO_KEY = "~"
_PLACES = {"ctid": "ctid = CAST(%s AS tid)", "rowid": "_rowid_ = ?"}

Where = tuple[str, Sequence[object]]


def with_keys(schema: Schema, keys: Mapping[str, tuple[str, ...]]) -> Schema:
    """The same tables with the keys that a recipe names for some."""
    tables = {
        label: replace(table, key=keys[label]) if label in keys else table for label, table in schema.tables.items()
    }
    return replace(schema, tables=tables)


def content_key(table: Table, values: Row, earlier_digests: KeySet) -> str:
    """The key of a row of a table without one: what it holds, and how many like it came before."""
    text = repr(tuple(bytes(part) if isinstance(part, memoryview) else part for part in values))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    times = earlier_digests.count_up(digest)
    return f"{label_text(table.label)}:{NO_KEY}{digest}{f'-{times}' if times > 1 else ''}"


def table_of(schema: Schema, row: str) -> Table:
    """The table that a locator's row is of. Raises `ItemVanished` where there is none."""
    label = row.partition(":")[0].replace("%3A", ":").replace("%25", "%")
    table = schema.tables.get(label)
    if table is None:
        raise ItemVanished(key=row, why="no-such-table")
    return table


def where_clause(session: Session, table: Table, row: str, place: str) -> Where:
    """The condition that finds a locator's row. Raises `ItemVanished` for a key that is none of this table."""
    text = row.partition(":")[2]
    if place in _PLACES:
        return _PLACES[place], (text.removeprefix(NO_KEY),)
    parts = [part.replace("%2C", ",").replace("%25", "%") for part in text.split(",")]
    if len(parts) != len(table.key):
        raise ItemVanished(key=row, why="key")
    mark = placeholder(session)
    clause = " AND ".join(f"{session.quote(name)} = {mark}" for name in table.key)
    return clause, [_value(table.column(name), part, row) for name, part in zip(table.key, parts, strict=True)]


def _value(column: Column, text: str, row: str) -> object:
    try:
        if column.kind is Kind.INTEGER:
            return int(text)
        if column.kind is Kind.DECIMAL:
            return Decimal(text)
        if column.kind is Kind.BYTES:
            return bytes.fromhex(text)
        if column.kind is Kind.BOOLEAN:
            return text == "true"
    except (ValueError, InvalidOperation) as error:
        if column.kind is Kind.BYTES or not text:
            raise ItemVanished(key=row, why="key") from error
    return text

"""Looks at what tables hold, so that a person can judge them: rows, sizes, and what the values of columns look like.

Rows are counted, or taken from the server's own reckoning where there are millions. Columns are judged by a sample of
rows; no value is told but short codes that many rows share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.errors import SourceDenied
from noarkit.events import Event, Listener
from noarkit.model.identity_numbers import find_identity_numbers
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.documents import usual_documents
from noarkit.sources.database.schema import Schema, Table, selection, source_of
from noarkit.sources.database.session import Session
from noarkit.sources.database.values import Kind, plain_converter

_AT_ONCE = 500
SAMPLE_ROWS = 500
_LONGEST = 2_000
_MOST_CODES = 12
_LONGEST_CODE = 40
_COUNTED_UP_TO = 5_000_000
_TEXTUAL = frozenset({Kind.TEXT, Kind.CHOICE, Kind.XML, Kind.JSON, Kind.UUID, Kind.OTHER})
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[a-zA-Z]{2,}")
_PATH = re.compile(r"[^\x00-\x1f<>|*?\"]{1,400}\.[A-Za-z0-9]{2,5}")
_PERSON_NAMES = re.compile(
    r"(?i)(^|_)(navn|name|fornavn|etternavn|mellomnavn|firstname|lastname|first_name|last_name|full_?name|f[oø]dt"
    r"|f[oø]dsels\w*|fnr|d?nummer_person|personnr|person(nummer|number)|ssn|e?_?post|e-?mail|telefon|mobil|phone"
    r"|adresse|address|kj[oø]nn|gender|birth\w*)(_|$|\d)"
)


@dataclass(slots=True)
class ColumnSeen:
    """What a sample showed of one column. `lengths` are those of whole values, in signs or bytes."""

    filled: int = 0
    longest: int = 0
    length: int = 0
    codes: Counter[str] | None = field(default_factory=Counter)
    identity_numbers: int = 0
    emails: int = 0
    paths: int = 0
    slashes: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def usual_length(self) -> float:
        """The mean of the lengths seen."""
        return self.length / self.filled if self.filled else 0.0


@dataclass(slots=True)
class TableSeen:
    """What was seen of a table. `readable` is False where the account may not read it; `about` marks a reckoning."""

    rows: int = 0
    about: bool = False
    size_bytes: int | None = None
    sampled: int = 0
    readable: bool = True
    columns: dict[str, ColumnSeen] = field(default_factory=dict)


def profile(session: Session, schema: Schema, tell: Listener) -> dict[str, TableSeen]:
    """What every table and view holds. Raises the faults of a session."""
    sizes = _sizes(session)
    seen: dict[str, TableSeen] = {}
    for label, table in schema.tables.items():
        reckoned, size = sizes.get((table.name.schema or schema.default_schema or "", table.name.name), (None, None))
        found = TableSeen(size_bytes=size)
        try:
            found.about = reckoned is not None and reckoned > _COUNTED_UP_TO
            found.rows = reckoned if found.about and reckoned is not None else _count(session, table)
            _sample(session, table, found)
        except SourceDenied:
            found.readable = False
            session.renew()
        seen[label] = found
        tell(Event("source_read", {"items": len(seen)}))
    return seen


def personal(column: Column, seen: ColumnSeen | None) -> str:
    """What makes a column look like personal data: `identity-number`, `email`, `name`; empty where nothing does."""
    if seen is not None and seen.identity_numbers:
        return "identity-number"
    if seen is not None and seen.filled and seen.emails * 2 > seen.filled:
        return "email"
    return "name" if _PERSON_NAMES.search(column.name) else ""


def as_json(schema: Schema, seen: Mapping[str, TableSeen]) -> dict[str, object]:
    """The profile as plain JSON values."""
    return {"tables": [_table_json(table, seen[label]) for label, table in schema.tables.items()]}


def _table_json(table: Table, seen: TableSeen) -> dict[str, object]:
    documents = {one.column for one in usual_documents(table)}
    return {
        "name": table.label,
        "view": table.is_view,
        "readable": seen.readable,
        "rows": seen.rows,
        "about": seen.about,
        "bytes": seen.size_bytes,
        "key": list(table.key),
        "relations": [
            {"name": one.name, "columns": list(one.columns), "table": one.table.label, "referred": list(one.referred)}
            for one in table.relations
        ],
        "columns": [
            _column_json(column, seen.columns.get(column.name), seen.sampled, document=column.name in documents)
            for column in table.columns
        ],
    }


def _column_json(column: Column, seen: ColumnSeen | None, sampled: int, *, document: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "name": column.name,
        "type": column.declared,
        "kind": str(column.kind),
        "nullable": column.nullable,
        "document": document,
        "personal": personal(column, seen),
    }
    if seen is not None:
        told |= {"sampled": sampled, "filled": seen.filled, "longest": seen.longest}
        told["codes"] = len(seen.codes) if seen.codes else 0
    return told


def _count(session: Session, table: Table) -> int:
    row = session.one(f"SELECT count(*) FROM {source_of(session, table)}")  # noqa: S608  # quoted by the dialect
    return int(str(row[0])) if row else 0


def _sizes(session: Session) -> dict[tuple[str, str], tuple[int | None, int | None]]:
    """The server's own reckoning of rows and bytes, by schema and table."""
    if session.family == POSTGRESQL:
        rows = session.rows(
            "SELECT n.nspname, c.relname, c.reltuples::bigint, pg_total_relation_size(c.oid) FROM pg_catalog.pg_class c"
            " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'm')"
        )
    elif session.family == MYSQL:
        rows = session.rows(
            "SELECT table_schema, table_name, table_rows, data_length + index_length FROM information_schema.tables"
            " WHERE table_schema = DATABASE()"
        )
    else:
        return {}
    return {(str(row[0]), str(row[1])): (_whole(row[2]), _whole(row[3])) for row in rows}


def _whole(value: object) -> int | None:
    return None if value is None else int(str(value))


def _sample(session: Session, table: Table, found: TableSeen) -> None:
    for first in range(0, max(1, len(table.columns)), _AT_ONCE):
        _sample_columns(session, table, found, table.columns[first : first + _AT_ONCE])


def _sample_columns(session: Session, table: Table, found: TableSeen, columns: Sequence[Column]) -> None:
    """Some columns of a table: no server answers with thousands of values for a row."""
    selected = [part for column in columns for part in _looked_at(session, column)]
    source = source_of(session, table)
    rows = session.rows(f"SELECT {', '.join(selected) or '1'} FROM {source} LIMIT {SAMPLE_ROWS}")  # noqa: S608  # quoted by the dialect
    found.sampled = len(rows)
    for at, column in enumerate(columns):
        seen = found.columns[column.name] = ColumnSeen()
        convert = plain_converter(session.family, column.kind, bits=column.size or 0)
        for row in rows:
            value, length = row[2 * at], row[2 * at + 1]
            if value is None:
                continue
            if column.kind is not Kind.BYTES and convert is not None:
                value = convert(value)
            _look(seen, value, int(str(length or 0)))


def _looked_at(session: Session, column: Column) -> Iterator[str]:
    """Two expressions: the beginning of the value, and the length of the whole."""
    quoted = session.quote(column.name)
    expression = selection(session.family, column, quoted)
    if column.kind is Kind.BYTES:
        short = f"SUBSTRING({expression} FROM 1 FOR 16)" if session.family == POSTGRESQL else f"SUBSTR({quoted}, 1, 16)"
        yield short
        yield f"octet_length({quoted})" if session.family != SQLITE else f"length(CAST({quoted} AS BLOB))"
    elif column.kind in _TEXTUAL:
        text = expression
        if session.family == POSTGRESQL and column.kind in (Kind.JSON, Kind.UUID):
            text = f"CAST({quoted} AS text)"
        yield f"SUBSTR({text}, 1, {_LONGEST})"
        yield f"LENGTH({text})" if session.family != MYSQL else f"CHAR_LENGTH({text})"
    else:
        yield expression
        yield "0"


def _look(seen: ColumnSeen, value: object, length: int) -> None:
    seen.filled += 1
    seen.length += length
    seen.longest = max(seen.longest, length)
    if not isinstance(value, str):
        seen.codes = None
        return
    if next(find_identity_numbers(value), None) is not None:
        seen.identity_numbers += 1
    if _EMAIL.fullmatch(value):
        seen.emails += 1
    if _PATH.fullmatch(value):
        seen.paths += 1
        seen.slashes += "/" in value or "\\" in value
        if len(seen.examples) < 20:
            seen.examples.append(value)
    if seen.codes is not None:
        seen.codes[value] += 1
        if len(value) > _LONGEST_CODE or len(seen.codes) > _MOST_CODES:
            seen.codes = None

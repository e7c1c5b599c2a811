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
from noarkit.sources.column_meanings import cell_of
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.documents import usual_documents
from noarkit.sources.database.schema import Schema, Table, select_expression, source_of
from noarkit.sources.database.session import Session
from noarkit.sources.database.values import Kind, plain_converter

_AT_ONCE = 500
SAMPLE_ROWS = 500
_LONGEST = 2_000
_MOST_CODES = 12
_LONGEST_CODE = 40
_MOST_CELLS = 300
MOST_WORDS = 60
"""So many different values of a column are told to whoever makes codes of them."""
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
class ColumnStats:
    """What a sample showed of one column. `length` is that of all whole values together, in characters or bytes."""

    filled_count: int = 0
    longest: int = 0
    length: int = 0
    codes: Counter[str] | None = field(default_factory=Counter)
    identity_numbers: int = 0
    emails: int = 0
    paths: int = 0
    slashes: int = 0
    examples: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    """The beginning of each of the first values, row by row; empty where there is none. Never told."""

    @property
    def usual_length(self) -> float:
        """The mean of the lengths seen."""
        return self.length / self.filled_count if self.filled_count else 0.0


@dataclass(slots=True)
class TableStats:
    """What was seen of a table. `readable` is False if the account may not read it; `about` marks a reckoning."""

    rows: int = 0
    about: bool = False
    size_bytes: int | None = None
    sampled: int = 0
    readable: bool = True
    columns: dict[str, ColumnStats] = field(default_factory=dict)


def profile(session: Session, schema: Schema, emit: Listener) -> dict[str, TableStats]:
    """What every table and view holds. Raises the faults of a session."""
    sizes = _sizes(session)
    stats_by_label: dict[str, TableStats] = {}
    for label, table in schema.tables.items():
        reckoned, size = sizes.get((table.name.schema or schema.default_schema or "", table.name.name), (None, None))
        stats = TableStats(size_bytes=size)
        try:
            stats.about = reckoned is not None and reckoned > _COUNTED_UP_TO
            stats.rows = reckoned if stats.about and reckoned is not None else _count(session, table)
            _sample(session, table, stats)
        except SourceDenied:
            stats.readable = False
            session.renew()
        stats_by_label[label] = stats
        emit(Event("source_read", {"items": len(stats_by_label)}))
    return stats_by_label


def words_in(session: Session, table: Table, column: str) -> list[str]:
    """The different values of a column, as far as they are few."""
    quoted, source = session.quote(column), source_of(session, table)
    rows = session.rows(f"SELECT DISTINCT {quoted} FROM {source} WHERE {quoted} IS NOT NULL LIMIT {MOST_WORDS}")  # noqa: S608  # quoted by the dialect
    return sorted(filter(None, (cell_of(row[0]) for row in rows)))


def personal_data_kind(column: Column, stats: ColumnStats | None) -> str:
    """What makes a column look like personal data: `identity-number`, `email`, `name`; empty if nothing does."""
    if stats is not None and stats.identity_numbers:
        return "identity-number"
    if stats is not None and stats.filled_count and stats.emails * 2 > stats.filled_count:
        return "email"
    return "name" if _PERSON_NAMES.search(column.name) else ""


def as_json(schema: Schema, stats_by_label: Mapping[str, TableStats]) -> dict[str, object]:
    """The profile as plain JSON values."""
    return {"tables": [_table_json(table, stats_by_label[label]) for label, table in schema.tables.items()]}


def _table_json(table: Table, stats: TableStats) -> dict[str, object]:
    documents = {item.column for item in usual_documents(table)}
    return {
        "name": table.label,
        "view": table.is_view,
        "readable": stats.readable,
        "rows": stats.rows,
        "about": stats.about,
        "bytes": stats.size_bytes,
        "key": list(table.key),
        "relations": [
            {
                "name": item.name,
                "columns": list(item.columns),
                "table": item.table.label,
                "referred": list(item.referred),
            }
            for item in table.relations
        ],
        "columns": [
            _column_json(column, stats.columns.get(column.name), stats.sampled, document=column.name in documents)
            for column in table.columns
        ],
    }


def _column_json(column: Column, stats: ColumnStats | None, sampled: int, *, document: bool) -> dict[str, object]:
    data: dict[str, object] = {
        "name": column.name,
        "type": column.declared_type,
        "kind": str(column.kind),
        "nullable": column.nullable,
        "document": document,
        "personal": personal_data_kind(column, stats),
    }
    if stats is not None:
        data |= {"sampled": sampled, "filled": stats.filled_count, "longest": stats.longest}
        data["codes"] = len(stats.codes) if stats.codes else 0
    return data


def _count(session: Session, table: Table) -> int:
    row = session.first_row(f"SELECT count(*) FROM {source_of(session, table)}")  # noqa: S608  # quoted by the dialect
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
    return {(str(row[0]), str(row[1])): (_optional_int(row[2]), _optional_int(row[3])) for row in rows}


def _optional_int(value: object) -> int | None:
    return None if value is None else int(str(value))


def _sample(session: Session, table: Table, stats: TableStats) -> None:
    for first in range(0, max(1, len(table.columns)), _AT_ONCE):
        _sample_columns(session, table, stats, table.columns[first : first + _AT_ONCE])


def _sample_columns(session: Session, table: Table, stats: TableStats, columns: Sequence[Column]) -> None:
    """Some columns of a table: no server answers with thousands of values for a row."""
    expressions = [part for column in columns for part in _sample_expressions(session, column)]
    source = source_of(session, table)
    rows = session.rows(f"SELECT {', '.join(expressions) or '1'} FROM {source} LIMIT {SAMPLE_ROWS}")  # noqa: S608  # quoted by the dialect
    stats.sampled = len(rows)
    for at, column in enumerate(columns):
        column_stats = stats.columns[column.name] = ColumnStats()
        convert = plain_converter(session.family, column.kind, bits=column.size or 0)
        for row in rows:
            value, length = row[2 * at], row[2 * at + 1]
            if value is not None and column.kind is not Kind.BYTES and convert is not None:
                value = convert(value)
            if len(column_stats.cells) < _MOST_CELLS:
                column_stats.cells.append("" if isinstance(value, bytes) else cell_of(value))
            if value is not None:
                _count_value(column_stats, value, int(str(length or 0)))


def _sample_expressions(session: Session, column: Column) -> Iterator[str]:
    """Two expressions: the beginning of the value, and the length of the whole."""
    quoted = session.quote(column.name)
    expression = select_expression(session.family, column, quoted)
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


def _count_value(stats: ColumnStats, value: object, length: int) -> None:
    stats.filled_count += 1
    stats.length += length
    stats.longest = max(stats.longest, length)
    if not isinstance(value, str):
        stats.codes = None
        return
    if next(find_identity_numbers(value), None) is not None:
        stats.identity_numbers += 1
    if _EMAIL.fullmatch(value):
        stats.emails += 1
    if _PATH.fullmatch(value):
        stats.paths += 1
        stats.slashes += "/" in value or "\\" in value
        if len(stats.examples) < 20:
            stats.examples.append(value)
    if stats.codes is not None:
        stats.codes[value] += 1
        if len(value) > _LONGEST_CODE or len(stats.codes) > _MOST_CODES:
            stats.codes = None

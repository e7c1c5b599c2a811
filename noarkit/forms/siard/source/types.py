"""What the columns of a live database are in SQL:2008, and how each is selected in the form that SIARD's XML has.

The server does the work: dates come with their `Z`, timestamps with `T`, in UTC. A column that holds what its own type
in SIARD cannot (dates before the year 1, infinity, NaN, zero dates, in SQLite whatever anybody put there) becomes one
of texts, for the whole table was asked before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from noarkit.forms.siard.model import Column as SiardColumn
from noarkit.forms.siard.types import sql_type
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.values import Kind

TEXT = "CHARACTER LARGE OBJECT"
BYTES = "BINARY LARGE OBJECT"
OBJECT = "object"
"""Held by a column of object ids of which one at least is a large object."""
_LONGEST_VARYING = 4_000
_SMALL_BYTES = 255
_INTEGERS = {"smallint": "SMALLINT", "int2": "SMALLINT", "tinyint": "SMALLINT", "year": "SMALLINT"}
_ELEMENTS = {
    **dict.fromkeys(("integer", "int4", "smallint"), "INTEGER"),
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "double precision": "DOUBLE PRECISION",
    "real": "REAL",
    "numeric": "DECIMAL",
}
_FIXED: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.INTERVAL: "INTERVAL YEAR TO SECOND",
    Kind.UUID: "CHARACTER(36)",
    Kind.XML: "XML",
    Kind.JSON: TEXT,
    Kind.GEOMETRY: TEXT,
    Kind.OTHER: TEXT,
    Kind.LARGE_OBJECT: BYTES,
}


@dataclass(frozen=True, slots=True)
class ColumnContents:
    """What the rows say of a column: `odd` holds values its own type cannot, `large` any that are not to be read at
    once, `classes` the classes of values that SQLite has in it; of an `oid`, whether any is a large object."""

    odd: bool = False
    large: bool = False
    classes: frozenset[str] = frozenset()


def siard_column(family: str, column: Column, contents: ColumnContents) -> SiardColumn:
    """The column as SIARD's metadata tell it."""
    array = column.kind is Kind.ARRAY and not contents.odd and _element(column) != TEXT
    return SiardColumn(
        column.name,
        type=_element(column) if array else sql_name(family, column, contents),
        type_original=column.domain or column.declared_type,
        nullable=column.nullable,
        default=column.default or column.generation,
        cardinality=0 if array else None,
        description=column.comment,
    )


def is_fallback(family: str, column: Column, contents: ColumnContents) -> bool:
    """True for a column that holds what its own type in SIARD cannot, so that it became one of texts or bytes."""
    if column.kind is Kind.ARRAY:
        return contents.odd or _element(column) == TEXT
    if family == SQLITE:
        dated = column.kind in (Kind.DATE, Kind.TIME, Kind.TIMESTAMP) and contents.classes == {"text"}
        mixed = len(contents.classes) > 1 and not contents.classes <= {"integer", "real"}
        return mixed or (contents.odd and (dated or "real" in contents.classes))
    return contents.odd


def sql_name(family: str, column: Column, contents: ColumnContents) -> str:
    """The type of a column."""
    if family == SQLITE:
        return _sqlite_name(column, contents)
    if column.kind is Kind.LARGE_OBJECT:
        return BYTES if OBJECT in contents.classes or not contents.odd else "BIGINT"
    if contents.odd:
        return TEXT
    kind = column.kind
    if kind is Kind.INTEGER:
        return _integer(column.declared_type.lower())
    if kind is Kind.DECIMAL:
        return _decimal(column)
    if kind is Kind.FLOAT:
        single = column.declared_type.lower().split("(")[0] in ("real", "float4", "float")
        return "REAL" if single and column.precision != 53 else "DOUBLE PRECISION"
    if kind in (Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE):
        return _moment(family, column)
    if kind is Kind.INTERVAL and " " in column.declared_type and sql_type(column.declared_type.upper()):
        return column.declared_type.upper()
    if kind is Kind.BYTES:
        small = column.size is not None and column.size <= _SMALL_BYTES and "blob" not in column.declared_type.lower()
        return f"BINARY VARYING({column.size})" if small else BYTES
    if kind in (Kind.TEXT, Kind.CHOICE, Kind.BITS):
        return _text(column)
    return _FIXED.get(kind, TEXT)


def _moment(family: str, column: Column) -> str:
    """A time or timestamp with as many digits of its seconds as the server keeps. Without a figure SQL means none for a
    time, and six for a timestamp."""
    zoned = column.kind is Kind.TIMESTAMP_ZONE or "with time zone" in column.declared_type.lower()
    name = f"{'TIME' if column.kind is Kind.TIME else 'TIMESTAMP'}{' WITH TIME ZONE' if zoned else ''}"
    digits = column.size
    if digits is None and family == MYSQL:
        digits = 0
    if column.kind is Kind.TIME:
        digits = 6 if digits is None and family == POSTGRESQL else digits
        return f"{name}({digits})" if digits else name
    return name if digits is None else f"{name}({digits})"


_FIGURES = re.compile(r"\(\d+\)")


def _bare(type_name: str) -> str:
    """The name of a type without the figures behind it."""
    return _FIGURES.sub("", type_name)


def _integer(type_name: str) -> str:
    word = type_name.split("(")[0].split()[0] if type_name else ""
    if "unsigned" in type_name and word == "bigint":
        return "DECIMAL(20)"
    if word in ("bigint", "int8", "bigserial") or ("unsigned" in type_name and word in ("int", "integer")):
        return "BIGINT"
    return _INTEGERS.get(word, "INTEGER")


def _decimal(column: Column) -> str:
    if column.precision is None or column.precision < 1 or (column.scale or 0) < 0:
        return "DECIMAL"
    return f"DECIMAL({column.precision},{column.scale or 0})"


def _text(column: Column) -> str:
    size = max(map(len, column.choices), default=0) or column.size
    if column.kind is Kind.CHOICE and column.declared_type.lower().startswith("set"):
        size = sum(len(choice) + 1 for choice in column.choices)
    if size is None or not 0 < size <= _LONGEST_VARYING or "text" in column.declared_type.lower():
        return TEXT if column.kind is not Kind.BITS else "CHARACTER VARYING(1)"
    is_fixed = column.declared_type.lower().startswith(("char(", "character("))
    return f"CHARACTER({size})" if is_fixed else f"CHARACTER VARYING({size})"


def _element(column: Column) -> str:
    word = column.declared_type.lower().removesuffix("[]").split("(")[0].strip()
    return _ELEMENTS.get(word, TEXT)


def _sqlite_name(column: Column, contents: ColumnContents) -> str:
    """By what the column holds; where it holds nothing, by what it says it would."""
    classes = contents.classes
    if not classes or classes == {"text"}:
        fitting = not contents.odd and column.kind in (Kind.DATE, Kind.TIME, Kind.TIMESTAMP)
        if fitting:
            return {Kind.DATE: "DATE", Kind.TIME: "TIME"}.get(column.kind, "TIMESTAMP")
        if not classes and column.kind in (Kind.INTEGER, Kind.FLOAT, Kind.BYTES, Kind.BOOLEAN):
            names = {Kind.INTEGER: "BIGINT", Kind.FLOAT: "DOUBLE PRECISION", Kind.BYTES: BYTES}
            return names.get(column.kind, "BOOLEAN")
        return TEXT
    if classes == {"integer"}:
        if column.kind is Kind.BOOLEAN and not contents.odd:
            return "BOOLEAN"
        return "BIGINT" if column.kind is not Kind.FLOAT else "DOUBLE PRECISION"
    if classes <= {"integer", "real"}:
        if classes == {"real"} and column.kind is not Kind.DECIMAL:
            return "DOUBLE PRECISION"
        if column.kind is Kind.FLOAT:
            return "DOUBLE PRECISION"
        return TEXT if contents.odd else "DECIMAL"  # which keeps 41 apart from 41.0, and every digit of both
    return BYTES if "blob" in classes else TEXT


def expression(family: str, column: Column, type_name: str, quoted: str) -> str:
    """What is selected, so that it comes in XML's own form or as what the writer knows."""
    if family == POSTGRESQL:
        return _postgresql(column, type_name, quoted)
    if family == MYSQL:
        return _mysql(column, type_name, quoted)
    if family == SQLITE:
        return _sqlite(column, type_name, quoted)
    return quoted


def _postgresql(column: Column, type_name: str, quoted: str) -> str:
    type_name = _bare(type_name)
    if type_name == "DATE":
        return f"CAST({quoted} AS text) || 'Z'"
    if type_name == "TIME":
        return f"CAST({quoted} AS text) || 'Z'"
    if type_name == "TIME WITH TIME ZONE":
        return f"CAST(CAST({quoted} AT TIME ZONE 'UTC' AS time) AS text) || 'Z'"
    if type_name == "TIMESTAMP":
        return f"REPLACE(CAST({quoted} AS text), ' ', 'T') || 'Z'"
    if type_name == "TIMESTAMP WITH TIME ZONE":
        return f"REPLACE(CAST(CAST({quoted} AT TIME ZONE 'UTC' AS timestamp) AS text), ' ', 'T') || 'Z'"
    if column.kind in (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN, Kind.TEXT, Kind.ARRAY) and type_name != TEXT:
        return quoted
    if column.kind is Kind.LARGE_OBJECT and type_name == "BIGINT":
        return f"CAST({quoted} AS bigint)"
    if column.kind in (Kind.BYTES, Kind.ARRAY, Kind.LARGE_OBJECT) and type_name != TEXT:
        return quoted
    return f"CAST({quoted} AS text)"


def _mysql(column: Column, type_name: str, quoted: str) -> str:
    type_name = _bare(type_name)
    if type_name in ("DATE", "TIME"):
        return f"CONCAT({quoted}, 'Z')"
    if type_name.startswith("TIMESTAMP"):
        return f"CONCAT(REPLACE({quoted}, ' ', 'T'), 'Z')"
    if column.kind is Kind.GEOMETRY:
        return f"ST_AsText({quoted})"
    if column.kind is Kind.BITS:
        return f"LPAD(BIN({quoted}), {column.size or 1}, '0')"
    if column.kind is Kind.BOOLEAN or (column.kind is Kind.INTEGER and type_name != TEXT):
        return quoted
    if type_name == TEXT and column.kind not in (Kind.TEXT, Kind.JSON, Kind.CHOICE):
        return f"CAST({quoted} AS CHAR)"
    return quoted


def _sqlite(column: Column, type_name: str, quoted: str) -> str:
    if type_name in ("DATE", "TIME"):
        return f"{quoted} || 'Z'"
    if type_name == "TIMESTAMP":
        return f"REPLACE({quoted}, ' ', 'T') || 'Z'"
    return quoted  # what is of several classes is made of one here: SQLite would cut its numbers


def oddness(family: str, column: Column, quoted: str) -> str | None:
    """The question whether one value is beyond what the column's own type in SIARD can hold; None if none can be."""
    if family == POSTGRESQL:
        return _odd_in_postgresql(column, quoted)
    if family == MYSQL:
        if column.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE):
            return f"(DAYOFMONTH({quoted}) = 0 OR MONTH({quoted}) = 0 OR YEAR({quoted}) = 0)"
        if column.kind is Kind.TIME:
            return f"(TIME_TO_SEC({quoted}) < 0 OR TIME_TO_SEC({quoted}) >= 86400)"
        return None
    if column.kind is Kind.DATE:
        return f"date({quoted}, '+0 days') IS NOT {quoted}"  # which turns the 30th of February into a March
    if column.kind is Kind.TIME:
        return f"(time({quoted}) IS NOT substr({quoted}, 1, 8) OR length({quoted}) NOT IN (8, 10, 11, 12, 13, 14, 15))"
    if column.kind is Kind.TIMESTAMP:
        plain = f"replace(substr({quoted}, 1, 19), 'T', ' ')"
        fraction = f"substr({quoted}, 20)"
        digits = f"{fraction} = '' OR ({fraction} GLOB '.[0-9]*' AND substr({fraction}, 2) NOT GLOB '*[^0-9]*')"
        return f"(datetime({plain}, '+0 days') IS NOT {plain} OR NOT ({digits}))"
    if column.kind is Kind.BOOLEAN:
        return f"{quoted} NOT IN (0, 1)"
    least, most = "-1.7976931348623157e308", "1.7976931348623157e308"  # infinity is no decimal
    return f"(typeof({quoted}) = 'real' AND {quoted} NOT BETWEEN {least} AND {most})"  # abs() fails for -2**63


def _odd_in_postgresql(column: Column, quoted: str) -> str | None:
    if column.kind is Kind.DATE:
        return f"({quoted} < DATE '0001-01-01' OR {quoted} > DATE '9999-12-31')"
    if column.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE):
        plain = quoted if column.kind is Kind.TIMESTAMP else f"({quoted} AT TIME ZONE 'UTC')"
        return f"({plain} < TIMESTAMP '0001-01-01' OR {plain} >= TIMESTAMP '10000-01-01')"
    if column.kind is Kind.TIME:
        return f"CAST({quoted} AS text) LIKE '24:%%'"
    if column.kind is Kind.DECIMAL:
        return f"CAST({quoted} AS text) IN ('NaN', 'Infinity', '-Infinity')"
    if column.kind is Kind.INTERVAL:
        return f"CAST({quoted} AS text) LIKE '%%-%%'"
    if column.kind is Kind.LARGE_OBJECT:
        return f"NOT {is_object(quoted)}"
    return _odd_array(column, quoted) if column.kind is Kind.ARRAY else None


def is_object(quoted: str) -> str:
    """The question whether the number of a column is that of a large object."""
    return f"(CAST({quoted} AS oid) IN (SELECT m.oid FROM pg_catalog.pg_largeobject_metadata m))"  # noqa: S608  # quoted


def _odd_array(column: Column, quoted: str) -> str:
    """Arrays of arrays, those that do not begin at 1, and decimals that are no numbers."""
    shape = f"array_ndims({quoted}) > 1 OR array_lower({quoted}, 1) <> 1"
    if _element(column) != "DECIMAL":
        return f"({shape})"
    text_sql = f"CAST({quoted} AS text)"
    return f"({shape} OR {text_sql} LIKE '%%NaN%%' OR {text_sql} LIKE '%%Infinity%%')"

"""What a column's values are, and the plain form in which recipes and packages see them.

A neutral value is one of: None, bool, int, float, Decimal, str, bytes, list. Dates, times and timestamps are ISO texts
(`2024-01-02`, `13:37:00.5`, `2024-01-02T13:37:00.5`, with zone in UTC: `…+00:00`; years before 1 keep the server's
own words), intervals ISO 8601 durations, bits texts of 0 and 1, geometry WKT, JSON its own text, UUIDs texts.
`plain` makes of it what expressions may see: bytes in hexadecimal, JSON as lists and mappings.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum

from sqlalchemy.sql import sqltypes
from sqlalchemy.types import TypeEngine

from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE


class Kind(StrEnum):
    """What kind of value a column holds, whatever the server calls it."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    CHOICE = "choice"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMP_ZONE = "timestamp with zone"
    INTERVAL = "interval"
    UUID = "uuid"
    BYTES = "bytes"
    BITS = "bits"
    JSON = "json"
    XML = "xml"
    ARRAY = "array"
    GEOMETRY = "geometry"
    LARGE_OBJECT = "large object"
    OTHER = "other"


Convert = Callable[[object], object]

_POSTGRESQL = {
    "oid": Kind.LARGE_OBJECT,
    "uuid": Kind.UUID,
    "xml": Kind.XML,
    "json": Kind.JSON,
    "jsonb": Kind.JSON,
    "bit": Kind.BITS,
    "bit varying": Kind.BITS,
    "varbit": Kind.BITS,
    "interval": Kind.INTERVAL,
    "bytea": Kind.BYTES,
    "money": Kind.OTHER,
    "geometry": Kind.GEOMETRY,
    "geography": Kind.GEOMETRY,
    **dict.fromkeys(("point", "line", "lseg", "box", "path", "polygon", "circle"), Kind.GEOMETRY),
}
_MYSQL = {
    **dict.fromkeys(("geometry", "point", "linestring", "polygon", "multipoint"), Kind.GEOMETRY),
    **dict.fromkeys(("multilinestring", "multipolygon", "geometrycollection", "geomcollection"), Kind.GEOMETRY),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary"), Kind.BYTES),
    "bit": Kind.BITS,
    "enum": Kind.CHOICE,
    "set": Kind.CHOICE,
    "timestamp": Kind.TIMESTAMP_ZONE,
    "datetime": Kind.TIMESTAMP,
    "time": Kind.TIME,
    "year": Kind.INTEGER,
    "json": Kind.JSON,
    "uuid": Kind.UUID,
    "inet4": Kind.OTHER,
    "inet6": Kind.OTHER,
}
_MYSQL_TIME = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(\.\d+)?")
_PLAIN_MOMENT = re.compile(r"\d{4}-\d\d-\d\d [^A-Z]*$")
_ZONE = re.compile(r"([+-]\d\d)(?::?(\d\d))?$")


def kind_of(family: str, declared_type: str, reflected: TypeEngine[object]) -> Kind:
    """The kind of a column, by the type the server declares and what SQLAlchemy makes of it."""
    word = declared_type.lower().split("(")[0].strip()
    if declared_type.endswith("[]") or isinstance(reflected, sqltypes.ARRAY):
        return Kind.ARRAY
    if family == POSTGRESQL and word.startswith("interval "):  # of some fields alone
        word = "interval"
    mapped_kind = {POSTGRESQL: _POSTGRESQL, MYSQL: _MYSQL}.get(family, {}).get(word.removesuffix(" unsigned"))
    if mapped_kind is not None:
        return mapped_kind
    for shape, kind in _SHAPES:
        if isinstance(reflected, shape):
            if kind is Kind.TIMESTAMP and getattr(reflected, "timezone", False):
                return Kind.TIMESTAMP_ZONE
            return kind
    return Kind.TEXT if family == SQLITE and not word else Kind.OTHER


_SHAPES: tuple[tuple[type[object], Kind], ...] = (
    (sqltypes.Boolean, Kind.BOOLEAN),
    (sqltypes.Integer, Kind.INTEGER),
    (sqltypes.Float, Kind.FLOAT),
    (sqltypes.Numeric, Kind.DECIMAL),
    (sqltypes.DateTime, Kind.TIMESTAMP),
    (sqltypes.Date, Kind.DATE),
    (sqltypes.Time, Kind.TIME),
    (sqltypes.Interval, Kind.INTERVAL),
    (sqltypes.Uuid, Kind.UUID),
    (sqltypes.JSON, Kind.JSON),
    (sqltypes.Enum, Kind.CHOICE),
    (sqltypes._Binary, Kind.BYTES),
    (sqltypes.String, Kind.TEXT),
)


def expression(family: str, declared_type: str, kind: Kind, quoted: str) -> str:
    """What is selected for a column: itself, or the text of what a driver has no words for."""
    word = declared_type.lower().split("(")[0].strip()
    if kind is Kind.GEOMETRY and (family == MYSQL or word in ("geometry", "geography")):
        return f"ST_AsText({quoted})"
    if kind is Kind.GEOMETRY or (family == POSTGRESQL and kind in (Kind.OTHER, Kind.CHOICE, Kind.XML)):
        return f"CAST({quoted} AS text)"
    return quoted


def converter(family: str, kind: Kind, *, bits: int = 0) -> Convert | None:
    """What makes a driver's value (never None) neutral; None if it is so already."""
    if family == SQLITE:
        return _SQLITE.get(kind)
    if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE):
        return _zoned if kind is Kind.TIMESTAMP_ZONE else _timestamp
    if kind is Kind.INTERVAL and family not in (POSTGRESQL, MYSQL):
        return _plain_object
    if kind is Kind.BITS and family == MYSQL:
        return lambda value: _bits(value, bits)
    if kind is Kind.TIME and family == MYSQL:
        return _mysql_time
    if kind is Kind.ARRAY:
        return _array
    if family in (POSTGRESQL, MYSQL) and kind not in (Kind.OTHER, Kind.FLOAT):
        return None
    return _plain_object


def plain_converter(family: str, kind: Kind, *, bits: int = 0) -> Convert | None:
    """What makes a driver's value (never None) plain: as `plain` of the neutral one."""
    first = converter(family, kind, bits=bits)
    if family == SQLITE:  # any column may hold any kind of value there
        return lambda value: plain(value if first is None else first(value), kind)
    if kind in (Kind.INTEGER, Kind.BOOLEAN, Kind.TEXT, Kind.DATE, Kind.CHOICE, Kind.UUID) and first is None:
        return None
    if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE, Kind.TIME):
        return first
    if kind is Kind.DECIMAL and first is None:
        return _plain_decimal
    return lambda value: plain(value if first is None else first(value), kind)


def plain_types(family: str, kind: Kind, *, bits: int = 0) -> frozenset[type]:
    """The types of a driver's values that `plain_converter` leaves as they are, so that it need not be asked."""
    if family != SQLITE or converter(family, kind, bits=bits) is not None:
        return frozenset()
    return frozenset({int}) if kind is Kind.JSON else frozenset({int, str})


def plain(value: object, kind: Kind) -> object:
    """A neutral value as recipes see it: texts, numbers, flags, none, lists and mappings."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return value if value.is_finite() else str(value)
    if kind is Kind.JSON and isinstance(value, str):
        try:
            json_value: object = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return json_value
    if isinstance(value, list):
        return [plain(part, Kind.OTHER) for part in value]
    return value


def _plain_decimal(value: object) -> object:
    """The same for a column of decimals: nearly all are finite."""
    return value if value.__class__ is Decimal and value.is_finite() else plain(value, Kind.DECIMAL)


def text_of(value: object) -> str:
    """A plain value as a person reads it in a list of values."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _timestamp(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    return f"{text[:10]}T{text[11:]}" if _PLAIN_MOMENT.match(text) else text


def _zoned(value: object) -> object:
    """With its offset, which is always UTC in our sessions."""
    text = str(_timestamp(value))
    match = _ZONE.search(text, 11)
    if match is None:
        return f"{text}+00:00" if len(text) > 10 and text[10] == "T" else text
    return f"{text[: match.start()]}{match[1]}:{match[2] or '00'}"


def _mysql_time(value: object) -> object:
    """A time of day; what is longer than a day, or below none, is a duration."""
    if isinstance(value, timedelta):
        value = str(value)
    match = _MYSQL_TIME.fullmatch(str(value))
    if match is None:
        return str(value)
    sign, hours, minutes, seconds, fraction = match.groups()
    if sign or int(hours) > 23:
        return f"{sign}PT{int(hours)}H{int(minutes)}M{int(seconds)}{(fraction or '').rstrip('0').rstrip('.')}S"
    return f"{int(hours):02}:{minutes}:{seconds}{(fraction or '').rstrip('0').rstrip('.')}"


def _bits(value: object, bits: int) -> object:
    if isinstance(value, bytes):
        return format(int.from_bytes(value, "big"), f"0{max(bits, 1)}b")
    return str(value)


def _array(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_array(part) for part in value]
    return None if value is None else _plain_object(value)


def _plain_object(value: object) -> object:
    """A value of a driver nobody knows, in one of our forms."""
    if isinstance(value, bool | int | float | str | Decimal | bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return _array(value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _flag(value: object) -> object:
    return bool(value) if value in (0, 1) else value


_SQLITE: dict[Kind, Convert] = {Kind.BOOLEAN: _flag, Kind.TIMESTAMP: _timestamp, Kind.TIMESTAMP_ZONE: _zoned}

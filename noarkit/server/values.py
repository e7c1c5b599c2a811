"""Converts values between their wire form and their stored form.

A request may write one value in several ways; the archive stores one. A timestamp without a zone, a date where a
timestamp belongs, and "today" are read in the archive's own zone, Europe/Oslo, because that is what a Norwegian client
that leaves the zone out means. Answers always carry UTC with exactly three fraction digits: `2024-01-02T02:04:05.678Z`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo

import orjson

from noarkit.model import Field

Stored = int | float | str | None

ARCHIVE_ZONE = "Europe/Oslo"
INTEGER_MAX = 2**63 - 1
INTEGER_MIN = -(2**63)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ](?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?P<fraction>[.,][0-9]{1,9})?)?)"
    r"(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}(?:\.0{1,9})?")
_EARLIEST_MS = -62_135_596_800_000
_LATEST_MS = 253_402_300_799_999


class BadValue(Exception):
    """A value that does not fit; the text says what would, without saying where it stood."""


def converter(field: Field) -> Callable[[object], Stored]:
    """The function that converts a non-null request value of `field` to its stored form, or raises BadValue."""
    if not field.values:
        return CONVERTERS[field.kind]
    choices = frozenset(field.values)

    def one_of(value: object) -> Stored:
        if not isinstance(value, str) or value not in choices:
            raise BadValue(f"takes one of {', '.join(field.values)}")
        return text(value)

    return one_of


def text(value: object) -> str:
    """A string that can be stored and read again anywhere: no NUL, no half of a surrogate pair."""
    if not isinstance(value, str):
        raise BadValue("takes a string")
    if "\x00" in value:
        raise BadValue("holds a NUL character")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise BadValue("holds half of a surrogate pair")
    return value


def whole_number(value: object) -> int:
    """A whole number of 64 bits, also written as a string or with a zero fraction."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value.partition(".")[0])
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadValue("takes a whole number")
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise BadValue("takes a number of at most 64 bits")
    return value


def truth(value: object) -> int:
    """0 or 1, from true and false or their names."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return int(value.lower() == "true")
    raise BadValue("takes true or false")


def timestamp(value: object) -> int:
    """Milliseconds since 1970 UTC; finer fractions are cut off."""
    if not isinstance(value, str):
        raise BadValue("takes an ISO 8601 timestamp as a string")
    return _timestamp(value)


def day(value: object) -> str:
    """`YYYY-MM-DD`; a timestamp with a zone gives the day it was in the archive's zone."""
    if not isinstance(value, str):
        raise BadValue("takes an ISO 8601 date as a string")
    return _day(value)


def shorten(word: str) -> str:
    """A caller's own word, short and whole enough to stand in a sentence."""
    return word[:80].encode("utf-8", "replace").decode()


def format_timestamp(timestamp_ms: int) -> str:
    """`yyyy-mm-ddTHH:MM:SS.mmmZ`, the one form every known client reads."""
    return _format_timestamp(timestamp_ms)


def day_of(timestamp_ms: int) -> str:
    """The day in the archive's zone at a moment."""
    return _local(timestamp_ms).date().isoformat()


def year_of(timestamp_ms: int) -> int:
    """The year in the archive's zone at a moment."""
    return _local(timestamp_ms).year


def to_wire(kind: str, value: Stored) -> object:
    """The answer's form of a stored value."""
    if value is None:
        return None
    render = RENDERERS.get(kind)
    return render(value) if render else value


def _json_object(value: object) -> str:
    if not isinstance(value, dict):
        raise BadValue("takes an object")
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        raise BadValue("holds what cannot be written as JSON") from None


@lru_cache(maxsize=4096)
def _timestamp(value: str) -> int:
    match = _MOMENT.fullmatch(value)
    if not match:
        raise BadValue("takes a timestamp like 2024-01-02T03:04:05.678+0100")
    try:
        moment = _moment(match)
    except ValueError:
        raise BadValue("is no moment in the calendar") from None
    timestamp_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    if not _EARLIEST_MS <= timestamp_ms <= _LATEST_MS:
        raise BadValue("is no moment in the calendar")
    return timestamp_ms


def _moment(match: re.Match[str]) -> datetime:
    clock = match["clock"] or "00:00"
    fraction = (match["fraction"] or "")[1:7].ljust(6, "0")
    plain = datetime.fromisoformat(f"{match['day']}T{clock[:8]}").replace(microsecond=int(fraction))
    zone = match["zone"]
    if not zone:
        return plain.replace(tzinfo=_zone())
    return plain.replace(tzinfo=UTC if zone in "Zz" else datetime.strptime(zone, "%z").tzinfo)


@lru_cache(maxsize=4096)
def _day(value: str) -> str:
    match = _MOMENT.fullmatch(value)
    if not match:
        raise BadValue("takes a date like 2024-01-02")
    if match["zone"]:
        return day_of(_timestamp(value))
    try:
        return date.fromisoformat(match["day"]).isoformat()
    except ValueError:
        raise BadValue("is no day in the calendar") from None


@lru_cache(maxsize=4096)
def _format_timestamp(timestamp_ms: int) -> str:
    return (_NAIVE_EPOCH + timedelta(milliseconds=timestamp_ms)).isoformat(timespec="milliseconds") + "Z"


def _local(timestamp_ms: int) -> datetime:
    try:
        return (_EPOCH + timedelta(milliseconds=timestamp_ms)).astimezone(_zone())
    except OverflowError:
        return _EPOCH + timedelta(milliseconds=timestamp_ms)


@cache
def _zone() -> ZoneInfo:
    return ZoneInfo(ARCHIVE_ZONE)


CONVERTERS: Mapping[str, Callable[[object], Stored]] = MappingProxyType(
    {
        "string": text,
        "timestamp": timestamp,
        "date": day,
        "number": whole_number,
        "boolean": truth,
        "object": _json_object,
    }
)

# The functions that render stored values for answers, by kind; other kinds are rendered as they are stored.
RENDERERS: Mapping[str, Callable[[Stored], object]] = MappingProxyType(
    {
        "timestamp": lambda stored: _format_timestamp(int(stored or 0)),
        "boolean": bool,
        "object": lambda stored: orjson.loads(str(stored)),
    }
)

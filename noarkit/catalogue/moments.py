"""Moments as every look shows them: in one zone, with its offset, however a place wrote them.

A moment without an offset is one of that zone, as extracts write theirs. A day, and what is no moment, stays as it is.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


def zoned(text: str, zone: str) -> datetime | None:
    """A moment in a zone; None for a day, and for what is no moment."""
    if _MOMENT.fullmatch(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
        return moment.replace(tzinfo=_zone(zone)) if moment.tzinfo is None else moment.astimezone(_zone(zone))
    except (ValueError, OverflowError):
        return None


def exact(text: str, zone: str) -> str:
    """A moment with the offset of a zone: `2026-01-22T10:12:03+01:00`. Anything else as it is."""
    moment = zoned(text, zone)
    return text if moment is None else moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def spoken(text: str, zone: str) -> str:
    """A moment as lines and tables show it: `2026-01-22 10:12:03 CET`. A day, and what is no moment, as it is."""
    moment = zoned(text, zone)
    return text if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} {zone_name(moment)}"


def spoken_apart(left: object, right: object, zone: str) -> tuple[object, object]:
    """Two values that differ, moments among them as `spoken`; as they are where they would look the same then."""
    shown = tuple(spoken(value, zone) if isinstance(value, str) else value for value in (left, right))
    return (left, right) if shown[0] == shown[1] else (shown[0], shown[1])


def zone_name(moment: datetime) -> str:
    """What people call the offset of a moment: CET, else UTC+03:30."""
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    offset = f"{moment:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"


@lru_cache(maxsize=50)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)

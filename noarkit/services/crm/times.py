"""Times as the CRM tells them, with an offset; one that is missing or cannot be understood is none, never a fault."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from noarkit.safe.clocks import utc_text


def stated_time(value: object) -> datetime | None:
    """Parses a time with the offset that it was told with, if any; None if it is no time."""
    try:
        return datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None


def parse_time(value: object) -> datetime | None:
    """Parses a time, in UTC; one without an offset is taken to be in UTC. None if it is no time.

    >>> parse_time("2026-01-02T03:04:05+01:00")
    datetime.datetime(2026, 1, 2, 2, 4, 5, tzinfo=datetime.timezone.utc)
    """
    moment = stated_time(value)
    try:
        return moment.astimezone(UTC) if moment and moment.tzinfo else moment and moment.replace(tzinfo=UTC)
    except OverflowError:
        return None


def utc_or_none(value: object) -> str | None:
    """Formats a time as texts of recipes have it; None if it is no time."""
    moment = parse_time(value)
    return None if moment is None else utc_text(moment)


def is_changed(value: object, since: datetime | None) -> bool:
    """True if a time of change lies in the window from `since`. What has no such time counts as changed."""
    moment = parse_time(value)
    return since is None or moment is None or moment >= since


def clock_lag(date_header: str, now_s: float) -> timedelta:
    """Returns how far the service's clock is behind ours, by the `Date` of an answer; zero if that is not known."""
    try:
        there = parsedate_to_datetime(date_header)
    except ValueError:
        return timedelta()
    lag_s = now_s - there.timestamp() if there.tzinfo else 0.0
    return timedelta(seconds=max(0.0, lag_s - 1.0))  # it is told in whole seconds

"""A clock that goes on while the machine sleeps, and how moments are written."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime


def boot_s() -> float:
    """Seconds of a clock that nobody sets, and that goes on while the machine sleeps, where the system has one."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def iso_seconds(at_s: float) -> str:
    """Seconds since 1970 as a moment in UTC, in whole seconds."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def utc_text(moment: datetime) -> str:
    """A moment in UTC, to the millisecond, as RFC 3339 writes it.

    >>> utc_text(datetime.fromisoformat("2024-01-02T04:04:05.678901+01:00"))
    '2024-01-02T03:04:05.678Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

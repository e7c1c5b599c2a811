"""The limits a user sets on a run: a time to stop, a number of faults, a part of the source that may have changed.

A limit that is reached asks the run to stop in good order; it never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from noarkit.errors import UsageFault
from noarkit.events import Event
from noarkit.loading.stopping import StopRequest

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})\Z")
_MOVED = frozenset({"F202", "F203"})
_MOST_MOVED = 0.10
_LEAST_MOVED = 10


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """How many items may be set aside or refused in one go: a number, or a share of the records planned."""

    number: int | None = None
    share: float | None = None

    def is_reached(self, errors: int, records: int) -> bool:
        """True if so many errors reach the limit."""
        if self.number is not None:
            return errors > self.number
        return self.share is not None and errors > self.share * records


def parse_error_limit(text: str) -> ErrorLimit:
    """`50` is a number, `1%` a share. Raises `UsageFault`."""
    bare = text.strip()
    try:
        if bare.endswith("%"):
            share = float(bare[:-1].strip().replace(",", ".")) / 100
            if 0 <= share <= 1:
                return ErrorLimit(share=share)
        elif bare.isdecimal():
            return ErrorLimit(number=int(bare))
    except ValueError:
        pass
    raise UsageFault(what="bad-limit", where=f"--max-errors {text}")


def parse_until(text: str, now: datetime, zone: tzinfo) -> datetime:
    """`06:00` is the next time a clock in `zone` shows that; `2026-11-23T06:00` a moment. Raises `UsageFault`."""
    match = _CLOCK.match(text.strip())
    try:
        if match is None:
            moment = datetime.fromisoformat(text.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=zone)
        clock_time = time(int(match[1]), int(match[2]))
    except ValueError as error:
        raise UsageFault(what="bad-time", where=f"--until {text}") from error
    local_now = now.astimezone(zone)
    moment = datetime.combine(local_now.date(), clock_time, zone)
    return moment if moment > local_now else datetime.combine(local_now.date() + timedelta(days=1), clock_time, zone)


class RunLimits:
    """Stops a run at its limits. Call it after every round; `count_fault` is its listener."""

    def __init__(
        self,
        stop_request: StopRequest,
        records: int,
        now_s: Callable[[], float],
        *,
        until: datetime | None = None,
        most_errors: ErrorLimit | None = None,
    ) -> None:
        self._stopping = stop_request
        self._records = records
        self._now_s = now_s
        self._until = until
        self._most = most_errors or ErrorLimit()
        self._errors = 0
        self._moved = 0

    def count_fault(self, event: Event, /) -> None:
        """Counts what is set aside or refused."""
        if event.name in ("set_aside", "refused"):
            self._errors += 1
            self._moved += event.data.get("code") in _MOVED

    def __call__(self) -> None:
        """Asks for a stop where a limit is reached."""
        if self._until is not None and datetime.fromtimestamp(self._now_s(), UTC) >= self._until:
            self._stopping.ask("until")
        if self._most.is_reached(self._errors, self._records):
            self._stopping.ask("max-errors")
        if self._moved >= _LEAST_MOVED and self._moved > _MOST_MOVED * self._records:
            self._stopping.ask("source-changed")

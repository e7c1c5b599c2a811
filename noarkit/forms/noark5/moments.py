"""Times of the archive as XML of an extract has them: in one zone, without offset, which every known reader takes.

Only in the hour that a clock change repeats is the offset given, since nothing else tells the second from the first.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

_WHOLE_HOURS_SINCE = "1900"
_MOST_REMEMBERED = 100_000


class Moments:
    """Turns timestamps (UTC, `2024-01-02T02:04:05.678Z`) into local ones.

    `local` gives the xs:dateTime of a timestamp; a date becomes its midnight. Hours and moments it met are remembered.
    """

    def __init__(self, zone: str) -> None:
        self._zone = ZoneInfo(zone)
        self._hours: dict[str, str] = {}
        self.local: Callable[[object], str] = _LocalTimeCache(self._local_time).__getitem__

    def _local_time(self, value: object) -> str:
        text = str(value)
        hour = self._hours.get(text[:13])
        if hour is not None and text[-1] == "Z":
            tail = text[13:-1]
            return hour + (tail[:-4] if tail.endswith(".000") else tail)
        return self._convert(text)

    def day(self, value: object) -> str:
        """The xs:date of a date or timestamp."""
        text = str(value)
        return text[:10] if len(text) < 12 else self.local(text)[:10]

    def years_later(self, value: object, years: object) -> str:
        """The xs:date so many years after a date or timestamp; the last day there is where that is too far."""
        began = date.fromisoformat(self.day(value))
        year = min(began.year + (years if isinstance(years, int) else 0), 9999)
        try:
            return began.replace(year=year).isoformat()
        except ValueError:
            return began.replace(year=year, day=28).isoformat()

    def _convert(self, text: str) -> str:
        if len(text) < 12:
            return f"{text[:10]}T00:00:00"
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return text
        zoned = moment.astimezone(self._zone)
        if (
            zoned.fold
        ):  # the second of the two hours that a clock change makes of one; without offset it would be the first
            return zoned.isoformat(timespec="milliseconds" if zoned.microsecond else "seconds")
        local = zoned.replace(tzinfo=None)
        offset = (local - moment.astimezone(UTC).replace(tzinfo=None)).total_seconds()
        if text >= _WHOLE_HOURS_SINCE and offset % 3600 == 0 and text[-1] == "Z":
            self._hours[text[:13]] = local.isoformat()[:13]
            if len(self._hours) > 1_000_000:
                self._hours.clear()
        return local.isoformat(timespec="milliseconds" if local.microsecond else "seconds")


class _LocalTimeCache(dict[object, str]):
    """What a function gave for the values met lately."""

    def __init__(self, compute: Callable[[object], str]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, value: object) -> str:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        result = self[value] = self._compute(value)
        return result

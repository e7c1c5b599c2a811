"""Which runs of a folder are kept: the last ones, those of a span of time, one for each day, week, month or year.

As in programs for backups, each rule keeps what it names, and a run goes only if no rule keeps it. The rules look at
proven runs alone, by the time they were proven; a run that is not proven stays in any case, and takes no other's place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from noarkit.errors import UsageFault

DAY_S = 86_400
_UNITS = {"y": 365 * DAY_S, "m": 30 * DAY_S, "w": 7 * DAY_S, "d": DAY_S, "h": 3_600}
_SPAN = re.compile(r"(?:(\d+)([ymwdh]))+\Z")
_PART = re.compile(r"(\d+)([ymwdh])")

_PERIODS: Mapping[str, Callable[[datetime], tuple[int, ...]]] = {
    "daily": lambda at: (at.year, at.month, at.day),
    "weekly": lambda at: tuple(at.isocalendar()[:2]),
    "monthly": lambda at: (at.year, at.month),
    "yearly": lambda at: (at.year,),
}


@dataclass(frozen=True, slots=True)
class KeepPolicy:
    """How many runs are kept by each rule, and those of how many seconds."""

    last: int = 0
    within_s: float = 0.0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0
    yearly: int = 0

    @property
    def is_empty(self) -> bool:
        """True where nothing would be kept."""
        return not any((self.last, self.within_s, self.daily, self.weekly, self.monthly, self.yearly))

    def reasons(self, moments_s: Sequence[float], now_s: float) -> list[tuple[str, ...]]:
        """For each run, by the time it was proven, the rules that keep it; none for one that may go."""
        newest_first = sorted(range(len(moments_s)), key=lambda n: (-moments_s[n], n))
        rules: list[list[str]] = [[] for _ in moments_s]
        for place, n in enumerate(newest_first):
            if place < self.last:
                rules[n].append("last")
            if self.within_s and now_s - moments_s[n] <= self.within_s:
                rules[n].append("within")
        for name, period_of in _PERIODS.items():
            most, periods = int(getattr(self, name)), set[tuple[int, ...]]()
            for n in newest_first:
                period = period_of(datetime.fromtimestamp(moments_s[n], UTC))
                if period not in periods and len(periods) < most:
                    periods.add(period)
                    rules[n].append(name)
        return [tuple(names) for names in rules]


def parse_span(text: str, where: str) -> float:
    """The seconds of a span such as `90d`, `2y6m` or `36h`: a year is 365 days, a month 30. Raises `UsageFault`."""
    if _SPAN.match(text.strip().lower()) is None:
        raise UsageFault(what="span-form", where=f"{where} {text}")
    return float(sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text.strip().lower())))

"""Days in which files were copied rather than written: the times of such files say when that was, and nothing else.

    times = FileTimes(latest_year=2026)
    times.add_file("01 Brev.docx", modified_ns)          every file
    times.add_folder("2014-0007 Høring")                 every folder
    times.wave()   ->   ("2026-03-02", "2026-03-04")

A wave is three days at most. It stands out if a fifth of all files bear times of it while most others are older by a
year; or if all that is younger by a year than the newest year in a name is of these days.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta

_DAY_NS = 86_400 * 1_000_000_000
_LONGEST_DAYS = 3
_LEAST_FILES = 30
_LEAST_LATE = 5
_LEAST_SHARE = 0.2
_LEAST_SHARE_LATE = 0.9
_YEAR_DAYS = 366
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_EPOCH = date(1970, 1, 1)
_DAYS = range((date(1900, 1, 1) - _EPOCH).days, (date(2200, 1, 1) - _EPOCH).days)


class FileTimes:
    """How many files were changed on which day, and the newest year in a name, but none after `latest_year`."""

    def __init__(self, latest_year: int) -> None:
        self._latest_year = latest_year
        self._newest_year = 0
        self._files: Counter[int] = Counter()

    def add_file(self, name: str, modified_ns: int) -> None:
        """One file more."""
        self.add_folder(name)
        day = modified_ns // _DAY_NS
        if day in _DAYS:
            self._files[day] += 1

    def add_folder(self, name: str) -> None:
        """One folder more."""
        for text in _YEAR.findall(name):
            year = int(text)
            if self._newest_year < year <= self._latest_year:
                self._newest_year = year

    def wave(self) -> tuple[str, ...]:
        """The first and the last day of a wave of copying; nothing where none stands out."""
        total = self._files.total()
        if total < _LEAST_FILES:
            return ()
        first, count = _densest(self._files)
        older = sum(number for day, number in self._files.items() if day < first - _YEAR_DAYS)
        if count >= _LEAST_SHARE * total and 2 * older > total - count:
            return _days(first)
        last_named_day = (date(self._newest_year or self._latest_year, 12, 31) - _EPOCH).days
        late = Counter({day: number for day, number in self._files.items() if day > last_named_day + _YEAR_DAYS})
        if late.total() >= _LEAST_LATE:
            first, count = _densest(late)
            if count >= _LEAST_SHARE_LATE * late.total():
                return _days(first)
        return ()


def _densest(files: Counter[int]) -> tuple[int, int]:
    """The first of the days with most files, and how many."""
    sums = {day: sum(files.get(day + more, 0) for more in range(_LONGEST_DAYS)) for day in files}
    first = min(sums, key=lambda day: (-sums[day], day))
    return first, sums[first]


def _days(first: int) -> tuple[str, ...]:
    return tuple((_EPOCH + timedelta(days=first + more)).isoformat() for more in (0, _LONGEST_DAYS - 1))

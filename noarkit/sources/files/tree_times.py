"""What the names and times in a tree say of its years: days in which files were copied, and how old each folder is.

    times = TreeTimes(latest_year=2026)
    times.enter(("Saker", "2014-0007 Høring"))           every folder, before its files
    times.add_file("01 Brev.docx", modified_ns)
    times.wave()       ->   ("2026-03-02", "2026-03-04")
    times.folders(2)   ->   [Folder("2014-0007 Høring", frozenset({2014}))]

Files are copied in waves, of three days at most, and their times then say when that was, and nothing else. A wave
stands out if a fifth of all files bear times of it while most others are older by a year; or if all that is younger by
a year than the newest year in a name is of these days.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta

from noarkit.sources.files.case_names import Folder
from noarkit.sources.files.dates import day_in_name

_DAY_NS = 86_400 * 1_000_000_000
_LONGEST_DAYS = 3
_LEAST_FILES = 30
_LEAST_LATE = 5
_LEAST_SHARE = 0.2
_LEAST_SHARE_LATE = 0.9
_YEAR_DAYS = 366
_MOST_FOLDERS = 1_000
_MOST_DAYS = 50
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_EPOCH = date(1970, 1, 1)
_DAYS = range((date(1900, 1, 1) - _EPOCH).days, (date(2200, 1, 1) - _EPOCH).days)


@dataclass(slots=True)
class _FolderDays:
    """The days that the files below a folder are of: some by their names, some by their times."""

    named: set[str] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)


class TreeTimes:
    """Is told of all folders and files of a tree; no year in a name counts that is later than `latest_year`. Of each
    level the first folders are remembered."""

    def __init__(self, latest_year: int) -> None:
        self._latest_year = latest_year
        self._newest_year = 0
        self._files: Counter[int] = Counter()
        self._levels: list[dict[tuple[str, ...], _FolderDays]] = []
        self._above: list[_FolderDays] = []

    def enter(self, steps: tuple[str, ...]) -> None:
        """One folder more, by the names on the way to it; the files that follow are its own."""
        self._above = []
        for depth in range(1, len(steps) + 1):
            if len(self._levels) < depth:
                self._levels.append({})
            level, place = self._levels[depth - 1], steps[:depth]
            if place not in level and len(level) < _MOST_FOLDERS:
                level[place] = _FolderDays()
            if place in level:
                self._above.append(level[place])
        if steps:
            self._note_years(steps[-1])

    def add_file(self, name: str, modified_ns: int) -> None:
        """One file more, of the folder entered last."""
        self._note_years(name)
        day = modified_ns // _DAY_NS
        if day in _DAYS:
            self._files[day] += 1
        if not self._above:
            return
        named_day = day_in_name(name)
        for folder in self._above:
            if named_day is not None:
                folder.named.add(named_day)
            elif len(folder.changed) < _MOST_DAYS:
                folder.changed.add(day)

    def folders(self, level: int) -> list[Folder]:
        """The first folders of a level, each with the years of its files. Times of a wave of copying tell none."""
        if not 0 < level <= len(self._levels):
            return []
        wave = self.wave()
        return [
            Folder(place[-1], frozenset(_years(days, wave))) for place, days in sorted(self._levels[level - 1].items())
        ]

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

    def _note_years(self, name: str) -> None:
        if "20" not in name and "19" not in name:
            return
        for text in _YEAR.findall(name):
            year = int(text)
            if self._newest_year < year <= self._latest_year:
                self._newest_year = year


def _years(days: _FolderDays, wave: tuple[str, ...]) -> set[int]:
    times = [_day_text(day) for day in days.changed if day in _DAYS]
    if wave:
        times = [day for day in times if not wave[0] <= day <= wave[-1]]
    return {int(day[:4]) for day in (*days.named, *times)}


def _densest(files: Counter[int]) -> tuple[int, int]:
    """The first of the days with most files, and how many."""
    sums = {day: sum(files.get(day + more, 0) for more in range(_LONGEST_DAYS)) for day in files}
    first = min(sums, key=lambda day: (-sums[day], day))
    return first, sums[first]


def _days(first: int) -> tuple[str, ...]:
    return _day_text(first), _day_text(first + _LONGEST_DAYS - 1)


def _day_text(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()

"""Which day a file is of: every date that speaks for it, ranked, and the one that is believed.

A share never registered anything, so that the date of a file is derived. What people wrote down goes before what a
program noted, and that before what a disk says, which tells of the last copy as readily as of the last change:

    register   a column of dates in the file's row
    name       a day in the name of the file, or of a folder above it
    mail       when a mail came in, by the server of who received it, or was sent
    document   when the document was last saved, by its own word
    file       the time of change, unless files were copied in those days; never of what a desktop system made

    record.date         "2014-03-12T09:15:00Z"          the first that is there and plausible
    record.date_from    "document"
    record.dates        {"document": "2014-03-12T09:15:00Z", "file": "2026-03-03T08:00:00.000Z"}

Plausible is what lies between 1900 and tomorrow, and, where a period is stated, within it: a date outside is believed
only where no other lies within.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache

from noarkit.recipes.date_headings import DOCUMENT_DAYS
from noarkit.recipes.recipe_model import EVIDENCE
from noarkit.recipes.values import Formats, ValueRefused, make_formats, to_date
from noarkit.records import SourceRecord
from noarkit.sources.files.names import is_system_name

_FIRST_DAY = "1900-01-01"
_DAY_S = 86_400
_DAY = len(_FIRST_DAY)
_NOON = "T12:00:00"
"""What a day gets where a time is asked for: it is the same day then in every zone."""
_SEPARATORS = r"[-_. ]"
_IN_NAME = (
    re.compile(rf"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<s>{_SEPARATORS}?)(?P<m>\d\d)(?P=s)(?P<d>\d\d)(?!\d|(?P=s)\d)"),
    re.compile(r"(?<!\d)(?<!\d[.])(?P<d>\d{1,2})[.] ?(?P<m>\d{1,2})[.] ?(?P<y>(?:19|20)\d\d)(?!\d)"),
)
"""`2014-03-12`, `20140312`; `12.03.2014`."""
_VERSION = re.compile(r"(?:\b(?:rev|ver|versjon|version|utgave)|(?<![^\W\d_])v)[. ]*$", re.IGNORECASE)
"""What stands before `1.2.2014` where that is no day."""
_FORMATS = make_formats(Formats())


@dataclass(frozen=True, slots=True)
class DateEvidence:
    """Which evidence counts, in which order; the `period` that dates are expected in, and the days in which files were
    `copied`, so that their times say nothing. Of both the first and the last day (`2014-01-31`), or nothing."""

    order: tuple[str, ...] = EVIDENCE
    period: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()

    def dated(self, record: SourceRecord, latest_day: str) -> SourceRecord:
        """The record with `date`, `date_from` and `dates`; no date is believed that is later than `latest_day`."""
        fields, dates = record.fields, dict[str, str]()
        for name in self.order:
            text = _DATES[name](fields)
            if text and not (name == "file" and self._is_no_date(text, fields)):
                dates[name] = text
        best_name = self._best(dates, latest_day)
        date_text = None if best_name is None else dates[best_name]
        if date_text is not None and len(date_text) == _DAY:
            date_text += _NOON
        fields = {**fields, "date": date_text, "date_from": best_name, "dates": dates}
        return SourceRecord(record.kind, record.key, fields, record.contents, record.notes)

    def _best(self, dates: Mapping[str, str], latest_day: str) -> str | None:
        """The first evidence that is plausible, within the period if any is."""
        best_name = None
        for name, text in dates.items():
            if _FIRST_DAY <= text[:_DAY] <= latest_day:
                if not self.period or _lies_in(text, self.period):
                    return name
                best_name = best_name or name
        return best_name

    def _is_no_date(self, time: str, fields: Mapping[str, object]) -> bool:
        """True for the time of a file that was copied, or that a desktop system made."""
        if self.copied and _lies_in(time, self.copied):
            return True
        return is_system_name(str(fields.get("name", "")))


def _lies_in(time: str, days: Sequence[str]) -> bool:
    return days[0] <= time[:_DAY] <= days[-1]


def latest_day(now_s: float) -> str:
    """The last day that anything may be of: clocks of zones and of machines differ by less than one."""
    return datetime.fromtimestamp(now_s + _DAY_S, UTC).date().isoformat()


def day_in_name(name: str) -> str | None:
    """The day that stands in a name; None if there is none, or if there are two.

    >>> day_in_name("01 Brev fra Åse 12.03.2014")
    '2014-03-12'
    >>> day_in_name("Rev 1.2.2014"), day_in_name("Budsjett 2014-2017"), day_in_name("201400123")
    (None, None, None)
    """
    if "20" not in name and "19" not in name:
        return None  # most names have no year, and none is looked at longer than that takes
    days = set(_days_in(name))
    return days.pop() if len(days) == 1 else None


def _days_in(name: str) -> Iterator[str]:
    for pattern in _IN_NAME:
        for match in pattern.finditer(name):
            if _VERSION.search(name, 0, match.start()):
                continue
            try:
                yield date(int(match["y"]), int(match["m"]), int(match["d"])).isoformat()
            except ValueError:
                continue


@lru_cache(maxsize=4096)
def _day_in_folder(name: str) -> str | None:
    """The same of a folder, whose name comes again with each of its files."""
    return day_in_name(name)


def _of_names(fields: Mapping[str, object]) -> str | None:
    """By the name of a file, else by that of the nearest folder that bears a day."""
    day = day_in_name(str(fields.get("stem", "")))
    folders = fields.get("folders")
    if day is None and isinstance(folders, list):
        for name in reversed(folders):
            day = day or _day_in_folder(name)
    return day


def _of_mail(fields: Mapping[str, object]) -> str | None:
    """When a mail that came in was received, and any other was sent."""
    mail = fields.get("mail")
    if not mail or not isinstance(mail, Mapping):
        return None
    received = mail.get("received") if mail.get("direction") == "in" else None
    return _text(received or mail.get("date"))


def _of_register(fields: Mapping[str, object]) -> str | None:
    row = fields.get("register")
    if not row:
        return None
    by_name = {str(name).casefold(): value for name, value in row.items()} if isinstance(row, Mapping) else {}
    for name in DOCUMENT_DAYS:
        value = by_name.get(name)
        if value not in (None, ""):
            with suppress(ValueRefused):
                return to_date(value, _FORMATS).isoformat()
    return None


def _of_document(fields: Mapping[str, object]) -> str | None:
    return _text(fields.get("saved"))


def _of_file(fields: Mapping[str, object]) -> str | None:
    return _text(fields.get("modified"))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_DATES: Mapping[str, Callable[[Mapping[str, object]], str | None]] = {
    "register": _of_register,
    "name": _of_names,
    "mail": _of_mail,
    "document": _of_document,
    "file": _of_file,
}

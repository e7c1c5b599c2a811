"""Texts of the XML as values of the archive: times, dates, numbers and codes.

A time without an offset is read in the zone of the package; it becomes UTC. What cannot be read is `Unreadable`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from noarkit.model import metamodel
from noarkit.model.mapping import mapping

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# what XML lets a time end with that Python does not read: the last midnight of a day, parts below a microsecond
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)T24:00:00(?:\.0+)?(Z|[+-]\d\d:\d\d)?")
_DATE_IN_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)")
_SMALL = re.compile(r"(\.\d{6})\d+")
_NUMBER = re.compile(r"[+-]?\d+")


class Unreadable(ValueError):
    """A text that is no value of its kind. Its message is the kind."""


@lru_cache(maxsize=20_000)
def timestamp(text: str, zone: ZoneInfo) -> str:
    """A moment in the wire form, of any xs:dateTime or xs:date of four-digit years; a date alone is its midnight."""
    try:
        moment = _moment(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreadable("timestamp") from None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _moment(text: str) -> datetime:
    if (match := _MIDNIGHT.fullmatch(text)) is not None:
        return datetime.fromisoformat(f"{match[1]}T00:00:00{match[2] or ''}") + timedelta(days=1)
    if (match := _DATE_IN_ZONE.fullmatch(text)) is not None:
        return datetime.fromisoformat(f"{match[1]}T00:00:00{match[2]}")
    return datetime.fromisoformat(_SMALL.sub(r"\1", text))


@lru_cache(maxsize=20_000)
def day(text: str) -> str:
    """A date; of a moment its date as it stands, of a date with an offset the date."""
    match = _DATE.match(text)
    try:
        return date.fromisoformat(match.group() if match else text).isoformat()
    except ValueError:
        raise Unreadable("date") from None


def years_before(text: str, years: object) -> str:
    """The date so many years before a date. Raises Unreadable where there is none such."""
    there = date.fromisoformat(day(text))
    try:
        return there.replace(year=there.year - (years if isinstance(years, int) else 0)).isoformat()
    except (ValueError, OverflowError):
        raise Unreadable("date") from None


def number(text: str) -> int:
    """A whole number."""
    if not _NUMBER.fullmatch(text):
        raise Unreadable("number")
    return int(text)


class Codes:
    """Finds the code of a text in the lists of the model, and remembers the texts that have none there.

    Such a text becomes a code of its own, which must stand in the archive before the load: `new` holds them,
    `{list: {code: (name, authority)}}`. An archive that has the name under another code is the loader's to ask.
    """

    def __init__(self) -> None:
        self.new: dict[str, dict[str, tuple[str, str | None]]] = {}
        self._known: dict[tuple[str, str, str | None], str] = {}

    def code(self, list_name: str, text: str, authority: str | None = None) -> str:
        """The code of `text`; for a screening with its legal ground."""
        key = (list_name, text.casefold(), authority)
        known_code = self._known.get(key)
        if known_code is None:
            known_code = self._known[key] = _listed_code(list_name, text) or self._new_code(list_name, text, authority)
        return known_code

    def matches_text(self, list_name: str, code: str, text: object) -> bool:
        """True if the name of a code is written as the text that it was read from."""
        if not isinstance(text, str) or (stripped := text.strip()) == code:
            return True
        return stripped in _names_of(list_name).get(code, ())

    def _new_code(self, list_name: str, text: str, authority: str | None) -> str:
        new_codes = self.new.setdefault(list_name, {})
        code = name = text
        tries = 1
        while code in new_codes or code in _codes_of(list_name).values():
            tries += 1
            code = name = f"{text} ({tries})"
        new_codes[code] = (name, authority)
        return code


def _listed_code(list_name: str, text: str) -> str | None:
    return _codes_of(list_name).get(text.casefold())


@lru_cache
def _codes_of(list_name: str) -> Mapping[str, str]:
    entry = metamodel().code_lists.get(list_name)
    synonyms = [entry for entry in mapping().words.synonyms if entry.code_list == list_name]
    words = {synonym.text.casefold(): synonym.code for synonym in synonyms}
    return words | ({code.name.casefold(): code.code for code in entry.codes} if entry else {})


@lru_cache
def _names_of(list_name: str) -> Mapping[str, frozenset[str]]:
    """The text that an extract has for each code."""
    entry = metamodel().code_lists.get(list_name)
    synonyms = [entry for entry in mapping().words.synonyms if entry.code_list == list_name]
    names = {code.code: frozenset({code.name}) for code in (entry.codes if entry else ())}
    return names | {synonym.code: frozenset({synonym.text}) for synonym in synonyms}

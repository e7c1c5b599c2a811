"""Dates, numbers and texts as people write them, turned into the wire's own forms.

What has no zone is read in the recipe's zone (of two equal clock times in autumn, the first). Nothing here guesses:
what fits no form is refused with a stable word, never bent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

from noarkit.graph.entity import FieldValue
from noarkit.model.metamodel import Kind
from noarkit.safe.clocks import utc_text

REPLACEMENT = "\ufffd"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_YES = ("true", "ja", "yes", "j", "y", "1")
_NO = ("false", "nei", "no", "n", "0")
_MONTHS = (
    re.split(" ", "januar februar mars april mai juni juli august september oktober november desember"),
    re.split(" ", "january february march april may june july august september october november december"),
)
_USUAL = {
    "nb": ("%d.%m.%Y", "%d.%m.%y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d. %B %Y", "%d %B %Y", "%d/%m/%Y"),
    "en": ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y %H:%M", "%d.%m.%Y"),
}
LOCALES = tuple(_USUAL)
_PARTS = {
    "d": r"(?P<d>[0-9]{1,2})",
    "m": r"(?P<m>[0-9]{1,2})",
    "Y": r"(?P<Y>[0-9]{4})",
    "y": r"(?P<y>[0-9]{2})",
    "H": r"(?P<H>[0-9]{1,2})",
    "M": r"(?P<M>[0-9]{2})",
    "S": r"(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,6})[0-9]{0,3})?",
    "z": r"(?P<z>Z|[+-][0-9]{2}:?[0-9]{2})",
    "b": r"(?P<b>[^\W\d_]{3,10})\.?",
    "B": r"(?P<b>[^\W\d_]{3,10})",
    "%": "%",
}


class ValueRefused(ValueError):
    """A value that fits no form it is asked to have. The text is a stable word."""


@dataclass(frozen=True, slots=True)
class Formats:
    """How a recipe reads dates and numbers, and how long a text may be."""

    zone: tzinfo = field(default_factory=lambda: ZoneInfo("Europe/Oslo"))
    locale: str = "nb"
    dates: tuple[str, ...] = ()
    decimal: str = ","
    thousands: str = " "
    century: int = 1950
    longest: int = 32_000
    readers: tuple[re.Pattern[str], ...] = ()


def make_formats(formats: Formats) -> Formats:
    """`formats` with its date forms compiled: those of the recipe first, then what is usual in its locale."""
    forms = (*formats.dates, *_USUAL.get(formats.locale, ()))
    return Formats(
        formats.zone,
        formats.locale,
        formats.dates,
        formats.decimal,
        formats.thousands,
        formats.century,
        formats.longest,
        tuple(read_date_form(form) for form in forms),
    )


def read_date_form(form: str) -> re.Pattern[str]:
    """Compiles a date form such as `%d.%m.%Y`; raises ValueRefused where it names an unknown part, or one twice."""
    pieces = []
    signs = iter(form)
    for sign in signs:
        if sign != "%":
            pieces.append(r"\s+" if sign == " " else re.escape(sign))
            continue
        part = _PARTS.get(next(signs, ""))
        if part is None:
            raise ValueRefused("date-form")
        pieces.append(part)
    try:
        return re.compile("".join(pieces), re.IGNORECASE)
    except re.error as fault:
        raise ValueRefused("date-form") from fault


def is_blank(value: object) -> bool:
    """True for none and the empty text: what leaves a field out."""
    return value is None or value == ""


def to_moment(value: object, formats: Formats) -> datetime:
    """A point in time with zone: from a datetime, a date (its midnight), seconds since 1970, or text."""
    try:
        moment = _moment(value, formats)
        return moment if moment.tzinfo else moment.replace(tzinfo=formats.zone)
    except (ValueError, OverflowError, OSError) as fault:
        raise ValueRefused("not-a-time") from fault


def to_date(value: object, formats: Formats) -> date:
    """A day: of a point in time, the day it is in the recipe's zone."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        moment = _moment(value, formats)
        return moment.astimezone(formats.zone).date() if moment.tzinfo else moment.date()
    except (ValueError, OverflowError, OSError) as fault:
        raise ValueRefused("not-a-date") from fault


def to_number(value: object, formats: Formats) -> int | float:
    """A finite number, whole where it is whole; texts are read with the recipe's decimal and thousands signs."""
    if isinstance(value, bool):
        raise ValueRefused("not-a-number")
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return _number_of_text(value, formats)
    if isinstance(value, float | Decimal) and math.isfinite(value):
        return int(value) if value == int(value) else float(value)
    raise ValueRefused("not-a-number")


def to_text(value: object) -> str:
    """A text: of a number, a date or a flag its plain form; lists and mappings are refused."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int | float | Decimal | date | time):
        return _short_text(value)
    raise ValueRefused("not-a-text")


def to_flag(value: object) -> bool:
    """True or false, also from 1 and 0 and the words for them."""
    word = str(value).strip().lower() if isinstance(value, str | bool | int) else ""
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueRefused("not-a-flag")


def wire_moment(moment: datetime) -> str:
    """`2024-01-02T03:04:05.678Z`."""
    try:
        return utc_text(moment)
    except (OverflowError, ValueError) as fault:
        raise ValueRefused("not-a-time") from fault


def has_forbidden(text: str) -> bool:
    """True if a text has a sign that XML forbids. None of them can be printed, which is known much sooner."""
    return not text.isprintable() and _FORBIDDEN.search(text) is not None


def clean_text(text: str) -> tuple[str, int]:
    """`text` with each sign that XML forbids replaced by U+FFFD, and how many there were."""
    if not has_forbidden(text):
        return text, 0
    return _FORBIDDEN.subn(REPLACEMENT, text)


def key_text(text: str) -> str:
    """`text` as a key: `#` doubled and signs that XML forbids written `#{hex}`, so that every key stays its own."""
    if "#" in text:
        text = text.replace("#", "##")
    if not has_forbidden(text):
        return text
    return _FORBIDDEN.sub(lambda found: f"#{{{ord(found.group()):x}}}", text)


def converter(kind: Kind) -> Callable[[object, Formats], FieldValue]:
    """What turns a value that is not blank into the wire form of `kind`."""
    return _CONVERTERS[kind]


def to_object(value: object, formats: Formats) -> Mapping[str, object]:
    """A mapping of plain values, at most five deep."""
    if isinstance(value, Mapping):
        return {to_text(name): _plain(part, formats, 4) for name, part in value.items()}
    raise ValueRefused("not-a-mapping")


def _plain(value: object, formats: Formats, depth: int) -> object:
    if depth < 1:
        raise ValueRefused("too-deep")
    if isinstance(value, Mapping):
        return {to_text(name): _plain(part, formats, depth - 1) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, formats, depth - 1) for part in value]
    if value is None or isinstance(value, bool | int):
        return value
    return to_number(value, formats) if isinstance(value, float | Decimal) else clean_text(to_text(value))[0]


_CONVERTERS: Mapping[Kind, Callable[[object, Formats], FieldValue]] = {
    "string": lambda value, formats: to_text(value),
    "timestamp": lambda value, formats: wire_moment(to_moment(value, formats)),
    "date": lambda value, formats: to_date(value, formats).isoformat(),
    "number": to_number,
    "boolean": lambda value, formats: to_flag(value),
    "object": to_object,
}


def _moment(value: object, formats: Formats) -> datetime:
    if isinstance(value, str):
        return _moment_of_text(value.strip(), formats)
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=float(value))
    raise ValueRefused("not-a-time")


def _moment_of_text(text: str, formats: Formats) -> datetime:
    for reader in formats.readers[: len(formats.dates)]:
        if match := reader.fullmatch(text):
            return _moment_of_parts(match.groupdict(), formats)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for reader in formats.readers[len(formats.dates) :]:
        if match := reader.fullmatch(text):
            return _moment_of_parts(match.groupdict(), formats)
    raise ValueRefused("not-a-time")


def _moment_of_parts(parts: Mapping[str, str | None], formats: Formats) -> datetime:
    zone = parts.get("z")
    return datetime(
        _year(parts, formats.century),
        _month(parts),
        int(parts.get("d") or 1),
        int(parts.get("H") or 0),
        int(parts.get("M") or 0),
        int(parts.get("S") or 0),
        int((parts.get("f") or "0").ljust(6, "0")),
        tzinfo=_offset(zone) if zone else None,
    )


def _year(parts: Mapping[str, str | None], century: int) -> int:
    if full := parts.get("Y"):
        return int(full)
    short = parts.get("y")
    if short is None:
        raise ValueRefused("date-form")
    year = century - century % 100 + int(short)
    return year if year >= century else year + 100


def _month(parts: Mapping[str, str | None]) -> int:
    name = parts.get("b")
    if not name:
        return int(parts.get("m") or 1)
    for names in _MONTHS:
        for number, month in enumerate(names, start=1):
            if month.startswith(name.lower()):
                return number
    raise ValueRefused("not-a-time")


def _offset(text: str) -> tzinfo:
    offset = datetime.fromisoformat(f"2000-01-01T00:00:00{text.upper()}").tzinfo
    if offset is None:
        raise ValueRefused("not-a-time")
    return offset


def _number_of_text(text: str, formats: Formats) -> int | float:
    plain = text.strip()
    for sign in (formats.thousands, "\u00a0", "\u202f"):
        plain = plain.replace(sign, "") if sign else plain
    if formats.decimal != ".":
        if "." in plain:
            raise ValueRefused("not-a-number")
        plain = plain.replace(formats.decimal, ".")
    if _NUMBER.fullmatch(plain) is None:
        raise ValueRefused("not-a-number")
    if "." not in plain:
        return int(plain)
    number = float(plain)
    return int(number) if number == int(number) else number


def _short_text(value: object) -> str:
    try:
        return str(value)
    except ValueError as fault:  # whole numbers of thousands of figures are not written out
        raise ValueRefused("not-a-text") from fault

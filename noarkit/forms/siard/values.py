"""Values of a database as they stand in XML, and back: by kind, whole columns at a time.

A text given for a cell of any other kind stands as it is: whoever gives it has put it into XML's own form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from noarkit.forms.siard.escapes import SPECIAL, escaped, needs_care
from noarkit.forms.siard.types import CellKind

_TRUTH = {True: "true", False: "false"}
_DAY_S = 86_400


class UnfitValue(ValueError):
    """A value that no cell of its kind can hold: to be told with the table and column it stands in."""


def format_column(kind: CellKind, values: Sequence[object]) -> Sequence[object]:
    """Values, none of them NULL, as what stands between tags; `str()` of each is the text. Raises `UnfitValue`."""
    types = set(map(type, values))
    if len(types) == 1:
        only = types.pop()
        if only is str:
            return _escape_column(_check_forms(kind, values))  # type: ignore[arg-type]  # they are texts
        quick = _QUICK.get((kind, only))
        if quick is not None:
            texts = quick(values)
            if texts is not None:
                return texts
    return [escaped(format_value(kind, value)) for value in values]


def format_value(kind: CellKind, value: object) -> str:
    """One value in XML's own form, not escaped. Raises `UnfitValue`."""
    if isinstance(value, str):
        return _check_forms(kind, (value,))[0]
    form = _FORMS.get(kind)
    text = form(value) if form is not None else None
    if text is None:
        raise UnfitValue(f"{type(value).__name__} as {kind}")
    return text


def _check_forms(kind: CellKind, texts: Sequence[str]) -> Sequence[str]:
    """The texts, where each has the form of its kind. One question for all of them."""
    pattern, column_pattern = _SPELT.get(kind, (None, None))
    if pattern is None or column_pattern is None:
        return texts
    if column_pattern.fullmatch("\n".join((*texts, ""))) is None or ("" in texts and pattern.fullmatch("") is None):
        wrong = next((text for text in texts if pattern.fullmatch(text) is None), "")
        raise UnfitValue(f"{wrong[:40]!r} as {kind}")
    return texts


def _escape_column(texts: Sequence[str]) -> Sequence[str]:
    """The texts, escaped where one of them needs it. Few have line feeds in them: those go by themselves."""
    joined_text = "\n".join(texts)
    if not needs_care(joined_text):
        return texts
    if joined_text.count("\n") == len(texts) - 1:
        return escaped(joined_text).split("\n")
    return [escaped(text) if SPECIAL.search(text) else text for text in texts]


def _integer(value: object) -> str | None:
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, (Decimal, float)) and value == value and value % 1 == 0:
        return str(int(value))
    return None


def _decimal(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return format(number, "f") if number.is_finite() else None


def _floating(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, int):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return ("INF" if number > 0 else "-INF") if math.isinf(number) else repr(number)


def _boolean(value: object) -> str | None:
    return _TRUTH[bool(value)] if isinstance(value, int) and value in (0, 1) else None


def _text(value: object) -> str | None:
    return None if isinstance(value, (bytes, bytearray, memoryview)) else str(value)


def _hex(value: object) -> str | None:
    return value.hex().upper() if isinstance(value, (bytes, bytearray, memoryview)) else None


def _date(value: object) -> str | None:
    if isinstance(value, datetime):
        return f"{value.date().isoformat()}Z" if value.time() == time(0) else None
    return f"{value.isoformat()}Z" if isinstance(value, date) else None


def _time(value: object) -> str | None:
    if isinstance(value, timedelta):
        inside = 0 <= value.total_seconds() < _DAY_S
        return f"{(datetime.min + value).time().isoformat()}Z" if inside else None
    if not isinstance(value, time):
        return None
    if value.tzinfo is not None:
        value = datetime.combine(date(2000, 1, 1), value).astimezone(UTC).time()
    return f"{value.isoformat()}Z"


def _timestamp(value: object) -> str | None:
    if isinstance(value, datetime):
        return f"{_utc(value).isoformat()}Z"
    return f"{value.isoformat()}T00:00:00Z" if isinstance(value, date) else None


def _utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError as error:
        raise UnfitValue(value.isoformat()) from error


def _interval(value: object) -> str | None:
    if not isinstance(value, timedelta):
        return None
    sign, size = ("-", -value) if value < timedelta(0) else ("", value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    part = f".{size.microseconds:06d}".rstrip("0") if size.microseconds else ""
    return f"{sign}P{size.days}DT{hours}H{minutes}M{seconds}{part}S"


_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
WORDS: dict[CellKind, str] = {
    "integer": r"[+-]?[0-9]+",
    "decimal": _NUMBER,
    "float": rf"(?:{_NUMBER}(?:[Ee][+-]?[0-9]+)?|NaN|-?INF)",
    "double": rf"(?:{_NUMBER}(?:[Ee][+-]?[0-9]+)?|NaN|-?INF)",
    "boolean": r"(?:true|false|1|0)",
    "hex": r"(?:[0-9A-Fa-f]{2})*",
    "date": rf"{_DAY}Z?",
    "time": rf"{_CLOCK}Z?",
    "timestamp": rf"{_DAY}T{_CLOCK}Z?",
    "interval": r"-?P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?",
}
"""The form that a text has, given for a cell of each kind: every text is one of the kinds that are not here."""

_SPELT = {kind: (re.compile(words), re.compile(rf"(?:(?:{words})\n)*+")) for kind, words in WORDS.items()}

_FORMS: dict[CellKind, Callable[[object], str | None]] = {
    "integer": _integer,
    "decimal": _decimal,
    "float": _floating,
    "double": _floating,
    "boolean": _boolean,
    "text": _text,
    "clob": _text,
    "xml": _text,
    "hex": _hex,
    "blob": _hex,
    "datalink": _hex,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "interval": _interval,
}


def _plain(values: Sequence[object]) -> Sequence[object] | None:
    return values


def _floats(values: Sequence[object]) -> Sequence[object] | None:
    texts = list(map(repr, values))
    return None if "n" in "".join(texts) else texts  # nan and inf have names of their own in XML


def _decimals(values: Sequence[object]) -> Sequence[object] | None:
    texts = list(map(str, values))
    return texts if {"E", "N", "I", "s"}.isdisjoint("".join(texts)) else None


def _truths(values: Sequence[object]) -> Sequence[object] | None:
    return list(map(_TRUTH.__getitem__, values))  # type: ignore[arg-type]  # they are bools


def _dates(values: Sequence[object]) -> Sequence[object] | None:
    return [f"{value}Z" for value in values]


def _moments(values: Sequence[datetime]) -> Sequence[object] | None:
    return [f"{(value if value.tzinfo is None else _utc(value)).isoformat()}Z" for value in values]


def _bytes(values: Sequence[bytes]) -> Sequence[object] | None:
    return [value.hex().upper() for value in values]


_QUICK: dict[tuple[CellKind, type], Callable[..., Sequence[object] | None]] = {
    ("integer", int): _plain,
    ("decimal", int): _plain,
    ("decimal", Decimal): _decimals,
    ("double", float): _floats,
    ("float", float): _floats,
    ("boolean", bool): _truths,
    ("date", date): _dates,
    ("timestamp", datetime): _moments,
    ("hex", bytes): _bytes,
    ("blob", bytes): _bytes,
    ("datalink", bytes): _bytes,
}

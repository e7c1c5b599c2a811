"""Checks that a text is a value of its XML type: one function for each type, called for every cell.

The patterns are safe against catastrophic backtracking: no repeated group can match the same text in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date

Judge = Callable[[str], bool]

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
_DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*")
_FLOAT = re.compile(r"\s*(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?|NaN|-?INF)\s*")
_BOOLEAN = re.compile(r"\s*(?:true|false|1|0)\s*")
_HEX = re.compile(r"\s*(?:[0-9A-Fa-f]{2})*\s*")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})Z?")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z?|24:00:00(?:\.0+)?Z?")
_MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})T(?:{_TIME.pattern})")
_DURATION = re.compile(
    r"\s*-?P(?=.)(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?\s*"
)
_ANY_ZONE = re.compile(r"(.*?)(?:Z|[+-][0-9]{2}:[0-9]{2})?", re.DOTALL)


def _is(pattern: re.Pattern[str]) -> Judge:
    match = pattern.fullmatch
    return lambda text: match(text) is not None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _dated(pattern: re.Pattern[str]) -> Judge:
    def judge(text: str) -> bool:
        match = pattern.fullmatch(text)
        return match is not None and _is_day(match[1])

    return judge


def _zoned(judge: Judge) -> Judge:
    """As XML itself has it: with any zone."""

    def judge_without_zone(text: str) -> bool:
        match = _ANY_ZONE.fullmatch(text.strip())
        return match is not None and judge(match[1])

    return judge_without_zone


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(("xs:integer", "xs:int", "xs:long", "xs:short", "xs:byte"), _is(_INTEGER)),
    "xs:decimal": _is(_DECIMAL),
    "xs:float": _is(_FLOAT),
    "xs:double": _is(_FLOAT),
    "xs:boolean": _is(_BOOLEAN),
    "xs:hexBinary": _is(_HEX),
    "blobType": _is(_HEX),
    "dateType": _dated(_DATE),
    "timeType": _is(_TIME),
    "dateTimeType": _dated(_MOMENT),
    "xs:date": _zoned(_dated(_DATE)),
    "xs:time": _zoned(_is(_TIME)),
    "xs:dateTime": _zoned(_dated(_MOMENT)),
    "xs:duration": _is(_DURATION),
}
"""Types of texts are not here: every text is one."""

MOMENTS = frozenset({"dateType", "timeType", "dateTimeType"})
"""SIARD's own types for dates and times: from the year 1 to 9999, and in UTC."""

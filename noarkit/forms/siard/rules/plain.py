"""What a row looks like that no rule has anything to say of, as one pattern: its cells in order, each of its type.

The patterns are narrower than the judges of `rows`: what one does not take is judged by them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from noarkit.forms.siard.read.plain import BLANKS, Take, plain_pattern
from noarkit.forms.siard.rules.expected import Expected

LONE_BACKSLASH = re.compile(r"\\(?!u[0-9A-Fa-f]{4})")

_DIGITS = "[0-9]++"
_INTEGER = rf"[+-]?+{_DIGITS}"
_DECIMAL = rf"[+-]?+(?:{_DIGITS}(?:\.[0-9]*+)?+|\.{_DIGITS})"
_FLOAT = rf"(?:{_DECIMAL}(?:[Ee][+-]?+{_DIGITS})?+|NaN|-?+INF)"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DAY = (
    "(?!0000)(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    rf"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|{_LEAP_YEAR}-02-29)"
)
_CLOCK = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.{_DIGITS})?+"
_ZONE = "(?:Z|[+-][0-9]{2}:[0-9]{2})?+"
_TEXT = "[^<]*+"

TYPED: Mapping[str, str] = {
    **dict.fromkeys(("xs:integer", "xs:int", "xs:long", "xs:short", "xs:byte"), _INTEGER),
    "xs:decimal": _DECIMAL,
    "xs:float": _FLOAT,
    "xs:double": _FLOAT,
    "xs:boolean": "(?:true|false|1|0)",
    "xs:hexBinary": "(?:[0-9A-Fa-f]{2})*+",
    "blobType": "(?:[0-9A-Fa-f]{2})*+",
    "dateType": f"{_DAY}Z?+",
    "timeType": f"{_CLOCK}Z?+",
    "dateTimeType": f"{_DAY}T{_CLOCK}Z?+",
    "xs:date": f"{_DAY}{_ZONE}",
    "xs:time": f"{_CLOCK}{_ZONE}",
    "xs:dateTime": f"{_DAY}T{_CLOCK}{_ZONE}",
    "xs:duration": rf"-?+P(?=[0-9T])(?:{_DIGITS}Y)?+(?:{_DIGITS}M)?+(?:{_DIGITS}D)?+"
    rf"(?:T(?=[0-9])(?:{_DIGITS}H)?+(?:{_DIGITS}M)?+(?:{_DIGITS}(?:\.{_DIGITS})?+S)?+)?+",
}
"""The pattern of each type that has a judge."""


class PlainRows:
    """Counts the rows of one table that are as they should be. `take` is None for a table that no pattern fits."""

    def __init__(self, columns: Sequence[Expected]) -> None:
        self.count = 0
        self.take = self._taker(columns)

    def _taker(self, columns: Sequence[Expected]) -> Take | None:
        pattern = _row_pattern(columns)
        if pattern is None:
            return None

        def take(text: str) -> bool:
            between = pattern.split(text)
            if "".join(between).strip(BLANKS) or ("\\" in text and LONE_BACKSLASH.search(text)):
                return False
            self.count += len(between) - 1
            return True

        return take


def _row_pattern(columns: Sequence[Expected]) -> re.Pattern[str] | None:
    # a cell with elements is never plain: a row without it is, where it may be missing
    simple = [column for column in columns if column.type or column.loose or not column.optional]
    if not all(column.type or column.loose for column in simple):
        return None
    return plain_pattern([(column.name, TYPED.get(column.type, _TEXT), column.optional) for column in simple])

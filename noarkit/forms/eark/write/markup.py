"""XML written as text, piece by piece: what is escaped, what is replaced, how a moment and a reference are spelt."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from time import gmtime
from urllib.parse import quote

from noarkit.forms.container.digests import modified_ns
from noarkit.safe.xml_text import escape_attribute

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.~/-]*")
_FIRST_SECOND = -62135596800  # year 1
_LAST_SECOND = 253402300799  # year 9999


def attributes(**values: str | None) -> str:
    """Attributes with a blank before each, those left out that are empty; `_` stands for `:` in their names."""
    return "".join(f' {name.replace("_", ":")}="{escape_attribute(value)}"' for name, value in values.items() if value)


def href(name: str) -> str:
    """A path as a reference: everything but plain letters is percent-encoded, so that no reader can take it amiss."""
    return name if _PLAIN_PATH.fullmatch(name) else quote(name, safe="/")


def moment(when: datetime) -> str:
    """A moment as xs:dateTime, in UTC, to the second."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of_stamp(stamp: str) -> str | None:
    """When a file was last changed, out of its stamp; None if that tells no time."""
    time_ns = modified_ns(stamp)
    second = time_ns // 1_000_000_000 if time_ns is not None else _LAST_SECOND + 1
    return _format_second(second) if _FIRST_SECOND <= second <= _LAST_SECOND else None


@lru_cache(maxsize=4096)
def _format_second(second: int) -> str:
    at = gmtime(second)
    return f"{at[0]:04}-{at[1]:02}-{at[2]:02}T{at[3]:02}:{at[4]:02}:{at[5]:02}Z"

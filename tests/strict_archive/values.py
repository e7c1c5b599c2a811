"""What a field takes, how values are compared, and how they are shown. Faults bear their status."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

from tests.strict_archive.tables import Field

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_ZONE = re.compile(r"([+-]\d{2})(\d{2})\Z", re.ASCII)

Value = str | int | bool | date | datetime | None


class RefusedRequest(Exception):
    """A request that is not carried out, with the status of its answer."""

    def __init__(self, status: int, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.description = description


def bad(description: str) -> RefusedRequest:
    """A request that breaks the interface."""
    return RefusedRequest(400, description)


def taken(field: Field, value: object, type_name: str) -> Value:
    """The value that a request gives a field."""
    if value is None:
        return None
    read = _READERS.get(field.kind)
    if read is None:
        raise bad(f"The field {field.name} of {type_name} takes no plain value.")
    try:
        result = read(value)
    except (ValueError, TypeError) as error:
        raise bad(f"The value of the field {field.name} of {type_name} is no {field.kind}.") from error
    if field.allowed and result not in field.allowed:
        raise bad(f"The field {field.name} of {type_name} does not take the value {value}.")
    return result


def shown(value: Value) -> object:
    """A value as answers have it."""
    if isinstance(value, datetime):
        moment = value.astimezone(UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
    return value.isoformat() if isinstance(value, date) else value


def parameter(value: object, kind: str) -> Value:
    """The value of a parameter that is held against a field of a kind."""
    if value is None:
        return None
    try:
        if kind == "timestamp":
            return _timestamp(value)
        if kind == "date":
            return _timestamp(value).date() if "T" in str(value) else _date(value)
        if kind == "id":
            return int(str(value))
        return _READERS[kind](value)
    except (ValueError, TypeError, KeyError) as error:
        raise bad(f"A parameter is no {kind}.") from error


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError
    return int(value)


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise TypeError
    return value == "true"


def _date(value: object) -> date:
    if not isinstance(value, str) or not _DATE.match(value):
        raise TypeError
    return date.fromisoformat(value)


def _timestamp(value: object) -> datetime:
    if not isinstance(value, str):
        raise TypeError
    moment = datetime.fromisoformat(_ZONE.sub(r"\1:\2", value) if "T" in value else value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


_READERS: dict[str, Callable[[object], Value]] = {
    "string": _string,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
}

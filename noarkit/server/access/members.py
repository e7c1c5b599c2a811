"""Reads the members of access control requests strictly: a misspelt member is refused, not taken for a missing one."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from noarkit.server.calling import Call
from noarkit.server.wire import Refusal

Body = Mapping[str, object]

_LARGEST_ID = 2**63 - 1
_MAX_OFFSET = 2**53


def read_body(call: Call, known_names: Collection[str]) -> Body:
    """The JSON object of the call. Refuses with 400 a member that is not among `known_names`."""
    if not isinstance(call.body, dict):
        raise Refusal(400, "the body must be a JSON object")
    for name in call.body:
        if name not in known_names:
            raise Refusal(400, f"unknown member {name}; known are {', '.join(known_names)}")
    return call.body


def read_text(body: Body, name: str) -> str:
    """A member that is a text and not empty."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Refusal(400, f"{name} must be a text that is not empty")
    return value


def read_boolean(body: Body, name: str) -> bool:
    """A boolean member, which may be sent as text."""
    value = body.get(name)
    if value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise Refusal(400, f"{name} must be true or false")
    return value


def read_id(body: Body, name: str) -> int:
    """A numeric id member, sent as a number or as text."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Refusal(400, f"{name} must be a numeric id")
    return parse_id(str(value), name)


def read_texts(body: Body, name: str) -> list[str]:
    """A list of texts, none of them empty, without duplicates."""
    value = body.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise Refusal(400, f"{name} must be a list of texts that are not empty")
    return list(dict.fromkeys(value))


def read_words(body: Body, name: str, choices: Sequence[str]) -> list[str]:
    """A list of words, each of which must be among `choices`."""
    values = read_texts(body, name)
    for word in values:
        if word not in choices:
            raise Refusal(400, f"{name}: {word} is not one of {', '.join(choices)}")
    return values


def parse_id(digits: str, name: str) -> int:
    """Parses an id from a path, query or body member; 400 if it is no number, 404 if no object can have that id."""
    if not digits.isascii() or not digits.isdigit():
        raise Refusal(400, f"{name} must be a numeric id")
    if len(digits) > 19 or int(digits) > _LARGEST_ID:
        raise Refusal(404, f"there is no {name} {digits[:40]}")
    return int(digits)


def read_page(call: Call, largest: int) -> tuple[int, int]:
    """Offset and limit of the call, by default the first ten."""
    return _read_number_within(call, "offset", 0, _MAX_OFFSET, 0), _read_number_within(call, "limit", 1, largest, 10)


def has_more_rows(rows: Sequence[object], limit: int) -> bool:
    """True if more rows were found than fit on the page."""
    return len(rows) > limit


def require_security_administrator(call: Call) -> None:
    """Refuses with 403 a caller who is no security administrator."""
    if not is_security_administrator(call):
        raise Refusal(403, "this needs the service permission Security administrator")


def is_security_administrator(call: Call) -> bool:
    """True if the caller administers access control."""
    return "Security administrator" in call.caller.rights.service


def require_group(db: sqlite3.Connection, group: int) -> None:
    """Refuses with 404 where there is no such access group."""
    if db.execute("SELECT 1 FROM access_group WHERE id = ?", (group,)).fetchone() is None:
        raise Refusal(404, f"there is no access group {group}")


def _read_number_within(call: Call, name: str, least: int, largest: int, default: int) -> int:
    value = call.query.get(name)
    if value is None:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 16 or not least <= int(value) <= largest:
        raise Refusal(400, f"{name} must be a number from {least} to {largest}")
    return int(value)

"""The members of access control requests, read strictly: a misspelt member must never pass for one left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from noarkit.server.calling import Call
from noarkit.server.wire import Refusal

Body = Mapping[str, object]

_LARGEST_ID = 2**63 - 1
_MAX_OFFSET = 2**53


def body_of(call: Call, known: Collection[str]) -> Body:
    """The JSON object of the call, with no members but the known ones."""
    if not isinstance(call.body, dict):
        raise Refusal(400, "the body must be a JSON object")
    for name in call.body:
        if name not in known:
            raise Refusal(400, f"unknown member {name}; known are {', '.join(known)}")
    return call.body


def text(body: Body, name: str) -> str:
    """A text that is not empty."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Refusal(400, f"{name} must be a text that is not empty")
    return value


def truth(body: Body, name: str) -> bool:
    """A boolean, also where it comes as text."""
    value = body.get(name)
    if value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise Refusal(400, f"{name} must be true or false")
    return value


def identity(body: Body, name: str) -> int:
    """A numeric id, as number or text."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Refusal(400, f"{name} must be a numeric id")
    return number_of(str(value), name)


def texts(body: Body, name: str) -> list[str]:
    """A list of texts none of which is empty, each once."""
    value = body.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise Refusal(400, f"{name} must be a list of texts that are not empty")
    return list(dict.fromkeys(value))


def words(body: Body, name: str, known: Sequence[str]) -> list[str]:
    """A list of words, each one of the known."""
    found = texts(body, name)
    for word in found:
        if word not in known:
            raise Refusal(400, f"{name}: {word} is not one of {', '.join(known)}")
    return found


def number_of(given: str, name: str) -> int:
    """The id that a path, query or body member holds; 400 where it is no number, 404 where no object can have it."""
    if not given.isascii() or not given.isdigit():
        raise Refusal(400, f"{name} must be a numeric id")
    if len(given) > 19 or int(given) > _LARGEST_ID:
        raise Refusal(404, f"there is no {name} {given[:40]}")
    return int(given)


def page(call: Call, largest: int) -> tuple[int, int]:
    """Offset and limit of the call, by default the first ten."""
    return _within(call, "offset", 0, _MAX_OFFSET, 0), _within(call, "limit", 1, largest, 10)


def cut(rows: Sequence[object], limit: int) -> bool:
    """True where more rows were found than fit on the page."""
    return len(rows) > limit


def needs_security_administrator(call: Call) -> None:
    """403 for everybody else."""
    if not is_security_administrator(call):
        raise Refusal(403, "this needs the service permission Security administrator")


def is_security_administrator(call: Call) -> bool:
    """True where the caller administers access control."""
    return "Security administrator" in call.caller.rights.service


def needs_group(db: sqlite3.Connection, group: int) -> None:
    """404 where there is no such access group."""
    if db.execute("SELECT 1 FROM access_group WHERE id = ?", (group,)).fetchone() is None:
        raise Refusal(404, f"there is no access group {group}")


def _within(call: Call, name: str, least: int, largest: int, default: int) -> int:
    given = call.query.get(name)
    if given is None:
        return default
    if not given.isascii() or not given.isdigit() or len(given) > 16 or not least <= int(given) <= largest:
        raise Refusal(400, f"{name} must be a number from {least} to {largest}")
    return int(given)

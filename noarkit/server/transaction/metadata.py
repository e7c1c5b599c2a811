"""Business-specific metadata in a save: the whole desired state of one object, checked against the registry.

Stored as JSON text in the form of the answers: `{group: {field: {"type": kind, "values": [...]}}}`, or NULL where
nothing is left. What is absent or empty is removed; the member left out altogether means no change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import orjson

from noarkit.server.transaction.stage import Stage
from noarkit.server.values import BadValue, format_timestamp, shorten, text, timestamp, truth, whole_number
from noarkit.server.wire import Refusal


def metadata_to_stored(stage: Stage, value: object, location: str) -> str | None:
    """The stored form of a request's business-specific metadata. Raises Refusal (400) for what the registry lacks."""
    location = f"{location}: field virksomhetsspesifikkeMetadata"
    groups = {}
    for group, fields in _members(value, location).items():
        entries = {
            name: entry for name, member in _members(fields, location).items() if (entry := _entry(member, location))
        }
        converted = {name: _field(stage, group, name, entry, location) for name, entry in entries.items()}
        if converted:
            groups[group] = converted
    return orjson.dumps(groups, option=orjson.OPT_SORT_KEYS).decode() if groups else None


def _members(value: object, location: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal(400, f"{location} takes an object of groups of fields.")
    return value


def _entry(member: object, location: str) -> list[object]:
    """The values of a field, empty where it is to be removed."""
    values = _members(member, location).get("values")
    if values is None:
        return []
    if not isinstance(values, list):
        raise Refusal(400, f"{location}: values is a list.")
    return values


def _field(stage: Stage, group: str, name: str, values: list[object], location: str) -> Mapping[str, object]:
    location = f"{location}, {shorten(group)}.{shorten(name)}"
    try:
        row = stage.db.execute(
            "SELECT kind, fixed_values FROM bsm_field WHERE group_id = ? AND field_id = ?", (text(group), text(name))
        ).fetchone()
        if row is None:
            raise BadValue("is not in the registry")
        kind, fixed_json = row
        converted = [_KINDS[kind](value) for value in values]
        choices = None if fixed_json is None else {_KINDS[kind](value) for value in orjson.loads(fixed_json)}
    except BadValue as fault:
        raise Refusal(400, f"{location} {fault}.") from None
    if choices is not None and not choices.issuperset(converted):
        raise Refusal(400, f"{location} takes only the values of its fixed set.")
    return {"type": kind, "values": converted}


def _double(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValue("takes a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise BadValue("takes a number") from None
    if not math.isfinite(number):
        raise BadValue("takes a number")
    return number


_KINDS: Mapping[str, Callable[[object], object]] = {
    "string": text,
    "encrypted": text,
    "uri": text,
    "long": whole_number,
    "double": _double,
    "timestamp": lambda value: format_timestamp(timestamp(value)),
    "boolean": lambda value: bool(truth(value)),
}

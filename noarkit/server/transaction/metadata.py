"""Business-specific metadata in a save: the whole desired state of one object, checked against the registry.

Stored as JSON text in the form of the answers: `{group: {field: {"type": kind, "values": [...]}}}`, or NULL where
nothing is left. What is absent or empty is removed; the member left out altogether means no change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import orjson

from noarkit.server.transaction.stage import Stage
from noarkit.server.values import BadValue, format_timestamp, shown, text, timestamp, truth, whole_number
from noarkit.server.wire import Refusal


def metadata_to_stored(stage: Stage, value: object, where: str) -> str | None:
    """The stored form of a request's business-specific metadata. Raises Refusal (400) for what the registry lacks."""
    where = f"{where}: field virksomhetsspesifikkeMetadata"
    whole = {}
    for group, fields in _members(value, where).items():
        kept = {name: entry for name, given in _members(fields, where).items() if (entry := _entry(given, where))}
        told = {name: _field(stage, group, name, entry, where) for name, entry in kept.items()}
        if told:
            whole[group] = told
    return orjson.dumps(whole, option=orjson.OPT_SORT_KEYS).decode() if whole else None


def _members(value: object, where: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal(400, f"{where} takes an object of groups of fields.")
    return value


def _entry(given: object, where: str) -> list[object]:
    """The values of a field, empty where it is to be removed."""
    values = _members(given, where).get("values")
    if values is None:
        return []
    if not isinstance(values, list):
        raise Refusal(400, f"{where}: values is a list.")
    return values


def _field(stage: Stage, group: str, name: str, values: list[object], where: str) -> Mapping[str, object]:
    where = f"{where}, {shown(group)}.{shown(name)}"
    try:
        found = stage.db.execute(
            "SELECT kind, fixed_values FROM bsm_field WHERE group_id = ? AND field_id = ?", (text(group), text(name))
        ).fetchone()
        if found is None:
            raise BadValue("is not in the registry")
        kind, fixed = found
        told = [_KINDS[kind](value) for value in values]
        allowed = None if fixed is None else {_KINDS[kind](value) for value in orjson.loads(fixed)}
    except BadValue as bad:
        raise Refusal(400, f"{where} {bad}.") from None
    if allowed is not None and not allowed.issuperset(told):
        raise Refusal(400, f"{where} takes only the values of its fixed set.")
    return {"type": kind, "values": told}


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

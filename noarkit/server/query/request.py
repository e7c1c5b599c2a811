"""Reads and checks the body of a query call, member by member; numbers and booleans may be sent as strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from noarkit.server.settings import Settings
from noarkit.server.wire import Refusal

Scalar = str | int | float | bool | None

_PARAMETER = re.compile(r"@[^\W_]+")
_ALIAS = re.compile(r"#[^\W_]+")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_MAX_SORTS = 32
_MAX_JOINS = 1_000
_MAX_PARAMETERS = 10_000


@dataclass(frozen=True, slots=True)
class Sort:
    """One field to sort by."""

    field: str
    descending: bool


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """The checked body of a query call."""

    type: str
    limit: int
    offset: int = 0
    query: str = ""
    parameters: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    joins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sort_order: tuple[Sort, ...] = ()
    public_use: bool = True


def read_request(body: object, settings: Settings) -> QueryRequest:
    """The request in `body`; a Refusal names the member that is wrong."""
    members = object_member(body, "the body")
    limit = number_member(members, "limit", None)
    if not 0 < limit <= settings.query_limit:
        raise Refusal(400, f"limit must be between 1 and {settings.query_limit}.")
    offset = number_member(members, "offset", 0)
    if offset < 0:
        raise Refusal(400, "offset must not be negative.")
    return QueryRequest(
        type=text_member(members, "type", None),
        limit=limit,
        offset=offset,
        query=text_member(members, "query", ""),
        parameters=_parameters(members),
        joins=_joins(members),
        sort_order=_sort_order(members),
        public_use=boolean_member(members, "publicUse", True),
    )


def object_member(value: object, name: str) -> Mapping[str, object]:
    """A JSON object; null counts as an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal(400, f"{name} must be a JSON object.")
    return value


def text_member(members: Mapping[str, object], name: str, default: str | None) -> str:
    """A string member; without a default it must be there and not be blank."""
    value = members.get(name)
    if value is None:
        value = default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise Refusal(400, f"{name} must be a {'non-empty ' if default is None else ''}string.")
    return whole_text(value, name)


def number_member(members: Mapping[str, object], name: str, default: int | None) -> int:
    """A whole number, or a string of one; without a default it must be there."""
    value = members.get(name)
    if value is None:
        value = default
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 1 << 62:
        raise Refusal(400, f"{name} must be a whole number.")
    return value


def boolean_member(members: Mapping[str, object], name: str, default: bool) -> bool:
    """A boolean, or the string of one."""
    value = members.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise Refusal(400, f"{name} must be true or false.")
    return value


def whole_text(value: str, name: str) -> str:
    """The text, where it can be written as UTF-8: half a surrogate pair cannot."""
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise Refusal(400, f"{name} holds half a surrogate pair.") from None
    return value


def _parameters(members: Mapping[str, object]) -> Mapping[str, Scalar]:
    parameters: dict[str, Scalar] = {}
    entries = object_member(members.get("parameters"), "parameters")
    if len(entries) > _MAX_PARAMETERS:
        raise Refusal(400, f"parameters has more than {_MAX_PARAMETERS} members.")
    for name, value in entries.items():
        if not _PARAMETER.fullmatch(name):
            raise Refusal(400, f"parameters: {name!r} is no parameter name; it is @ and letters or digits.")
        if value is not None and not isinstance(value, str | int | float | bool):
            raise Refusal(400, f"parameters: {name} must be a string, a number, a boolean or null.")
        parameters[name] = whole_text(value, name) if isinstance(value, str) else value
    return parameters


def _joins(members: Mapping[str, object]) -> Mapping[str, str]:
    joins: dict[str, str] = {}
    entries = object_member(members.get("joins"), "joins")
    if len(entries) > _MAX_JOINS:
        raise Refusal(400, f"joins has more than {_MAX_JOINS} members.")
    for name, value in entries.items():
        if not _ALIAS.fullmatch(name):
            raise Refusal(400, f"joins: {name!r} is no alias; it is # and letters or digits.")
        if not isinstance(value, str):
            raise Refusal(400, f"joins: {name} must be a string.")
        joins[name] = value
    return joins


def _sort_order(members: Mapping[str, object]) -> tuple[Sort, ...]:
    value = members.get("sortOrder")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Refusal(400, "sortOrder must be a list.")
    if len(value) > _MAX_SORTS:
        raise Refusal(400, f"sortOrder has more than {_MAX_SORTS} fields.")
    sorts: dict[str, Sort] = {}
    for place, entry in enumerate(value):
        sort_entry = object_member(entry, f"sortOrder[{place}]")
        name = text_member(sort_entry, "field", None)
        order = text_member(sort_entry, "order", None).strip().lower()
        if order not in ("asc", "desc"):
            raise Refusal(400, f"sortOrder[{place}]: order must be asc or desc.")
        sorts.setdefault(name, Sort(name, order == "desc"))
    return tuple(sorts.values())

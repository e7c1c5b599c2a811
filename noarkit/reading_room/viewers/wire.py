"""Values as JSON between the child and us: what the child says is checked against the types before anything is made.

The child has read hostile bytes, and may by then be theirs: a text where a number is due is `WireFault`, and nothing
that it says is more than texts and numbers.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

Value = TypeVar("Value")
_TAG = "is"


class WireFault(ValueError):
    """What came is no value of the type."""


def pack(value: object) -> bytes:
    """A value as JSON; where one of several types may stand, each says which it is."""
    return orjson.dumps(_plain(value))


def unpack(data: bytes, kind: type[Value]) -> Value:
    """The value of a type that JSON stands for. Raises `WireFault`."""
    try:
        plain = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise WireFault("no JSON") from error
    value: Value = _built(kind, plain)
    return value


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {_TAG: type(value).__name__} | {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    return value


def _built(kind: Any, value: Any) -> Any:  # Any: a type, and whatever JSON held
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _built_of_several(get_args(kind), value)
    if origin is Literal:
        if value not in get_args(kind):
            raise WireFault(f"{value!r:.100} is none of {kind}")
        return value
    if origin is tuple:
        return _built_tuple(get_args(kind), value)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise WireFault("no mapping")
        return {name: _built(get_args(kind)[1], entry) for name, entry in value.items()}
    if is_dataclass(kind):
        return _built_record(kind, value)
    if type(value) is not kind:
        raise WireFault(f"{value!r:.100} is no {kind}")
    return value


def _built_tuple(arguments: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or arguments[1:] != (Ellipsis,):
        raise WireFault("no list")
    return tuple(_built(arguments[0], entry) for entry in value)


def _built_record(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    if not isinstance(value, dict) or value.keys() != {_TAG, *hints} or value[_TAG] != kind.__name__:
        raise WireFault(f"no {kind.__name__}")
    return kind(**{name: _built(hint, value[name]) for name, hint in hints.items()})


def _built_of_several(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        if kind is type(None):
            if value is None:
                return None
        elif is_dataclass(kind):
            if isinstance(value, dict) and value.get(_TAG) == getattr(kind, "__name__", ""):
                return _built_record(kind, value)
        elif type(value) is kind:
            return value
    raise WireFault("none of the types")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)

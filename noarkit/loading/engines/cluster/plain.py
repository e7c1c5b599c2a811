"""What jobs are given and return, as JSON: plain values, bytes, tuples, and dataclasses of a list that both sides have.

A message can name nothing that is not on that list, so that it never makes anything but data.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import Any

import orjson

from noarkit.loading.engines.cluster.messages import BadMessage

_TUPLE, _BYTES, _PAIRS, _RECORD, _TEXT, _TIME, _DAY = "~t", "~b", "~m", "~r", "~s", "~z", "~d"


class PlainFormat:
    """Writes and reads values; `kinds` are the dataclasses that may be among them."""

    def __init__(self, kinds: tuple[type, ...] = ()) -> None:
        self._kinds: Mapping[str, type] = {kind.__name__: kind for kind in kinds}

    def encode(self, value: object) -> bytes:
        """A value as JSON. Raises `BadMessage` for one that is no plain data."""
        try:
            return orjson.dumps(self._plain(value))
        except (TypeError, orjson.JSONEncodeError) as error:
            raise BadMessage(type(value).__name__) from error

    def decode(self, message: bytes) -> object:
        """The value that `encode` wrote. Raises `BadMessage`."""
        try:
            return self._value(orjson.loads(message))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadMessage("plain") from error

    def _plain(self, value: Any) -> Any:  # any plain value, any JSON
        kind = type(value)
        if value is None or kind in (int, bool, float):
            return value
        if kind is str:
            if value.isascii() or _is_text(value):
                return value
            return {_TEXT: _base64(value.encode("utf-8", "surrogatepass"))}
        if kind in (datetime, date):
            return {_TIME if kind is datetime else _DAY: value.isoformat()}
        if kind is bytes:
            return {_BYTES: _base64(value)}
        if kind is tuple:
            return {_TUPLE: [self._plain(item) for item in value]}
        if kind is list:
            return [self._plain(item) for item in value]
        if isinstance(value, Mapping):
            if all(type(key) is str and not key.startswith("~") for key in value):
                return {key: self._plain(item) for key, item in value.items()}
            return {_PAIRS: [[self._plain(key), self._plain(item)] for key, item in value.items()]}
        if is_dataclass(value) and self._kinds.get(kind.__name__) is kind:
            return {_RECORD: kind.__name__, "~v": [self._plain(getattr(value, item.name)) for item in fields(value)]}
        raise TypeError(kind.__name__)

    def _value(self, value: Any) -> Any:  # any JSON, any plain value
        if type(value) is list:
            return [self._value(item) for item in value]
        if type(value) is not dict:
            return value
        if _TUPLE in value:
            return tuple([self._value(item) for item in value[_TUPLE]])
        if _BYTES in value:
            return base64.b64decode(value[_BYTES], validate=True)
        if _RECORD in value:
            return self._kinds[value[_RECORD]](*[self._value(item) for item in value["~v"]])
        if _TIME in value:
            return datetime.fromisoformat(value[_TIME])
        if _DAY in value:
            return date.fromisoformat(value[_DAY])
        if _PAIRS in value:
            return {self._value(key): self._value(item) for key, item in value[_PAIRS]}
        if _TEXT in value:
            return base64.b64decode(value[_TEXT], validate=True).decode("utf-8", "surrogatepass")
        return {key: self._value(item) for key, item in value.items()}


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _is_text(value: str) -> bool:
    """False for a text with lone surrogates, which JSON cannot hold: a name that is no UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True

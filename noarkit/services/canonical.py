"""Canonical JSON: the same record always gives the same bytes, with exact numbers and without secrets.

    canonical({"b": 1, "a": "x"})  ==  b'{"a":"x","b":1}'

Integers keep every digit, and decimals are kept as they were written; no number becomes a float.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring as _quoted

import orjson

from noarkit.errors import ServiceStrange

MAX_DEPTH = 200
REMOVED = "[REMOVED]"
_PLAIN = frozenset({str, int, bool, float, Decimal, type(None)})
_CONTAINERS = frozenset({dict, list})
_COMMON = _PLAIN - {float}
_COMMON_OR_CONTAINER = _COMMON | _CONTAINERS

_SECRET_NAMES = re.compile(
    r"(?i)^(?:.*(?:password|passwd|secret|credential|private_?key|api_?key|access_?token|refresh_?token|id_?token"
    r"|authorization|cookie|session_?id).*|token|uploadurl|presignedurl)$"
)


def parse(body: bytes, location: str) -> object:
    """Parses the JSON value of an answer; a byte-order mark is allowed. Raises `ServiceStrange`."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ServiceStrange(where=location, why="not-json") from error


def canonical(value: object) -> bytes:
    """Serialises a value as canonical JSON: UTF-8, sorted members, no spaces, numbers as they were written."""
    # orjson writes the same bytes much faster, but for what is told apart here, and for what it refuses: whole numbers
    # beyond 64 bits, and halves of surrogate pairs.
    if type(value) in _CONTAINERS and _is_common(value, 0):
        with suppress(TypeError):
            return orjson.dumps(value, default=_decimal, option=orjson.OPT_SORT_KEYS)
    pieces: list[str] = []
    _write(value, pieces, 0)
    return "".join(pieces).encode("utf-8", "backslashreplace")


def fingerprint(value: object) -> str:
    """Returns the sha256 of a value's canonical bytes."""
    return hashlib.sha256(canonical(value)).hexdigest()


def without_secrets(value: object, names: Iterable[str] = ()) -> object:
    """Returns the value with `[REMOVED]` for every member whose name looks like a secret, or is in `names`."""
    return _clean(value, frozenset(name.casefold() for name in names), 0)


def redact(text: str, key: bytes) -> str:
    """Replaces a short secret by a keyed hash: the same for the same text, and not to be guessed without `key`."""
    return f"[REDACTED sha256:{hmac.new(key, text.encode('utf-8', 'surrogatepass'), hashlib.sha256).hexdigest()[:32]}]"


def _is_common(value: object, depth: int) -> bool:
    """True for a list or object of such, and of texts, decimals, whole numbers, true, false and null."""
    inner_values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    kinds = set(map(type, inner_values))
    if kinds <= _COMMON:
        return depth <= MAX_DEPTH - 1
    return (
        kinds <= _COMMON_OR_CONTAINER
        and depth < MAX_DEPTH - 1
        and all(_is_common(inner, depth + 1) for inner in inner_values if type(inner) in _CONTAINERS)
    )


def _decimal(value: object) -> object:
    if type(value) is Decimal:
        return orjson.Fragment(str(value))
    raise TypeError


def _clean(value: object, secret_names: frozenset[str], depth: int) -> object:
    if type(value) in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        return REMOVED
    if isinstance(value, Mapping):
        # rows of a list have the same members, which are judged once
        secret_members = _secret_members(tuple(value), secret_names)
        return {
            name: REMOVED
            if name in secret_members and inner
            else inner
            if type(inner) in _PLAIN
            else _clean(inner, secret_names, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_clean(inner, secret_names, depth + 1) for inner in value]
    return value


@lru_cache(1_024)
def _secret_members(members: tuple[object, ...], secret_names: frozenset[str]) -> frozenset[object]:
    return frozenset(name for name in members if _is_secret(str(name), secret_names))


@lru_cache(4_096)
def _is_secret(name: str, secret_names: frozenset[str]) -> bool:
    return name.casefold() in secret_names or _SECRET_NAMES.match(name) is not None


def _refuse(name: str) -> object:
    raise ValueError(name)


def _write(value: object, pieces: list[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ServiceStrange(why="too-deep")
    kind = type(value)
    if kind in _PLAIN:
        pieces.append(_format_scalar(value))
    elif isinstance(value, Mapping):
        _write_members(value, pieces, depth)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        pieces.append("[")
        for place, inner in enumerate(value):
            if place:
                pieces.append(",")
            _write(inner, pieces, depth + 1)
        pieces.append("]")
    else:
        pieces.append(_format_scalar(value))


def _write_members(value: Mapping[str, object], pieces: list[str], depth: int) -> None:
    sign = "{"
    for name in sorted(value):
        pieces.append(f"{sign}{_quoted(name)}:")
        sign = ","
        inner = value[name]
        if type(inner) is str:
            pieces.append(_quoted(inner))
        elif inner is None:
            pieces.append("null")
        else:
            _write(inner, pieces, depth + 1)
    pieces.append("{}" if sign == "{" else "}")


def _format_scalar(value: object) -> str:
    """Serialises a scalar."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")

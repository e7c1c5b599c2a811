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
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring as _quoted

from noarkit.errors import ServiceStrange

MAX_DEPTH = 200
REMOVED = "[REMOVED]"
_PLAIN = frozenset({str, int, bool, float, Decimal, type(None)})

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


def _clean(value: object, secret_names: frozenset[str], depth: int) -> object:
    if type(value) in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        return REMOVED
    if isinstance(value, Mapping):
        return {
            name: REMOVED if inner and _is_secret(str(name), secret_names) else _clean(inner, secret_names, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_clean(inner, secret_names, depth + 1) for inner in value]
    return value


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

"""Parses JSON bodies, and refuses those with too many values before they are parsed.

A list of small values takes many times its own bytes once it is parsed, so values are counted in the bytes first.
"""

from __future__ import annotations

import orjson

from noarkit.server.wire import Refusal

_QUOTE = b'"'


def read_object(content: bytes, *, max_values: int, max_depth: int) -> dict[str, object]:
    """The JSON object in a body. Refuses with 413 what holds too many values, with 400 what is no such object."""
    if (
        _count_separators(content) > max_values
        and _count_separators(_outside_strings(content, max_values)) > max_values
    ):
        raise _too_many(max_values)
    try:
        body: object = orjson.loads(content)
    except orjson.JSONDecodeError as fault:
        raise Refusal(400, f"the body is not JSON in UTF-8 (line {fault.lineno}, column {fault.colno})") from None
    if not isinstance(body, dict):
        raise Refusal(400, "the body must be a JSON object")
    if _is_deeper_than(body, max_depth):
        raise Refusal(400, f"the body is nested deeper than {max_depth} levels")
    return body


def _count_separators(content: bytes) -> int:
    """Counts commas, brackets and braces: each value but the first follows one of them."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _outside_strings(content: bytes, max_values: int) -> bytes:
    """The content without its strings, so that the commas of a long text do not count."""
    plain = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    # a value of an object has two strings, its name and itself, and each has two quotation marks
    if plain.count(_QUOTE) > 4 * max_values:
        raise _too_many(max_values)
    return b"".join(plain.split(_QUOTE)[::2])


def _too_many(max_values: int) -> Refusal:
    return Refusal(413, f"the body holds more than {max_values} values; send less at once")


def _is_deeper_than(body: object, levels: int) -> bool:
    level: list[object] = [body]
    for _ in range(levels):
        level = [
            value
            for holder in level
            for value in (holder.values() if isinstance(holder, dict) else holder if isinstance(holder, list) else ())
            if isinstance(value, (dict, list))
        ]
        if not level:
            return False
    return True

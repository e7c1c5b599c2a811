"""Converts query parameters to SQL operands, by the kind of the field they are compared with.

Strings are compared by their characters, case and all. `%=` is the same but for `%`, which stands for any run of
characters, none included; every other character, `_` and `\\` among them, stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from noarkit.server import values
from noarkit.server.query.language import Path
from noarkit.server.query.patterns import ANY, MAX_LENGTH
from noarkit.server.query.request import Scalar
from noarkit.server.values import BadValue
from noarkit.server.wire import Refusal

Operand = int | float | str


def operand(kind: str, value: Scalar, name: str, path: Path) -> Operand:
    """The stored form of a parameter that is compared with a field of that kind; the Refusal names both."""
    try:
        return _CONVERT[kind](value)
    except BadValue as fault:
        raise Refusal(400, f"parameter {name} of {path} {fault}.") from None


def pattern(value: Scalar, name: str, path: Path) -> str:
    """A `%=` parameter, no longer than a pattern may be."""
    if isinstance(value, bool) or value is None:
        raise Refusal(400, f"parameter {name} of {path} takes a string.")
    text = str(operand("string", value, name, path))
    if len(text) > MAX_LENGTH:
        raise Refusal(400, f"parameter {name} of {path} is longer than the {MAX_LENGTH} characters of a pattern.")
    return text


def prefix(text: str) -> str:
    """What every text that fits a pattern begins with, as a pattern of SQLite's GLOB, which an index can serve."""
    return "".join(_GLOB.get(character, character) for character in text.partition(ANY)[0]) + "*"


def _text(value: Scalar) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return values.text(value)


_GLOB = {"*": "[*]", "?": "[?]", "[": "[[]"}
_CONVERT: Mapping[str, Callable[[Scalar], Operand]] = {
    "string": _text,
    "number": values.whole_number,
    "boolean": values.truth,
    "date": values.day,
    "timestamp": values.timestamp,
}

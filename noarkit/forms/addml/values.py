"""What the text of a field stands for, by its type and how that is written; and how our database keeps it.

What is no value of its type is never guessed at: it stays the text that it is. Decimals stay texts, with a point.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time

from noarkit.forms.addml.model import FieldType

Value = str | int | None
Convert = Callable[[str], Value]

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"([+-]?)(\d+)(?:[.](\d+))?")
_MOMENT_PARTS = re.compile(r"y{4}|M{1,2}|d{1,2}|[Hh]{1,2}|m{1,2}|s{1,2}|[fF]{1,6}|'[^']*'|.", re.DOTALL)
_DAY_PARTS = frozenset("yMd")
_TIME_PARTS = frozenset("Hmsf")
_DECLARED = {"integer": "BIGINT", "boolean": "BOOLEAN"}
_TRUE_AND_FALSE = {"true": 1, "1": 1, "false": 0, "0": 0}


class KeptText(str):
    """A text that is no value of its field's type, and is kept as it is."""

    __slots__ = ()


class UnfitValue(ValueError):
    """A text that is no value of its field, and cannot be kept as what it is."""


def declared_type(field_type: FieldType) -> str:
    """The type of a column that keeps such values. Texts among dates and times stay texts there."""
    if field_type.kind in ("date", "time"):
        pattern = _moment_pattern(field_type)
        parts = set() if pattern is None else pattern[1]
        if parts >= _DAY_PARTS:
            return "DATETIME_CHAR" if parts & _TIME_PARTS else "DATE_CHAR"
        return "TEXT"
    return _DECLARED.get(field_type.kind, "TEXT")


def reader_of(field_type: FieldType, *, fixed: bool) -> Convert:
    """What makes a value of a field's text. In files of `fixed` positions what fills a field up is taken off first, and
    a blank field has no value.

    Raises `UnfitValue` where the text is none and our database could take it for another.
    """
    convert = _converter(field_type)
    nulls = field_type.nulls
    textual = field_type.kind not in ("integer", "float", "date", "time", "boolean")

    def read(text: str) -> Value:
        if text in nulls:
            return None
        plain = _without_padding(text, field_type) if fixed else text
        if plain in nulls:
            return None
        if textual:
            return plain if plain or not fixed else None
        plain = plain.strip()
        if not plain or plain in nulls:
            return None
        value = convert(plain)
        return KeptText(plain) if value is None else value

    return read


def _converter(field_type: FieldType) -> Convert:
    if field_type.kind == "integer":
        return _integer_reader(field_type.pattern)
    if field_type.kind == "float":
        return _decimal_reader(field_type.pattern)
    if field_type.kind in ("date", "time"):
        return _moment_reader(field_type)
    if field_type.kind == "boolean":
        return _boolean_reader(field_type.pattern)
    return lambda text: text


def _without_padding(text: str, field_type: FieldType) -> str:
    pad = field_type.pad[:1] or " "
    if field_type.align.startswith(("right", "høyre")):
        stripped = text.lstrip(pad)
        return "0" if pad == "0" and text and not stripped else stripped
    return text.rstrip(pad)


def _integer_reader(pattern: str) -> Convert:
    thousands = next((sign for sign in pattern if not sign.isalnum() and sign not in "+-"), "")

    def read(text: str) -> Value:
        plain = text
        if thousands and re.fullmatch(rf"[+-]?\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+", text):
            plain = text.replace(thousands, "")
        return int(plain) if plain.isascii() and _INTEGER.fullmatch(plain) else None

    return read


def _decimal_reader(pattern: str) -> Convert:
    """The last sign of a pattern such as `n.nnn,nn` parts the decimals, one before it the thousands."""
    signs = [sign for sign in pattern if not sign.isalnum() and sign not in "+-"]
    point = signs[-1] if signs else "."
    thousands = signs[0] if len(set(signs)) > 1 else ""

    def read(text: str) -> Value:
        plain = text
        if thousands and re.match(rf"[+-]?\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+(?!\d)", text):
            plain = plain.replace(thousands, "")
        if point != "." and "." in plain:
            return None
        plain = plain.replace(point, ".")
        return plain if plain.isascii() and _DECIMAL.fullmatch(plain) else None

    return read


def _boolean_reader(pattern: str) -> Convert:
    words = pattern.split("/") if pattern.count("/") == 1 else []
    meanings = {words[0].strip(): 1, words[1].strip(): 0} if words else _TRUE_AND_FALSE

    def read(text: str) -> Value:
        value = meanings.get(text)
        if value is None and not words:
            value = meanings.get(text.lower())
        if value is not None:
            return value
        if re.fullmatch(r"\s*[+-]?[\d.]+(?:[eE][+-]?\d+)?\s*", text):
            raise UnfitValue(text)  # a number in such a column would be read as yes or no
        return None

    return read


def _moment_reader(field_type: FieldType) -> Convert:
    pattern = _moment_pattern(field_type)
    if pattern is None:
        return lambda text: None
    expression, parts = pattern

    def read(text: str) -> Value:
        match = expression.fullmatch(text)
        return _moment(match.groupdict(), parts) if match and text.isascii() else None

    return read


def _moment_pattern(field_type: FieldType) -> tuple[re.Pattern[str], frozenset[str]] | None:
    """A pattern such as `dd.MM.yyyy` as an expression, and which parts it has; None for one that leaves room for
    doubt."""
    written = field_type.pattern or ("yyyy-MM-dd" if field_type.kind == "date" else "HH:mm:ss")
    if re.search("[YD]", written):  # YYYYMMDD: the month is what stands by the day
        written = written.replace("Y", "y").replace("D", "d")
    if "M" not in written and "mm" in written and "y" in written and not re.search("[Hh]", written):
        written = written.replace("mm", "MM", 1)
    parts: list[str] = []
    expression = ""
    for piece in _MOMENT_PARTS.findall(written):
        letter = {"h": "H", "F": "f"}.get(piece[0], piece[0])
        if letter in "MdHmsf" or piece == "yyyy":
            if letter in parts:
                return None
            parts.append(letter)
            least = "1," if len(piece) == 1 and letter != "f" else ""
            most = 2 if least else len(piece)
            expression += f"(?P<{letter}>[0-9]{{{least}{most}}})"
        elif piece[0].isalpha() and piece != "T":
            return None  # a year of two digits, the name of a month, a zone
        else:
            expression += re.escape(piece.strip("'") if piece.startswith("'") and len(piece) > 1 else piece)
    known = frozenset(parts)
    if not (known >= _DAY_PARTS or (known and known <= _TIME_PARTS and known >= {"H", "m"})):
        return None
    return re.compile(expression), known


def _moment(numbers: dict[str, str], parts: frozenset[str]) -> str | None:
    """The ISO form; None for a day or an hour that there is not."""
    hour, minute, second = (int(numbers.get(part) or 0) for part in "Hms")
    fraction = f".{numbers['f']}" if numbers.get("f") else ""
    try:
        clock = time(hour, minute, second).isoformat() + fraction
        if not parts >= _DAY_PARTS:
            return clock
        day = date(int(numbers["y"]), int(numbers["M"]), int(numbers["d"]))
    except ValueError:
        return None
    if not parts & _TIME_PARTS:
        return day.isoformat()
    return f"{day.isoformat()} {clock}"

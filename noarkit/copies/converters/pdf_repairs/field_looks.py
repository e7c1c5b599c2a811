"""Draws the fields of a form that have no appearance: their values, on their ground."""

from __future__ import annotations

import re
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.lettering import Lettering, lines_within, literal
from noarkit.copies.converters.pdf_repairs.objects import is_dictionary, numbers_of, rectangle

_MULTILINE, _PASSWORD, _COMB = 1 << 12, 1 << 13, 1 << 24
_PUSH_BUTTON, _COMBO = 1 << 16, 1 << 17
_LARGEST = 12.0
_SMALLEST = 4.0
_MARGIN = 2.0
_LEADING = 1.15
_SIZE = re.compile(rb"([\d.]+)\s+Tf")
_COLOUR = re.compile(rb"((?:[\d.]+\s+){1,4}(?:g|rg|k))(?=\s|$)")
_OPERATORS = {1: "g", 3: "rg", 4: "k"}
_TICK = b"0.15 0.5 m 0.4 0.2 l 0.85 0.85 l"


def inherited(field: Any, key: str) -> Any:
    """What a field or one above it says."""
    for _ in range(32):
        if not is_dictionary(field):
            return None
        if key in field:
            return field[key]
        field = field.get("/Parent")
    return None


def field_value(field: Any) -> str:
    """The text that a field shows; empty for one of another kind."""
    import pikepdf

    if str(inherited(field, "/FT")) not in ("/Tx", "/Ch"):
        return ""
    value = inherited(field, "/V")
    if isinstance(value, pikepdf.Array):
        return "\n".join(str(item) for item in value if isinstance(item, pikepdf.String))
    if isinstance(value, pikepdf.Stream):
        return bytes(value.read_bytes()).decode("utf-8", "replace")
    return str(value) if isinstance(value, pikepdf.String) else ""


def _shown_text(field: Any) -> str:
    """What a field shows: its value, and of a list all that can be chosen."""
    import pikepdf

    options = inherited(field, "/Opt")
    if str(inherited(field, "/FT")) != "/Ch" or _flags(field) & _COMBO or not isinstance(options, pikepdf.Array):
        return field_value(field)
    return "\n".join(str(option[-1] if isinstance(option, pikepdf.Array) else option) for option in options)


def field_look(pdf: Any, field: Any, form: Any, lettering: Lettering) -> Any:
    """An appearance for a field."""
    x0, bottom, right, top = rectangle(field)
    width, height = right - x0, top - bottom
    parts = [_ground(field, width, height)]
    kind = str(inherited(field, "/FT"))
    if kind == "/Btn":
        parts.append(_button(field, width, height))
    elif not _flags(field) & _PASSWORD:
        parts.append(_text(field, form, lettering, width, height))
    return appearance(pdf, b"\n".join(part for part in parts if part), width, height, lettering.resources())


def appearance(pdf: Any, content: bytes, width: float, height: float, resources: Any) -> Any:
    """A form of a content whose corner is at 0, 0."""
    import pikepdf

    look = pdf.make_stream(content)
    look.Type, look.Subtype = pikepdf.Name.XObject, pikepdf.Name.Form
    look.BBox = pikepdf.Array([0, 0, round(max(width, 0.01), 3), round(max(height, 0.01), 3)])
    look.Resources = resources
    return look


def _flags(field: Any) -> int:
    value = inherited(field, "/Ff")
    return int(value) if value is not None else 0


def _ground(field: Any, width: float, height: float) -> bytes:
    looks = field.get("/MK")
    if not is_dictionary(looks):
        return b""
    ground, border = numbers_of(looks.get("/BG")), numbers_of(looks.get("/BC"))
    parts = []
    if len(ground) in _OPERATORS:
        parts.append(f"q {_numbers_text(ground)} {_OPERATORS[len(ground)]} 0 0 {width:.2f} {height:.2f} re f Q")
    if len(border) in _OPERATORS:
        stroke = _OPERATORS[len(border)].upper()
        parts.append(f"q {_numbers_text(border)} {stroke} 1 w 0.5 0.5 {width - 1:.2f} {height - 1:.2f} re S Q")
    return " ".join(parts).encode("ascii")


def _numbers_text(numbers: list[float]) -> str:
    return " ".join(f"{number:.4g}" for number in numbers)


def _button(field: Any, width: float, height: float) -> bytes:
    state = str(field.get("/AS", inherited(field, "/V") or "/Off"))
    if _flags(field) & _PUSH_BUTTON or state == "/Off":
        return b""
    side = min(width, height)
    return (
        f"q {side:.2f} 0 0 {side:.2f} {(width - side) / 2:.2f} {(height - side) / 2:.2f} cm 0.12 w ".encode("ascii")
        + _TICK
        + b" S Q"
    )


def _text(field: Any, form: Any, lettering: Lettering, width: float, height: float) -> bytes:
    text = _shown_text(field)
    if not text:
        return b""
    size, colour = _style(field, form)
    many = bool(_flags(field) & _MULTILINE) or "\n" in text
    size = size or min(_LARGEST, max(_SMALLEST, (height - 2 * _MARGIN) / _LEADING if not many else _LARGEST))
    lines = lines_within(lettering, text, size, width - 2 * _MARGIN) if many else [text]
    cells = int(inherited(field, "/MaxLen") or 0) if _flags(field) & _COMB else 0
    baseline = height - _MARGIN - size if many else (height - size) / 2 + size * 0.22
    parts = [b"/Tx BMC q 0 0 %d %d re W n BT /F %s Tf %s" % (width + 1, height + 1, b"%.2f" % size, colour)]
    for number, line in enumerate(lines):
        at = baseline - number * size * _LEADING
        if cells:
            for place, letter in enumerate(line):
                middle = (place + 0.5) * width / cells
                parts.append(_letter_at(lettering, letter, size, middle, at))
        else:
            room = width - lettering.width(line, size)
            indent = {1: room / 2, 2: room - _MARGIN}.get(int(inherited(field, "/Q") or 0), _MARGIN)
            parts.append(b"1 0 0 1 %.2f %.2f Tm %s Tj" % (indent, at, literal(lettering.encode(line))))
    parts.append(b"ET Q EMC")
    return b"\n".join(parts)


def _letter_at(lettering: Lettering, letter: str, size: float, middle: float, at: float) -> bytes:
    x0 = middle - lettering.width(letter, size) / 2
    return b"1 0 0 1 %.2f %.2f Tm %s Tj" % (x0, at, literal(lettering.encode(letter)))


def _style(field: Any, form: Any) -> tuple[float, bytes]:
    """The size of a field's text, 0 where it fits itself, and the operator of its colour."""
    style = inherited(field, "/DA")
    style = form.get("/DA") if style is None else style
    style_text = bytes(style) if style is not None else b""
    size, colour = _SIZE.search(style_text), _COLOUR.search(style_text)
    return float(size[1]) if size else 0.0, colour[1] if colour else b"0 g"

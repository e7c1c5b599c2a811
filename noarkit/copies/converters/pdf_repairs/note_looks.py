"""Draws annotations that have no appearance: marks of text, lines and shapes, notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.field_looks import appearance
from noarkit.copies.converters.pdf_repairs.lettering import Lettering, lines_within, literal
from noarkit.copies.converters.pdf_repairs.objects import is_dictionary, number_of, numbers_of, rectangle

_OPERATORS = {1: "G", 3: "RG", 4: "K"}
_CURVE = 0.5523
"""How far the handles of a quarter of a circle lie."""
_SIZE = 10.0
_LEADING = 1.15
Box = tuple[float, float]
Points = list[tuple[float, float]]


def note_look(pdf: Any, note: Any, lettering: Lettering) -> Any:
    """An appearance for an annotation; None for a kind that is not drawn here."""
    import pikepdf

    kind = str(note.get("/Subtype"))
    draw = _DRAWN.get(kind)
    if draw is None:
        return None
    x0, bottom, right, top = rectangle(note)
    box = (right - x0, top - bottom)
    content = draw(note, box, lettering)
    resources = lettering.resources()
    if kind == "/Highlight":  # marked text shows through
        resources.ExtGState = pikepdf.Dictionary(G=pikepdf.Dictionary(BM=pikepdf.Name.Multiply))
        content = "/G gs " + content
    return appearance(pdf, content.encode("latin-1"), *box, resources)


def _colour(note: Any, key: str = "/C", *, fills: bool = False, default: str = "") -> str:
    numbers = numbers_of(note.get(key))
    operator = _OPERATORS.get(len(numbers))
    if operator is None:
        return default
    return " ".join(f"{number:.4g}" for number in numbers) + f" {operator.lower() if fills else operator} "


def _line_width(note: Any) -> float:
    style = note.get("/BS")
    if is_dictionary(style) and "/W" in style:
        return number_of(style.get("/W"), 1.0)
    border = numbers_of(note.get("/Border"))
    return border[2] if len(border) > 2 else 1.0


def _quads(note: Any) -> list[Points]:
    """The four corners of each piece of marked text, from the corner of the annotation."""
    x0, bottom, right, top = rectangle(note)
    numbers = numbers_of(note.get("/QuadPoints")) or [x0, top, right, top, x0, bottom, right, bottom]
    points = _points(numbers, x0, bottom)
    return [points[at : at + 4] for at in range(0, len(points) - 3, 4)]


def _points(numbers: list[float], x0: float, bottom: float) -> Points:
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    return [(x - x0, y - bottom) for x, y in pairs]


def _path(points: Points) -> str:
    return " ".join(f"{x:.2f} {y:.2f} {'l' if number else 'm'}" for number, (x, y) in enumerate(points))


def _highlight(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    parts = [_colour(note, fills=True, default="1 1 0 rg ")]
    for upper_left, upper_right, lower_left, lower_right in _quads(note):
        parts.append(_path([upper_left, upper_right, lower_right, lower_left]) + " f")
    return " ".join(parts)


def _underline(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    lines = [_path([(start[0], start[1] + 1), (end[0], end[1] + 1)]) for _, _, start, end in _quads(note)]
    return f"{_colour(note, default='0 G ')}1 w " + " ".join(f"{line} S" for line in lines)


def _strike_out(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    lines = [_path([_middle(quad[0], quad[2]), _middle(quad[1], quad[3])]) for quad in _quads(note)]
    return f"{_colour(note, default='0 G ')}1 w " + " ".join(f"{line} S" for line in lines)


def _middle(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    return (first[0] + second[0]) / 2, (first[1] + second[1]) / 2


def _ink(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    x0, bottom, *_ = rectangle(note)
    paths = [_path(_points(numbers_of(stroke), x0, bottom)) for stroke in note.get("/InkList", ())]
    return f"{_colour(note, default='0 G ')}{_line_width(note):.2f} w " + " ".join(
        f"{path} S" for path in paths if path
    )


def _line(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    x0, bottom, *_ = rectangle(note)
    path = _path(_points(numbers_of(note.get("/L")), x0, bottom))
    return f"{_colour(note, default='0 G ')}{_line_width(note):.2f} w {path} S" if path else ""


def _polygon(note: Any, box: Box, lettering: Lettering) -> str:
    del box, lettering
    x0, bottom, *_ = rectangle(note)
    path = _path(_points(numbers_of(note.get("/Vertices")), x0, bottom))
    return _painted(note, path, "h" if note.get("/Subtype") == "/Polygon" else "") if path else ""


def _painted(note: Any, path: str, closing: str) -> str:
    ground = _colour(note, "/IC", fills=True) if closing else ""
    paint = "B" if ground else "S"
    return f"{ground}{_colour(note, default='0 G ')}{_line_width(note):.2f} w {path} {closing} {paint}"


def _square(note: Any, box: Box, lettering: Lettering) -> str:
    del lettering
    inset = _line_width(note) / 2
    path = f"{inset:.2f} {inset:.2f} {box[0] - 2 * inset:.2f} {box[1] - 2 * inset:.2f} re"
    return _painted(note, path, "h")


def _circle(note: Any, box: Box, lettering: Lettering) -> str:
    del lettering
    inset = _line_width(note) / 2
    across, up = box[0] / 2 - inset, box[1] / 2 - inset
    x, y = box[0] / 2, box[1] / 2
    dx, dy = across * _CURVE, up * _CURVE
    path = (
        f"{x + across:.2f} {y:.2f} m "
        f"{x + across:.2f} {y + dy:.2f} {x + dx:.2f} {y + up:.2f} {x:.2f} {y + up:.2f} c "
        f"{x - dx:.2f} {y + up:.2f} {x - across:.2f} {y + dy:.2f} {x - across:.2f} {y:.2f} c "
        f"{x - across:.2f} {y - dy:.2f} {x - dx:.2f} {y - up:.2f} {x:.2f} {y - up:.2f} c "
        f"{x + dx:.2f} {y - up:.2f} {x + across:.2f} {y - dy:.2f} {x + across:.2f} {y:.2f} c"
    )
    return _painted(note, path, "h")


def _sticky_note(note: Any, box: Box, lettering: Lettering) -> str:
    """A sheet with three lines; what it says stays in its contents."""
    del lettering
    side = min(box) * 0.9
    sheet = f"{_colour(note, fills=True, default='1 1 0.6 rg ')}0 G 0.5 w 1 1 {side:.2f} {side:.2f} re B"
    lines = [_path([(side * 0.2, side * height), (side * 0.9, side * height)]) for height in (0.3, 0.5, 0.7)]
    return sheet + " " + " ".join(f"{line} S" for line in lines)


def _free_text(note: Any, box: Box, lettering: Lettering) -> str:
    text = str(note.get("/Contents", ""))
    ground = _colour(note, fills=True)
    parts = [f"{ground}0 0 {box[0]:.2f} {box[1]:.2f} re f" if ground else "", "BT /F 10 Tf 0 g"]
    for number, line in enumerate(lines_within(lettering, text, _SIZE, box[0] - 4)):
        at = box[1] - _SIZE - number * _SIZE * _LEADING
        parts.append(f"1 0 0 1 2 {at:.2f} Tm {literal(lettering.encode(line)).decode('ascii')} Tj")
    return " ".join((*parts, "ET"))


def _stamp(note: Any, box: Box, lettering: Lettering) -> str:
    text = str(note.get("/Name", "/Draft")).lstrip("/")
    size = min(box[1] * 0.6, box[0] / max(1.0, lettering.width(text, 1.0)) * 0.9)
    frame = f"{_colour(note, default='0.7 0 0 RG ')}1 w 1 1 {box[0] - 2:.2f} {box[1] - 2:.2f} re S"
    codes = literal(lettering.encode(text)).decode("ascii")
    return f"{frame} BT /F {size:.2f} Tf 0.7 0 0 rg 1 0 0 1 {box[0] * 0.05:.2f} {box[1] * 0.3:.2f} Tm {codes} Tj ET"


_DRAWN: Mapping[str, Callable[[Any, Box, Lettering], str]] = {
    "/Highlight": _highlight,
    "/Underline": _underline,
    "/Squiggly": _underline,
    "/StrikeOut": _strike_out,
    "/Ink": _ink,
    "/Line": _line,
    "/Polygon": _polygon,
    "/PolyLine": _polygon,
    "/Square": _square,
    "/Circle": _circle,
    "/Text": _sticky_note,
    "/FreeText": _free_text,
    "/Stamp": _stamp,
    "/Caret": _sticky_note,
}

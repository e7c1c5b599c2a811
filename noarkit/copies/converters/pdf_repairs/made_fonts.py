"""A subset of a font made to measure: the glyphs that a PDF's codes mean, with the widths that the PDF says.

So no line moves. A glyph that is wider than its place is narrowed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any  # Any: the library has no types

from noarkit.copies.converters.pdf_repairs.twins import Twin

_UNITS = 1000
_NOTDEF = ".notdef"


@dataclass(frozen=True, slots=True)
class MadeFont:
    """A font program as bare CFF with its name, the glyph of each code in it, and its measures."""

    title: str
    program: bytes
    names: Mapping[int, str]
    widths: Mapping[int, int]
    box: tuple[int, int, int, int]
    ascent: int
    descent: int


def make_font(twin: Twin, names: Mapping[int, str], widths: Mapping[int, float]) -> MadeFont:
    """A font for the codes of `names` whose glyphs the twin has. A width that the PDF does not say is the twin's.

    Documents of one program ask for the same fonts again and again: those are made once.
    """
    return _make_once(twin.place, twin, tuple(sorted(names.items())), tuple(sorted(widths.items())))


@lru_cache(maxsize=16)
def _make_once(
    place: str, twin: Twin, named_codes: tuple[tuple[int, str], ...], known_widths: tuple[tuple[int, float], ...]
) -> MadeFont:
    widths = dict(known_widths)
    tag = hashlib.sha256(repr((place, named_codes, known_widths)).encode()).digest()
    title = f"{_tag(tag)}+{twin.font['name'].getDebugName(6)}"
    outlines: dict[tuple[str, int], str] = {}
    strings: dict[str, Any] = {_NOTDEF: _outline(twin, None, 0)}
    glyph_of_code: dict[int, str] = {}
    measured: dict[int, int] = {}
    for code, name in named_codes:
        glyph = twin.glyph(name)
        if glyph is None:
            continue
        width = round(widths.get(code, twin.width(glyph)))
        own = outlines.get((name, width))
        if own is None:
            own = outlines[(name, width)] = name if name not in strings else f"{name}.w{code}"
            strings[own] = _outline(twin, glyph, width)
        glyph_of_code[code], measured[code] = own, width
    head, lines = twin.font["head"], twin.font["hhea"]
    scale = _UNITS / head.unitsPerEm
    box = tuple(round(value * scale) for value in (head.xMin, head.yMin, head.xMax, head.yMax))
    program = _compiled(title, strings, list(box))
    return MadeFont(
        title,
        program,
        glyph_of_code,
        measured,
        (box[0], box[1], box[2], box[3]),
        round(lines.ascent * scale),
        round(lines.descent * scale),
    )


def _tag(digest: bytes) -> str:
    """Six capital letters, as the name of a subset begins."""
    return "".join(chr(ord("A") + byte % 26) for byte in digest[:6])


def _outline(twin: Twin, glyph: str | None, width: int) -> Any:
    """A glyph as a charstring, scaled to thousandths and never wider than its place."""
    from fontTools.pens.t2CharStringPen import T2CharStringPen
    from fontTools.pens.transformPen import TransformPen

    glyphs = twin.font.getGlyphSet()
    pen = T2CharStringPen(width, glyphs)
    if glyph is not None:
        scale = _UNITS / twin.font["head"].unitsPerEm
        own = twin.width(glyph)
        across = scale * min(1.0, width / own) if own > 0 and width > 0 else scale
        glyphs[glyph].draw(TransformPen(pen, (across, 0, 0, scale, 0, 0)))
    return pen.getCharString()


def _compiled(title: str, strings: Mapping[str, Any], box: list[int]) -> bytes:
    from fontTools.fontBuilder import FontBuilder

    builder = FontBuilder(_UNITS, isTTF=False)
    builder.font.recalcBBoxes = False  # the box is that of the twin
    builder.setupGlyphOrder(list(strings))
    builder.setupCFF(title, {"FontBBox": box}, dict(strings), {})
    program: bytes = builder.font["CFF "].compile(builder.font)
    return program

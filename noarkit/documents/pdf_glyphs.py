"""Letters that a PDF does not draw though its text has them: an empty box stands in their place.

A letter that no font has is drawn as the glyph of number 0, or as a copy of it under another number, and what a reader
copies from the page is right all the same. So each code that a page shows is followed to its outline.
"""

from __future__ import annotations

import io
import logging
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Any: objects of pikepdf and fontTools

from noarkit.documents.pdf_pages import PdfUnreadable

_SHOWS = frozenset({"Tj", "'", '"', "TJ"})
_SYMBOL_PAGE = 0xF000
_Codes = dict[tuple[int, int], set[bytes]]


def boxes_in(path: Path) -> dict[str, int]:
    """How many codes of each font show the box of a letter that it does not have. Raises `PdfUnreadable`."""
    import pikepdf

    boxes: dict[str, int] = {}
    try:
        with pikepdf.open(path) as pdf:
            for place, strings in _shown_strings(pdf).items():
                font = pdf.get_object(place)
                count = _boxes_of_font(font, strings)
                if count:
                    boxes[str(font.get("/BaseFont", "/")).lstrip("/").partition("+")[2]] = count
    except (pikepdf.PdfError, pikepdf.PasswordError) as error:
        raise PdfUnreadable from error
    return boxes


def _shown_strings(pdf: Any) -> _Codes:
    """The strings that are shown in each font, by the place of the font in the file."""
    import pikepdf

    strings: _Codes = defaultdict(set)
    for scope in pdf.content_scopes():
        fonts: Any = {} if scope.resources is None else scope.resources.get("/Font", {})
        font: Any = None
        outer: list[Any] = []
        for instruction in pikepdf.parse_content_stream(scope.content):
            operator, operands = str(instruction.operator), instruction.operands
            if operator == "Tf":
                font = fonts.get(operands[0])
            elif operator == "q":
                outer.append(font)
            elif operator == "Q" and outer:
                font = outer.pop()
            elif operator in _SHOWS and font is not None and font.is_indirect:
                strings[font.objgen].update(_strings_of(operands[-1]))
    return strings


def _strings_of(operand: Any) -> Iterator[bytes]:
    import pikepdf

    for item in operand if isinstance(operand, pikepdf.Array) else (operand,):
        if isinstance(item, pikepdf.String):
            yield bytes(item)


def _boxes_of_font(font: Any, strings: set[bytes]) -> int:
    """How many codes show a box; 0 for a font whose program is of another kind, or is not in the file."""
    is_wide = font.get("/Subtype") == "/Type0"
    inner = font.DescendantFonts[0] if is_wide else font
    program = _true_type(inner.get("/FontDescriptor"))
    if program is None:
        return 0
    width = 2 if is_wide else 1
    codes = {int.from_bytes(text[at : at + width], "big") for text in strings for at in range(0, len(text), width)}
    glyphs = _wide_glyphs(inner, codes) if is_wide else _narrow_glyphs(program, codes)
    outlines = program["glyf"]
    order = program.getGlyphOrder()
    box = _outline(outlines, order[0])
    return sum(
        glyph == 0 or (bool(box) and glyph < len(order) and _outline(outlines, order[glyph]) == box) for glyph in glyphs
    )


def _true_type(descriptor: Any) -> Any:
    """The program of a font with outlines as TrueType has them; None for any other."""
    if descriptor is None or "/FontFile2" not in descriptor:
        return None
    from fontTools.ttLib import TTFont, TTLibError

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of every odd font
    try:
        program = TTFont(io.BytesIO(descriptor.FontFile2.read_bytes()), lazy=True)
        return program if "glyf" in program else None
    except TTLibError:
        return None


def _wide_glyphs(font: Any, codes: set[int]) -> list[int]:
    table = font.get("/CIDToGIDMap")
    if table is None or table == "/Identity":
        return sorted(codes)
    numbers = table.read_bytes()
    return [int.from_bytes(numbers[2 * code : 2 * code + 2], "big") for code in sorted(codes)]


def _narrow_glyphs(program: Any, codes: set[int]) -> list[int]:
    """The glyphs of the codes of a symbolic font, by whichever of its tables knows them; of a code that none knows,
    nothing is said: how it is drawn depends on the reader."""
    tables = [table.cmap for table in program["cmap"].tables] if "cmap" in program else []
    names = [table.get(code) or table.get(_SYMBOL_PAGE + code) for code in sorted(codes) for table in tables]
    return [program.getGlyphID(name) for name in names if name is not None]


def _outline(outlines: Any, name: str) -> bytes:
    glyph = outlines[name]
    return bytes(glyph.compile(outlines)) if glyph.numberOfContours else b""

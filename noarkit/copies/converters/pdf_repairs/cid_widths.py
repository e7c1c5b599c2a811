"""Widths of a composite font: where its program says others than the document, the program is corrected.

The lines of the document were set by its own widths, so no line moves.
"""

from __future__ import annotations

import io
from typing import Any  # Any: objects of a PDF, and a library without types

from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.objects import dictionaries, is_dictionary, number_of

_UNITS = 1000
_LEAST = 1.0
"""What the standard lets them differ by, in thousandths."""


def mend_widths(pdf: Any, ledger: Ledger) -> None:
    """Gives each TrueType program of a composite font the widths of its document."""
    del ledger
    for font in dictionaries(pdf):
        if font.get("/Subtype") == "/CIDFontType2" and is_dictionary(font.get("/FontDescriptor")):
            _mend(pdf, font)


def _mend(pdf: Any, font: Any) -> None:
    from fontTools.ttLib import TTFont, TTLibError

    descriptor = font.FontDescriptor
    if "/FontFile2" not in descriptor or "/W" not in font:
        return
    try:
        program = TTFont(io.BytesIO(bytes(descriptor.FontFile2.read_bytes())), recalcBBoxes=False, lazy=True)
        if _corrected(program, font):
            file = io.BytesIO()
            program.save(file)
            descriptor.FontFile2 = pdf.make_stream(file.getvalue(), Length1=len(file.getvalue()))
    except (TTLibError, KeyError, ValueError, AssertionError, AttributeError, IndexError):
        return  # a program that nobody can read is judged where fonts are


def _corrected(program: Any, font: Any) -> bool:
    """Sets the widths that differ; True where one did."""
    scale = float(program["head"].unitsPerEm) / _UNITS
    metrics = program["hmtx"].metrics
    order = program.getGlyphOrder()
    to_glyph = _glyph_numbers(font)
    changed = False
    for cid, width in cid_widths(font.W).items():
        number = to_glyph(cid)
        name = order[number] if 0 <= number < len(order) else None
        if name is not None and name in metrics and abs(metrics[name][0] / scale - width) > _LEAST:
            metrics[name] = (round(width * scale), metrics[name][1])
            changed = True
    return changed


def cid_widths(entries: Any) -> dict[int, float]:
    """The widths of an array `/W`: `[1 [500 600] 7 9 250]` is 1: 500, 2: 600, 7 to 9: 250."""
    import pikepdf

    widths: dict[int, float] = {}
    waiting = list(entries)
    while len(waiting) >= 2:
        first = int(waiting.pop(0))
        if isinstance(waiting[0], pikepdf.Array):
            widths.update((first + at, number_of(width)) for at, width in enumerate(waiting.pop(0)))
        elif len(waiting) >= 2:
            last, width = int(waiting.pop(0)), number_of(waiting.pop(0))
            widths.update(dict.fromkeys(range(first, min(last, 65535) + 1), width))
        else:
            break
    return widths


def _glyph_numbers(font: Any) -> Any:
    import pikepdf

    table = font.get("/CIDToGIDMap")
    if not isinstance(table, pikepdf.Stream):
        return lambda cid: cid
    content = bytes(table.read_bytes())
    return lambda cid: int.from_bytes(content[2 * cid : 2 * cid + 2], "big")

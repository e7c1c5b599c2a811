"""Fonts that a PDF names and does not hold: each gets a program made of a font of this machine, with its own widths."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.encodings import glyph_names, unicode_map
from noarkit.copies.converters.pdf_repairs.ledger import Ledger, RepairRefused
from noarkit.copies.converters.pdf_repairs.made_fonts import MadeFont, make_font
from noarkit.copies.converters.pdf_repairs.objects import dictionaries, discard, is_dictionary, number_of, numbers_of
from noarkit.copies.converters.pdf_repairs.twins import Twin, twin_of

_SIMPLE = ("/Type1", "/TrueType", "/MMType1")
_PROGRAMS = ("/FontFile", "/FontFile2", "/FontFile3")
_NONSYMBOLIC = 32


def embed_fonts(pdf: Any, ledger: Ledger) -> None:
    """Embeds what is missing. Raises `RepairRefused` for a font that nothing here can stand for."""
    for font in list(dictionaries(pdf)):
        if font.get("/Subtype") == "/Type0" and not _has_program(_descendant(font)):
            raise RepairRefused("font-without-program", fonts=[_name(font)])
        if font.get("/Subtype") in _SIMPLE and _is_font(font) and not _has_program(font):
            _embed(pdf, font, ledger)


def _is_font(font: Any) -> bool:
    return "/BaseFont" in font and font.get("/Type") in ("/Font", None)


def _descendant(font: Any) -> Any:
    descendants = font.get("/DescendantFonts", ())
    return descendants[0] if len(descendants) else font


def _has_program(font: Any) -> bool:
    """True where a font holds a program that can be read."""
    descriptor = font.get("/FontDescriptor")
    if not is_dictionary(descriptor):
        return False
    key = next((key for key in _PROGRAMS if is_dictionary(descriptor.get(key))), None)
    return key is not None and _can_be_read(descriptor[key], key)


def _can_be_read(stream: Any, key: str) -> bool:
    import pikepdf
    from fontTools.cffLib import CFFFontSet
    from fontTools.ttLib import TTFont

    try:
        program = bytes(stream.read_bytes())
        if key == "/FontFile2" or program[:4] in (b"OTTO", b"\0\1\0\0", b"true"):
            return "head" in TTFont(io.BytesIO(program), lazy=True)
        if key == "/FontFile3":
            CFFFontSet().decompile(io.BytesIO(program), None)
            return True
        return program[:2] in (b"%!", b"\x80\x01")
    except (pikepdf.PdfError, OSError):
        return False
    except Exception:  # noqa: BLE001  # what the library raises for broken bytes is anything
        return False


def _name(font: Any) -> str:
    return str(font.get("/BaseFont", "")).lstrip("/")


def _embed(pdf: Any, font: Any, ledger: Ledger) -> None:
    name = _name(font)
    descriptor = font.get("/FontDescriptor")
    flags = int(number_of(descriptor.get("/Flags"))) if is_dictionary(descriptor) else 0
    twin = twin_of(name, flags)
    if twin is None:
        raise RepairRefused("font-without-twin", fonts=[name])
    font_made = make_font(twin, glyph_names(font, twin.built_in), _widths(font))
    _tell(ledger, name, twin)
    _write(pdf, font, font_made)
    if twin.built_in is not None and "/ToUnicode" not in font:  # no reader knows its glyphs under its new name
        font.ToUnicode = pdf.make_stream(unicode_map(font_made.names))


def _tell(ledger: Ledger, name: str, twin: Twin) -> None:
    own_name = name.partition("+")[2] or name
    pairs = ledger.twins if twin.has_same_widths else ledger.substitutes
    pairs[own_name] = twin.name


def _widths(font: Any) -> dict[int, float]:
    first = int(number_of(font.get("/FirstChar")))
    return dict(enumerate(numbers_of(font.get("/Widths")), first))


def _write(pdf: Any, font: Any, font_made: MadeFont) -> None:
    import pikepdf

    name = pikepdf.Name("/" + font_made.title)
    file = pdf.make_stream(font_made.program)
    file.Subtype = pikepdf.Name.Type1C
    font.FontDescriptor = pdf.make_indirect(
        pikepdf.Dictionary(
            Type=pikepdf.Name.FontDescriptor,
            FontName=name,
            Flags=_NONSYMBOLIC,
            FontBBox=list(font_made.box),
            ItalicAngle=0,
            Ascent=font_made.ascent,
            Descent=font_made.descent,
            CapHeight=font_made.ascent,
            StemV=80,
            FontFile3=file,
        )
    )
    font.Type, font.Subtype, font.BaseFont = pikepdf.Name.Font, pikepdf.Name.Type1, name
    codes = range(min(font_made.widths, default=0), max(font_made.widths, default=0) + 1)
    font.FirstChar, font.LastChar = codes[0], codes[-1]
    font.Widths = pikepdf.Array([font_made.widths.get(code, 0) for code in codes])
    font.Encoding = pikepdf.Dictionary(Type=pikepdf.Name.Encoding, Differences=_differences(font_made.names))
    discard(font, "/Name")


def _differences(names: Mapping[int, str]) -> Any:
    import pikepdf

    entries: list[Any] = []
    before = -2
    for code, name in sorted(names.items()):
        if code != before + 1:
            entries.append(code)
        entries.append(pikepdf.Name("/" + name))
        before = code
    return pikepdf.Array(entries)

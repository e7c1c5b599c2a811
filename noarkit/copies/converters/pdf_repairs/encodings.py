"""Which glyph each code of a simple font means, by its encoding or that of the font itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.objects import is_dictionary

_FIRST_PRINTED = 32
_CMAP = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def /CMapName /Signs def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
{count} beginbfchar
{lines}
endbfchar
endcmap CMapName currentdict /CMap defineresource pop end end
"""
_BULLETS = (127, 129, 141, 143, 144, 157)


def glyph_names(font: Any, built_in: Mapping[int, str] | None) -> dict[int, str]:
    """The glyph of each code of a font. `built_in` is the encoding of the font itself, where it has one of signs."""
    import pikepdf

    encoding = font.get("/Encoding")
    base = encoding.get("/BaseEncoding") if is_dictionary(encoding) else encoding
    names = dict(_base(str(base) if isinstance(base, pikepdf.Name) else "", built_in, str(font.get("/Subtype"))))
    if is_dictionary(encoding):
        names.update(_differences(encoding.get("/Differences", ())))
    return {code: name for code, name in names.items() if name != ".notdef"}


def _base(name: str, built_in: Mapping[int, str] | None, subtype: str) -> Mapping[int, str]:
    if built_in is not None:
        return built_in
    if name == "/WinAnsiEncoding":
        return windows_names()
    if name == "/MacRomanEncoding":
        return _mac_names()
    # of a TrueType font without one, readers take what Windows has where the standard has nothing
    return {**windows_names(), **_standard_names()} if subtype == "/TrueType" else _standard_names()


def _differences(entries: Any) -> dict[int, str]:
    import pikepdf

    names: dict[int, str] = {}
    code = 0
    for entry in entries:
        if isinstance(entry, pikepdf.Name):
            names[code] = str(entry)[1:]
            code += 1
        else:
            code = int(entry)
    return {code: name for code, name in names.items() if 0 <= code <= 255}


@cache
def windows_names() -> dict[int, str]:
    """The glyphs of Windows' Western code page, as PDF has it."""
    names = dict.fromkeys(_BULLETS, "bullet")
    for code in range(_FIRST_PRINTED, 256):
        if code not in names:
            names[code] = glyph_name(bytes([code]).decode("cp1252"))
    return {**names, 0xA0: "space", 0xAD: "hyphen"}


@cache
def glyph_name(character: str) -> str:
    """The name of a character's glyph."""
    from fontTools.agl import UV2AGL

    name: str = UV2AGL.get(ord(character), f"uni{ord(character):04X}")
    return name


@cache
def _standard_names() -> dict[int, str]:
    from fontTools.encodings.StandardEncoding import StandardEncoding

    return {code: name for code, name in enumerate(StandardEncoding) if name != ".notdef"}


@cache
def _mac_names() -> dict[int, str]:
    from fontTools.encodings.MacRoman import MacRoman

    return {code: name for code, name in enumerate(MacRoman) if name not in (".notdef", "NUL") and code >= 32}


def unicode_map(names: Mapping[int, str]) -> bytes:
    """A CMap that tells the character of each code, for fonts of signs."""
    from fontTools.agl import toUnicode

    lines = []
    for code, name in sorted(names.items()):
        text = toUnicode(name) or toUnicode(name, isZapfDingbats=True)
        if text:
            lines.append(f"<{code:02X}> <{text.encode('utf-16-be').hex().upper()}>")
    return _CMAP.format(count=len(lines), lines="\n".join(lines)).encode("ascii")

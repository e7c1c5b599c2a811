"""Text in a font of ours, for appearances that a document lacks: the font is embedded as any other that is missing."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.encodings import glyph_name, windows_names
from noarkit.copies.converters.pdf_repairs.ledger import RepairRefused
from noarkit.copies.converters.pdf_repairs.twins import twin_of

FONT = "Helvetica"
_NONSYMBOLIC = 32
_FREE = (*range(1, 32), 127, 129, 141, 143, 144, 157)
"""Codes that the code page of Windows leaves to other letters, as those of Sámi."""


class Lettering:
    """A font of one document, whose codes are given out as letters are asked for."""

    def __init__(self, pdf: Any) -> None:
        self._pdf = pdf
        self._extra: dict[str, int] = {}
        self._font: Any = None

    def encode(self, text: str) -> bytes:
        """A text in the codes of the font. Raises `RepairRefused` for one with too many foreign letters."""
        return bytes(self._code(character) for character in text)

    def width(self, text: str, size: float) -> float:
        """How wide a text is."""
        twin = twin_of(FONT, _NONSYMBOLIC)
        glyphs = [twin.glyph(glyph_name(character)) for character in text] if twin else []
        return sum(twin.width(glyph) for glyph in glyphs if twin and glyph) * size / 1000

    def resources(self) -> Any:
        """Resources that name the font `/F`. To be asked for behind the last text."""
        import pikepdf

        names = {**windows_names(), **{code: glyph_name(character) for character, code in self._extra.items()}}
        differences: list[Any] = []
        for code, name in sorted(names.items()):
            differences += [code, pikepdf.Name("/" + name)]
        encoding = pikepdf.Dictionary(Type=pikepdf.Name.Encoding, Differences=pikepdf.Array(differences))
        if self._font is None:
            self._font = self._pdf.make_indirect(
                pikepdf.Dictionary(
                    Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name("/" + FONT)
                )
            )
        self._font.Encoding = encoding
        return pikepdf.Dictionary(Font=pikepdf.Dictionary(F=self._font))

    def _code(self, character: str) -> int:
        try:
            return character.encode("cp1252")[0]
        except UnicodeEncodeError:
            pass
        if character not in self._extra:
            if len(self._extra) == len(_FREE):
                raise RepairRefused("letters-of-field")
            self._extra[character] = _FREE[len(self._extra)]
        return self._extra[character]


def literal(codes: bytes) -> bytes:
    """A string of a content stream."""
    return b"<" + codes.hex().encode("ascii") + b">"


def lines_within(lettering: Lettering, text: str, size: float, width: float) -> list[str]:
    """A text broken into lines no wider than `width`, at spaces."""
    lines: list[str] = []
    for paragraph in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and lettering.width(longer, size) > width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines

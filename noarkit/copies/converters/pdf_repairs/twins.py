"""Fonts of this machine that stand for those a PDF names and does not hold: of the same widths first, else alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any  # Any: the library has no types

from noarkit.copies.converters.fonts import TWINS, family, installed_font_files

_UNITS = 1000
# signs by the fonts of every PostScript printer, with the same codes; others of signs have no free twin
_SIGNS = {"symbol": "standardsymbols", "zapfdingbats": "d050000l"}
_NARROW = {"helveticanarrow": "arialnarrow", "arialnarrow": "arialnarrow"}
# where a twin is not installed
_NEXT_BEST = {
    "liberationsans": ("nimbussans",),
    "liberationserif": ("nimbusroman",),
    "liberationmono": ("nimbusmonops",),
    "liberationsansnarrow": ("nimbussansnarrow",),
}
_WITHOUT_TWIN = ("wingdings", "webdings", "dingbat", "marlett", "mtextra", "bookshelf")
_FIXED, _SERIF, _SYMBOLIC, _ITALIC, _BOLD = 1, 2, 4, 64, 1 << 18


@dataclass(frozen=True, slots=True)
class Twin:
    """A font of this machine, open. `has_same_widths` says that it was made to take the place of the one named."""

    name: str
    place: str
    font: Any = field(hash=False, compare=False)
    has_same_widths: bool
    built_in: Mapping[int, str] | None = field(default=None, hash=False, compare=False)
    """The encoding of a font of signs."""

    def glyph(self, name: str) -> str | None:
        """Its own name of a glyph; None where it has none."""
        glyphs, characters = _glyphs(self.font)
        if name in glyphs and (self.built_in is not None or name not in characters):
            return name
        from fontTools.agl import toUnicode

        text = toUnicode(name)
        glyph = characters.get(text) if len(text) == 1 else None
        return glyph or (name if name in glyphs else None)

    def width(self, glyph: str) -> float:
        """The advance of one of its glyphs, in thousandths."""
        return float(self.font["hmtx"][glyph][0]) * _UNITS / float(self.font["head"].unitsPerEm)


def twin_of(name: str, flags: int) -> Twin | None:
    """What stands for a font of a PDF; None where nothing can."""
    own = name.partition("+")[2] or name
    key = family(own)
    if any(word in key for word in _WITHOUT_TWIN) and key not in _SIGNS:
        return None
    choice_key = _SIGNS.get(key) or TWINS.get(_NARROW.get(key, key), "")
    is_twin = bool(choice_key) or key in _families()
    if not is_twin and flags & _SYMBOLIC and not flags & 32:
        return None
    choice_key = choice_key or (key if key in _families() else _alike(key, flags))
    for choice in (choice_key, *_NEXT_BEST.get(choice_key, ())):
        path = _file_of(choice, _is_bold(own, flags), _is_italic(own, flags))
        if path is not None:
            return Twin(_title(path), path, open_font(path), is_twin, _built_in(choice_key) if key in _SIGNS else None)
    return None


def _alike(key: str, flags: int) -> str:
    if flags & _FIXED or any(word in key for word in ("mono", "courier", "consolas", "typewriter")):
        return "liberationmono"
    if flags & _SERIF or any(word in key for word in ("serif", "roman", "garamond", "book", "palatino", "georgia")):
        return "liberationserif"
    return "liberationsans"


def _is_bold(name: str, flags: int) -> bool:
    small = name.lower()
    return bool(flags & _BOLD) or any(word in small for word in ("bold", "black", "heavy", "demi"))


def _is_italic(name: str, flags: int) -> bool:
    small = name.lower()
    return bool(flags & _ITALIC) or "italic" in small or "oblique" in small


@cache
def _families() -> frozenset[str]:
    return frozenset(key for key, _, _ in _files())


@cache
def _files() -> dict[tuple[str, bool, bool], str]:
    """The file of each family by weight and slope: OpenType and TrueType alone."""
    entries: dict[tuple[str, bool, bool], str] = {}
    for families, style, path in installed_font_files():
        if not path.lower().endswith((".ttf", ".otf")):
            continue
        words = set(style.lower().replace("-", " ").split())
        if words & {"light", "medium", "condensed", "thin", "book"} and not words & {"regular"}:
            continue
        bold, italic = bool(words & {"bold", "demi"}), bool(words & {"italic", "oblique"})
        for name in families:
            entries.setdefault((family(name), bold, italic), path)
    return entries


def _file_of(key: str, bold: bool, italic: bool) -> str | None:
    files = _files()
    for style in ((bold, italic), (bold, False), (False, italic), (False, False)):
        if (key, *style) in files:
            return files[(key, *style)]
    return None


@cache
def open_font(path: str) -> Any:
    """A font file, read once in a process."""
    from fontTools.ttLib import TTFont

    return TTFont(path, lazy=True)


def _title(path: str) -> str:
    return str(open_font(path)["name"].getDebugName(4))


_MAPS: dict[int, tuple[frozenset[str], dict[str, str]]] = {}


def _glyphs(font: Any) -> tuple[frozenset[str], dict[str, str]]:
    """The names of a font's glyphs, and the glyph of each character."""
    if id(font) not in _MAPS:
        characters = {chr(code): name for code, name in (font.getBestCmap() or {}).items()}
        _MAPS[id(font)] = frozenset(font.getGlyphOrder()), characters
    return _MAPS[id(font)]


@cache
def _built_in(key: str) -> Mapping[int, str]:
    """The codes of a font of signs, as its program for printers has them; none where that is not installed."""
    from fontTools.t1Lib import T1Font

    for families, _, path in installed_font_files():
        if path.lower().endswith((".t1", ".pfb")) and key in {family(name) for name in families}:
            names = T1Font(path)["Encoding"]
            return {code: name for code, name in enumerate(names) if name != ".notdef"}
    return {}

"""Which fonts the text of a document is set in: each run by its own font, its style's, its paragraph's, the default.

Styles that no text uses ask for nothing: Word writes a dozen of them into every letter.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.documents.parts import OfficeFormat, PartKind, office_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import Package
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.sax import event_parser, feed

_MOST_PART_BYTES = 64 * 1024 * 1024
_MOST_STYLES = 50
"""How far styles build on one another before somebody has made a ring of them."""
_NAMED = re.compile(rb"(?:[ :](?:ascii|hAnsi|typeface|font-family|font-name)|[ ]val)=[\"']([^\"'<>&]{1,100})[\"']")
_TEXTS: tuple[PartKind, ...] = ("header", "footer", "footnotes", "endnotes")
_KINDS: Mapping[OfficeFormat, tuple[PartKind, ...]] = {
    "docx": ("styles", "theme"),
    "xlsx": ("styles",),
    "pptx": ("slide", "slideMaster", "theme"),
}
_OF_OPEN_DOCUMENT = ("content.xml", "styles.xml")
_FONT_ATTRIBUTES = {"rFonts": ("ascii", "hAnsi"), "latin": ("typeface",), "font-face": ("font-family", "name")}


def fonts_named(source: Path) -> frozenset[str]:
    """Every name that may be a font's in a document in OOXML or OpenDocument, used or not; empty for others.

    A quick look at its bytes: names of other things are among them.
    """
    names: set[str] = set()
    for _, _, content in _parts(source):
        names.update(match.decode("utf-8", "replace") for match in _NAMED.findall(content))
    return frozenset(name.strip("' ") for name in names if not name.startswith(("+", "@")))


def fonts_asked(source: Path) -> frozenset[str]:
    """The fonts that text of a document is set in. Of Word documents each run is looked at; of others, fonts that are
    declared count as used."""
    try:
        parts = list(_parts(source))
        texts = [(name, content) for kind, name, content in parts if kind == "text"]
        if not texts:
            return frozenset().union(*(_declared_fonts(content, name) for _, name, content in parts))
        theme = next((content for kind, _, content in parts if kind == "theme"), b"")
        styles = _Styles(_theme_fonts(theme) if theme else {})
        for content in (content for kind, _, content in parts if kind == "styles"):
            styles.read(content)
        return frozenset().union(*(_used(content, name, styles) for name, content in texts))
    except (PackageFault, UnsafeXml):  # it was converted all the same; the gates judge
        return frozenset()


def _parts(source: Path) -> Iterator[tuple[str, str, bytes]]:
    """The parts that may name a font: what each is (`"text"` for those of a Word document), its name and content."""
    if not zipfile.is_zipfile(source):
        return
    try:
        with zipfile.ZipFile(source) as archive:
            for kind, name in _names(Package(archive, tuple(archive.namelist()))):
                if archive.getinfo(name).file_size <= _MOST_PART_BYTES:
                    yield kind, name, archive.read(name)
    except (DocumentRefused, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        return


def _names(package: Package) -> Iterator[tuple[str, str]]:
    parts = office_parts(package)
    if parts is None:
        return
    if parts.format == "docx":
        yield from (("text", name) for name in (parts.main, *parts.of(*_TEXTS)))
    of_open_document = _OF_OPEN_DOCUMENT if parts.format not in _KINDS else ()
    yield from (("declared", name) for name in of_open_document if package.has(name))
    for kind in _KINDS.get(parts.format, ()):
        yield from ((kind, name) for name in parts.of(kind))


class _Handler:
    """Elements and attributes by their local names."""

    def __init__(self, where: str) -> None:
        self._parser = event_parser(where)
        self._where = where
        self._parser.StartElementHandler = lambda name, attributes: self.start(
            name.rpartition(" ")[2], {key.rpartition(" ")[2]: text for key, text in attributes.items()}
        )
        self._parser.EndElementHandler = lambda name: self.end(name.rpartition(" ")[2])
        self._parser.CharacterDataHandler = self.text

    def read(self, content: bytes) -> None:
        """Goes through a part. Raises `PackageFault` and `UnsafeXml`."""
        for _ in feed(self._parser, io.BytesIO(content), self._where):
            pass

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """It ends."""

    def text(self, piece: str) -> None:
        """Text in it."""


@dataclass(slots=True)
class _Style:
    font: str = ""
    base: str = ""


class _Styles(_Handler):
    """The styles of a Word document."""

    def __init__(self, theme: Mapping[str, str]) -> None:
        super().__init__("styles")
        self.theme = theme
        self.default_font = ""
        self.default_style = ""
        self._styles: dict[str, _Style] = {}
        self._own: _Style | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Takes a style, what it builds on, and its font."""
        if name == "style":
            style_id = attributes.get("styleId", "")
            self._own = self._styles.setdefault(style_id, _Style())
            if attributes.get("type") == "paragraph" and attributes.get("default") in ("1", "true", "on"):
                self.default_style = style_id
        elif name == "basedOn" and self._own is not None:
            self._own.base = attributes.get("val", "")
        elif name == "rFonts":
            font = self.font_of(attributes)
            if self._own is None:
                self.default_font = self.default_font or font
            else:
                self._own.font = font

    def end(self, name: str) -> None:
        """A style ends."""
        if name == "style":
            self._own = None

    def font_of(self, attributes: Mapping[str, str]) -> str:
        """The font that an element `rFonts` names, by itself or by the theme."""
        for key in ("ascii", "hAnsi"):
            theme = attributes.get(f"{key}Theme", "")
            font = self.theme.get("major" if theme.startswith("major") else "minor", "") if theme else ""
            if font or attributes.get(key):
                return font or attributes[key]
        return ""

    def font(self, style: str) -> str:
        """The font of a style, its own or that of what it builds on; empty where none of them has one."""
        for _ in range(_MOST_STYLES):
            known = self._styles.get(style)
            if known is None or known.font:
                return known.font if known is not None else ""
            style = known.base
        return ""


@dataclass(slots=True)
class _Run:
    paragraph_style: str = ""
    style: str = ""
    font: str = ""
    is_run: bool = False
    is_text: bool = False
    seen: set[str] = field(default_factory=set)


def _used(content: bytes, where: str, styles: _Styles) -> set[str]:
    """The fonts of all text in a part."""
    state = _Run()

    class _Runs(_Handler):
        def start(self, name: str, attributes: Mapping[str, str]) -> None:
            if name == "p":
                state.paragraph_style, state.is_run = "", False
            elif name == "pStyle":
                state.paragraph_style = attributes.get("val", "")
            elif name == "r":
                state.style, state.font, state.is_run = "", "", True
            elif name == "rStyle" and state.is_run:
                state.style = attributes.get("val", "")
            elif name == "rFonts" and state.is_run:
                state.font = styles.font_of(attributes)
            state.is_text = name == "t" and state.is_run

        def end(self, name: str) -> None:
            state.is_text = False
            if name == "r":
                state.is_run = False

        def text(self, piece: str) -> None:
            if state.is_text and piece.strip():
                state.is_text = False
                paragraph = styles.font(state.paragraph_style or styles.default_style)
                state.seen.add(state.font or styles.font(state.style) or paragraph or styles.default_font)

    _Runs(where).read(content)
    return state.seen - {""}


def _theme_fonts(content: bytes) -> dict[str, str]:
    """The fonts of a theme, by `major` and `minor`."""
    fonts: dict[str, str] = {}
    group = ""

    class _Theme(_Handler):
        def start(self, name: str, attributes: Mapping[str, str]) -> None:
            nonlocal group
            if name in ("majorFont", "minorFont"):
                group = name.removesuffix("Font")
            elif name == "latin" and group:
                fonts.setdefault(group, attributes.get("typeface", ""))

        def end(self, name: str) -> None:
            nonlocal group
            if name in ("majorFont", "minorFont"):
                group = ""

    _Theme("theme").read(content)
    return fonts


def _declared_fonts(content: bytes, where: str) -> set[str]:
    """The fonts that a part of a sheet, of slides or of OpenDocument declares."""
    names: set[str] = set()
    parents: list[str] = []

    class _Declarations(_Handler):
        def start(self, name: str, attributes: Mapping[str, str]) -> None:
            if name == "name" and parents and parents[-1] == "font":  # of a workbook
                names.add(attributes.get("val", ""))
            for key in _FONT_ATTRIBUTES.get(name, ()):
                if text := attributes.get(key):
                    names.add(text.strip("'\""))
                    break
            parents.append(name)

        def end(self, name: str) -> None:
            parents.pop()

    _Declarations(where).read(content)
    return {name for name in names if name and not name.startswith(("+", "@"))}

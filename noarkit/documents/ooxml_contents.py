"""What documents of Office Open XML hold beside their words, and which of their parts are missing or unreadable."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any  # Any: elements of lxml

from noarkit.documents.contents import Contents
from noarkit.documents.embedded_pictures import examine_picture
from noarkit.documents.encodings import decode_text
from noarkit.documents.markup import text_of_markup
from noarkit.documents.office import text_within
from noarkit.documents.parts import OfficeParts, Relation, main_parts, relations_of, slides_of
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.word import shown_headers
from noarkit.documents.zipped import Package, open_package

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_VML = "{urn:schemas-microsoft-com:vml}imagedata"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOT_SHOWN = frozenset({_FALLBACK, f"{_W}del", f"{_W}moveFrom"})
_PICTURES = frozenset({f"{_A}blip", _VML})
_LINKS = frozenset({f"{_W}hyperlink", f"{_A}hlinkClick"})
_OBJECT, _OLE = f"{_W}object", "{urn:schemas-microsoft-com:office:office}OLEObject"
_SLIDE_OBJECT = "{http://schemas.openxmlformats.org/presentationml/2006/main}oleObj"
_BOX = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}sp"
_TEXTS = frozenset({"t", "v"})
"""Local names of elements with the text of a chart or diagram."""
_NEVER_DRAWN = frozenset({"thumbnail", "printerSettings", "customXml", "customXmlProps", "attachedTemplate"})
_MOST_PICTURE_BYTES = 512 * 1024 * 1024
_WEB_PAGES = (".htm", ".html", ".xhtml", ".mht")


def ooxml_contents(path: Path) -> Contents:
    """What a text, presentation or spreadsheet holds. Raises `DocumentRefused`."""
    with open_package(path) as package:
        parts = main_parts(package)
        contents = Contents()
        contents.missing += _missing_parts(package)
        slides = slides_of(parts) if parts.format == "pptx" else ()
        for name in slides or _drawn_parts(parts):
            reader = _Reader(parts, name, contents)
            reader.read()
            if slides:
                contents.add("slides")
                contents.slides.append(reader.pixels)
        return contents


def _drawn_parts(parts: OfficeParts) -> Iterator[str]:
    """The parts that are drawn on some page."""
    if parts.format == "xlsx":
        yield from parts.of("drawing")
        return
    yield parts.main
    yield from parts.of("footnotes", "endnotes")
    headers = parts.of("header", "footer")
    if any(relation.kind != "hyperlink" for name in headers for relation in parts.relations(name)):
        yield from (name for name in headers if name in shown_headers(parts))


def _missing_parts(package: Package) -> list[str]:
    """Parts that another part refers to, and that are not there."""
    names: dict[str, None] = {}
    for rels in package.beginning("", ".rels"):
        folder, name = posixpath.split(rels)
        part = posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))
        for relation in relations_of(package, part):
            is_part = not relation.is_external and relation.kind not in _NEVER_DRAWN and relation.kind != "hyperlink"
            if is_part and not package.has(relation.target):
                names[relation.target] = None
    return list(names)


class _Reader:
    """Counts what one part draws."""

    def __init__(self, parts: OfficeParts, name: str, contents: Contents) -> None:
        self._package, self._name, self._contents = parts.package, name, contents
        self._relations = {relation.id: relation for relation in parts.relations(name)}
        self._unseen = 0
        self._equation: list[str] | None = None
        self._box: list[str] | None = None
        self._has_preview: bool | None = None
        """Whether the object within that is open has a picture of itself that can be drawn; None outside of any."""
        self.pixels = 0
        """Pictures of pixels."""

    def read(self) -> None:
        """Counts. Raises `DocumentRefused`."""
        for event, element in self._package.elements(self._name):
            if element.tag in _NOT_SHOWN:
                self._unseen += 1 if event == "start" else -1
            elif not self._unseen:
                self._take(event, element)

    def _take(self, event: str, element: Any) -> None:
        tag = element.tag
        if tag == f"{_M}oMath":
            self._mark_equation(event)
        elif tag == _BOX:
            self._mark_box(event)
        elif tag == _OBJECT:
            self._has_preview = False if event == "start" else None
        elif tag == _SLIDE_OBJECT:
            self._slide_object(event, element)
        elif event == "end":
            if tag == f"{_M}t" and self._equation is not None:
                self._equation.append(element.text or "")
            elif tag == f"{_A}t" and self._box is not None:
                self._box.append(element.text or "")
        elif tag in _PICTURES:
            self._picture(element.get(f"{_R}embed") or element.get(f"{_R}id") or "")
        elif tag in _LINKS:
            relation = self._relations.get(element.get(f"{_R}id", ""))
            if relation is not None and relation.is_external:
                self._contents.add("links", relation.target)
        elif tag == _OLE and self._has_preview is not None:
            self._embedded(element.get(f"{_R}id") or "", has_preview=self._has_preview)
        elif tag.endswith(("}chart", "}relIds", "}altChunk")):
            self._object(element.get(f"{_R}id") or element.get(f"{_R}dm") or "")

    def _mark_equation(self, event: str) -> None:
        if event == "start":
            self._equation = []
        elif self._equation is not None:
            self._contents.add("equations", "".join(self._equation))
            self._equation = None

    def _mark_box(self, event: str) -> None:
        """A box with a text over the cells of a sheet, which are compared without it."""
        if event == "start":
            self._box = []
        elif self._box is not None:
            if text := " ".join(self._box).strip():
                self._contents.add("objects", text)
            self._box = None

    def _slide_object(self, event: str, element: Any) -> None:
        """An object of a slide has its picture in it, or among the drawings for older programs, by a number."""
        if event == "start":
            self._has_preview = bool(element.get("spid"))
            return
        self._embedded(element.get(f"{_R}id") or "", has_preview=bool(self._has_preview))
        self._has_preview = None

    def _embedded(self, identifier: str, *, has_preview: bool) -> None:
        """A document within, which an office program draws itself, or by the picture that it keeps of it."""
        relation = self._relations.get(identifier)
        if relation is None or relation.is_external or not self._package.has(relation.target):
            return  # a part that is missing is named with the others
        text = text_within(_content(self._package, relation.target))
        if text is None and not has_preview:
            self._contents.unread.append(relation.target)
            return
        self._contents.add("objects", text or "")
        if has_preview:
            self._contents.previewed.add(text or "")

    def _picture(self, identifier: str) -> None:
        relation = self._relations.get(identifier)
        if not identifier or (relation is not None and relation.is_external):
            return  # content from elsewhere is told by the inspection
        name = relation.target if relation is not None else f"{self._name}#{identifier}"
        content = _content(self._package, name) if self._package.has(name) else b""
        if self._has_preview is not None and examine_picture(content).kind:
            self._has_preview = True
            return
        self.pixels += self._contents.add_picture(name, content)

    def _object(self, identifier: str) -> None:
        relation = self._relations.get(identifier)
        if relation is None or relation.is_external or not self._package.has(relation.target):
            return  # a part that is missing is named with the others
        text = _object_text(self._package, relation)
        if text is None:
            self._contents.unread.append(relation.target)
        else:
            self._contents.add("objects", text)


def _object_text(package: Package, relation: Relation) -> str | None:
    """The words of a chart, a diagram or a document within; None where nobody here can read them."""
    if relation.kind != "aFChunk":
        return " ".join(_texts(package, relation.target)) if relation.target.endswith(".xml") else None
    content = _content(package, relation.target)
    if relation.target.lower().endswith(_WEB_PAGES):
        return text_of_markup(decode_text(content, is_markup=True))
    return decode_text(content) if relation.target.lower().endswith(".txt") else text_within(content)


def _texts(package: Package, name: str) -> Sequence[str]:
    """The words in a chart or diagram, without its numbers, of which an axis shows others."""
    texts = (
        element.text or ""
        for event, element in package.elements(name)
        if event == "end" and element.tag.rpartition("}")[2] in _TEXTS
    )
    return [text for text in texts if any(character.isalpha() for character in text)]


def _content(package: Package, name: str) -> bytes:
    if package.archive.getinfo(name).file_size > _MOST_PICTURE_BYTES:
        return b""
    try:
        return package.read(name)
    except DocumentRefused:
        return b""

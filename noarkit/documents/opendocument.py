"""OpenDocument texts and presentations as spans: body, notes, headers and footers, comments, deleted and hidden text.

A paragraph is read whole when it ends; what lies in it as paragraphs of its own (of a note, a comment, a text box) is
told after it. Deleted text lies in the list of changes, before the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any  # Any: elements of lxml

from noarkit.documents.layers import HiddenText, Kind, Layer, Piece, Span
from noarkit.documents.odf_manifest import MANIFEST, manifest_elements
from noarkit.documents.odf_styles import STYLE_TAGS, OdfStyles, is_hidden
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.zipped import Package

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _OFFICE, _TABLE, _STYLE = (_NS % name for name in ("text", "office", "table", "style"))
_DRAW, _PRESENTATION = _NS % "drawing", _NS % "presentation"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DC = "{http://purl.org/dc/elements/1.1/}"
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_SPACES = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "}
_FIELDS = frozenset(
    {f"{_TEXT}page-number", f"{_TEXT}page-count"}
    | {f"{_PRESENTATION}date-time", f"{_PRESENTATION}header", f"{_PRESENTATION}footer"}
)
_NOT_OF_PAGES = frozenset({f"{_OFFICE}forms", f"{_OFFICE}scripts"})
_HEADERS = frozenset({f"{_STYLE}header", f"{_STYLE}footer"})
_OTHER_HEADERS = frozenset(f"{_STYLE}{name}-{page}" for name in ("header", "footer") for page in ("left", "first"))
_TABLES = frozenset({f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}table-cell"})
_SHAPES = frozenset(f"{_DRAW}{name}" for name in ("frame", "custom-shape", "rect", "ellipse", "caption", "g"))
"""What holds text beside that of the page; anchored to a page, it stands before the text."""
_OF_CONTENT = _PARAGRAPHS | _NOT_OF_PAGES | _TABLES | _SHAPES | STYLE_TAGS | {
    f"{_TEXT}deletion", f"{_OFFICE}change-info", f"{_TEXT}section", f"{_TEXT}list",
    f"{_PRESENTATION}notes", f"{_OFFICE}annotation", f"{_DRAW}page",
}  # fmt: skip
_OF_MASTERS = _PARAGRAPHS | STYLE_TAGS | _HEADERS | _OTHER_HEADERS | {f"{_STYLE}master-page"}
"""All that says anything of the text; what lies within paragraphs is looked at when they end."""
_FIRST_MASTER = "Standard"


def opendocument_spans(package: Package) -> Iterator[Span]:
    """What a text or presentation holds. Raises `DocumentRefused`."""
    yield from _spans(package, _Reader())


def hidden_texts(package: Package) -> Iterator[HiddenText]:
    """What is formatted so that no page shows it, in content and headers. Raises `DocumentRefused`."""
    reader = _Reader(takes_headers_for_shown=True)
    for span in _spans(package, reader):
        for layer, pieces in groupby(span.pieces, key=attrgetter("layer")):
            if layer == "hidden" and (text := "".join(piece.text for piece in pieces)).strip():
                yield HiddenText(text, reader.ended)


def _spans(package: Package, reader: _Reader) -> Iterator[Span]:
    yield from _spans_of_content(package, reader)
    if not reader.slides:
        for event, element in package.elements("styles.xml", _PARAGRAPHS, _OF_MASTERS):
            yield from reader.take_master(event, element)


def _spans_of_content(package: Package, reader: _Reader) -> Iterator[Span]:
    for event, element in package.elements("styles.xml", tags=STYLE_TAGS):
        if event == "start":
            reader.styles.take(element)
    for event, element in package.elements("content.xml", _PARAGRAPHS, _OF_CONTENT):
        yield from reader.take(event, element)


def first_master(package: Package) -> str:
    """The master page of the first page, whose head every letter shows. Raises `DocumentRefused`."""
    reader = _Reader()
    for _ in _spans_of_content(package, reader):
        pass
    return reader.master or _FIRST_MASTER


def refuse_locked(package: Package) -> None:
    """Raises `DocumentRefused` where the manifest says that members are encrypted."""
    for element in manifest_elements(package):
        if element.tag == f"{MANIFEST}encryption-data":
            raise DocumentRefused(Refusal.PASSWORD)


class _Reader:
    """Takes the events of the content, and then of the master pages."""

    def __init__(self, *, takes_headers_for_shown: bool = False) -> None:
        self.slides = 0
        self.ended = 0
        """How many paragraphs have ended."""
        self.styles = OdfStyles()
        self._takes_headers_for_shown = takes_headers_for_shown
        self._depth = self._lists = self._notes = self._apart = self._tables = self._shapes = 0
        self._changes = self._comments = 0
        self._author = ("", "")
        self._sections: list[bool] = []
        """Whether each section that is open is hidden."""
        self._cell = [-1, -1, -1]
        self.master = ""
        """The master page of the first page."""
        self._is_of_master = ""
        self._headers: list[Layer] = []

    def take(self, event: str, element: Any) -> Iterator[Span]:
        """One event of the content."""
        tag, step = element.tag, 1 if event == "start" else -1
        if tag in _PARAGRAPHS:
            self._depth += step
            self.ended += event == "end"
            if event == "end" and not self._depth and not self._apart:
                yield from self._paragraph(element, self._layer())
        elif tag in _NOT_OF_PAGES:
            self._apart += step
        elif tag == f"{_TEXT}deletion":
            self._changes += step
        elif tag == f"{_OFFICE}change-info" and event == "end":
            self._author = (element.findtext(f"{_DC}creator", ""), element.findtext(f"{_DC}date", ""))
        elif tag == f"{_TEXT}section":
            self._sections = [*self._sections, is_hidden(element)] if step > 0 else self._sections[:-1]
        elif tag == f"{_TEXT}list":
            self._lists += step
        elif tag == f"{_PRESENTATION}notes":
            self._notes += step
        elif tag == f"{_OFFICE}annotation":  # of a cell; in a paragraph it is read with that
            self._comments += 0 if self._depth else step
        elif tag in _SHAPES:
            self._shapes += step
        elif tag in _TABLES:
            if not self.master and not self._shapes and event == "start":
                self.master = self.styles.masters.get(element.get(f"{_TABLE}style-name", ""), "")
            self._table(tag, step)
        elif tag == f"{_DRAW}page" and event == "start":
            self.slides += 1
            yield Span("slide", (), level=self.slides)
        elif event == "start":
            self.styles.take(element)

    def take_master(self, event: str, element: Any) -> Iterator[Span]:
        """One event of the styles: the headers and footers of the first page are shown, others may be."""
        tag = element.tag
        if tag == f"{_STYLE}master-page":
            self._is_of_master = element.get(f"{_STYLE}name", "") if event == "start" else ""
        elif tag in _HEADERS or tag in _OTHER_HEADERS:
            if event == "end":
                self._headers.pop()
                return
            is_off = tag in _OTHER_HEADERS or element.get(f"{_STYLE}display") == "false"
            is_first = self._is_of_master == (self.master or _FIRST_MASTER)
            is_shown = self._takes_headers_for_shown or (is_first and not is_off)
            self._headers.append("header" if is_shown else "hidden")
        elif tag in _PARAGRAPHS:
            self._depth += 1 if event == "start" else -1
            self.ended += event == "end"
            if event == "end" and not self._depth and self._headers:
                yield from self._paragraph(element, self._headers[-1])
        elif event == "start":
            self.styles.take(element)

    def _table(self, tag: str, step: int) -> None:
        if tag == f"{_TABLE}table":
            self._tables += step
            if self._tables == 1 and step > 0:
                self._cell = [self._cell[0] + 1, -1, -1]
        elif self._tables == 1 and step > 0:
            self._cell = [self._cell[0], self._cell[1] + 1, -1] if tag == f"{_TABLE}table-row" else self._next_cell()

    def _next_cell(self) -> list[int]:
        return [self._cell[0], max(0, self._cell[1]), self._cell[2] + 1]

    def _layer(self) -> Layer:
        if self._changes:
            return "deleted"
        if self._comments:
            return "comment"
        if any(self._sections):
            return "hidden"
        return "note" if self._notes else "body"

    def _paragraph(self, element: Any, layer: Layer) -> Iterator[Span]:
        style = element.get(f"{_TEXT}style-name", "")
        if not self.master and not self._shapes and layer == "body":
            self.master = self.styles.masters.get(style, _FIRST_MASTER)
        if self.styles.hides("paragraph", style) and layer != "deleted":
            layer = "hidden"
        within: list[tuple[Any, Layer]] = []
        pieces = tuple(self._pieces(element, layer, within))
        kind, level = self._kind(element, style)
        cell = (self._cell[0], self._cell[1], self._cell[2]) if self._tables and min(self._cell) >= 0 else None
        author = self._author if layer == "deleted" else _author_of(element)
        if pieces or cell is not None:
            yield Span(kind, pieces, layer, level, cell, *author)
        for paragraph, inner in within:
            yield from self._paragraph(paragraph, inner)

    def _kind(self, element: Any, style: str) -> tuple[Kind, int]:
        if element.tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level", "1")
            return "heading", min(6, int(level)) if level.isdigit() and level != "0" and len(level) < 3 else 1
        if style in self.styles.headings:
            return "heading", self.styles.headings[style]
        return ("item", self._lists) if self._lists and not self._notes else ("paragraph", 0)

    def _pieces(self, element: Any, layer: Layer, within: list[tuple[Any, Layer]]) -> list[Piece]:
        """The pieces of a paragraph that hold anything; paragraphs in it are put aside with their layers."""
        pieces = [Piece(element.text, layer)] if element.text else []
        for child in element:
            tag = child.tag
            if tag in _SPACES:
                pieces.append(Piece(_SPACES[tag], layer))
            elif tag in _PARAGRAPHS:
                within.append((child, layer))
                pieces.append(Piece(" ", layer))
            elif tag == f"{_OFFICE}annotation":
                within += ((paragraph, "comment") for paragraph in child.iter(*_PARAGRAPHS))
            elif tag == f"{_TEXT}note-body":
                pieces += self._pieces(child, "note" if layer == "body" else layer, within)
            elif tag == f"{_TEXT}hidden-text":
                if hidden := child.get(f"{_TEXT}string-value") or child.text:
                    pieces.append(Piece(hidden, "hidden"))
            elif isinstance(tag, str) and tag not in _NOT_OF_PAGES:
                pieces += self._inline(child, layer, within)
            if child.tail:
                pieces.append(Piece(child.tail, layer))
        return pieces

    def _inline(self, child: Any, layer: Layer, within: list[tuple[Any, Layer]]) -> list[Piece]:
        hides = self.styles.hides("text", child.get(f"{_TEXT}style-name"))
        inner: Layer = "hidden" if hides else "field" if child.tag in _FIELDS else layer
        pieces = self._pieces(child, inner, within)
        address = child.get(_HREF, "") if child.tag == f"{_TEXT}a" else ""
        if address and address not in "".join(piece.text for piece in pieces):
            pieces.append(Piece("", layer, address=address))
        return pieces


def _author_of(paragraph: Any) -> tuple[str, str]:
    """Who wrote the comment that a paragraph stands in, and when."""
    note = next(paragraph.iterancestors(f"{_OFFICE}annotation"), None)
    return ("", "") if note is None else (note.findtext(f"{_DC}creator", ""), note.findtext(f"{_DC}date", ""))

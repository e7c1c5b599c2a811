"""Word documents since 2007 as spans: body, notes, headers and footers, comments, with what was deleted or is hidden.

A word may lie in several runs, so a paragraph is told when it is over. Fields show what was stored of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from noarkit.documents.layers import Kind, Layer, Piece, Span
from noarkit.documents.parts import OfficeParts
from noarkit.documents.refusal import DocumentRefused, Refusal

_W = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_R_ID = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)
_FALLBACK = "http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_OF_OTHERS = {
    **dict.fromkeys(("/math}t", "/drawingml/2006/main}t", "/drawingml/main}t"), "otherText"),
    **dict.fromkeys(("/drawingml/2006/main}p", "/drawingml/main}p"), "otherParagraph"),
}
"""Text of formulas and drawings within the text."""
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "ptab": "\t", "noBreakHyphen": "-"}
_COUNTED_ANEW = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
_OFF = frozenset({"0", "false", "off"})
_HEADING = re.compile(r"(?:heading|title)\s*([1-9])?", re.IGNORECASE)
_LEVELS = frozenset("012345")
_MOST_PENDING = 4_000_000
"""Characters of a paragraph; of one that is longer nothing more is read."""


def word_spans(parts: OfficeParts) -> Iterator[Span]:
    """What a Word document holds: body, notes, headers and footers, comments. Raises `DocumentRefused`."""
    styles = _Styles()
    for name in parts.of("styles"):
        for _ in parts.package.feed(name, styles):
            pass
    body = _Reader(styles.levels, parts, parts.main, "body")
    yield from body.spans()
    for name in parts.of("footnotes", "endnotes"):
        yield from _Reader(styles.levels, parts, name, "note").spans()
    shown_parts = _header_parts(parts, body)
    for name in parts.of("header", "footer"):
        yield from _Reader(styles.levels, parts, name, "header" if name in shown_parts else "hidden").spans()
    for name in parts.of("comments"):
        yield from _Reader(styles.levels, parts, name, "comment").spans()


def shown_headers(parts: OfficeParts) -> frozenset[str]:
    """The headers and footers that some page shows. Raises `DocumentRefused`."""
    body = _Reader({}, parts, parts.main, "body")
    for _ in body.spans():
        pass
    return _header_parts(parts, body)


def _header_parts(parts: OfficeParts, body: _Reader) -> frozenset[str]:
    names = body.shown_headers()
    return frozenset(relation.target for relation in parts.relations(parts.main) if relation.id in names)


def _local(name: str) -> str:
    """The local name of an element of Word; of others what it is here, and empty where it is nothing."""
    space, _, local = name.rpartition("}")
    if f"{space}}}" in _W:
        return local
    if name == _FALLBACK:
        return "Fallback"
    return next((here for suffix, here in _OF_OTHERS.items() if name.endswith(suffix)), "")


def _attribute(attributes: Mapping[str, str], local: str, default: str = "") -> str:
    return next((attributes[space + local] for space in _W if space + local in attributes), default)


def _is_on(attributes: Mapping[str, str]) -> bool:
    return _attribute(attributes, "val", "1").lower() not in _OFF


_Begin = Callable[[Mapping[str, str]], None]
_End = Callable[[], None]


class _Handler:
    """What reads a part: knows which elements are open, and what is done where one begins or ends."""

    def __init__(self) -> None:
        self._open: list[tuple[str, _Begin | None, _End | None]] = []
        self._known: dict[str, tuple[str, _Begin | None, _End | None]] = {}
        """What an element is here, by its whole name: most are nothing, and are passed by quickly."""
        self._begins, self._ends = self._beginnings(), self._endings()

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._open)

    def place(self, line: Callable[[], int], /) -> None:
        """Lines are of no interest."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        entry = self._known.get(name)
        if entry is None:
            local = _local(name)
            entry = self._known[name] = local, self._begins.get(local), self._ends.get(local)
        if (begin := entry[1]) is not None:
            begin(attributes)
        self._open.append(entry)

    def end(self, name: str, /) -> None:
        """It ends."""
        if (end := self._open.pop()[2]) is not None:
            end()

    def data(self, text: str, /) -> None:
        """Some text."""

    def _beginnings(self) -> Mapping[str, _Begin]:
        return {}

    def _endings(self) -> Mapping[str, _End]:
        return {}


class _Styles(_Handler):
    """The levels of the styles of headings, by their identifiers, which are another in each language of Word."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, int] = {}
        self._style = ""

    def _beginnings(self) -> Mapping[str, _Begin]:
        return {"style": self._begin_style, "name": self._name, "outlineLvl": self._level}

    def _begin_style(self, attributes: Mapping[str, str]) -> None:
        self._style = _attribute(attributes, "styleId")

    def _name(self, attributes: Mapping[str, str]) -> None:
        match = _HEADING.match(_attribute(attributes, "val"))
        if match is not None and self._style and self._style not in self.levels:
            self.levels[self._style] = min(6, int(match[1] or 1))

    def _level(self, attributes: Mapping[str, str]) -> None:
        if self._style and _attribute(attributes, "val") in _LEVELS:
            self.levels[self._style] = int(_attribute(attributes, "val")) + 1


_Key = tuple[Layer, str, str, str, bool]
_Raw = tuple[str, _Key]
"""A text, and what else there is to a `Piece`: one is made only when a paragraph is over, for there are many."""


class _Paragraph:
    """A paragraph, and what its runs held. `links` are the addresses of open links, and at which piece each begins."""

    __slots__ = ("kind", "level", "links", "pieces")

    def __init__(self) -> None:
        self.kind: Kind = "paragraph"
        self.level = 0
        self.pieces: list[_Raw] = []
        self.links: list[tuple[str, int]] = []


@dataclass(slots=True)
class _Field:
    instruction: str = ""

    @property
    def is_counted_anew(self) -> bool:
        return self.instruction.strip().partition(" ")[0].upper() in _COUNTED_ANEW


class _Reader(_Handler):
    """The spans of one part."""

    def __init__(self, levels: Mapping[str, int], parts: OfficeParts, part: str, layer: Layer) -> None:
        super().__init__()
        self._levels, self._parts, self._part, self._layer = levels, parts, part, layer
        self._addresses = {
            relation.id: relation.target for relation in parts.relations(part) if relation.kind == "hyperlink"
        }
        self._done: list[Span] = []
        self._paragraphs = [_Paragraph()]
        self._runs: list[int] = []
        """At which piece of its paragraph each open run begins; `~` it where the run is hidden, as is known late."""
        self._fields: list[_Field] = []
        self._deletions: list[tuple[str, str]] = []
        """Who deleted what is open, and when."""
        self._fallbacks = self._insertions = self._tables = self._count = self._size = 0
        self._cell = [-1, -1, -1]
        self._comment = ("", "")
        self._headers: dict[str, str] = {}
        self._has_title_page = self._is_too_large = False

    def spans(self) -> Iterator[Span]:
        """The spans of the part. Raises `DocumentRefused`."""
        for _ in self._parts.package.feed(self._part, self):
            if self._count > self._parts.package.most_paragraphs:
                raise DocumentRefused(Refusal.TOO_LARGE, paragraphs=self._count)
            yield from self._done
            self._done.clear()
            if self._is_too_large:
                raise DocumentRefused(Refusal.TOO_LARGE, characters=_MOST_PENDING)
        self._end_paragraph()
        yield from self._done

    def shown_headers(self) -> frozenset[str]:
        """The relations of headers and footers that some page shows."""
        kinds = {"default", "first"} if self._has_title_page else {"default"}
        return frozenset(name for name, kind in self._headers.items() if kind in kinds)

    def data(self, text: str, /) -> None:
        """Some text."""
        local = self._open[-1][0] if self._open else ""
        if local in ("t", "delText"):
            self._put(text, self._layer)
        elif local == "otherText":
            self._put(text, "field")
        elif local == "instrText" and self._fields:
            self._fields[-1].instruction += text

    def _beginnings(self) -> Mapping[str, _Begin]:
        return {
            "p": self._begin_paragraph,
            "r": self._begin_run,
            "vanish": self._hide,
            "pStyle": self._style,
            "ilvl": self._item,
            "hyperlink": self._begin_link,
            "del": self._begin_deletion,
            "moveFrom": self._begin_deletion,
            "ins": self._begin_insertion,
            "moveTo": self._begin_insertion,
            "Fallback": self._begin_fallback,
            "fldSimple": self._begin_field,
            "fldChar": self._mark_field,
            "tbl": self._begin_table,
            "tr": self._begin_row,
            "tc": self._begin_cell,
            "comment": self._begin_comment,
            "headerReference": self._note_header,
            "footerReference": self._note_header,
            "titlePg": self._note_title_page,
        }

    def _endings(self) -> Mapping[str, _End]:
        spaces = {local: partial(self._space, text) for local, text in _SPACES.items()}
        return spaces | {
            "p": self._end_paragraph,
            "otherParagraph": self._end_other,
            "r": self._end_run,
            "hyperlink": self._end_link,
            "del": self._end_deletion,
            "moveFrom": self._end_deletion,
            "ins": self._end_insertion,
            "moveTo": self._end_insertion,
            "Fallback": self._end_fallback,
            "fldSimple": self._end_field,
            "tbl": self._end_table,
        }

    def _space(self, text: str) -> None:
        if self._open and self._open[-1][0] == "r":
            self._put(text, self._layer)

    def _put(self, text: str, layer: Layer) -> None:
        author = at = ""
        if self._fallbacks:
            layer = "fallback"
        elif self._deletions:
            layer, (author, at) = "deleted", self._deletions[-1]
        elif self._fields and layer != "hidden" and any(opened.is_counted_anew for opened in self._fields):
            layer = "field"
        self._paragraphs[-1].pieces.append((text, (layer, author, at, "", self._insertions > 0)))
        self._size += len(text)
        if self._size > _MOST_PENDING:
            self._hide_from(self._runs[-1] if self._runs else 0)
            self._emit(self._paragraphs[-1])
            self._is_too_large = True

    def _begin_paragraph(self, _: Mapping[str, str]) -> None:
        self._count += 1
        self._paragraphs.append(_Paragraph())

    def _end_paragraph(self) -> None:
        if len(self._paragraphs) > 1:
            self._emit(self._paragraphs.pop())
        elif self._paragraphs[0].pieces:
            self._emit(self._paragraphs[0])

    def _emit(self, paragraph: _Paragraph) -> None:
        cell = (self._cell[0], max(0, self._cell[1]), max(0, self._cell[2])) if self._tables else None
        pieces = _merge(paragraph.pieces)
        if pieces or cell is not None:
            self._done.append(Span(paragraph.kind, pieces, self._layer, paragraph.level, cell, *self._comment))
        paragraph.pieces = []
        if paragraph.links:
            paragraph.links = [(address, 0) for address, _ in paragraph.links]
        self._size = 0

    def _begin_run(self, _: Mapping[str, str]) -> None:
        self._runs.append(len(self._paragraphs[-1].pieces))

    def _end_run(self) -> None:
        first = self._runs.pop()
        if first < 0:
            self._hide_from(first)

    def _hide_from(self, first: int) -> None:
        """Hides what the run at hand has put into its paragraph, where it is a hidden one."""
        if first < 0:
            pieces = self._paragraphs[-1].pieces
            pieces[~first:] = [(text, _hidden(key) if key[0] in _MAY_HIDE else key) for text, key in pieces[~first:]]

    def _hide(self, attributes: Mapping[str, str]) -> None:
        # the mark of a paragraph can be hidden while its text is not
        if [local for local, *_ in self._open[-2:]] == ["r", "rPr"] and self._runs:
            first = self._runs[-1]
            self._runs[-1] = ~first if (first < 0) != _is_on(attributes) else first

    def _style(self, attributes: Mapping[str, str]) -> None:
        level = self._levels.get(_attribute(attributes, "val"))
        if level is not None:
            self._paragraphs[-1].kind, self._paragraphs[-1].level = "heading", level

    def _item(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs[-1].kind != "heading":
            level = _attribute(attributes, "val", "0")
            self._paragraphs[-1].kind = "item"
            self._paragraphs[-1].level = int(level) + 1 if level.isdigit() and len(level) < 3 else 1

    def _end_other(self) -> None:
        self._put("\n", "field")

    def _begin_link(self, attributes: Mapping[str, str]) -> None:
        address = next((self._addresses.get(attributes[name], "") for name in _R_ID if name in attributes), "")
        self._paragraphs[-1].links.append((address, len(self._paragraphs[-1].pieces)))

    def _end_link(self) -> None:
        paragraph = self._paragraphs[-1]
        if not paragraph.links:
            return
        address, first = paragraph.links.pop()
        if address and address not in "".join(text for text, _ in paragraph.pieces[first:]):
            layer: Layer = "fallback" if self._fallbacks else "deleted" if self._deletions else self._layer
            paragraph.pieces.append(("", (layer, "", "", address, False)))

    def _begin_deletion(self, attributes: Mapping[str, str]) -> None:
        self._deletions.append((_attribute(attributes, "author"), _attribute(attributes, "date")))

    def _end_deletion(self) -> None:
        if self._deletions:
            self._deletions.pop()

    def _begin_insertion(self, _: Mapping[str, str]) -> None:
        self._insertions += 1

    def _end_insertion(self) -> None:
        self._insertions -= 1

    def _begin_fallback(self, _: Mapping[str, str]) -> None:
        self._fallbacks += 1

    def _end_fallback(self) -> None:
        self._fallbacks -= 1

    def _begin_field(self, attributes: Mapping[str, str]) -> None:
        self._fields.append(_Field(_attribute(attributes, "instr")))

    def _end_field(self) -> None:
        if self._fields:
            self._fields.pop()

    def _mark_field(self, attributes: Mapping[str, str]) -> None:
        kind = _attribute(attributes, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "end":
            self._end_field()

    def _begin_table(self, _: Mapping[str, str]) -> None:
        self._tables += 1
        if self._tables == 1:
            self._cell = [self._cell[0] + 1, -1, -1]

    def _end_table(self) -> None:
        self._tables -= 1

    def _begin_row(self, _: Mapping[str, str]) -> None:
        if self._tables == 1:
            self._cell = [self._cell[0], self._cell[1] + 1, -1]

    def _begin_cell(self, _: Mapping[str, str]) -> None:
        if self._tables == 1:
            self._cell[2] += 1

    def _begin_comment(self, attributes: Mapping[str, str]) -> None:
        self._comment = (_attribute(attributes, "author"), _attribute(attributes, "date"))

    def _note_header(self, attributes: Mapping[str, str]) -> None:
        name = next((attributes[key] for key in _R_ID if key in attributes), "")
        self._headers[name] = _attribute(attributes, "type", "default")

    def _note_title_page(self, attributes: Mapping[str, str]) -> None:
        self._has_title_page = _is_on(attributes)


_MAY_HIDE = frozenset({"body", "header", "note", "comment", "field"})


def _merge(pieces: list[_Raw]) -> tuple[Piece, ...]:
    """The pieces with those made one that stand side by side and differ in nothing but their text."""
    if len(pieces) == 1:  # as in nearly every paragraph
        ((text, key),) = pieces
        return (Piece(text, *key),)
    groups = ((key, "".join([text for text, _ in group])) for key, group in groupby(pieces, key=itemgetter(1)))
    return tuple(Piece(text, *key) for key, text in groups)


def _hidden(key: _Key) -> _Key:
    _, author, at, address, is_inserted = key
    return "hidden", author, at, address, is_inserted

"""Word documents since 2007 as spans: body, notes, headers and footers, comments, with what was deleted or is hidden.

A word may lie in several runs, so a paragraph is told when it is over. Fields show what was stored of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from noarkit.documents.layers import HiddenText, Kind, Layer, Piece, Span
from noarkit.documents.parts import OfficeParts
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.word_elements import Begin, End, WordHandler, attribute, is_on
from noarkit.documents.word_styles import WordStyles, styles_of

_R_ID = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "ptab": "\t", "noBreakHyphen": "-"}
_COUNTED_ANEW = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
_DRAWN = ("drawing", "pict", "object", "sym")
"""What stands in a run beside text."""
_MOST_PENDING = 4_000_000
"""Characters of a paragraph; of one that is longer nothing more is read."""


def word_spans(parts: OfficeParts) -> Iterator[Span]:
    """What a Word document holds: body, notes, headers and footers, comments. Raises `DocumentRefused`."""
    styles = styles_of(parts)
    body = _Reader(styles, parts, parts.main, "body")
    yield from body.spans()
    for name in parts.of("footnotes", "endnotes"):
        yield from _Reader(styles, parts, name, "note").spans()
    shown_parts = _header_parts(parts, body)
    for name in parts.of("header", "footer"):
        yield from _Reader(styles, parts, name, "header" if name in shown_parts else "hidden").spans()
    for name in parts.of("comments"):
        yield from _Reader(styles, parts, name, "comment").spans()


def hidden_texts(parts: OfficeParts, name: str) -> Iterator[HiddenText]:
    """What is formatted so that no page shows it, in one part of a document. Raises `DocumentRefused`."""
    reader = _Reader(styles_of(parts), parts, name, "body")
    reader.notes_hidden = True
    for _ in reader.spans():
        yield from reader.take_hidden()
    yield from reader.take_hidden()


def shown_headers(parts: OfficeParts) -> frozenset[str]:
    """The headers and footers that some page shows. Raises `DocumentRefused`."""
    body = _Reader(WordStyles(), parts, parts.main, "body")
    for _ in body.spans():
        pass
    return _header_parts(parts, body)


def _header_parts(parts: OfficeParts, body: _Reader) -> frozenset[str]:
    names = body.shown_headers()
    return frozenset(relation.target for relation in parts.relations(parts.main) if relation.id in names)


_Key = tuple[Layer, str, str, str, bool]
_Raw = tuple[str, _Key]
"""A text, and what else there is to a `Piece`: one is made only when a paragraph is over, for there are many."""


class _Paragraph:
    """A paragraph, and what its runs held. `links` are the addresses of open links, and at which piece each begins."""

    __slots__ = ("kind", "level", "links", "pieces", "style")

    def __init__(self) -> None:
        self.kind: Kind = "paragraph"
        self.level = 0
        self.style = ""
        self.pieces: list[_Raw] = []
        self.links: list[tuple[str, int]] = []


class _Run:
    """A run: at which piece of its paragraph it begins, and what it says of itself. `is_hidden` is None where only
    styles say; `draws` where there is more to it than text."""

    __slots__ = ("draws", "first", "is_hidden", "style")

    def __init__(self, first: int) -> None:
        self.first, self.style, self.draws = first, "", False
        self.is_hidden: bool | None = None


@dataclass(slots=True)
class _Field:
    """A field that is open. What stands in its instruction, as the result of a field within, is on no page."""

    instruction: str = ""
    in_instruction: bool = False

    @property
    def is_counted_anew(self) -> bool:
        return self.instruction.strip().partition(" ")[0].upper() in _COUNTED_ANEW


class _Reader(WordHandler):
    """The spans of one part."""

    def __init__(self, styles: WordStyles, parts: OfficeParts, part: str, layer: Layer) -> None:
        super().__init__()
        self._styles, self._parts, self._part, self._layer = styles, parts, part, layer
        self._addresses = {
            relation.id: relation.target for relation in parts.relations(part) if relation.kind == "hyperlink"
        }
        self._done: list[Span] = []
        self._paragraphs = [_Paragraph()]
        self._runs: list[_Run] = []
        self._table_styles: list[str] = []
        self._hidden: list[HiddenText] = []
        self.notes_hidden = False
        """Whether what is hidden is kept until `take_hidden` asks for it."""
        self._fields: list[_Field] = []
        self._deletions: list[tuple[str, str]] = []
        """Who deleted what is open, and when."""
        self._fallbacks = self._insertions = self._tables = self._count = self._ended = self._size = 0
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

    def take_hidden(self) -> Iterator[HiddenText]:
        """What was seen to be hidden since this was last asked."""
        yield from self._hidden
        self._hidden.clear()

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

    def _beginnings(self) -> Mapping[str, Begin]:
        return {
            "p": self._begin_paragraph,
            "r": self._begin_run,
            "vanish": self._hide,
            "pStyle": self._style,
            "rStyle": self._style_run,
            "tblStyle": self._style_table,
            **dict.fromkeys(_DRAWN, self._draw),
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

    def _endings(self) -> Mapping[str, End]:
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
        if self._fallbacks or (self._fields and any(each.in_instruction for each in self._fields)):
            layer = "fallback"
        elif self._deletions:
            layer, (author, at) = "deleted", self._deletions[-1]
        elif self._fields and layer != "hidden" and any(opened.is_counted_anew for opened in self._fields):
            layer = "field"
        self._paragraphs[-1].pieces.append((text, (layer, author, at, "", self._insertions > 0)))
        self._size += len(text)
        if self._size > _MOST_PENDING:
            self._hide_run()
            self._emit(self._paragraphs[-1])
            self._is_too_large = True

    def _begin_paragraph(self, _: Mapping[str, str]) -> None:
        self._count += 1
        self._paragraphs.append(_Paragraph())

    def _end_paragraph(self) -> None:
        self._ended += 1
        if len(self._paragraphs) > 1:
            self._emit(self._paragraphs.pop())
        elif self._paragraphs[0].pieces:
            self._emit(self._paragraphs[0])

    def _emit(self, paragraph: _Paragraph) -> None:
        cell = (self._cell[0], max(0, self._cell[1]), max(0, self._cell[2])) if self._tables else None
        pieces = _merge(paragraph.pieces)
        if self.notes_hidden:
            self._hidden += [HiddenText(piece.text, self._ended) for piece in pieces if _is_unseen(piece)]
        if pieces or cell is not None:
            self._done.append(Span(paragraph.kind, pieces, self._layer, paragraph.level, cell, *self._comment))
        paragraph.pieces = []
        if paragraph.links:
            paragraph.links = [(address, 0) for address, _ in paragraph.links]
        self._size = 0

    def _begin_run(self, _: Mapping[str, str]) -> None:
        self._runs.append(_Run(len(self._paragraphs[-1].pieces)))

    def _end_run(self) -> None:
        self._hide_run()
        self._runs.pop()

    def _hide_run(self) -> None:
        """Hides what the run at hand has put into its paragraph, where it is a hidden one, as is known late."""
        if self._runs and self._is_hidden(run := self._runs[-1]):
            pieces = self._paragraphs[-1].pieces
            pieces[run.first :] = [
                (text, _hidden(key) if key[0] in _MAY_HIDE else key) for text, key in pieces[run.first :]
            ]
            if run.draws and self.notes_hidden:
                self._hidden.append(HiddenText("", self._ended + 1))

    def _is_hidden(self, run: _Run) -> bool:
        """Whether no page shows a run: what it says of itself stands above what styles say."""
        if run.is_hidden is not None:
            return run.is_hidden
        return self._styles.hides(
            self._paragraphs[-1].style, run.style, self._table_styles[-1] if self._table_styles else ""
        )

    def _hide(self, attributes: Mapping[str, str]) -> None:
        # the mark of a paragraph can be hidden while its text is not
        if [local for local, *_ in self._open[-2:]] == ["r", "rPr"] and self._runs:
            self._runs[-1].is_hidden = is_on(attributes)

    def _style_run(self, attributes: Mapping[str, str]) -> None:
        if [local for local, *_ in self._open[-2:]] == ["r", "rPr"] and self._runs:
            self._runs[-1].style = attribute(attributes, "val")

    def _style_table(self, attributes: Mapping[str, str]) -> None:
        if self._table_styles:
            self._table_styles[-1] = attribute(attributes, "val")

    def _draw(self, _: Mapping[str, str]) -> None:
        if self._runs:
            self._runs[-1].draws = True

    def _style(self, attributes: Mapping[str, str]) -> None:
        if [local for local, *_ in self._open[-2:]] != ["p", "pPr"]:  # what stood before a change
            return
        style = self._paragraphs[-1].style = attribute(attributes, "val")
        if (level := self._styles.levels.get(style)) is not None:
            self._paragraphs[-1].kind, self._paragraphs[-1].level = "heading", level

    def _item(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs[-1].kind != "heading":
            level = attribute(attributes, "val", "0")
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
        self._deletions.append((attribute(attributes, "author"), attribute(attributes, "date")))

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
        self._fields.append(_Field(attribute(attributes, "instr")))

    def _end_field(self) -> None:
        if self._fields:
            self._fields.pop()

    def _mark_field(self, attributes: Mapping[str, str]) -> None:
        kind = attribute(attributes, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field(in_instruction=True))
        elif kind == "separate" and self._fields:
            self._fields[-1].in_instruction = False
        elif kind == "end":
            self._end_field()

    def _begin_table(self, _: Mapping[str, str]) -> None:
        self._tables += 1
        self._table_styles.append("")
        if self._tables == 1:
            self._cell = [self._cell[0] + 1, -1, -1]

    def _end_table(self) -> None:
        self._tables -= 1
        self._table_styles.pop()

    def _begin_row(self, _: Mapping[str, str]) -> None:
        if self._tables == 1:
            self._cell = [self._cell[0], self._cell[1] + 1, -1]

    def _begin_cell(self, _: Mapping[str, str]) -> None:
        if self._tables == 1:
            self._cell[2] += 1

    def _begin_comment(self, attributes: Mapping[str, str]) -> None:
        self._comment = (attribute(attributes, "author"), attribute(attributes, "date"))

    def _note_header(self, attributes: Mapping[str, str]) -> None:
        name = next((attributes[key] for key in _R_ID if key in attributes), "")
        self._headers[name] = attribute(attributes, "type", "default")

    def _note_title_page(self, attributes: Mapping[str, str]) -> None:
        self._has_title_page = is_on(attributes)


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


def _is_unseen(piece: Piece) -> bool:
    return piece.layer == "hidden" and not piece.text.isspace() and bool(piece.text)

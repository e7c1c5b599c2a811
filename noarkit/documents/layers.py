"""What a document holds, as events in the order of its pages, and which of it each purpose takes: one table for all.

found by a search    all that a person may remember, and the hit says that a word stands in deleted text
shown by a viewer    what a reader of the pages sees; deleted and hidden text and comments on request
words of a copy      what a printed page shows, without what each program works out anew
searched for persons all that there is, even what is meant for other programs
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, get_args

Layer = Literal["body", "header", "note", "comment", "deleted", "hidden", "fallback", "alternative", "field"]
"""Where some text stands. `"header"` is a header or footer that a page shows; `"hidden"` one that no page shows, and
text that is formatted so; `"fallback"` what stands there a second time, for older programs or in the instruction of a
field; `"alternative"` the other body of a mail; `"field"` a number of pages or a formula, which whoever shows the
document works out anew."""
Kind = Literal["paragraph", "heading", "item", "row", "slide", "sheet", "attachment", "header-field"]
Purpose = Literal["search", "view", "offer", "words", "persons"]

MOST_CHARACTERS = 2_000_000
"""More of the text of one document nobody keeps: some four hundred pages of nothing but text."""
LAYERS: tuple[Layer, ...] = get_args(Layer)
_TABLE: Mapping[Purpose, frozenset[Layer]] = {
    "search": frozenset(LAYERS) - {"fallback"},
    "view": frozenset({"body", "header", "note", "field"}),
    "offer": frozenset({"comment", "deleted", "hidden", "alternative"}),
    "words": frozenset({"body", "header", "note"}),
    "persons": frozenset(LAYERS),
}
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
PLAIN: frozenset[Layer] = frozenset({"body", "field"})
"""What a hit says nothing of: every other layer is told with it."""
_WORD_END = re.compile(r"\w{1,100}\Z")
_WORD_BEGIN = re.compile(r"\w{1,100}")


class Piece(NamedTuple):
    """Some text of one layer, and who wrote it when, of a change. One with an address ends a link: it leads there.
    What was inserted stood nowhere while what was deleted still did."""

    text: str
    layer: Layer = "body"
    author: str = ""
    at: str = ""
    address: str = ""
    is_inserted: bool = False


class Span(NamedTuple):
    """A paragraph, heading, row …, as pieces in their order, of one layer but for changes and hidden text in it.

    `cell` is where it stands in a table: the number of the table, the row and the column, each from 0.
    """

    kind: Kind
    pieces: tuple[Piece, ...]
    layer: Layer = "body"
    level: int = 0
    cell: tuple[int, int, int] | None = None
    author: str = ""
    at: str = ""

    def text(self, layers: frozenset[Layer]) -> str:
        """Its text in some layers."""
        return "".join([piece.text for piece in self.pieces if piece.layer in layers])


class HiddenText(NamedTuple):
    """What is formatted so that no page shows it, and in which paragraph: how many have ended with that one.

    Empty where it is a drawing.
    """

    text: str
    paragraph: int


class TextLine(NamedTuple):
    """Text of one layer that ends where a line does; or, of what has no layers, any piece of text."""

    text: str
    layer: Layer = "body"


def text_for(purpose: Purpose) -> frozenset[Layer]:
    """The layers that a purpose takes."""
    return _TABLE[purpose]


def lines_of(spans: Iterable[Span], purpose: Purpose = "search") -> Iterator[TextLine]:
    """The text of a document as lines of one layer each. A word of which a part was deleted stands whole among the
    deleted ones, as it was before."""
    layers = text_for(purpose)
    own_of = {layer: frozenset({layer, "field"}) & layers for layer in LAYERS}
    for span in spans:
        own = own_of[span.layer]
        if len(span.pieces) == 1 and span.pieces[0].layer in own:  # as nearly every paragraph is
            yield TextLine(f"{span.pieces[0].text}\n", span.layer)
            continue
        if text := span.text(own):
            yield TextLine(f"{text}\n", span.layer)
        if more_layers := {piece.layer for piece in span.pieces} & layers - own:
            for layer in sorted(more_layers):
                yield TextLine(f"{_whole_words(span.pieces, layer)}\n", layer)


def _whole_words(all_pieces: tuple[Piece, ...], layer: Layer) -> str:
    pieces = [piece for piece in all_pieces if piece.layer == layer or not piece.is_inserted]
    texts = [piece.text for piece in pieces]
    parts: list[str] = []
    for number, piece in enumerate(pieces):
        if piece.layer != layer:
            continue
        before, after = texts[number - 1] if number else "", texts[number + 1] if number + 1 < len(texts) else ""
        word_before = _WORD_END.search(before) if _WORD_BEGIN.match(piece.text) else None
        word_after = _WORD_BEGIN.match(after) if _WORD_END.search(piece.text) else None
        parts.append(f"{word_before[0] if word_before else ''}{piece.text}{word_after[0] if word_after else ''}")
    return " ".join(parts)

"""Office documents as readable text, from what `documents` reads of them: headings, paragraphs, lists, tables, notes.

What a reader of the pages does not see (deleted and hidden text, comments) is left out, and shown where it is asked for
(`all`). Fields show what was stored of them, and nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from noarkit.documents.layers import Layer, Span, text_for
from noarkit.documents.opendocument import opendocument_spans
from noarkit.documents.parts import main_parts
from noarkit.documents.word import word_spans
from noarkit.documents.zipped import open_package
from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.port import Piece, Rendering, Role

_SHOWN, _OFFERED = text_for("view"), text_for("offer")
_ROLES: dict[Layer, Role] = {"deleted": "deleted", "hidden": "hidden"}
# what a note says of these depends on whether the page shows them
_UNSEEN_CODES = {"hidden-text": "hidden-text-unseen"}
_SHOWN_CODES = {"tracked-changes": "tracked-changes-shown", "comments": "comments-shown"}
_BY_LAYER = {"note": "note", "header": "header", "comment": "comment", "hidden": "header"}


def show_writing(reading: Reading) -> Rendering:
    """A page of the text of a Word document, or of a text or presentation of OpenDocument."""
    is_all = reading.job.way == "all"
    codes = _SHOWN_CODES if is_all else _UNSEEN_CODES
    notes = [replace(note, code=codes.get(note.code, note.code)) for note in findings_of(reading)]
    with open_package(reading.job.document) as package:
        folded = _SpanBlocks(is_all)
        is_word = reading.detected.format == "docx"
        folded.take(word_spans(main_parts(package)) if is_word else opendocument_spans(package))
    return blocks_page(reading, folded.blocks, notes, ("all",) if folded.has_more else ())


class _SpanBlocks:
    """The blocks of a document; `has_more` where it holds what is shown only on request."""

    def __init__(self, is_all: bool) -> None:
        self.blocks = BlockList()
        self.has_more = False
        self._layers = _SHOWN | _OFFERED if is_all else _SHOWN
        self._cell: tuple[int, int, int] | None = None

    def take(self, spans: Iterable[Span]) -> None:
        """Takes all that a document holds."""
        for span in spans:
            if span.kind == "slide":
                self.blocks.add("part", str(span.level))
                continue
            self._place(span.cell)
            self.has_more |= any(piece.layer in _OFFERED and piece.text.strip() for piece in span.pieces)
            pieces = list(self._pieces(span))
            if _is_shown(span, pieces):
                role = _BY_LAYER.get(span.layer, span.kind) if span.kind == "paragraph" else span.kind
                self.blocks.add_pieces(role, pieces, span.level)
        self._place(None)

    def _pieces(self, span: Span) -> Iterator[Piece]:
        for piece in span.pieces:
            if piece.layer in self._layers:
                address = f" <{piece.address}>" if piece.address else ""
                yield Piece(piece.text + address, _ROLES.get(piece.layer, ""))

    def _place(self, cell: tuple[int, int, int] | None) -> None:
        """Begins and ends tables, rows and cells until the next text stands where it belongs."""
        before, self._cell = self._cell, cell
        if cell == before:
            return
        table, row, column = before or (-1, -1, -1)
        if before is not None and (cell is None or cell[0] != table):
            self.blocks.end("table")
        if cell is None:
            return
        if before is None or cell[0] != table:
            self.blocks.begin("table")
            row = column = -1
        if cell[1] != row:
            for _ in range(cell[1] - row):
                self.blocks.begin("tr")
            column = -1
        for _ in range(cell[2] - column):
            self.blocks.begin("td")


def _is_shown(span: Span, pieces: list[Piece]) -> bool:
    """False for a paragraph that is nothing but the number of its page."""
    is_number = all(piece.layer == "field" for piece in span.pieces if piece.text.strip())
    return not is_number or any(letter.isalpha() for piece in pieces for letter in piece.text)

"""Blocks of writing as they are gathered, with tables in tables made flat, and pages of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import cast

from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.port import Block, BlockRole, Line, Note, Piece, Prose, Rendering, Way
from noarkit.reading_room.viewers.signs import line_of

BLOCKS_IN_PAGE = 200
_CHARACTERS_IN_PAGE = 60_000
_MOST_BLOCKS = 500_000
_MOST_CELLS = 60
_MOST_ROWS = 2_000
_LONGEST_TEXT = 20_000
_BREAK = re.compile("\r\n|\n|\r")


class BlockList:
    """The blocks of a document in their order."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.cut = False
        self._rows: list[list[list[Piece]]] = []
        self._depth = 0

    def add(self, role: str, text: str, level: int = 0) -> None:
        """A block with a text; within a table, more text of its cell. Nothing where there is no text."""
        self.add_pieces(role, [Piece(text)], level)

    def add_pieces(self, role: str, pieces: Sequence[Piece], level: int = 0) -> None:
        """The same for a text in pieces that have roles."""
        if not any(piece.text.strip() for piece in pieces):
            return
        if self._depth:
            if not self._rows:
                self._rows.append([])
            if not self._rows[-1]:
                self._rows[-1].append([])
            cell = self._rows[-1][-1]
            cell += [Piece("\n"), *pieces] if cell else pieces
            return
        if len(self.blocks) >= _MOST_BLOCKS:
            self.cut = True
            return
        for line in _split(pieces):
            if any(piece.text.strip() for piece in line):
                self.blocks.append(Block(cast(BlockRole, role), _line(line), level))

    def begin(self, tag: str) -> None:
        """A table, row or cell begins; within a table another one is text of its cell."""
        if tag == "table":
            self._depth += 1
        elif self._depth == 1:
            if tag == "tr":
                self._rows.append([])
            else:
                if not self._rows:
                    self._rows.append([])
                self._rows[-1].append([])

    def end(self, tag: str) -> None:
        """It ends."""
        if tag == "table" and self._depth:
            self._depth -= 1
            if not self._depth:
                self._add_table()

    def end_tables(self) -> None:
        """Ends what a document left open."""
        if self._depth:
            self._depth = 0
            self._add_table()

    def _add_table(self) -> None:
        rows: list[tuple[Line, ...]] = []
        for row in self._rows[:_MOST_ROWS]:
            cells = tuple(_line(cell, breaks=True) for cell in row[:_MOST_CELLS])
            if any(cells):
                rows.append(cells)
        self.cut |= len(self._rows) > _MOST_ROWS or any(len(row) > _MOST_CELLS for row in self._rows)
        self._rows = []
        if rows and len(self.blocks) < _MOST_BLOCKS:
            self.blocks.append(Block("table", rows=tuple(rows)))


def _split(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Pieces line by line."""
    line: list[Piece] = []
    for piece in pieces:
        for number, text in enumerate(_BREAK.split(piece.text)):
            if number:
                yield line
                line = []
            line.append(Piece(text, piece.role))
    yield line


def _line(pieces: Sequence[Piece], *, breaks: bool = False) -> Line:
    """Pieces as they are shown: those of one role that stand side by side as one."""
    line: list[Piece] = []
    for role, group in groupby(pieces, key=lambda piece: piece.role):
        visible = line_of("".join(piece.text for piece in group), _LONGEST_TEXT, breaks=breaks)
        line += [Piece(piece.text, piece.role or role) for piece in visible]
    return tuple(line)


def blocks_page(
    reading: Reading, text_blocks: BlockList, notes: Sequence[Note], ways: tuple[Way, ...] = ()
) -> Rendering:
    """A page of blocks: so many, or fewer where they are long."""
    starts = _page_starts(text_blocks.blocks)
    page = reading.job.page
    if page > len(starts):
        raise Refusal("no-such-page", page=page, pages=len(starts))
    end = starts[page] if page < len(starts) else len(text_blocks.blocks)
    blocks = tuple(text_blocks.blocks[starts[page - 1] : end])
    all_notes = (*notes, *((Note("text-cut"),) if text_blocks.cut else ()), *((Note("no-text"),) if not blocks else ()))
    return Rendering(reading.detected, Prose(blocks), page, len(starts), page < len(starts), notes=all_notes, ways=ways)


def _page_starts(blocks: Sequence[Block]) -> list[int]:
    starts, characters = [0], 0
    for number, block in enumerate(blocks):
        size = sum(len(piece.text) for piece in block.text)
        size += sum(len(piece.text) for row in block.rows for cell in row for piece in cell)
        if number > starts[-1] and (number - starts[-1] >= BLOCKS_IN_PAGE or characters + size > _CHARACTERS_IN_PAGE):
            starts.append(number)
            characters = 0
        characters += size
    return starts

"""Texts in pages of lines, however many lines there are and however long they are.

A text is read as a stream, from its start to the page that is wanted and on to its end for the count; no line is held
longer than is shown of it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from noarkit.documents.encodings import encoding_of
from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.port import Line, Lines, Note, Piece, Rendering
from noarkit.reading_room.viewers.signs import LONGEST_LINE, line_of

LINES_IN_PAGE = 500
_MOST_CHARACTERS = 300_000
_SHORT_LINE = 80
_STEP = 1024 * 1024


def show_text(reading: Reading) -> Rendering:
    """A page of the lines of a text, a drawing or XML, as its source."""
    job = reading.job
    is_markup = reading.detected.format in ("xml", "svg", "html")
    encoding, certain = encoding_of(job.document, is_markup=is_markup)
    notes = (
        () if encoding == "utf-8" else (Note("encoding" if certain else "encoding-guessed", {"encoding": encoding}),)
    )
    with job.document.open("rb") as file:
        lines, total = page_of_lines(file, encoding, job.page)
    return shown_lines(reading, lines, total, notes)


def shown_lines(reading: Reading, lines: tuple[Line, ...], total: int, notes: tuple[Note, ...] = ()) -> Rendering:
    """A page of lines, of which there are `total`."""
    job = reading.job
    pages = max(1, -(-total // LINES_IN_PAGE))
    if job.page > pages:
        raise Refusal("no-such-page", page=job.page, pages=pages)
    body = Lines((job.page - 1) * LINES_IN_PAGE + 1, lines)
    return Rendering(reading.detected, body, job.page, pages, job.page < pages, notes=notes)


def page_of_lines(file: IO[bytes], encoding: str, page: int) -> tuple[tuple[Line, ...], int]:
    """The lines of a page, and how many lines there are in all."""
    first = (page - 1) * LINES_IN_PAGE
    lines: list[Line] = []
    total, characters = 0, 0
    for text, cut in read_lines(file, encoding):
        if first <= total < first + LINES_IN_PAGE:
            longest = LONGEST_LINE if characters < _MOST_CHARACTERS else _SHORT_LINE
            lines.append(_line(text, cut, longest))
            characters += min(len(text), longest)
        total += 1
    return tuple(lines), total


def read_lines(file: IO[bytes], encoding: str) -> Iterator[tuple[str, int]]:
    """Each line, no more of it than is shown, with the number of characters that were left out."""
    stream = io.TextIOWrapper(file, encoding, errors="replace")
    stream._CHUNK_SIZE = _STEP  # type: ignore[attr-defined]  # the library's own, for long lines are read in steps
    while True:
        text = stream.readline(LONGEST_LINE + 1)
        if not text:
            break
        cut = 0
        if not text.endswith("\n") and len(text) > LONGEST_LINE:
            while step := stream.readline(_STEP):
                cut += len(step)
                if step.endswith("\n"):
                    cut -= 1
                    break
        yield text.removesuffix("\n"), cut
    stream.detach()


def read_whole(path: Path, most_bytes: int, *, is_markup: bool = False) -> tuple[str, Note | None]:
    """A text that must be held whole, and a note on its encoding. Raises `Refusal` where it is too large for that."""
    if path.stat().st_size > most_bytes:
        raise Refusal("too-large", limit=most_bytes)
    encoding, certain = encoding_of(path, is_markup=is_markup)
    text = path.read_bytes().decode(encoding, "replace").removeprefix("\ufeff")
    note = Note("encoding" if certain else "encoding-guessed", {"encoding": encoding})
    return text, None if encoding == "utf-8" else note


def _line(text: str, cut: int, longest: int) -> Line:
    line = line_of(text, longest)
    if not cut:
        return line
    if line and line[-1].role == "cut":
        return (*line[:-1], Piece(str(int(line[-1].text) + cut), "cut"))
    return (*line, Piece(str(cut), "cut"))

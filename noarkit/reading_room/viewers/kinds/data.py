"""JSON with its members in order, one on a line."""

from __future__ import annotations

import json

from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.kinds.text import LINES_IN_PAGE, read_whole, show_text, shown_lines
from noarkit.reading_room.viewers.port import Note, Rendering
from noarkit.reading_room.viewers.signs import line_of

_MOST_BYTES = 32 * 1024 * 1024


def show_json(reading: Reading) -> Rendering:
    """JSON set out anew; as it stands where it is none, is too large for that, or is asked for."""
    job = reading.job
    if job.way == "source":
        return show_text(reading)
    try:
        text, note = read_whole(job.document, _MOST_BYTES)
        value = json.loads(text)
        laid_out = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    except (ValueError, RecursionError, Refusal):
        return show_text(reading)
    start = (job.page - 1) * LINES_IN_PAGE
    lines = tuple(line_of(line) for line in laid_out[start : start + LINES_IN_PAGE])
    notes = (Note("set-out"), *((note,) if note else ()))
    rendering = shown_lines(reading, lines, len(laid_out), notes)
    return Rendering(
        rendering.detected,
        rendering.body,
        rendering.page,
        rendering.pages,
        rendering.more,
        notes=notes,
        ways=("source",),
    )

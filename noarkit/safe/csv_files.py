"""The only writer of CSV: a spreadsheet opens the file and computes nothing in it, whichever separator it splits at.

A file is UTF-8 with its byte order mark, semicolons between cells, every cell in quotes, one line for each row.

- A control, format or bidirectional character (and a lone surrogate) is shown as `\\u202e` or `\\U000e0041`. A
  backslash that would read as the start of such an escape is itself shown as `\\u005c`.
- An apostrophe is put before `=`, `+`, `-` and `@` (also their full-width forms) where a cell could begin: at its start
  and after `;`, `,` and `|`, with spaces or quotes between or without. An apostrophe that stands there is doubled.

`cell_from_csv` undoes both, so that no value is lost.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from noarkit.safe import atomic

Cell = str | int | None

_BOM = "\ufeff"
# a tab splits cells too, but a tab is shown as an escape before this is asked
_ACTS = re.compile(r"((?:^|[;,|])[\s\"]*)(?=['=+\-@＝＋－＠])")
_GUARDED = re.compile(r"((?:^|[;,|])[\s\"]*)'(?=['=+\-@＝＋－＠])")
# categories Cc, Cf, Cs, Zl and Zp, as far as Unicode has them
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001-\U000e007f]|\\\\(?=u[0-9a-f]{4}|U[0-9a-f]{8})"
)
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def write_csv(
    path: Path, head: Iterable[str], rows: Iterable[Iterable[Cell]], *, mode: int = 0o600, sync: bool = True
) -> Path:
    """Writes a table to `path`, whole or not at all. Raises `DiskFull`."""
    with atomic.open_atomic(path, mode=mode, sync=sync) as raw:
        write_rows(raw, head, rows)
    return path


def write_rows(raw: BinaryIO, head: Iterable[str], rows: Iterable[Iterable[Cell]]) -> None:
    """Writes a table to an open file."""
    text = io.TextIOWrapper(raw, "utf-8", newline="", write_through=False)
    text.write(_BOM)
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow([cell_for_csv(cell) for cell in head])
    for row in rows:
        writer.writerow([cell_for_csv(cell) for cell in row])
    text.detach()


def cell_for_csv(cell: Cell) -> str:
    """A cell as text that shows every character and acts in no spreadsheet.

    >>> cell_for_csv("=1+1"), cell_for_csv("a, =b")
    ("'=1+1", "a, '=b")
    """
    text = "" if cell is None else str(cell)
    if not text.isprintable() or "\\" in text:
        text = _HIDDEN.sub(_escape_hidden, text)
    if text[:1].isalnum() and not (";" in text or "," in text or "|" in text):
        return text  # as most are: nothing in it can begin a cell but its first character
    return _ACTS.sub(r"\1'", text)


def cell_from_csv(text: str) -> str:
    """The value that `cell_for_csv` made this cell of."""
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), _GUARDED.sub(r"\1", text))


def _escape_hidden(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"

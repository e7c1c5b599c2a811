"""Writes rows that COPY gave as XML, a batch in a few steps over all of its text: no value is looked at by itself.

The bytes are those that `RowWriter` would write. What these steps cannot do (a value that is no value of its type, or
that stands in a file of its own) goes that way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from noarkit.forms.siard.cells import Cell
from noarkit.forms.siard.copied import NULL, CopiedRows
from noarkit.forms.siard.escapes import escaped_but_backslashes
from noarkit.forms.siard.values import WORDS
from noarkit.forms.siard.write.rows import RowWriter

# what COPY writes behind a backslash, as XML has it
_CHARACTERS = {
    **{"\\": r"\u005c", "b": r"\u0008", "f": r"\u000c", "r": r"\u000d", "v": r"\u000b"},
    **{"n": "\n", "t": "\t", "N": "N", "u": r"\u"},  # the last is no escape of COPY's: it was made by ours
}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_OTHER_ESCAPE = re.compile(rb"\\[^\\bfnrtvN]")


class CopyWriter:
    """The rows of one table. The `writer` takes what is more than this, and is told which columns had a NULL."""

    def __init__(self, writer: RowWriter, cells: Sequence[Cell], most_inline: int) -> None:
        self._writer = writer
        self._most_inline = most_inline
        self._can_copy = bool(cells) and all(cell.shape == "value" for cell in cells)
        self._large = [number for number, cell in enumerate(cells) if cell.large]
        self._nulls = [f"<{cell.tag}>{NULL}</{cell.tag}>" for cell in cells]
        self._forms = list(_forms(cells))
        self._end = f"</{cells[-1].tag}></row>\n" if cells else ""
        befores = [f"</{before.tag}><{cell.tag}>" for before, cell in pairwise(cells)]
        self._first = f"<row><{cells[0].tag}>" if cells else ""
        self._befores = [f"{self._end}{self._first}", *befores]

    def text(self, rows: CopiedRows) -> str:
        """The XML of some rows. Raises `PackageFault` for a value that cannot stand in its column."""
        quick = self._quick_text(rows) if self._can_copy and rows.width == len(self._nulls) else None
        return self._writer.columns_text(rows.columns()) if quick is None else quick

    def _quick_text(self, rows: CopiedRows) -> str | None:
        width = rows.width
        if b"\\" in rows.content and _has_other_escapes(rows.content):
            return None
        text = escaped_but_backslashes(rows.content)
        flat = text.replace("\n", "\t").split("\t")
        flat.pop()  # the text ends with a line feed
        if len(flat) % width or any(pattern.fullmatch(_column(flat[at::width])) is None for at, pattern in self._forms):
            return None
        if any(max(map(len, flat[at::width])) > self._most_inline for at in self._large):
            return None
        nulls = [at for at in range(width) if NULL in flat[at::width]] if NULL in text else []
        pieces = [""] * (2 * len(flat))
        pieces[::2] = self._befores * (len(flat) // width)
        pieces[1::2] = flat
        pieces[0] = self._first
        pieces.append(self._end)
        content = "".join(pieces)
        for at in nulls:
            content = content.replace(self._nulls[at], "")
        self._writer.nulls.update(nulls)
        return _ESCAPE.sub(_in_xml, content) if "\\" in content else content


def _forms(cells: Sequence[Cell]) -> Sequence[tuple[int, re.Pattern[str]]]:
    """For each column whose values have a form: its number, and the pattern of all of them, a line each."""
    kinds = [(number, cell.type.kind) for number, cell in enumerate(cells) if cell.type is not None]
    return [(number, re.compile(rf"(?:(?:{WORDS[kind]}|\\N)\n)*+")) for number, kind in kinds if kind in WORDS]


def _column(values: list[str]) -> str:
    values.append("")
    return "\n".join(values)


def _has_other_escapes(content: bytes) -> bool:
    """True where a backslash is followed by what COPY writes behind none."""
    return _OTHER_ESCAPE.search(content.replace(b"\\\\", b"")) is not None


def _in_xml(match: re.Match[str]) -> str:
    return _CHARACTERS[match[1]]

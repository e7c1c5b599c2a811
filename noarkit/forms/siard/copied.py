"""Rows as PostgreSQL's COPY writes them in its text format, many in one text: a line each, tabs between the values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NULL = r"\N"

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """Some rows of `width` values each, in UTF-8; the last line ends with a line feed as well."""

    content: bytes
    width: int

    @property
    def count(self) -> int:
        """How many rows they are."""
        return self.content.count(b"\n")

    def columns(self) -> Sequence[Sequence[str | None]]:
        """The values of each column."""
        flat = self.content.decode().replace("\n", "\t").split("\t")
        return [_unescape(flat[at : -1 : self.width]) for at in range(self.width)]


def _unescape(values: list[str]) -> list[str | None]:
    """The values of a column: COPY writes a NULL as a lone `\\N`, and control characters behind a backslash."""
    if "\\" not in "".join(values):
        return list(values)
    return [None if text == NULL else _ESCAPE.sub(_character, text) if "\\" in text else text for text in values]


def _character(match: re.Match[str]) -> str:
    return _CHARACTERS.get(match[1], match[1])

"""A passage of a document that a copy does not show as it is: its text, and who wrote it when."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CHARACTERS = 2_000
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage. `code` is the finding that counts it, `kind` its word in `words/` (`side_by_side.passage.KIND`)."""

    code: str
    kind: str
    text: str
    """Empty where only a mark or the formatting is concerned."""
    author: str = ""
    at: str = ""


def clean(text: str) -> str:
    """A text in one line, cut where it is very long."""
    line = _BLANKS.sub(" ", text).strip()
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]} …"

"""A passage of a document that a copy does not show as it is: its text, and who wrote it when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from noarkit.documents.layers import HiddenText

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


def with_hidden(passages: Iterable[tuple[Passage, int]], hidden: Iterable[HiddenText]) -> Iterator[Passage]:
    """The passages of a part and its hidden texts in the order of their paragraphs, which are numbered as they end."""
    hidden_passages = ((Passage("hidden-text", "hidden", clean(each.text)), each.paragraph) for each in hidden)
    return (passage for passage, _ in merge(hidden_passages, passages, key=lambda pair: pair[1]))

"""The words of presentations since 2007: what a reader of the printed page sees, without what is worked out anew."""

from __future__ import annotations

from collections import Counter

from noarkit.copies.tokens import tokens
from noarkit.documents.parts import OfficeParts

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def slide_words(parts: OfficeParts) -> Counter[str]:
    """The words of a presentation: slides, hidden ones too, and notes."""
    words: Counter[str] = Counter()
    for name in parts.of("slide", "notesSlide"):
        texts: list[str] = []
        in_field = 0
        for event, element in parts.package.elements(name):
            tag = element.tag
            if tag == f"{_A}fld":
                in_field += 1 if event == "start" else -1
            elif event == "end" and tag == f"{_A}t" and not in_field:
                texts.append(element.text or "")
            elif event == "end" and tag in (f"{_A}p", f"{_A}br"):
                texts.append(" ")
        words.update(tokens("".join(texts)))
    return words

"""The words of Word documents and presentations since 2007: what a reader of the printed page sees.

Comments, deleted and hidden text are not among them, nor numbers that every program works out anew (of pages). A word
may lie in several runs, so words are cut from whole paragraphs.
"""

from __future__ import annotations

from collections import Counter

from noarkit.copies.tokens import tokens
from noarkit.documents.parts import OfficeParts

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GONE = frozenset({f"{_W}del", f"{_W}moveFrom", _FALLBACK})
_SPACES = {f"{_W}tab": " ", f"{_W}br": " ", f"{_W}cr": " ", f"{_W}noBreakHyphen": "-", f"{_W}ptab": " "}
_COUNTED_ANEW = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
_OFF = frozenset({"0", "false", "off"})


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

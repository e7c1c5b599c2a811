"""The words of Word documents and presentations since 2007: what a reader of the printed page sees.

Comments, deleted and hidden text are not among them, nor numbers that every program works out anew (of pages). A word
may lie in several runs, so words are cut from whole paragraphs.
"""

from __future__ import annotations

from collections import Counter
from typing import Any  # Any: elements of lxml

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


def text_words(parts: OfficeParts) -> Counter[str]:
    """The words of a Word document: body, notes, and the headers and footers that are shown."""
    words: Counter[str] = Counter()
    for name in (parts.main, *_shown_headers(parts), *parts.of("footnotes", "endnotes")):
        reader = _TextReader(words)
        for event, element in parts.package.elements(name):
            reader.take(event, element)
    return words


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


class _TextReader:
    """Takes the events of a part and adds the words of each paragraph that is over."""

    def __init__(self, words: Counter[str]) -> None:
        self._words = words
        self._paragraphs: list[list[str]] = [[]]
        self._gone = 0
        self._run_hidden = False
        self._run: list[str] = []
        self._fields: list[tuple[str, bool]] = []
        """Fields that are open: the instruction, and whether its result has begun."""

    def take(self, event: str, element: Any) -> None:
        """One event of the part."""
        tag = element.tag
        if tag in _GONE:
            self._gone += 1 if event == "start" else -1
        elif event == "start":
            self._begin(tag, element)
        else:
            self._end(tag, element)

    def _begin(self, tag: str, element: Any) -> None:
        if tag == f"{_W}fldSimple":
            self._fields.append((element.get(f"{_W}instr", ""), True))
        elif tag == f"{_W}p":
            self._flush_run()
            self._paragraphs.append([])
        elif tag == f"{_W}r":
            self._flush_run()

    def _end(self, tag: str, element: Any) -> None:
        if tag == f"{_W}p":
            self._flush_run()
            self._words.update(tokens("".join(self._paragraphs.pop())))
        elif tag == f"{_W}r":
            self._flush_run()
        elif tag == f"{_W}vanish":
            self._run_hidden = element.get(f"{_W}val", "1").lower() not in _OFF and _is_of_run(element)
        elif tag == f"{_W}fldSimple" and self._fields:
            self._flush_run()
            self._fields.pop()
        elif tag == f"{_W}fldChar":
            self._field(element.get(f"{_W}fldCharType", ""))
        elif tag == f"{_W}instrText" and self._fields:
            instruction, shown = self._fields[-1]
            self._fields[-1] = (instruction + (element.text or ""), shown)
        elif tag == f"{_W}t" and not self._gone and not self._is_counted_anew():
            self._run.append(element.text or "")
        elif tag in _SPACES:
            self._run.append(_SPACES[tag])

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(("", False))
        elif kind == "separate" and self._fields:
            self._fields[-1] = (self._fields[-1][0], True)
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _is_counted_anew(self) -> bool:
        kinds = (instruction.strip().partition(" ")[0].upper() for instruction, _ in self._fields)
        return any(kind in _COUNTED_ANEW for kind in kinds)

    def _flush_run(self) -> None:
        if not self._run_hidden:
            self._paragraphs[-1].extend(self._run)
        self._run, self._run_hidden = [], False


def _is_of_run(element: Any) -> bool:
    """True for a property of a run; a paragraph's mark can be hidden while its text is not."""
    properties = element.getparent()
    above = properties.getparent() if properties is not None else None
    return above is not None and above.tag == f"{_W}r"


def _shown_headers(parts: OfficeParts) -> tuple[str, ...]:
    """The parts with headers and footers that some page shows."""
    kinds: dict[str, str] = {}
    title_page = False
    for event, element in parts.package.elements(parts.main):
        tag = element.tag
        if event == "start" and tag in (f"{_W}headerReference", f"{_W}footerReference"):
            kinds[element.get(f"{_R}id", "")] = element.get(f"{_W}type", "default")
        elif event == "start" and tag == f"{_W}titlePg":
            title_page = element.get(f"{_W}val", "1").lower() not in _OFF
    shown = {name for name, kind in kinds.items() if kind == "default" or (kind == "first" and title_page)}
    return tuple(dict.fromkeys(part.target for part in parts.relations(parts.main) if part.id in shown))

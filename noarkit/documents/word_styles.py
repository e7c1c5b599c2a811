"""What the styles of a Word document say of text: the level of a heading, and whether it is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from noarkit.documents.parts import OfficeParts
from noarkit.documents.word_elements import Begin, WordHandler, attribute, is_on

_HEADING = re.compile(r"(?:heading|title)\s*([1-9])?", re.IGNORECASE)
_LEVELS = frozenset("012345")
_ON = frozenset({"1", "true", "on"})
_OF_STYLE = ["style", "rPr"]
_OF_DEFAULTS = ["rPrDefault", "rPr"]


@dataclass(slots=True)
class _Style:
    """A style: the one that it is based on, and what it says itself of hiding; None where it says nothing."""

    based_on: str = ""
    hides: bool | None = None


class WordStyles(WordHandler):
    """The styles by their identifiers; the names that people see are others in each language of Word."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, int] = {}
        self._styles: dict[str, _Style] = {}
        self._style = ""
        self._standard: dict[str, str] = {}
        """The style of each type that is meant where none is named."""
        self._hides_by_default = False
        self._answers: dict[tuple[str, str, str], bool] = {}

    def hides(self, paragraph: str = "", run: str = "", table: str = "") -> bool:
        """Whether styles hide a text, by those of its paragraph, of its run and of the table that it stands in.

        Each that hides turns round what the others say, as Word has it; where the document hides all by default, no
        style shows anything.
        """
        key = paragraph, run, table
        if (answer := self._answers.get(key)) is None:
            names = zip(("paragraph", "character", "table"), key, strict=True)
            votes = [self._hides_itself(name or self._standard.get(kind, "")) for kind, name in names]
            answer = self._answers[key] = self._hides_by_default or sum(votes) % 2 == 1
        return answer

    def _hides_itself(self, name: str) -> bool:
        """What a style says of hiding, or the nearest that it is based on; styles based on each other say nothing."""
        seen: set[str] = set()
        while name not in seen and (style := self._styles.get(name)) is not None:
            if style.hides is not None:
                return style.hides
            seen.add(name)
            name = style.based_on
        return False

    def _beginnings(self) -> Mapping[str, Begin]:
        return {
            "style": self._begin_style,
            "name": self._name,
            "basedOn": self._base,
            "outlineLvl": self._level,
            "vanish": self._hide,
        }

    def _begin_style(self, attributes: Mapping[str, str]) -> None:
        self._style = attribute(attributes, "styleId")
        self._styles[self._style] = _Style()
        if attribute(attributes, "default", "0").lower() in _ON:
            self._standard[attribute(attributes, "type")] = self._style

    def _name(self, attributes: Mapping[str, str]) -> None:
        match = _HEADING.match(attribute(attributes, "val"))
        if match is not None and self._style and self._style not in self.levels:
            self.levels[self._style] = min(6, int(match[1] or 1))

    def _base(self, attributes: Mapping[str, str]) -> None:
        if self._style:
            self._styles[self._style].based_on = attribute(attributes, "val")

    def _level(self, attributes: Mapping[str, str]) -> None:
        if self._style and attribute(attributes, "val") in _LEVELS:
            self.levels[self._style] = int(attribute(attributes, "val")) + 1

    def _hide(self, attributes: Mapping[str, str]) -> None:
        owners = [local for local, *_ in self._open[-2:]]
        if owners == _OF_DEFAULTS:
            self._hides_by_default = is_on(attributes)
        elif owners == _OF_STYLE and self._style:  # not of a part of a table, or what stood before a change
            self._styles[self._style].hides = is_on(attributes)


def styles_of(parts: OfficeParts) -> WordStyles:
    """The styles of a document. Raises `DocumentRefused`."""
    styles = WordStyles()
    for name in parts.of("styles"):
        for _ in parts.package.feed(name, styles):
            pass
    return styles

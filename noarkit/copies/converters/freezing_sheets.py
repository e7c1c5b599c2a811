"""Freezes the cells of spreadsheets: the value that was stored stays, the formula that would make it anew goes."""

from __future__ import annotations

import re

from noarkit.copies.converters.freezing_edits import Content, PartEditor, Tag

_VOLATILE = re.compile(
    r"\b(TODAY|NOW|RANDBETWEEN|RANDARRAY|RAND|CELL|INFO|OFFSET|INDIRECT|WEBSERVICE)\s*\(", re.IGNORECASE
)
_OF_CLOCK = frozenset(("TODAY", "NOW", "RAND", "RANDBETWEEN", "RANDARRAY", "WEBSERVICE"))
_PRINTED_CODE = re.compile(r"&([DTFZ])")
_HEADINGS = frozenset(
    """
    oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)


def volatile_function(formula: str) -> str | None:
    """The first function in a formula whose value depends on when or where it is computed."""
    found = _VOLATILE.search(formula)
    return found.group(1).upper() if found else None


class SheetEditor(PartEditor):
    """A sheet of a workbook in OOXML."""

    def __init__(self, content: Content, where: str, *, only_volatile: bool = False) -> None:
        super().__init__(content, where)
        self._only_volatile = only_volatile
        self._formula: Tag | None = None
        self._span = (0, 0)
        self._has_value = False
        self._masters: dict[str, int] = {}
        self._needed: set[str] = set()

    def watches(self, name: str, parent: str) -> bool:
        return (parent == "c" and name in ("f", "v")) or name in ("c", "formula") or name in _HEADINGS

    def opened(self, tag: Tag) -> None:
        if tag.name == "c":
            self._formula, self._has_value = None, False

    def closing(self, tag: Tag, at: int) -> None:
        if tag.name == "f":
            self._formula, self._span = tag, tag.span(at)
        elif tag.name == "v":
            self._has_value = True
        elif tag.name == "c":
            self._cell()
        elif tag.name == "formula":  # of a conditional format
            if volatile_function(tag.text) in _OF_CLOCK:
                self.unfrozen.append(str(volatile_function(tag.text)))
        else:
            self._heading(tag.text)

    def read(self) -> None:
        """Goes through the sheet; at the end it is known which formulas are shared by cells without a value."""
        super().read()
        for shared in self._needed & self._masters.keys():
            self.edits.restore(self._masters[shared])

    def _cell(self) -> None:
        formula = self._formula
        if formula is None:
            return
        shared = formula.attributes.get("si", "") if formula.attributes.get("t") == "shared" else ""
        volatile = volatile_function(formula.text)
        if not self._has_value:
            if volatile in _OF_CLOCK:
                self.unfrozen.append(str(volatile))
            self._needed.add(shared)
        elif volatile or not self._only_volatile:
            number = self.edits.cut(*self._span)
            self.frozen += 1
            if shared and formula.text:
                self._masters[shared] = number

    def _heading(self, text: str) -> None:
        """`&D` and `&T` print the day and the hour, `&F` and `&Z` the name of the file and its folder."""
        codes = set(_PRINTED_CODE.findall(text.replace("&&", "")))
        self.unfrozen += [f"&{code}" for code in sorted(codes & {"D", "T", "Z"})]
        self.prints_name |= "F" in codes

"""Freezes the fields of OpenDocument: their text stays, their tags go; cells keep their value, not the formula."""

from __future__ import annotations

import re

from noarkit.copies.converters.freezing_edits import Content, PartEditor, Tag
from noarkit.copies.converters.freezing_sheets import volatile_function

_VOLATILE = frozenset(
    """
    date time file-name template-name print-date print-time printed-by creation-date creation-time
    modification-date modification-time creator initial-creator author-name author-initials
    sender-firstname sender-lastname sender-initials sender-title sender-position sender-email
    sender-phone-private sender-fax sender-company sender-phone-work sender-street sender-city
    sender-postal-code sender-country sender-state-or-province editing-cycles editing-duration
    word-count paragraph-count character-count image-count table-count object-count
    conditional-text database-display dde-connection
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
_COMPUTED = frozenset(
    """
    title subject keywords description user-defined expression variable-get user-field-get
    bookmark-ref reference-ref sequence-ref note-ref
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
_FORMULA = re.compile(rb"\s+[\w.-]+:formula\s*=\s*(?:\"[^\"]*\"|'[^']*')")


class OdfEditor(PartEditor):
    """`content.xml` or `styles.xml`. Numbers of pages, and text that is hidden on a condition, live on."""

    def __init__(self, content: Content, where: str, *, only_volatile: bool = False) -> None:
        super().__init__(content, where)
        self._only_volatile = only_volatile
        self._fields = _VOLATILE if only_volatile else _VOLATILE | _COMPUTED

    def watches(self, name: str, parent: str) -> bool:
        return name in self._fields or name in ("table-cell", "date-time-decl")

    def closing(self, tag: Tag, at: int) -> None:
        if tag.name == "table-cell":
            self._cell(tag)
        elif tag.name == "date-time-decl":
            if tag.attributes.get("source") == "current-date":
                self.unfrozen.append("date-time")
        else:
            tag.measure()
            if tag.prefixed.startswith(b"text:"):  # others bear such names as well, of metadata
                self.unwrap(tag, at)

    def _cell(self, tag: Tag) -> None:
        formula = tag.attributes.get("formula")
        if formula is None:
            return
        volatile = volatile_function(formula)
        if "value-type" not in tag.attributes:
            if volatile:
                self.unfrozen.append(volatile)
        elif volatile or not self._only_volatile:
            tag.measure()
            match = _FORMULA.search(self.content, tag.start, tag.end)
            if match is not None:
                self.edits.cut(*match.span())
                self.frozen += 1

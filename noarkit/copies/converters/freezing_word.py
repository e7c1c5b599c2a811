"""Freezes the fields of Word's XML: what a field showed when it was stored stays, its code goes.

Numbers of pages live on, for they are those of the copy; so do links and form fields, which nothing recomputes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from noarkit.copies.converters.freezing_edits import Content, PartEditor, Tag

LIVING = frozenset(
    """
    PAGE NUMPAGES SECTIONPAGES HYPERLINK FORMTEXT FORMCHECKBOX FORMDROPDOWN
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
VOLATILE = frozenset(
    """
    DATE TIME PRINTDATE SAVEDATE EDITTIME REVNUM FILENAME FILESIZE NUMWORDS NUMCHARS USERNAME
    USERINITIALS USERADDRESS TEMPLATE LASTSAVEDBY IF MERGEFIELD DATABASE INCLUDETEXT INCLUDEPICTURE
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
"""What a program computes anew, or shows as nothing."""

PAGE_NUMBERS = frozenset(("PAGE", "NUMPAGES", "SECTIONPAGES"))
_PER_PAGE = frozenset(("STYLEREF",))


def code_of(instruction: str) -> str:
    """The name of a field by its instruction: `DATE` of ` DATE \\@ "d. MMMM yyyy"`; `=` for a formula."""
    words = instruction.split(None, 1)
    if not words:
        return ""
    return "=" if words[0].startswith("=") else words[0].upper()


@dataclass(slots=True)
class _Field:
    """A field between its `begin` and its `end`."""

    instruction: list[str] = field(default_factory=list)
    in_instruction: bool = True
    has_result: bool = False
    counts_pages: bool = False
    marks: list[tuple[int, int]] = field(default_factory=list)
    region: list[tuple[int, int]] = field(default_factory=list)
    """The marks, and all that stands between begin and separator: also the results of fields within."""


class WordEditor(PartEditor):
    """Takes out `fldChar` and `instrText`, and unwraps `fldSimple`; also what would be filled in from elsewhere."""

    def __init__(self, content: Content, where: str, *, only_volatile: bool = False) -> None:
        super().__init__(content, where)
        self._only_volatile = only_volatile
        self._repeats = "header" in where or "footer" in where
        self._fields: list[_Field] = []

    def watches(self, name: str, parent: str) -> bool:
        return (parent == "r" and name != "rPr") or name in ("fldSimple", "dataBinding", "updateFields")

    def opened(self, tag: Tag) -> None:
        if tag.name != "fldChar":
            return
        kind = tag.attributes.get("fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].in_instruction = False
            self._fields[-1].has_result = True

    def closing(self, tag: Tag, at: int) -> None:
        if tag.name == "fldSimple":
            code = code_of(tag.attributes.get("instr", ""))
            if self._is_cut(code, has_result=True):
                self._tell(code, counts_pages=False)
                self.unwrap(tag, at)
        elif tag.name in ("dataBinding", "updateFields"):
            self.edits.cut(*tag.span(at))
        elif self._fields:
            self._in_run(tag, at)

    def _in_run(self, tag: Tag, at: int) -> None:
        """A mark of a field, its instruction, or something between them."""
        top = self._fields[-1]
        if tag.name == "fldChar":
            span = tag.span(at)
            top.marks.append(span)
            outer = self._fields[:-1]
        elif top.in_instruction or any(field.in_instruction for field in self._fields):
            span = tag.span(at)
            outer = self._fields
        else:
            return
        for one in outer:
            if one.in_instruction:
                one.region.append(span)
        if tag.name == "instrText" and top.in_instruction:
            top.instruction.append(tag.text)
        if tag.name == "fldChar" and tag.attributes.get("fldCharType") == "end":
            self._settle(self._fields.pop())

    def _settle(self, ended: _Field) -> None:
        code = code_of("".join(ended.instruction))
        if self._fields and self._fields[-1].in_instruction and (code in PAGE_NUMBERS or ended.counts_pages):
            self._fields[-1].counts_pages = True
        if not self._is_cut(code, has_result=ended.has_result):
            return
        self._tell(code, counts_pages=ended.counts_pages)
        self.frozen += 1
        for span in (*ended.marks, *ended.region):
            self.edits.cut(*span)

    def _is_cut(self, code: str, *, has_result: bool) -> bool:
        if code in LIVING or not code:
            return False
        # without a result there is nothing to keep: entries of an index, symbols, offsets
        return code in VOLATILE or (has_result and not self._only_volatile)

    def _tell(self, code: str, *, counts_pages: bool) -> None:
        if counts_pages or (self._repeats and code in _PER_PAGE):
            self.unfrozen.append(code)

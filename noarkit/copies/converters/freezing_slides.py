"""Freezes the dates of slides: a field of the day becomes the text that it showed."""

from __future__ import annotations

from noarkit.copies.converters.freezing_edits import Content, PartEditor, Tag


class SlideEditor(PartEditor):
    """A slide, a layout, a master or notes in OOXML. Numbers of slides live on."""

    def __init__(self, content: Content, where: str, *, only_volatile: bool = False) -> None:
        super().__init__(content, where)

    def watches(self, name: str, parent: str) -> bool:
        return name == "fld" or (parent == "fld" and name == "pPr")

    def closing(self, tag: Tag, at: int) -> None:
        if tag.name == "pPr":  # fields have it, runs do not
            self.edits.cut(*tag.span(at))
            return
        if not tag.attributes.get("type", "").startswith("datetime"):
            return
        start, end = tag.span(at)
        run = tag.prefixed[: -len(b"fld")] + b"r"
        if tag.closed:
            self.edits.cut(start, end)
        else:
            self.edits.put(start, tag.end, b"<" + run + b">")
            self.edits.put(at, end, b"</" + run + b">")
        self.frozen += 1

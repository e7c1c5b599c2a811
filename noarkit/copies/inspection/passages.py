"""The passages of a document that a copy does not show as they are: tracked changes, hidden text, comments, notes.

For a person who is to accept a copy: not how many there are, but which. Documents before 2007 and RTF are not read for
them, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any  # Any: elements of lxml

from noarkit.copies.inspection.odf_passages import odf_passages
from noarkit.copies.inspection.passage import Passage, clean, with_hidden
from noarkit.documents.parts import OfficeFormat, OfficeParts, office_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.word import hidden_texts
from noarkit.documents.zipped import Package, open_package

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_KINDS: Mapping[str, str] = {
    f"{_W}ins": "inserted",
    f"{_W}del": "deleted",
    f"{_W}moveFrom": "moved-from",
    f"{_W}moveTo": "moved-to",
    f"{_W}rPrChange": "formatted",
    f"{_W}pPrChange": "formatted",
    f"{_W}cellIns": "inserted",
    f"{_W}cellDel": "deleted",
}
_TEXTS = frozenset({f"{_W}t", f"{_W}delText"})
_RUN, _PARAGRAPH, _COMMENT = f"{_W}r", f"{_W}p", f"{_W}comment"
_CHANGE = ("tracked-changes", "")
"""The code of a change; its kind is that of its element."""
_LISTED = frozenset({"tracked-changes", "hidden-text", "comments", "hidden-slides", "notes", "hidden-sheets"})


def lists_passages(path: Path) -> bool:
    """True for a document whose passages can be listed: a zipped one."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def counts_passages(code: str) -> bool:
    """True for a finding whose passages are listed where the format allows."""
    return code in _LISTED


def passages_of(path: Path) -> Iterator[Passage]:
    """Every passage of a document in its order. Ends early where the document cannot be read further."""
    try:
        with open_package(path) as package:
            parts = office_parts(package)
            if parts is not None and (reader := _READERS.get(parts.format)) is not None:
                yield from reader(parts)
            else:
                yield from odf_passages(package)
    except DocumentRefused:
        return


def _of_word(parts: OfficeParts) -> Iterator[Passage]:
    for name in (parts.main, *parts.of("header", "footer", "footnotes", "endnotes")):
        yield from with_hidden(_changes(parts, name), hidden_texts(parts, name))
    for name in parts.of("comments"):
        for event, element in parts.package.elements(name, whole=frozenset({_COMMENT})):
            if event == "end" and element.tag == _COMMENT:
                yield _passage("comments", "comment", element)


def _changes(parts: OfficeParts, name: str) -> Iterator[tuple[Passage, int]]:
    """The tracked changes of one part, each with how many paragraphs have ended with its own."""
    depth = ended = 0
    for event, element in parts.package.elements(name, whole=frozenset({_PARAGRAPH})):
        if element.tag == _PARAGRAPH:
            depth += 1 if event == "start" else -1
            ended += event == "end"
            if event == "end" and not depth:
                yield from ((_passage(*_CHANGE, each), ended) for each in element.iter(*_KINDS))
        elif event == "end" and not depth and element.tag in _KINDS:  # of a row or cell of a table
            yield _passage(*_CHANGE, element), ended


def _passage(code: str, kind: str, element: Any) -> Passage:
    kind = kind or _KINDS[element.tag]
    owner = element
    if kind == "formatted":  # the text is that of the run, or of the paragraph, whose properties were changed
        while owner.getparent() is not None and owner.tag not in (_RUN, _PARAGRAPH):
            owner = owner.getparent()
    return Passage(code, kind, clean(_text(owner)), element.get(f"{_W}author", ""), element.get(f"{_W}date", ""))


def _text(element: Any) -> str:
    return "".join(
        "\n" if part.tag == _PARAGRAPH else part.text or ""
        for part in element.iter()
        if part.tag in _TEXTS or (part.tag == _PARAGRAPH and part is not element)
    )


def _of_slides(parts: OfficeParts) -> Iterator[Passage]:
    for name in parts.of("slide"):
        hidden, text = _slide(parts.package, name)
        if hidden:
            yield Passage("hidden-slides", "slide", text)
    for name in parts.of("notesSlide"):
        _, text = _slide(parts.package, name)
        yield Passage("notes", "notes", text)


def _slide(package: Package, name: str) -> tuple[bool, str]:
    """Whether a slide is hidden, and its text."""
    hidden, parts = False, []
    for event, element in package.elements(name):
        tag = element.tag.rpartition("}")[2]
        if event == "start" and tag == "sld":
            hidden = element.get("show") in ("0", "false")
        elif event == "end" and tag == "t":
            parts.append(element.text or "")
        elif event == "end" and tag in ("p", "br"):
            parts.append(" ")
    return hidden, clean("".join(parts))


def _of_sheets(parts: OfficeParts) -> Iterator[Passage]:
    for event, element in parts.package.elements(parts.main):
        is_sheet = event == "start" and element.tag.rpartition("}")[2] == "sheet"
        if is_sheet and element.get("state", "visible") != "visible":
            yield Passage("hidden-sheets", "sheet", clean(element.get("name", "")))


_READERS: Mapping[OfficeFormat, Callable[[OfficeParts], Iterator[Passage]]] = {
    "docx": _of_word,
    "pptx": _of_slides,
    "xlsx": _of_sheets,
}

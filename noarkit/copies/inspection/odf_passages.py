"""The passages of an OpenDocument that a copy does not show as they are.

Deleted text lies in the list of changes, before the body; inserted text lies in the body, between two marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any  # Any: elements of lxml

from noarkit.copies.inspection.passage import Passage, clean, with_hidden
from noarkit.documents.opendocument import hidden_texts
from noarkit.documents.zipped import Package

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _OFFICE, _TABLE, _STYLE = (_NS % name for name in ("text", "office", "table", "style"))
_PRESENTATION = _NS % "presentation"
_DC = "{http://purl.org/dc/elements/1.1/}"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_REGION, _ANNOTATION, _NOTES = f"{_TEXT}changed-region", f"{_OFFICE}annotation", f"{_PRESENTATION}notes"
_SHEET = f"{_TABLE}table"
_INFO = frozenset({f"{_OFFICE}change-info", f"{_DC}creator", f"{_DC}date"})
_KINDS = {f"{_TEXT}insertion": "inserted", f"{_TEXT}deletion": "deleted", f"{_TEXT}format-change": "formatted"}


@dataclass(slots=True)
class _Change:
    """A change of the list. `parts` are filled where its marks stand in the body."""

    kind: str
    author: str
    at: str
    parts: list[str]


@dataclass(slots=True)
class _Body:
    """What is known while the body is read."""

    changes: dict[str, _Change] = field(default_factory=dict)
    open_changes: set[str] = field(default_factory=set)
    unseen_sheets: set[str] = field(default_factory=set)
    ended: int = 0
    """How many paragraphs have ended."""


def odf_passages(package: Package) -> Iterator[Passage]:
    """Every passage: comments, notes and hidden text where they stand, the tracked changes at the end."""
    yield from with_hidden(_numbered(package), hidden_texts(package))


def _numbered(package: Package) -> Iterator[tuple[Passage, int]]:
    """All but hidden text, each with how many paragraphs have ended with its own."""
    body = _Body()
    for passage in _passages(package, body):
        yield passage, body.ended


def _passages(package: Package, body: _Body) -> Iterator[Passage]:
    whole = _PARAGRAPHS | {_REGION, _ANNOTATION, _NOTES}
    in_region = 0
    for event, element in package.elements("content.xml", whole=whole):
        tag = element.tag
        body.ended += event == "end" and tag in _PARAGRAPHS
        if event == "start":
            in_region += tag == _REGION
            if tag == _SHEET and element.get(f"{_TABLE}style-name") in body.unseen_sheets:
                yield Passage("hidden-sheets", "sheet", clean(element.get(f"{_TABLE}name", "")))
            _note_style(element, body)
        elif tag == _REGION:
            in_region -= 1
            _note_change(element, body)
        elif not in_region:
            yield from _end(element, body)
    for change in body.changes.values():
        yield Passage("tracked-changes", change.kind, clean(" ".join(change.parts)), change.author, change.at)


def _note_style(element: Any, body: _Body) -> None:
    if element.tag == f"{_STYLE}table-properties" and element.get(f"{_TABLE}display") == "false":
        body.unseen_sheets.add(element.getparent().get(f"{_STYLE}name", ""))


def _note_change(region: Any, body: _Body) -> None:
    for element in region:
        kind = _KINDS.get(element.tag)
        if kind is not None:
            author, at = element.findtext(f".//{_DC}creator", ""), element.findtext(f".//{_DC}date", "")
            parts = ["".join(_own_text(element))] if kind == "deleted" else []
            body.changes[region.get(f"{_TEXT}id") or region.get(_XML_ID, "")] = _Change(kind, author, at, parts)


def _end(element: Any, body: _Body) -> Iterator[Passage]:
    tag = element.tag
    if tag == _ANNOTATION:
        author, at = element.findtext(f"{_DC}creator", ""), element.findtext(f"{_DC}date", "")
        yield Passage("comments", "comment", clean("".join(_own_text(element))), author, at)
    elif tag == _NOTES:
        yield Passage("notes", "notes", clean(" ".join(element.itertext())))
    elif tag in _PARAGRAPHS:
        _give_paragraph(element, body)


def _give_paragraph(paragraph: Any, body: _Body) -> None:
    """Text between the marks of a change goes to that change."""
    _give(paragraph.text, body)
    for element in paragraph.iterdescendants():
        tag, change = element.tag, element.get(f"{_TEXT}change-id", "")
        if tag == f"{_TEXT}change-start" and change in body.changes:
            body.open_changes.add(change)
        elif tag == f"{_TEXT}change-end":
            body.open_changes.discard(change)
        if tag not in _INFO:
            _give(element.text, body)
        _give(element.tail, body)


def _give(text: str | None, body: _Body) -> None:
    for change in body.open_changes if text else ():
        body.changes[change].parts.append(text or "")


def _own_text(element: Any) -> Iterator[str]:
    """The text of an element, without who changed it and when."""
    for part in element.iter():
        if part.tag in _PARAGRAPHS:
            yield " "
        if part.tag not in _INFO:
            yield part.text or ""
        if part is not element:
            yield (part.tail or "") if part.getparent().tag not in _INFO else ""

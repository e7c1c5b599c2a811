"""OpenDocument: what a copy would lose, invent or fetch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any  # Any: elements of lxml

from noarkit.copies.port import Finding
from noarkit.copies.tokens import PRIVATE
from noarkit.documents.odf_styles import is_hidden
from noarkit.documents.opendocument import hidden_texts
from noarkit.documents.zipped import Package

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _OFFICE, _TABLE, _STYLE = (_NS % name for name in ("text", "office", "table", "style"))
_DRAW, _PRESENTATION, _MANIFEST = (_NS % name for name in ("drawing", "presentation", "manifest"))
_XLINK = "{http://www.w3.org/1999/xlink}href"
_LINKS = frozenset({f"{_TEXT}a", f"{_DRAW}a"})
"""Followed by a reader, fetched by nobody."""
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_FIELDS = {
    f"{_TEXT}{name}": name.upper()
    for name in ("date", "time", "print-date", "print-time", "file-name", "creation-date", "modification-date")
}


def find_in_odf(package: Package) -> Iterator[Finding]:
    """What a person should know of an OpenDocument."""
    counts: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    counts["macros"] = sum(name.startswith(("Basic/", "Scripts/")) and name.endswith(".xml") for name in package.names)
    unseen_sheets: set[str] = set()
    """Styles of sheets that are not shown."""
    objects = [name for name in package.names if name.startswith("Object ") and name.endswith("/content.xml")]
    counts["embedded-objects"] = len(objects)
    hides = False
    for name in ("content.xml", "styles.xml"):
        for event, element in package.elements(name, whole=_PARAGRAPHS):
            if event == "start":
                hides = hides or element.tag == f"{_TEXT}hidden-text" or is_hidden(element)
                _count(element, counts, fields)
                if element.tag == f"{_STYLE}table-properties" and element.get(f"{_TABLE}display") == "false":
                    unseen_sheets.add(element.getparent().get(f"{_STYLE}name", ""))
                elif element.tag == f"{_TABLE}table":
                    counts["hidden-sheets"] += element.get(f"{_TABLE}style-name") in unseen_sheets
            elif element.tag in _PARAGRAPHS:
                counts["private-characters"] += len(PRIVATE.findall("".join(element.itertext())))
    counts["hidden-text"] = sum(1 for _ in hidden_texts(package)) if hides else 0
    yield from (Finding(code, {"count": count}) for code, count in sorted(counts.items()) if count)
    if fields:
        yield Finding("fields", {"count": fields.total(), "kinds": sorted(fields)})


def _count(element: Any, counts: Counter[str], fields: Counter[str]) -> None:
    tag = element.tag
    if tag == f"{_TEXT}changed-region":
        counts["tracked-changes"] += 1
    elif tag == f"{_OFFICE}annotation":
        counts["comments"] += 1
    elif tag == f"{_STYLE}drawing-page-properties" and element.get(f"{_PRESENTATION}visibility") == "hidden":
        counts["hidden-slides"] += 1
    elif tag == f"{_PRESENTATION}notes":
        counts["notes"] += 1
    elif tag in _FIELDS and element.get(f"{_TEXT}fixed") != "true":
        fields[_FIELDS[tag]] += 1
    counts["external-content"] += tag not in _LINKS and _lies_outside(element.get(_XLINK, ""))


def _lies_outside(place: str) -> bool:
    """True for a reference that leaves the package: with a scheme, from the root, or from the package's own folder."""
    return place.startswith(("/", "\\", "../")) or (":" in place.partition("/")[0] and not place.startswith("#"))

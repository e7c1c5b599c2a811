"""Word, Excel and PowerPoint since 2007: what a copy would lose, invent or fetch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any  # Any: elements of lxml

from noarkit.copies.port import Finding
from noarkit.copies.tokens import PRIVATE
from noarkit.documents.zipped import Package

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHANGES = frozenset(
    _W + name for name in ("ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange", "cellIns", "cellDel")
)
_VOLATILE = re.compile(r"\b(TODAY|NOW|RAND|RANDBETWEEN|OFFSET|INDIRECT|CELL|INFO)\s*\(", re.IGNORECASE)
_HARMLESS_FIELDS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "HYPERLINK", "TOC", "PAGEREF", "FORMTEXT", "SEQ"})
_OFF = frozenset({"0", "false", "off"})


def find_in_ooxml(package: Package) -> Iterator[Finding]:
    """What a person should know of a document of Office Open XML."""
    counts: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for name in package.names:
        if name.endswith("vbaProject.bin"):
            counts["macros"] += 1
        elif "/embeddings/" in name:
            counts["embedded-objects"] += 1
        elif name.endswith(".rels"):
            counts["external-content"] += _external_targets(package, name)
    if package.has("word/document.xml"):
        _count_text(package, counts, fields)
    elif package.has("xl/workbook.xml"):
        _count_sheets(package, counts, fields)
    elif package.has("ppt/presentation.xml"):
        _count_slides(package, counts, fields)
    yield from (Finding(code, {"count": count}) for code, count in sorted(counts.items()) if count)
    if fields:
        yield Finding("fields", {"count": fields.total(), "kinds": sorted(fields)})


def _external_targets(package: Package, name: str) -> int:
    """How many parts lie outside of the document and would be fetched; links that a reader follows are none."""
    count = 0
    for event, element in _starts(package, name):
        kind, target = element.get("Type", ""), element.get("Target", "").lower()
        if event and element.get("TargetMode") == "External" and not kind.endswith("/hyperlink"):
            # a template in its author's own folders is named in honest letters; one on the network is not
            count += not kind.endswith("/attachedTemplate") or target.startswith(("http:", "https:", "ftp:"))
    return count


def _count_text(package: Package, counts: Counter[str], fields: Counter[str]) -> None:
    parts = ["word/document.xml", *package.beginning("word/header"), *package.beginning("word/footer")]
    parts += ["word/footnotes.xml", "word/endnotes.xml"]
    for name in parts:
        for event, element in package.elements(name):
            _count_in_text(event, element, counts, fields)
    for event, element in _starts(package, "word/comments.xml"):
        counts["comments"] += bool(event) and element.tag == f"{_W}comment"


def _count_in_text(event: str, element: Any, counts: Counter[str], fields: Counter[str]) -> None:
    tag = element.tag
    if event == "start":
        if tag in _CHANGES:
            counts["tracked-changes"] += 1
        elif tag == f"{_W}vanish":
            counts["hidden-text"] += element.get(f"{_W}val", "1").lower() not in _OFF
        elif tag == f"{_W}fldSimple":
            _count_field(element.get(f"{_W}instr", ""), fields)
    elif tag == f"{_W}instrText":
        _count_field(element.text or "", fields)
    elif tag == f"{_W}t":
        counts["private-characters"] += len(PRIVATE.findall(element.text or ""))


def _count_field(instruction: str, fields: Counter[str]) -> None:
    word = instruction.strip().partition(" ")[0].upper()
    if word.isalpha() and word not in _HARMLESS_FIELDS:
        fields[word] += 1


def _count_sheets(package: Package, counts: Counter[str], fields: Counter[str]) -> None:
    for _, element in _starts(package, "xl/workbook.xml"):
        tag = element.tag.rpartition("}")[2]
        counts["hidden-sheets"] += tag == "sheet" and element.get("state", "visible") != "visible"
        counts["print-area"] += tag == "definedName" and element.get("name") == "_xlnm.Print_Area"
    counts["comments"] += len(package.beginning("xl/comments"))
    counts["external-content"] += len(package.beginning("xl/externalLinks/externalLink"))
    for name in package.beginning("xl/worksheets/"):
        for event, element in package.elements(name):
            tag = element.tag.rpartition("}")[2]
            if event == "start" and tag in ("row", "col"):
                counts["hidden-rows"] += element.get("hidden") in ("1", "true")
            elif event == "end" and tag == "f":
                for match in _VOLATILE.finditer(element.text or ""):
                    fields[match[1].upper()] += 1


def _count_slides(package: Package, counts: Counter[str], fields: Counter[str]) -> None:
    for name in package.beginning("ppt/slides/slide"):
        for _, element in _starts(package, name):
            tag = element.tag.rpartition("}")[2]
            counts["hidden-slides"] += tag == "sld" and element.get("show") in ("0", "false")
            if tag == "fld" and element.get("type", "").startswith("datetime"):
                fields["DATE"] += 1
    counts["notes"] += len(package.beginning("ppt/notesSlides/notesSlide"))
    counts["comments"] += len(package.beginning("ppt/comments/"))


def _starts(package: Package, name: str) -> Iterator[tuple[str, Any]]:
    return ((event, element) for event, element in package.elements(name) if event == "start")

"""Word, Excel and PowerPoint since 2007: what a copy would lose, invent or fetch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any  # Any: elements of lxml

from noarkit.copies.port import Finding
from noarkit.copies.tokens import PRIVATE
from noarkit.documents.parts import OfficeFormat, OfficeParts, office_parts
from noarkit.documents.word import hidden_texts
from noarkit.documents.zipped import Package

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHANGES = frozenset(
    _W + name for name in ("ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange", "cellIns", "cellDel")
)
_VOLATILE = re.compile(r"\b(TODAY|NOW|RAND|RANDBETWEEN|OFFSET|INDIRECT|CELL|INFO)\s*\(", re.IGNORECASE)
_HARMLESS_FIELDS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "HYPERLINK", "TOC", "PAGEREF", "FORMTEXT", "SEQ"})
_VANISH = f"{_W}vanish"


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
    parts = office_parts(package)
    if parts is not None and (count := _COUNTS.get(parts.format)) is not None:
        count(parts, counts, fields)
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


def _count_text(parts: OfficeParts, counts: Counter[str], fields: Counter[str]) -> None:
    names = (parts.main, *parts.of("header", "footer", "footnotes", "endnotes"))
    hides = any(element.tag == _VANISH for name in parts.of("styles") for _, element in _starts(parts.package, name))
    for name in names:
        for event, element in parts.package.elements(name):
            hides = hides or element.tag == _VANISH
            _count_in_text(event, element, counts, fields)
    if hides:
        counts["hidden-text"] += sum(1 for name in names for _ in hidden_texts(parts, name))
    for name in parts.of("comments"):
        for event, element in _starts(parts.package, name):
            counts["comments"] += bool(event) and element.tag == f"{_W}comment"


def _count_in_text(event: str, element: Any, counts: Counter[str], fields: Counter[str]) -> None:
    tag = element.tag
    if event == "start":
        if tag in _CHANGES:
            counts["tracked-changes"] += 1
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


def _count_sheets(parts: OfficeParts, counts: Counter[str], fields: Counter[str]) -> None:
    for _, element in _starts(parts.package, parts.main):
        tag = element.tag.rpartition("}")[2]
        counts["hidden-sheets"] += tag == "sheet" and element.get("state", "visible") != "visible"
        counts["print-area"] += tag == "definedName" and element.get("name") == "_xlnm.Print_Area"
    counts["comments"] += len(parts.of("comments"))
    counts["external-content"] += len(parts.of("externalLink"))
    for name in parts.of("worksheet"):
        for event, element in parts.package.elements(name):
            tag = element.tag.rpartition("}")[2]
            if event == "start" and tag in ("row", "col"):
                counts["hidden-rows"] += element.get("hidden") in ("1", "true")
            elif event == "end" and tag == "f":
                for match in _VOLATILE.finditer(element.text or ""):
                    fields[match[1].upper()] += 1


def _count_slides(parts: OfficeParts, counts: Counter[str], fields: Counter[str]) -> None:
    for name in parts.of("slide"):
        for _, element in _starts(parts.package, name):
            tag = element.tag.rpartition("}")[2]
            counts["hidden-slides"] += tag == "sld" and element.get("show") in ("0", "false")
            if tag == "fld" and element.get("type", "").startswith("datetime"):
                fields["DATE"] += 1
    counts["notes"] += len(parts.of("notesSlide"))
    counts["comments"] += len(parts.of("comments"))


_COUNTS: Mapping[OfficeFormat, Callable[[OfficeParts, Counter[str], Counter[str]], None]] = {
    "docx": _count_text,
    "xlsx": _count_sheets,
    "pptx": _count_slides,
}


def _starts(package: Package, name: str) -> Iterator[tuple[str, Any]]:
    return ((event, element) for event, element in package.elements(name) if event == "start")

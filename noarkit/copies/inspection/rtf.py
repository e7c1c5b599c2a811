"""Rich Text Format: what a copy would lose, invent or fetch; and its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.port import Finding
from noarkit.copies.tokens import tokens
from noarkit.documents.rtf import refuse_deep, rtf_content, rtf_text

_FIELD = re.compile(rb"\\fldinst\b[^{}\\]*(?:\{[^{}]*?)?\s([A-Za-z]{2,16})\b")
_HARMLESS_FIELDS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "HYPERLINK", "TOC", "PAGEREF", "FORMTEXT", "SEQ"})


def find_in_rtf(path: Path) -> Iterator[Finding]:
    """What a person should know of an RTF document. Raises `DocumentRefused`."""
    content = rtf_content(path)
    refuse_deep(content)
    kinds = [match[1].decode().upper() for match in _FIELD.finditer(content)]
    fields = Counter(kind for kind in kinds if kind not in _HARMLESS_FIELDS)
    counts = {
        "comments": len(re.findall(rb"\\annotation\b", content)),
        "embedded-objects": len(re.findall(rb"\\objdata\b", content)),
        "external-content": fields["INCLUDEPICTURE"] + fields["INCLUDETEXT"] + fields["LINK"],
        "hidden-text": len(re.findall(rb"\\v(?![a-zA-Z0-9-])", content)),
        "tracked-changes": len(re.findall(rb"\\(?:revised|deleted)(?![a-zA-Z0])", content)),
    }
    yield from (Finding(code, {"count": count}) for code, count in sorted(counts.items()) if count)
    if fields:
        yield Finding("fields", {"count": fields.total(), "kinds": sorted(fields)})


def rtf_words(path: Path) -> Counter[str]:
    """The words of an RTF document. Raises `DocumentRefused`."""
    return Counter(tokens(rtf_text(path)))

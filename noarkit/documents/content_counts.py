"""What a document holds beside its words, counted by the reader of its format; or which of it nobody here can count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from noarkit.documents.contents import ContentKind, Contents
from noarkit.documents.odf_contents import odf_contents
from noarkit.documents.ooxml_contents import ooxml_contents
from noarkit.documents.rtf_contents import rtf_contents


def contents_of(path: Path, format_name: str) -> Contents | None:
    """What the document at `path` holds; None for a format whose documents are all that they say. Raises
    `DocumentRefused`."""
    count = _COUNTERS.get(format_name)
    if count is not None:
        return count(path)
    kinds = _UNCOUNTED.get(format_name)
    return None if kinds is None else Contents(uncounted=kinds)


_COUNTERS: Mapping[str, Callable[[Path], Contents]] = {
    **dict.fromkeys(("docx", "pptx", "xlsx"), ooxml_contents),
    **dict.fromkeys(("odt", "odp", "ods", "odf"), odf_contents),
    "rtf": rtf_contents,
}
_UNCOUNTED: Mapping[str, tuple[ContentKind, ...]] = {
    "doc": ("pictures", "drawings", "equations", "objects"),
    "ppt": ("slides", "pictures", "drawings", "objects"),
    "xls": ("pictures", "drawings", "objects"),
    "xlsb": ("pictures", "drawings", "objects"),
    "html": ("pictures",),
    "eml": ("pictures",),
    "msg": ("pictures",),
}
"""What nobody here counts in documents that may hold it."""

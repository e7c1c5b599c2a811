"""Resources that no content names: Qt lists a pattern on every page, and hardly ever paints with one."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.objects import content_of, contents_of, dictionaries, is_dictionary

_KINDS = ("/ColorSpace", "/Pattern", "/Shading")


def drop_unused(pdf: Any, ledger: Ledger) -> None:
    """Takes out colour spaces, patterns and shadings whose names stand in no content."""
    del ledger
    holders = [holder for holder in dictionaries(pdf) if is_dictionary(holder.get("/Resources"))]
    candidates = [holder.Resources.get(kind) for holder in holders for kind in _KINDS]
    spaces = [space for space in candidates if is_dictionary(space) and len(space)]
    if not spaces or any(holder.get("/Subtype") == "/Type3" for holder in holders):
        return
    content = b"\n".join([*(contents_of(page) for page in pdf.pages), *map(content_of, _drawings(pdf))])
    for space in spaces:
        for name in list(space.keys()):
            if not name.startswith("/Default") and name.encode("latin-1", "replace") not in content:
                del space[name]


def _drawings(pdf: Any) -> list[Any]:
    """Streams of content that are no pages: forms and patterns."""
    import pikepdf

    streams = [item for item in pdf.objects if isinstance(item, pikepdf.Stream)]
    return [stream for stream in streams if stream.get("/Subtype") == "/Form" or "/PatternType" in stream]

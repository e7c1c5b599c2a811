"""The converter of web pages and drawings in SVG: pages of a PDF/A, drawn of what the document holds itself."""

from __future__ import annotations

import base64

from noarkit.copies.converters.library import LibraryConverter
from noarkit.copies.converters.page_writer import write_pages
from noarkit.copies.inspection.markup import read_markup
from noarkit.copies.port import Failure, Outcome, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.refusal import DocumentRefused

_DRAWINGS = frozenset({"fmt/91", "fmt/92", "fmt/413"})
_DRAWING_STYLE = """
@page { margin: 10mm }
body { margin: 0 }
img { max-width: 190mm; max-height: 277mm }
"""


def make_pages(task: Task) -> Outcome:
    """A PDF/A of one page or drawing."""
    if is_drawing(task):
        # an element of its own: what a drawing says of style reaches nothing around it
        encoded = base64.b64encode(task.source.read_bytes()).decode("ascii")
        html = f'<!DOCTYPE html><html><body><img alt="" src="data:image/svg+xml;base64,{encoded}"></body></html>'
        return write_pages(task, html, style=_DRAWING_STYLE)
    try:
        return write_pages(task, read_markup(task.source))
    except DocumentRefused as refused:
        return Failure(Reason(refused.reason), refused.data)


def is_drawing(task: Task) -> bool:
    """True for SVG."""
    media_type = (task.identity.media_type or "").partition(",")[0]
    return task.identity.puid in _DRAWINGS or media_type == "image/svg+xml"


PAGE = LibraryConverter("page", ("weasyprint", "pikepdf"), make_pages)

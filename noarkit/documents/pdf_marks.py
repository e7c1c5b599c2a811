"""What there is around the pages of a PDF: bookmarks, links, structure, page labels, attachments, values of a form."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # Any: the library has no types

from noarkit.documents.pdf_pages import PdfUnreadable

_MOST_NOTES = 20_000
_TEXT_KINDS = (4, 5, 6)
"""A choice of several, a list, a text: fields whose value is shown as text."""


@dataclass(frozen=True, slots=True)
class PdfMarks:
    """How many of each there are; `values` are the texts that fields of a form hold."""

    bookmarks: int = 0
    links: int = 0
    tags: int = 0
    """1 for a document that says what is a heading, a paragraph, a table."""
    page_labels: int = 0
    attachments: int = 0
    values: tuple[str, ...] = ()


def read_marks(path: Path) -> PdfMarks:
    """What there is around the pages of a PDF. Raises `PdfUnreadable`."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, FileNotFoundError) as error:
        raise PdfUnreadable(locked="password" in str(error).lower()) from error
    try:
        logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it tells of every form that it knows in part
        if document.get_formtype():
            document.init_forms()
        links, values = 0, []
        for number in range(len(document)):
            for kind, note in _notes(document, number):
                links += kind == raw.FPDF_ANNOT_LINK
                if kind == raw.FPDF_ANNOT_WIDGET and document.formenv:
                    values.append(_value(document.formenv.raw, note))
        return PdfMarks(
            sum(1 for _ in document.get_toc(max_depth=30)),
            links,
            int(raw.FPDFCatalog_IsTagged(document)),
            _label_count(document),
            document.count_attachments(),
            tuple(value for value in values if value),
        )
    except pypdfium2.PdfiumError as error:
        raise PdfUnreadable from error
    finally:
        document.close()


def _notes(document: Any, number: int) -> Iterator[tuple[int, Any]]:
    """Kind and handle of each annotation of a page; one that cannot be opened has none."""
    from pypdfium2 import raw

    page = document[number]
    try:
        for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_NOTES)):
            note = raw.FPDFPage_GetAnnot(page, at)
            if note:
                yield raw.FPDFAnnot_GetSubtype(note), note
                raw.FPDFPage_CloseAnnot(note)
    finally:
        page.close()


def _value(form: Any, note: Any) -> str:
    from pypdfium2 import raw

    if raw.FPDFAnnot_GetFormFieldType(form, note) not in _TEXT_KINDS:
        return ""
    size = raw.FPDFAnnot_GetFormFieldValue(form, note, None, 0)
    return _text(size, lambda buffer: raw.FPDFAnnot_GetFormFieldValue(form, note, buffer, size))


def _label_count(document: Any) -> int:
    from pypdfium2 import raw

    return sum(raw.FPDF_GetPageLabel(document, number, None, 0) > 2 for number in range(len(document)))


def _text(size: int, fill: Any) -> str:
    from pypdfium2 import raw

    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)))
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")

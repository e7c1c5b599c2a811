"""Finishes a PDF that a program made: what no PDF/A may hold is taken out, and it is written as PDF/A.

Whether it *is* one, the gates say.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

# LibreOffice writes both; neither is allowed, and neither is missed
_NOT_ALLOWED_IN_TRAILER = "/DocChecksum"
_NOT_ALLOWED_IN_ROOT = "/OpenAction"


def finish_pdfa(draft: Path, target: Path, flavour: str) -> bool:
    """Writes `draft` to `target` as PDF/A of a flavour (`2b`), pages untouched; False where it cannot be read.

    What pikepdf does not take for PDF/A is written all the same, for the gates to name the rules. Without pikepdf the
    file stays as it was.
    """
    try:
        import pikepdf
    except ImportError:
        draft.replace(target)
        return True
    try:
        with pikepdf.open(draft) as pdf:
            _delete(pdf.trailer, _NOT_ALLOWED_IN_TRAILER)
            _delete(pdf.Root, _NOT_ALLOWED_IN_ROOT)
            if not _saved_as_pdfa(pdf, target, flavour):
                pdf.save(target)
    except pikepdf.PdfError:
        return False
    return True


def _delete(dictionary: object, key: str) -> None:
    with contextlib.suppress(KeyError):
        del dictionary[key]  # type: ignore[attr-defined]  # of pikepdf, which has no types for us


def _saved_as_pdfa(pdf: pikepdf.Pdf, target: Path, flavour: str) -> bool:
    try:
        from pikepdf import pdfa
    except ImportError:  # without its extra
        return False
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of every odd font
    try:
        pdfa.save(pdf, target, flavour)
    except pdfa.PdfaError:
        return False
    return True

"""Finishes a PDF that a program made: what no PDF/A may hold is taken out, and it is written as PDF/A.

Whether it *is* one, the gates say.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: settings of a library

from noarkit.copies.converters.pdf_repairs.structure import name_tab_orders

if TYPE_CHECKING:
    import pikepdf

# LibreOffice writes both; neither is allowed, and neither is missed
_NOT_ALLOWED_IN_TRAILER = "/DocChecksum"
_NOT_ALLOWED_IN_ROOT = "/OpenAction"
_OF_A_SHOW = "/Trans"
"""How a slide comes upon the screen: of a page, nothing."""


def finish_pdfa(draft: Path, target: Path, flavour: str) -> bool:
    """Writes `draft` to `target` as PDF/A of a flavour (`2b`), pages untouched; False where it cannot be read.

    Nothing is validated here: the gates judge the bytes that were written, and name the rules that they break. Without
    pikepdf the file stays as it was.
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
            name_tab_orders(pdf)
            for page in pdf.pages:
                _delete(page.obj, _OF_A_SHOW)
            pdf.save(target, **_prepare(pdf, flavour))
            # of a draft that had to be repaired, a dense file may not be readable again
            if pdf.get_warnings() and not _opens(target):
                pdf.save(target)
    except pikepdf.PdfError:
        return False
    return True


def _opens(path: Path) -> bool:
    import pikepdf

    try:
        with pikepdf.open(path, attempt_recovery=False):
            return True
    except pikepdf.PdfError:
        return False


def _delete(dictionary: object, key: str) -> None:
    with contextlib.suppress(KeyError):
        del dictionary[key]  # type: ignore[attr-defined]  # of pikepdf, which has no types for us


def _prepare(pdf: pikepdf.Pdf, flavour: str) -> dict[str, Any]:
    """Repairs what pikepdf knows to repair; how the file is to be written. Nothing without its extra, and where it
    cannot prepare such a file at all."""
    try:
        from pikepdf import pdfa
    except ImportError:
        return {}
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of every odd font
    try:
        pdfa.prepare(pdf, flavour)
    except ValueError:  # an output intent that is none
        return {}
    return dict(pdfa.resolve_save_kwargs(flavour))

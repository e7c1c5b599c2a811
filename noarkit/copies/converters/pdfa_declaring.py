"""Writes a PDF as PDF/A where nothing on its pages needs to change, and says which rules stand against it otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any  # Any: objects of a PDF

from noarkit.copies.port import Failure
from noarkit.copies.reasons import Reason

FLAVOURS = {"pdfa-1b": "1b", "pdfa-2b": "2b", "pdfa-3b": "3b"}
"""The targets that are PDF/A, with the flavour that each is."""

_EMPTY_RESOURCES = ("/Pattern", "/Shading", "/XObject", "/ExtGState", "/ColorSpace", "/Properties")
_CHECKSUM_OF_OFFICE = "/DocChecksum"
_FIRST_VIEW = "/OpenAction"


def declare_pdfa(pdf: Any, target: Path, flavour: str) -> tuple[str, ...]:
    """Writes an open PDF to `target`, valid by the validator; else nothing, and the rules that it breaks."""
    from pikepdf import pdfa

    remove_harmless(pdf)
    try:
        pdfa.save(pdf, target, flavour)
    except pdfa.PdfaError as error:
        return tuple(dict.fromkeys(str(found.rule) for found in error.report.findings)) or ("unknown",)
    return ()


def remove_harmless(pdf: Any) -> None:
    """Takes out what PDF/A forbids and nobody sees: the checksum of LibreOffice, the page to open at, and dictionaries
    of resources in which nothing is. A script that runs when the file is opened stays, and is a reason to refuse it."""
    import pikepdf

    if _CHECKSUM_OF_OFFICE in pdf.trailer:
        del pdf.trailer[_CHECKSUM_OF_OFFICE]
    action = pdf.Root.get(_FIRST_VIEW)
    if isinstance(action, pikepdf.Array) or (isinstance(action, pikepdf.Dictionary) and action.get("/S") == "/GoTo"):
        del pdf.Root[_FIRST_VIEW]
    for item in pdf.objects:
        holder: Any = item if isinstance(item, pikepdf.Dictionary | pikepdf.Stream) else {}
        for resources in (holder, holder.get("/Resources", {})):
            if not isinstance(resources, pikepdf.Dictionary):
                continue
            for name in _EMPTY_RESOURCES:
                inner = resources.get(name)
                if isinstance(inner, pikepdf.Dictionary) and not len(inner):
                    del resources[name]


def refusal_of_target(target: str) -> Failure | None:
    """Why a converter that makes nothing but PDF/A has nothing to do here."""
    return None if target in FLAVOURS else Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": target})

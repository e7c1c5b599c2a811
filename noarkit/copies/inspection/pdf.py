"""PDF: locks, signatures, attachments, scripts and forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: objects of a PDF

from noarkit.copies.port import Finding
from noarkit.documents.refusal import DocumentRefused, Refusal

if TYPE_CHECKING:
    import pikepdf

_MOST_FIELDS = 5_000
_SIGNATURES_EXIST = 1


def find_in_pdf(path: Path) -> Iterator[Finding]:
    """What a person should know of a PDF. Raises `DocumentRefused`; says nothing where the library is not installed."""
    try:
        import pikepdf
    except ImportError:
        return
    try:
        with pikepdf.open(path) as pdf:
            if not len(pdf.pages):
                raise DocumentRefused(Refusal.DAMAGED)
            yield from _findings(pdf)
    except pikepdf.PasswordError as error:
        raise DocumentRefused(Refusal.PASSWORD) from error
    except (pikepdf.PdfError, ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        raise DocumentRefused(Refusal.DAMAGED) from error


def _findings(pdf: pikepdf.Pdf) -> Iterator[Finding]:
    root: Any = pdf.Root
    form: Any = root.get("/AcroForm")
    if pdf.is_encrypted:
        yield Finding("restricted", {})
    if form is not None:
        fields = list(_fields(form))
        signed = sum(str(field.get("/FT", "")) == "/Sig" and "/V" in field for field in fields)
        if signed or int(form.get("/SigFlags", 0)) & _SIGNATURES_EXIST:
            yield Finding("signed", {"count": signed})
        elif fields:
            yield Finding("form", {"count": len(fields)})
    if pdf.attachments:
        yield Finding("attachments", {"count": len(pdf.attachments)})
    names: Any = root.get("/Names")
    action: Any = root.get("/OpenAction")
    scripted = names is not None and "/JavaScript" in names
    if scripted or (hasattr(action, "get") and str(action.get("/S", "")) == "/JavaScript"):
        yield Finding("scripts", {})
    if "/OCProperties" in root:
        yield Finding("layers", {})


def _fields(form: Any) -> Iterator[Any]:
    """The fields of a form, those within others too."""
    waiting = list(form.get("/Fields", ()))
    known: set[tuple[int, int]] = set()
    while waiting and len(known) < _MOST_FIELDS:
        field = waiting.pop()
        if hasattr(field, "get") and field.objgen not in known:
            if field.is_indirect:
                known.add(field.objgen)
            yield field
            waiting.extend(field.get("/Kids", ()))

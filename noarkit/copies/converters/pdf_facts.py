"""What decides how a PDF may be copied, looked up before any converter touches it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any  # Any: objects of a PDF

from noarkit.copies.port import Failure
from noarkit.copies.reasons import Reason

HOLDS_FILES = "pdfa-3b"
"""The target that may hold the files that are attached to a document."""


@dataclass(frozen=True, slots=True)
class PdfFacts:
    """What decides which converter may have a PDF."""

    pages: int
    is_signed: bool
    has_attachments: bool
    is_dynamic: bool = False
    """True for a form whose content its maker's program builds when it is opened: the pages show nothing of it."""
    warnings: int = 0
    """How often its structure had to be guessed; 0 for a whole one."""

    def refusal(self, target: str) -> Failure | None:
        """Why no converter may have it; None where one may."""
        if self.is_signed:
            return Failure(Reason.SIGNED)
        if self.has_attachments and target != HOLDS_FILES:
            return Failure(Reason.ATTACHMENTS)
        return Failure(Reason.CONTENT_REFUSED, {"why": "dynamic-form"}) if self.is_dynamic else None


def pdf_facts(path: Path, *, recovers: bool = False) -> PdfFacts | Failure:
    """Looks into a PDF; a failure where it has a password, or no pages, or cannot be read without repair.

    One that `recovers` is read by guessing where its structure is broken, and says how often.
    """
    import pikepdf

    try:
        with pikepdf.open(path, attempt_recovery=recovers) as pdf:
            return _facts(pdf)
    except pikepdf.PasswordError:
        return Failure(Reason.PASSWORD)
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError) as error:  # what qpdf makes of broken objects
        return Failure(Reason.DAMAGED, {"why": type(error).__name__})


def _facts(pdf: Any) -> PdfFacts | Failure:
    import pikepdf

    if not len(pdf.pages):
        return Failure(Reason.DAMAGED, {"pages": 0})
    holders = [item for item in pdf.objects if isinstance(item, pikepdf.Dictionary)]
    kinds = {(str(item.get("/Type", "")), str(item.get("/Subtype", ""))) for item in holders}
    is_signed = any("/ByteRange" in item for item in holders) or any(kind == "/Sig" for kind, _ in kinds)
    has_files = bool(pdf.attachments) or any(subtype == "/FileAttachment" for _, subtype in kinds)
    is_dynamic = _is_dynamic(pdf)
    return PdfFacts(len(pdf.pages), is_signed, has_files, is_dynamic, len(pdf.get_warnings()))


def _is_dynamic(pdf: Any) -> bool:
    """True for XFA whose pages are made when it is opened: the form has no fields of its own, or says so."""
    import pikepdf

    form = pdf.Root.get("/AcroForm")
    if not isinstance(form, pikepdf.Dictionary) or "/XFA" not in form:
        return False
    return not len(form.get("/Fields", ())) or bool(pdf.Root.get("/NeedsRendering", False))

"""The converters of PDF that leave its pages as they are: one only declares what is PDF/A already in all but name, the
other repairs what stands in the way.

What is signed is never rewritten, what has files attached would lose them. What can only be read by guessing is given
to the second alone, which tells of it; a page that lost its content by the guess is damaged.
"""

from __future__ import annotations

import io
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.converters.pdf_facts import pdf_facts
from noarkit.copies.converters.pdf_repairs.ledger import Ledger, RepairRefused
from noarkit.copies.converters.pdf_repairs.table import repair_pdf
from noarkit.copies.converters.pdfa_declaring import FLAVOURS, declare_pdfa, refusal_of_target
from noarkit.copies.port import Failure, Finding, Outcome, Task
from noarkit.copies.reasons import Reason

_COPY = "copy.pdf"


def make_pdfa(task: Task) -> Outcome:
    """A PDF/A of one PDF; where rules of the standard are broken, `content-refused` names them."""
    import pikepdf

    refusal = _refusal(task, recovers=False)
    if isinstance(refusal, Failure):
        return refusal
    with pikepdf.open(task.source) as pdf:
        rules = declare_pdfa(pdf, task.folder / _COPY, FLAVOURS[task.target])
    if rules:
        return Failure(Reason.CONTENT_REFUSED, {"rules": list(rules)})
    return product_of(task, _COPY, "pikepdf")


def make_repaired(task: Task) -> Outcome:
    """A PDF/A of one PDF whose form is repaired and whose pages stay; `content-refused` says what cannot be."""
    refusal = _refusal(task, recovers=True)
    if isinstance(refusal, Failure):
        return refusal
    with open_recovered(task.source) as pdf:
        if refusal and not _has_whole_pages(pdf):
            return Failure(Reason.DAMAGED)
        answer = write_repaired(pdf, task)
    if isinstance(answer, Failure):
        return answer
    findings = (Finding("repaired", {"count": refusal}),) if refusal else ()
    return product_of(task, _COPY, "pikepdf", findings=(*findings, *answer.findings()))


def write_repaired(pdf: Any, task: Task) -> Ledger | Failure:
    """Repairs an open PDF and writes it as PDF/A into the task's folder; what was done, or why it cannot be.

    Whether it *is* PDF/A, the gates say of the bytes that were written.
    """
    from pikepdf import pdfa

    try:
        ledger = repair_pdf(pdf)
    except RepairRefused as error:
        return Failure(Reason.CONTENT_REFUSED, error.data)
    flavour = FLAVOURS[task.target]
    pdfa.prepare(pdf, flavour)
    pdf.save(task.folder / _COPY, **pdfa.resolve_save_kwargs(flavour))
    return ledger


def open_recovered(source: Any) -> Any:
    """Opens a PDF, its structure guessed where it is broken.

    One whose trailer was guessed is written once and read again: without the number of its objects nothing can read
    what becomes of it.
    """
    import pikepdf

    pdf = pikepdf.open(source)
    if not pdf.get_warnings():
        return pdf
    with pdf:
        len(pdf.pages)
        if "/Size" not in pdf.trailer:
            pdf.trailer["/Size"] = len(pdf.objects) + 1
        mended = io.BytesIO()
        pdf.save(mended)
    return pikepdf.open(mended)


def _refusal(task: Task, *, recovers: bool) -> Failure | int:
    """Why a PDF has no copy by these converters; how often it was guessed at where it may have one."""
    refusal = refusal_of_target(task.target)
    if refusal is not None:
        return refusal
    facts = pdf_facts(task.source, recovers=recovers)
    return facts if isinstance(facts, Failure) else facts.refusal(task.target) or facts.warnings


def _has_whole_pages(pdf: Any) -> bool:
    """True where every page of a guessed structure has its content still, and there are as many as it says."""
    import pikepdf

    for page in pdf.pages:
        contents = page.obj.get("/Contents")
        streams = list(contents) if isinstance(contents, pikepdf.Array) else [contents]
        if not all(isinstance(stream, pikepdf.Stream) and _can_be_unpacked(stream) for stream in streams):
            return False
    return True


def _can_be_unpacked(stream: Any) -> bool:
    import pikepdf

    try:
        stream.read_bytes()
    except pikepdf.PdfError:
        return False
    return True


PDF_DECLARE = LibraryConverter("pdf-declare", ("pikepdf",), make_pdfa)
PDF_REPAIR = LibraryConverter("pdf-repair", ("pikepdf", "fonttools"), make_repaired, uses_fonts=True)

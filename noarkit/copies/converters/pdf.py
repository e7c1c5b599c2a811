"""The converter of PDF: writes a document again as PDF/A without touching its pages, or says what stands in the way.

It embeds no font and changes no colour. What is signed is never rewritten, what has files attached would lose them, and
what can only be read by guessing is damaged: a guess may have dropped pages.
"""

from __future__ import annotations

from noarkit.copies.converters.ghostscript import pdf_facts
from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.converters.pdfa_declaring import FLAVOURS, declare_pdfa, refusal_of_target
from noarkit.copies.port import Failure, Outcome, Task
from noarkit.copies.reasons import Reason

_HOLDS_FILES = "pdfa-3b"


def make_pdfa(task: Task) -> Outcome:
    """A PDF/A of one PDF; where rules of the standard are broken, `content-refused` names them."""
    import pikepdf

    refused = refusal_of_target(task.target)
    if refused is not None:
        return refused
    facts = pdf_facts(task.source)
    if isinstance(facts, Failure):
        return facts
    if facts.is_signed:
        return Failure(Reason.SIGNED)
    if facts.has_attachments and task.target != _HOLDS_FILES:
        return Failure(Reason.ATTACHMENTS)
    with pikepdf.open(task.source) as pdf:
        rules = declare_pdfa(pdf, task.folder / "copy.pdf", FLAVOURS[task.target])
    if rules:
        return Failure(Reason.CONTENT_REFUSED, {"rules": list(rules)})
    return product_of(task, "copy.pdf", "pikepdf")


PDF_DECLARE = LibraryConverter("pdf-declare", ("pikepdf",), make_pdfa)

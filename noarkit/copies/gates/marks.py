"""What stands around the pages of a PDF: is it in the copy? What a form held must be; the rest is counted and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from noarkit.copies.gates.letters import MarksOf, TextOf
from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import spaceless
from noarkit.documents.pdf_marks import PdfMarks, read_marks
from noarkit.documents.pdf_pages import PdfUnreadable


@dataclass(frozen=True, slots=True)
class MarksGate:
    """Bookmarks, links, structure and page labels of a PDF, counted by a reader that made neither of the two."""

    text_of: TextOf
    marks_of: MarksOf = read_marks
    name: str = "marks"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where the value of a field is not in the text of the copy; tells what is not there any more."""
        if not (task.target.startswith("pdf") and is_pdf(task)):
            return ()
        try:
            before, after = self.marks_of(task.source), read_marks(product.path)
        except PdfUnreadable:
            return ()  # what cannot be opened, the gates of pages and letters say
        lost_values = self._lost_values(before, product)
        if lost_values:
            return Failure(Reason.TEXT_MISSING, {"values": lost_values, "fields": len(before.values)})
        return tuple(_losses(before, after))

    def _lost_values(self, before: PdfMarks, product: Product) -> int:
        """How many values are not there. A word may be broken, so letters are looked for, in their order."""
        if not before.values:
            return 0
        text = spaceless(self.text_of(product.path) or "")
        return sum(spaceless(value) not in text for value in before.values)


def _losses(before: PdfMarks, after: PdfMarks) -> list[Finding]:
    pairs = (
        (Finding("links-dropped"), before.links, after.links),
        (Finding("bookmarks-dropped"), before.bookmarks, after.bookmarks),
        (Finding("tags-dropped"), before.tags, after.tags),
        (Finding("page-labels-dropped"), before.page_labels, after.page_labels),
        (Finding("attachments-dropped"), before.attachments, after.attachments),
    )
    return [replace(finding, data={"count": was - remain, "of": was}) for finding, was, remain in pairs if remain < was]

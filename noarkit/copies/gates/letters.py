"""Are the letters of a PDF in the PDF that was made of it, and no others?

Words are cut differently by different makers of the same page («teller71», «teller 71»); letters are not. They are read
by poppler where it is there, by the reader of the other gates where it is not, in the original and the copy alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import LOST, letters
from noarkit.documents.pdf_marks import PdfMarks, read_marks
from noarkit.documents.pdf_pages import PdfUnreadable

LEAST_KEPT = 0.985
"""The share of the original's letters that must be in the copy."""
MOST_EXTRA = 0.03
"""The share of letters beyond those of the original that a copy may have."""

MarksOf = Callable[[Path], PdfMarks]
TextOf = Callable[[Path], str | None]


@dataclass(frozen=True, slots=True)
class LettersGate:
    """The letters of a PDF are in the PDF that was made of it, each as often as there."""

    original_of: TextOf
    text_of: TextOf
    marks_of: MarksOf = read_marks
    name: str = "letters"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where letters are missing, were replaced, or came from nowhere."""
        if not (task.target.startswith("pdf") and is_pdf(task)):
            return ()
        before, after = self.original_of(task.source), self.text_of(product.path)
        if before is None:
            return (Finding("words-not-compared", {}),)
        if after is None:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})
        original, copy = letters(before), letters(after)
        if copy[LOST] > original[LOST]:
            return Failure(Reason.TEXT_MISSING, {"replaced": copy[LOST] - original[LOST]})
        total, missing = original.total(), (original - copy).total()
        extra = (copy - original - letters("".join(self._values(task)))).total()
        if missing > (1 - LEAST_KEPT) * total:
            percent = round(100 * missing / total, 1)
            return Failure(Reason.TEXT_MISSING, {"letters": total, "missing": missing, "percent": percent})
        is_recognised = any(
            finding.code == "text-recognised" for finding in product.findings
        )  # more text was asked for
        if extra > max(MOST_EXTRA * total, 1) and not is_recognised:
            return Failure(Reason.TEXT_MISSING, {"letters": total, "extra": extra})
        return ()

    def _values(self, task: Task) -> tuple[str, ...]:
        """What a form holds, which a reader without the right font does not show."""
        try:
            return self.marks_of(task.source).values
        except PdfUnreadable:
            return ()

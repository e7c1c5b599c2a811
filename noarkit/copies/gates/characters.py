"""Does a copy show that something was lost: replacement characters, `###` of narrow cells, error texts, empty boxes?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.gates.words import WordsOf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import LOST, PRIVATE
from noarkit.documents.pdf_glyphs import boxes_in
from noarkit.documents.pdf_pages import PdfUnreadable, TextsOf, read_texts

# what LibreOffice writes where a reference leads nowhere, in the languages that it is run in here
_ERRORS = re.compile(
    r"Error: Reference source not found|Feil: (?:Fant ikke referansekilden|Finner ikke referansekilden)|#REF!|Err:5\d\d"
)
_TOO_NARROW = re.compile(r"#{3,}")


@dataclass(frozen=True, slots=True)
class CharactersGate:
    """The text of the copy says of nothing that it was lost."""

    words_of: WordsOf
    texts_of: TextsOf = read_texts
    name: str = "characters"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails on replacement characters, error texts and `###` that the original does not have."""
        if not task.target.startswith("pdf"):
            return ()
        original = self.words_of(task.source, task.identity)
        lost = errors = narrow = private = 0
        try:
            texts = self.texts_of(product.path)
        except PdfUnreadable:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})
        for text in texts:
            lost += text.count(LOST)
            errors += len(_ERRORS.findall(text))
            narrow += len(_TOO_NARROW.findall(text))
            private += len(PRIVATE.findall(text))
        if original is not None:
            lost -= sum(word.count(LOST) * times for word, times in original.items())
            errors -= min(errors, original["referansekilden"] + original["reference"])
        if lost > 0:
            return Failure(Reason.TEXT_MISSING, {"replaced": lost})
        if errors > 0:
            return Failure(Reason.TEXT_MISSING, {"error_texts": errors})
        if narrow and _is_sheet(task):
            return Failure(Reason.TEXT_MISSING, {"too_narrow": narrow})
        boxes = [] if is_pdf(task) else _empty_boxes(product)
        # a sign of Word's that is drawn in a font of signs is what it was; its code in the copy says nothing
        is_drawn = _is_office(task) and not boxes
        return boxes if is_drawn or not private else [Finding("private-characters", {"count": private}), *boxes]


def _empty_boxes(product: Product) -> list[Finding]:
    """Letters that stand in the text of the copy, and of which its pages show empty boxes."""
    boxes = boxes_in(product.path)
    return [Finding("letters-not-drawn", {"count": sum(boxes.values()), "fonts": sorted(boxes)})] if boxes else []


def _is_office(task: Task) -> bool:
    media_type = task.identity.media_type or ""
    return "officedocument" in media_type or "opendocument" in media_type or "word" in media_type


def _is_sheet(task: Task) -> bool:
    media_type = task.identity.media_type or ""
    return "sheet" in media_type or "excel" in media_type

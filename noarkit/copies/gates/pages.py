"""Are there pages, as many as in the original, and none blank that was not?

A converter that could not read a document may still make a valid PDF/A of one empty page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pdf_pages import PdfPages, PdfUnreadable, TextsOf, is_blank, open_pages, read_texts
from noarkit.documents.pictures import PictureUnreadable, frames_of, open_picture

CountOf = Callable[[Path], int | None]
"""What tells the number of pages of a PDF; None where it cannot open it."""

_MOST_DRAWN = 400
"""How many pages without text are drawn to see whether they are blank."""


@dataclass(frozen=True, slots=True)
class PagesGate:
    """The pages of a PDF that was made."""

    texts_of: TextsOf = read_texts
    count_of: CountOf | None = None
    """A second reader of the number of pages, whose word on the original is taken where it has one."""
    name: str = "pages"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where there are no pages, all are blank, a PDF lost or gained pages, or a page of it became blank."""
        if not task.target.startswith("pdf"):
            return ()
        try:
            texts = self.texts_of(product.path)
            blank, count = _blank_pages(product.path, texts), len(texts)
            blank = blank and blank - _plain_frames(task)
        except PdfUnreadable:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})
        if is_pdf(task):
            failure = self._compare(task.source, count, blank)
            if failure is not None:
                return failure
        elif len(blank) == count:
            return Failure(Reason.BLANK, {"pages": count})
        return (Finding("blank-pages", {"count": len(blank), "pages": count}),) if blank else ()

    def _compare(self, source: Path, count: int, blank: frozenset[int]) -> Failure | None:
        count_by_other = self.count_of(source) if self.count_of is not None else None
        if count_by_other is not None and count_by_other != count:
            return Failure(Reason.PAGES_DIFFER, {"pages": count, "original": count_by_other})
        return _compare(source, count, blank, is_counted=count_by_other is not None)


def is_pdf(task: Task) -> bool:
    """True where the original is a PDF itself, so that page can be held to page."""
    return task.identity.media_type == "application/pdf"


def _compare(source: Path, count: int, blank: frozenset[int], *, is_counted: bool) -> Failure | None:
    try:
        with open_pages(source) as original:
            if original.count != count and not is_counted:
                return Failure(Reason.PAGES_DIFFER, {"pages": count, "original": original.count})
            lost = [number for number in sorted(blank) if not _is_blank_page(original, number)]
    except PdfUnreadable as error:
        if is_counted and not error.locked and not blank:
            return None
        return Failure(Reason.PASSWORD if error.locked else Reason.DAMAGED)
    return Failure(Reason.BLANK, {"pages": count, "page": lost[0] + 1}) if lost or not count else None


def _blank_pages(path: Path, texts: Sequence[str]) -> frozenset[int]:
    """The blank pages. Of very many without text the first some hundred are looked at."""
    textless = [number for number, text in enumerate(texts) if not text.strip()]
    if not textless:
        return frozenset()
    with open_pages(path) as pages:
        return frozenset(number for number in textless[:_MOST_DRAWN] if is_blank(pages.picture(number)))


def _plain_frames(task: Task) -> frozenset[int]:
    """The frames of a picture that are all of one shade themselves: their pages show what they hold."""
    if not (task.identity.media_type or "").startswith("image/"):
        return frozenset()
    try:
        with open_picture(task.source) as picture:
            return frozenset(n for n, frame in enumerate(frames_of(picture)) if is_blank(frame.convert("L")))
    except PictureUnreadable:
        return frozenset()


def _is_blank_page(pages: PdfPages, number: int) -> bool:
    return not pages.text(number).strip() and is_blank(pages.picture(number))

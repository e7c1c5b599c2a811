"""PDF as pictures of its pages, and what one would do if a browser were to open it.

A PDF with nothing but pages may be drawn by the browser's own viewer. One that would run scripts, start programs, send
forms or hand out files is shown as pictures only. What cannot be looked through counts as one that would.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from noarkit.documents.pdf_pages import PdfPages, PdfUnreadable, open_pages
from noarkit.reading_room.viewers.job import Job, Reading, Refusal
from noarkit.reading_room.viewers.kinds.pdf_names import what_it_would_do
from noarkit.reading_room.viewers.port import Drawing, Line, Note, Pictures, Plain, Rendering, Way
from noarkit.reading_room.viewers.signs import lines_of

DOTS_PER_INCH = 110
_THUMBNAIL_DOTS = 40
_MOST_LINES = 500
_HARMLESS = frozenset({"pdf-links"})


def show_pdf(reading: Reading) -> Rendering:
    """A page of a PDF as a picture, or nothing but the bytes where the browser may draw them."""
    job = reading.job
    notes = [Note(code) for code in sorted(set(what_it_would_do(job.document)))]
    is_harmless = all(note.code in _HARMLESS for note in notes)
    can_draw = find_spec("pypdfium2") is not None and find_spec("PIL") is not None
    if is_harmless and (job.way != "pages" or not can_draw):
        ways: tuple[Way, ...] = ("pages",) if can_draw else ()
        return Rendering(reading.detected, Plain(), raw=True, notes=tuple(notes), ways=ways)
    if not can_draw:
        return Rendering(reading.detected, Plain(), notes=(*notes, Note("tool-missing", {"tool": "pypdfium2"})))
    if not is_harmless:
        notes.append(Note("pdf-as-pages"))
    drawn, count = _draw(job, job.page)
    return Rendering(
        reading.detected,
        Pictures(job.page, (drawn,)),
        job.page,
        count,
        job.page < count,
        raw=False,
        notes=tuple(notes),
        ways=("raw",) if is_harmless else (),
    )


def draw_thumbnail(job: Job) -> None:
    """Draws the first page in small as `thumbnail.png`."""
    with _pages(job) as pages:
        picture = pages.picture(0, _THUMBNAIL_DOTS, colour=True)
    picture.thumbnail((240, 320))
    picture.save(job.folder / "thumbnail.png", "PNG")


def _draw(job: Job, page: int) -> tuple[Drawing, int]:
    with _pages(job) as pages:
        if page > pages.count:
            raise Refusal("no-such-page", page=page, pages=pages.count)
        picture = pages.picture(page - 1, DOTS_PER_INCH, colour=True)
        lines = _text_of(pages, page - 1)
        count = pages.count
    name = f"page-{page}.png"
    picture.save(job.folder / name, "PNG")
    return Drawing(name, picture.width, picture.height, lines), count


def _text_of(pages: PdfPages, number: int) -> tuple[Line, ...]:
    try:
        return lines_of(pages.text(number))[:_MOST_LINES]
    except PdfUnreadable:
        return ()


@contextmanager
def _pages(job: Job) -> Iterator[PdfPages]:
    try:
        with open_pages(job.document) as pages:
            if not pages.count:
                raise Refusal("damaged")
            yield pages
    except PdfUnreadable as error:
        raise Refusal("password" if error.locked else "damaged") from error

"""The converter of pictures to be read: a JPEG of one picture, smaller than its master and as one sees it on a screen.

Several frames become the pages of a PDF. What a view lacks is not told here: the gate that compares it with its master
says so, for what a converter says of itself proves nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.port import Failure, Outcome, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pictures import HEIC_PACKAGE, PictureUnreadable, frames_of, open_picture, seen_on_screen

LONGEST_SIDE, QUALITY = "longest-side", "quality"
_LONGEST, _QUALITY, _DOTS_PER_INCH = 2000, 85, 150
_OPTIONS = (LONGEST_SIDE, QUALITY)


def make_view(task: Task) -> Outcome:
    """A JPEG of a picture with one frame, or a PDF with a page for each of several."""
    try:
        if task.target == "jpeg":
            return _make_jpeg(task)
        if task.target == "pdf":
            return _make_pages(task)
    except PictureUnreadable as error:
        return Failure(Reason(error.reason))
    return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})


def longest_side(rule: Rule) -> int:
    """How many pixels the longer side of a view may have."""
    return int(str(rule.options.get(LONGEST_SIDE, _LONGEST)))


def _make_jpeg(task: Task) -> Outcome:
    with open_picture(task.source) as picture:
        frames = int(getattr(picture, "n_frames", 1))
        if frames > 1:
            return Failure(Reason.CONTENT_REFUSED, {"why": "frames", "frames": frames})
        (view,) = _jpegs(task)
    (task.folder / "copy.jpg").write_bytes(view)
    return product_of(task, "copy.jpg", "Pillow")


def _make_pages(task: Task) -> Outcome:
    import img2pdf

    layout = img2pdf.get_fixed_dpi_layout_fun((_DOTS_PER_INCH, _DOTS_PER_INCH))
    pages = img2pdf.convert(list(_jpegs(task)), engine=img2pdf.Engine.internal, layout_fun=layout)
    (task.folder / "copy.pdf").write_bytes(pages)
    return product_of(task, "copy.pdf", "img2pdf")


def _jpegs(task: Task) -> Iterator[bytes]:
    longest, quality = longest_side(task.rule), int(str(task.rule.options.get(QUALITY, _QUALITY)))
    with open_picture(task.source) as picture:
        for frame in frames_of(picture):
            view = seen_on_screen(frame)
            view.thumbnail((longest, longest))
            file = io.BytesIO()
            view.save(file, format="JPEG", quality=quality, optimize=True, icc_profile=view.info.get("icc_profile"))
            yield file.getvalue()


PICTURE_VIEW = LibraryConverter(
    "picture-view", ("Pillow", "img2pdf"), make_view, options=_OPTIONS, optional=(HEIC_PACKAGE,)
)

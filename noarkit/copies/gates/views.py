"""Is a copy to be read a view of its master, and what does it lack?

A view may be smaller, and compressed with loss; it may not be another picture, nor leave a frame out. Whatever it lacks
is told with numbers, so that nobody takes it for the master.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.copies.converters.views import longest_side
from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.gates.pictures import MOST_DIFFERENT, different_share
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pdf_contents import PdfDrawings, open_drawings
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.pictures import PictureUnreadable, frames_of, has_ink_colours, open_picture, seen_on_screen

if TYPE_CHECKING:
    from PIL.Image import Image

_COMPARED_SIDE = 820
"""Master and view are compared at this size of their longer side, or smaller where one is."""
_PAGE_DOTS = 150
_MOST_APART = 0.02
"""How far the relation of the sides may be off, which must be whole pixels."""
_DEEP = ("I", "F")
_EXIF_OF_CAMERA, _EXIF_OF_PLACE = 0x8769, 0x8825


@dataclass(frozen=True, slots=True)
class ViewGate:
    """A picture to be read shows all of its master, as large as its rule says, and what it lacks is told."""

    name: str = "view"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where a frame is gone, is turned, cut or another picture; tells what is smaller or gone."""
        if not is_view(task.target, task.identity.media_type):
            return ()
        try:
            with ExitStack() as stack:
                master = stack.enter_context(open_picture(task.source))
                return _compare(task, master, list(_views(product.path, task.target, stack)))
        except PictureUnreadable as error:
            return Failure(Reason(error.reason))
        except PdfUnreadable:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})


@dataclass(frozen=True, slots=True)
class ReducedGate:
    """What a PDF to be read has no more of the one it was made of is told: dots of its pictures, layers, its size."""

    name: str = "reduced"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Tells what is less. That each page looks as it did, and has its letters, other gates say."""
        if task.target != "pdf" or not is_pdf(task):
            return ()
        try:
            with open_drawings(task.source) as before, open_drawings(product.path) as after:
                findings = list(_reduced(before, after))
                layers = before.layer_count - after.layer_count
        except PdfUnreadable as error:
            return Failure(Reason.PASSWORD if error.locked else Reason.DAMAGED)
        return [*findings, *([Finding("layers-dropped", {"count": layers})] if layers > 0 else [])]


def _reduced(before: PdfDrawings, after: PdfDrawings) -> Iterator[Finding]:
    pixels = [
        [
            sum(width * height for width, height in {drawn.name: drawn.size for drawn in page.pictures}.values())
            for page in pdf.pages()
        ]
        for pdf in (before, after)
    ]
    was, remains = map(sum, pixels)
    if remains < was:
        pages = sum(new < old for old, new in zip(*pixels, strict=False))
        yield Finding("pictures-reduced", {"pages": pages, "percent": round(100 * remains / was)})


def is_view(target: str, media_type: str | None) -> bool:
    """True for a copy to be read that is made of a picture."""
    return target in ("jpeg", "pdf") and (media_type or "").startswith("image/")


def _views(path: Path, target: str, stack: ExitStack) -> Iterator[Image]:
    if target == "jpeg":
        yield stack.enter_context(open_picture(path))
        return
    pages = stack.enter_context(open_pages(path))
    for number in range(pages.count):
        yield pages.picture(number, _PAGE_DOTS, colour=True)


def _compare(task: Task, master: Image, views: Sequence[Image]) -> Sequence[Finding] | Failure:
    frames = int(getattr(master, "n_frames", 1))
    if frames != len(views):
        return Failure(Reason.PAGES_DIFFER, {"pages": len(views), "original": frames})
    largest = longest_side(task.rule)
    losses: dict[str, dict[str, object]] = {}
    for number, (frame, view) in enumerate(zip(frames_of(master), views, strict=True), 1):
        upright = seen_on_screen(frame)
        expected = min(1.0, largest / max(upright.size))
        if not _has_size(view, upright, expected):
            return Failure(Reason.IMAGE_DIFFERS, {"page": number, "what": "size"})
        if _differs(upright, view):
            return Failure(Reason.IMAGE_DIFFERS, {"page": number})
        for finding in _losses(frame, upright, expected):
            losses.setdefault(finding.code, dict(finding.data))
    return (Finding("compressed-with-loss"), *(Finding(code, counts) for code, counts in losses.items()))


def _has_size(view: Image, upright: Image, expected: float) -> bool:
    return all(
        abs(own - side * expected) <= max(1.5, _MOST_APART * side * expected)
        for own, side in zip(view.size, upright.size, strict=True)
    )


def _differs(upright: Image, view: Image) -> bool:
    """True where any of the three colours of a screen is another on more than a little of the picture."""
    side = min(_COMPARED_SIDE, *(max(picture.size) for picture in (upright, view)))
    scale = side / max(upright.size)
    size = tuple(max(1, round(length * scale)) for length in upright.size)
    both = (picture.convert("RGB").resize(size) for picture in (upright, view))
    pairs = zip(*(picture.split() for picture in both), strict=True)
    return any(different_share(original, copy) > MOST_DIFFERENT for original, copy in pairs)


def _losses(frame: Image, upright: Image, expected: float) -> Iterator[Finding]:
    """What the view of a frame has no more, as the frame itself says."""
    if expected < 1:
        width, height = upright.size
        sizes = {"width": round(width * expected), "height": round(height * expected)}
        yield Finding("resolution-reduced", {"original_width": width, "original_height": height, **sizes})
    if frame.mode.startswith(_DEEP):
        yield Finding("depth-reduced", {"bits": 16 if frame.mode.startswith("I;16") else 32})
    if has_ink_colours(frame):
        yield Finding("colours-converted", {"mode": frame.mode})
    if frame.has_transparency_data:
        yield Finding("transparency-dropped")
    exif = frame.getexif()
    if count := sum(len(exif.get_ifd(directory)) for directory in (_EXIF_OF_CAMERA, _EXIF_OF_PLACE)):
        yield Finding("camera-data-dropped", {"count": count})

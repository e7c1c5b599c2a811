"""Does a copy look like its original? A picture must be the same pixel by pixel; a page of a PDF nearly so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.pictures import PictureUnreadable, open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

DOTS_PER_INCH = 70
_LONGEST = 820
"""The same for a page of A4, in pixels of its longer side."""
MOST_DIFFERENT = 0.01
"""The share of a page that may look different, blurred: what another smoothing does is below it."""
MOST_DIFFERENT_SHADES = 0.02
"""The same of a page whose colours of print were read by a profile that it did not name."""
_SEEN_BY_TWO = 8
"""So many first pages are drawn by a second reader too."""
_BLUR, _LEAST_DIFFERENCE = 3, 40
"""Seven pixels by seven are taken together; a shade less apart than this (of 255) is the same."""
MOST_PIXELS = 400_000_000
_MOST_PAGES = 200
_SAMPLED_PAGES = 40
COMPARED_PICTURES = ("png", "tiff")
PagePair: TypeAlias = "tuple[int, Image, Image]"
"""The number of a page, and how it looks in the original and in the copy."""
PagesDrawn: TypeAlias = "Callable[[Path, int, int], list[Image]]"
"""Draws the first pages of a PDF: so many, so many pixels on the longer side."""


@dataclass(frozen=True, slots=True)
class PageLookGate:
    """Each page of a PDF that was made of a PDF looks as it did; of very many, some all over the document."""

    drawn_by: PagesDrawn | None = None
    """A second reader that draws, each page held against its own drawing of the original: the two never agree."""
    name: str = "look"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails on the first page that looks different."""
        if not (task.target.startswith("pdf") and is_pdf(task)):
            return ()
        has_new_shades = any(finding.code == "colours-assumed" for finding in product.findings)
        limit = MOST_DIFFERENT_SHADES if has_new_shades else MOST_DIFFERENT
        pairs = self._drawn_once(task.source, product.path)
        if self.drawn_by is not None and not has_new_shades:
            pairs = chain(pairs, _drawn_twice(self.drawn_by, task.source, product.path))
        try:
            for number, original, copy in pairs:
                share = different_share(original, copy)
                if share > limit:
                    return Failure(Reason.IMAGE_DIFFERS, {"page": number + 1, "percent": round(100 * share, 1)})
        except PdfUnreadable as error:
            return Failure(Reason.PASSWORD if error.locked else Reason.DAMAGED)
        return ()

    def _drawn_once(self, source: Path, copy: Path) -> Iterator[PagePair]:
        """The pages as the library draws them; none of a damaged original that only the second reader can open."""
        with ExitStack() as stack:
            try:
                original = stack.enter_context(open_pages(source))
            except PdfUnreadable as error:
                if error.locked or self.drawn_by is None:
                    raise
                return
            made_pages = stack.enter_context(open_pages(copy))
            step = max(1, original.count // _SAMPLED_PAGES) if original.count > _MOST_PAGES else 1
            for number in range(0, min(original.count, made_pages.count), step):
                yield number, original.picture(number, DOTS_PER_INCH), made_pages.picture(number, DOTS_PER_INCH)


def _drawn_twice(draw: PagesDrawn, source: Path, copy: Path) -> Iterator[PagePair]:
    """The first pages as the second reader draws them. Raises `PdfUnreadable` where it can draw none of the copy."""
    originals, copies = draw(source, _SEEN_BY_TWO, _LONGEST), draw(copy, _SEEN_BY_TWO, _LONGEST)
    if originals and len(copies) < len(originals):
        raise PdfUnreadable
    for number, (original, made) in enumerate(zip(originals, copies, strict=False)):
        yield number, original, made


@dataclass(frozen=True, slots=True)
class PixelsGate:
    """A picture that was made of a picture has the same pixels, frames, colour profile and orientation."""

    name: str = "pixels"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails on the first frame that differs, and where a frame, the profile or the orientation is gone."""
        if task.target not in COMPARED_PICTURES:
            return ()
        try:
            with open_picture(task.source) as original, open_picture(product.path) as copy:
                return _compare(original, copy)
        except PictureUnreadable as error:
            return Failure(Reason(error.reason))


def different_share(original: Image, copy: Image) -> float:
    """How much of two pictures differs, from 0 to 1, once both are blurred; sizes that differ by a pixel are fitted."""
    from PIL import ImageChops, ImageFilter

    if abs(original.width - copy.width) > 2 or abs(original.height - copy.height) > 2:
        return 1.0
    fitted = copy if original.size == copy.size else copy.resize(original.size)
    blur = ImageFilter.BoxBlur(_BLUR)
    shades = ImageChops.difference(original.convert("L").filter(blur), fitted.convert("L").filter(blur)).histogram()
    return sum(shades[_LEAST_DIFFERENCE + 1 :]) / max(1, original.width * original.height)


def _compare(original: Image, copy: Image) -> Sequence[Finding] | Failure:
    frames, copied = _frame_count(original), _frame_count(copy)
    if frames != copied:
        return Failure(Reason.PAGES_DIFFER, {"pages": copied, "original": frames})
    for frame in range(frames):
        original.seek(frame)
        copy.seek(frame)
        if original.size != copy.size or not _same_pixels(original, copy):
            return Failure(Reason.IMAGE_DIFFERS, {"page": frame + 1})
    original.seek(0)
    copy.seek(0)
    if (original.info.get("icc_profile") or None) != (copy.info.get("icc_profile") or None):
        return Failure(Reason.IMAGE_DIFFERS, {"what": "colour profile"})
    if _orientation(original) != _orientation(copy):
        return Failure(Reason.IMAGE_DIFFERS, {"what": "orientation"})
    return ()


def _same_pixels(original: Image, copy: Image) -> bool:
    """True where every pixel is the same, seen in the widest mode that both can be turned into without loss."""
    if original.mode == copy.mode and original.mode != "P":
        return original.tobytes() == copy.tobytes()
    mode = "RGBA" if "A" in original.mode + copy.mode or "transparency" in original.info else "RGB"
    if original.mode.startswith("I") or original.mode in ("F", "CMYK", "LAB"):
        return False  # nothing but the same mode holds what these hold
    return original.convert(mode).tobytes() == copy.convert(mode).tobytes()


def _frame_count(picture: Image) -> int:
    return int(getattr(picture, "n_frames", 1))


def _orientation(picture: Image) -> int:
    return int(picture.getexif().get(0x0112, 1))

"""Does a copy look like its original? A picture must be the same pixel by pixel; a page of a PDF nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.pictures import PictureUnreadable, open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

DOTS_PER_INCH = 40
MOST_DIFFERENCE = 4.0
"""The mean difference (of 255) of a page that shows text: a substituted font stays below 2."""
MOST_DIFFERENCE_OF_SCANS = 10.0
"""The same of a page without text: a scan in black and white is smoothed in another way, and reaches 5."""
MOST_PIXELS = 400_000_000
_MOST_PAGES = 200
_SAMPLED_PAGES = 40
COMPARED_PICTURES = ("png", "tiff")


@dataclass(frozen=True, slots=True)
class PageLookGate:
    """Each page of a PDF that was made of a PDF looks as it did; of very many, some all over the document."""

    name: str = "look"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails on the first page that looks different."""
        if not (task.target.startswith("pdf") and is_pdf(task)):
            return ()
        try:
            with open_pages(task.source) as original, open_pages(product.path) as copy:
                step = max(1, original.count // _SAMPLED_PAGES) if original.count > _MOST_PAGES else 1
                for number in range(0, min(original.count, copy.count), step):
                    limit = MOST_DIFFERENCE if original.text(number).strip() else MOST_DIFFERENCE_OF_SCANS
                    found = difference(original.picture(number, DOTS_PER_INCH), copy.picture(number, DOTS_PER_INCH))
                    if found > limit:
                        return Failure(Reason.IMAGE_DIFFERS, {"page": number + 1, "difference": round(found, 1)})
        except PdfUnreadable as error:
            return Failure(Reason.PASSWORD if error.locked else Reason.DAMAGED)
        return ()


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


def difference(left: Image, right: Image) -> float:
    """The mean difference of two pictures in shades of grey, from 0 to 255; sizes that differ by a pixel are fitted."""
    from PIL import ImageChops, ImageStat

    if abs(left.width - right.width) > 2 or abs(left.height - right.height) > 2:
        return 255.0
    fitted = right if left.size == right.size else right.resize(left.size)
    return float(ImageStat.Stat(ImageChops.difference(left.convert("L"), fitted.convert("L"))).mean[0])


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

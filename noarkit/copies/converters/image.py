"""The converters of pictures: a picture stays one, in a format that is taken; or its frames become pages of a PDF/A.

Pixels, colour profile, orientation and what a camera wrote are handed over one by one, for the library drops what it is
not told to keep. Nothing is compressed with loss, and nothing is turned.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.converters.pdfa_declaring import FLAVOURS, declare_pdfa, refusal_of_target
from noarkit.copies.port import Failure, Outcome, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.pictures import HEIC_PACKAGE, MOST_PIXELS, prepare_decoders

if TYPE_CHECKING:
    from PIL.Image import Exif, Image

_FILE_NAMES = {"png": "copy.png", "tiff": "copy.tif"}
# what each can hold pixel by pixel
_MODES: Mapping[str, frozenset[str]] = {
    "png": frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"}),
    "tiff": frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "LAB", "YCbCr", "I;16", "I;16B", "I", "F"}),
}
_COMPRESSION = "tiff_adobe_deflate"
# of the first directory of EXIF: what says something of the picture, not of how its bytes lie in the file
_DESCRIBING = (
    *(0x010D, 0x010E, 0x010F, 0x0110, 0x0112, 0x011D, 0x0131, 0x0132, 0x013B, 0x013C),
    *(0x8298, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F),
)
_ORIENTATION = 0x0112
_DIRECTORIES = (0x8769, 0x8825)
"""What a camera wrote, and where it was."""
_HEIC = frozenset({"heic", "heif"})


def make_picture(task: Task) -> Outcome:
    """A PNG or TIFF of one picture; of several frames only TIFF, which alone can hold them."""
    if task.target not in _FILE_NAMES:
        return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
    from PIL import Image, UnidentifiedImageError

    _prepare_library()
    path = task.folder / _FILE_NAMES[task.target]
    try:
        with Image.open(task.source) as picture:
            frames = int(getattr(picture, "n_frames", 1))
            refused = _refusal(picture, task.target, frames)
            if refused is not None:
                return refused
            _SAVERS[task.target](picture, path)
    except UnidentifiedImageError:
        return _unknown(task)
    except (SyntaxError, EOFError, ValueError) as error:  # what decoders make of broken pictures
        return Failure(Reason.DAMAGED, {"error": type(error).__name__})
    return product_of(task, path.name, "Pillow")


def make_picture_pages(task: Task) -> Outcome:
    """A PDF/A in which each frame of a picture is a page, its bytes as they were where PDF can hold them."""
    refused = refusal_of_target(task.target)
    if refused is not None:
        return refused
    import img2pdf
    import pikepdf
    from PIL import UnidentifiedImageError

    _prepare_library()
    try:
        with task.source.open("rb") as source:
            drawn = img2pdf.convert(source, engine=img2pdf.Engine.internal, rotation=img2pdf.Rotation.ifvalid)
    except (UnidentifiedImageError, img2pdf.ImageOpenError):
        return _unknown(task)
    except (img2pdf.JpegColorspaceError, img2pdf.PdfTooLargeError, img2pdf.AlphaChannelError) as error:
        return Failure(Reason.CONTENT_REFUSED, {"why": type(error).__name__})
    except (SyntaxError, EOFError, ValueError, NotImplementedError) as error:
        return Failure(Reason.CONTENT_REFUSED, {"why": type(error).__name__})
    with pikepdf.open(io.BytesIO(drawn)) as pdf:
        rules = declare_pdfa(pdf, task.folder / "copy.pdf", FLAVOURS[task.target])
    if rules:
        return Failure(Reason.CONTENT_REFUSED, {"rules": list(rules)})
    return product_of(task, "copy.pdf", "img2pdf")


def _prepare_library() -> None:
    from PIL import Image

    prepare_decoders()
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS


def _unknown(task: Task) -> Failure:
    """A picture that the library cannot open: a plug-in is missing, or its bytes are no picture."""
    if task.identity.suffix in _HEIC or "hei" in (task.identity.media_type or ""):
        return Failure(Reason.TOOL_MISSING, {"tool": HEIC_PACKAGE})
    return Failure(Reason.DAMAGED, {"error": "UnidentifiedImageError"})


def _refusal(picture: Image, target: str, frames: int) -> Failure | None:
    if frames > 1 and target != "tiff":
        return Failure(Reason.CONTENT_REFUSED, {"why": "frames", "frames": frames})
    for frame in range(frames):
        picture.seek(frame)
        if picture.mode not in _MODES[target]:
            return Failure(Reason.CONTENT_REFUSED, {"why": "mode", "mode": picture.mode})
    picture.seek(0)
    return None


def _save_png(picture: Image, path: Path) -> None:
    picture.load()
    profile = picture.info.get("icc_profile") or None
    dots = picture.info.get("dpi")
    more = {"dpi": dots} if dots else {}
    picture.save(path, format="PNG", icc_profile=profile, exif=describing_exif(picture), optimize=False, **more)


def _save_tiff(picture: Image, path: Path) -> None:
    """Each frame with its own profile and tags: they are written by themselves, one behind the other."""
    from PIL import TiffImagePlugin

    with path.open("w+b") as file, TiffImagePlugin.AppendingTiffWriter(file) as writer:
        for frame in range(int(getattr(picture, "n_frames", 1))):
            picture.seek(frame)
            exif = describing_exif(picture)
            picture.getexif().pop(_ORIENTATION, None)  # else TIFF is turned while it is loaded
            picture.load()
            profile = picture.info.get("icc_profile") or None
            dots = picture.info.get("dpi")
            more = {"dpi": dots} if dots else {}
            picture.copy().save(
                writer,
                format="TIFF",
                compression=_COMPRESSION,
                icc_profile=profile,
                exif=exif,
                **more,
            )
            writer.newFrame()


def describing_exif(picture: Image) -> Exif:
    """What the EXIF of a picture says of it, without what it says of the file that it lay in."""
    from PIL import Image

    original = picture.getexif()
    kept = Image.Exif()
    for tag in _DESCRIBING:
        if tag in original:
            kept[tag] = original[tag]
    for number in _DIRECTORIES:
        directory = original.get_ifd(number)
        if directory:
            kept.get_ifd(number).update(directory)
    return kept


_SAVERS = {"png": _save_png, "tiff": _save_tiff}

IMAGE = LibraryConverter("image", ("Pillow",), make_picture, revision=2, optional=(HEIC_PACKAGE,))
IMAGE_PDF = LibraryConverter(
    "image-pdf", ("img2pdf", "pikepdf"), make_picture_pages, revision=2, optional=(HEIC_PACKAGE,)
)

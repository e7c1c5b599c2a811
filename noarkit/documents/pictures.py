"""Pictures as Pillow opens them: whole, or refused; and in the colours of a screen."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from noarkit.documents.broken_pictures import refuse_cut_pictures
from noarkit.documents.refusal import DocumentRefused, Refusal

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 400_000_000
HEIC_PACKAGE, HEIC_LIBRARY = "pillow-heif", "pillow_heif"


class PictureUnreadable(DocumentRefused):
    """A picture that cannot be decoded."""


@contextmanager
def open_picture(path: Path | BinaryIO) -> Iterator[Image]:
    """Opens a picture as long as a block lasts. Raises `PictureUnreadable`, also for pixels that cannot be decoded."""
    from PIL import Image, UnidentifiedImageError

    prepare_decoders()
    try:
        with Image.open(path) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise PictureUnreadable(Refusal.TOO_LARGE)
            yield picture
    except Image.DecompressionBombError as error:
        raise PictureUnreadable(Refusal.TOO_LARGE) from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, TypeError) as error:
        if isinstance(error, PictureUnreadable):
            raise
        raise PictureUnreadable(Refusal.DAMAGED) from error


def prepare_decoders() -> None:
    """Pillow refuses pictures that end early from now on, and opens HEIC where its extra is installed."""
    refuse_cut_pictures()
    if importlib.util.find_spec(HEIC_LIBRARY) is not None:
        importlib.import_module(HEIC_LIBRARY).register_heif_opener()


def frames_of(picture: Image) -> Iterator[Image]:
    """The frames of a picture, each as long as the next one is not asked for."""
    for number in range(int(getattr(picture, "n_frames", 1))):
        picture.seek(number)
        yield picture


def in_colour(picture: Image) -> Image:
    """A picture of any mode as a screen shows it; what is transparent lies on white."""
    from PIL import Image

    if picture.mode.startswith("I;16") or picture.mode == "I":
        return picture.convert("I").point(lambda shade: shade * (1 / 257)).convert("L").convert("RGB")
    if picture.has_transparency_data:
        drawn = picture.convert("RGBA")
        paper = Image.new("RGBA", drawn.size, "white")
        return Image.alpha_composite(paper, drawn).convert("RGB")
    return picture.convert("RGB")


def has_ink_colours(picture: Image) -> bool:
    """True for a picture in colours that no screen shows as they are."""
    return picture.mode in ("CMYK", "LAB")


def seen_on_screen(picture: Image) -> Image:
    """A picture upright and in the colours of a screen, with its profile where that is one of a screen."""
    from PIL import ImageOps

    profile = None if has_ink_colours(picture) else picture.info.get("icc_profile")
    shown = in_colour(ImageOps.exif_transpose(picture))
    shown.info = {"icc_profile": profile} if profile else {}
    return shown

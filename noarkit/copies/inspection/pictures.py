"""The size and frames of a picture, by its header: nothing is decoded before the number of its pixels is known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.port import Finding
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.tiff_tables import is_cut_tiff

MOST_PIXELS = 400_000_000
_MOST_FRAMES = 10_000


def find_in_picture(path: Path) -> Iterator[Finding]:
    """What a person should know of a picture. Raises `DocumentRefused`; unknown kinds are passed over."""
    if is_cut_tiff(path):
        raise DocumentRefused(Refusal.CUT_OFF, at=path.stat().st_size)
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the limit is ours, below, and what breaks off is found by who decodes it
            with Image.open(path) as picture:
                width, height = picture.size
                frames = int(getattr(picture, "n_frames", 1))
    except Image.DecompressionBombError as error:
        raise DocumentRefused(Refusal.TOO_LARGE) from error
    except UnidentifiedImageError:
        return
    except (OSError, SyntaxError, ValueError, EOFError, TypeError) as error:
        raise DocumentRefused(Refusal.DAMAGED) from error
    if width * height > MOST_PIXELS or frames > _MOST_FRAMES:
        raise DocumentRefused(Refusal.TOO_LARGE, pixels=width * height, frames=frames)
    if frames > 1:
        yield Finding("frames", {"count": frames})

"""Pictures: those that browsers draw as their bytes are, others as PNG, frame by frame; none too large for a screen.

The size is read from the header before a pixel is decoded. A picture of more pixels than an honest scan has is not
rendering, and neither is one with more frames than a browser plays.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from noarkit.documents.pictures import PictureUnreadable, in_colour, open_picture
from noarkit.reading_room.viewers.job import Job, Reading, Refusal
from noarkit.reading_room.viewers.kinds.picture_sizes import size_by_header
from noarkit.reading_room.viewers.port import Drawing, Note, Pictures, Plain, Rendering

if TYPE_CHECKING:
    from PIL.Image import Image

RAW_FORMATS = frozenset({"png", "jpeg", "gif", "webp"})
MOST_RAW_PIXELS = 50_000_000
MOST_PIXELS = 250_000_000
_CODES = {"too-large": "too-many-pixels"}
_MOST_FRAMES = 500
_MOST_RAW_FRAMES = 1_000
_LARGEST = (1600, 2200)
_THUMBNAIL = (240, 320)


def show_picture(reading: Reading) -> Rendering:
    """A picture as its bytes are, or one frame of it as PNG."""
    job = reading.job
    if find_spec("PIL") is None:
        return _without_library(reading)
    with _opened(job) as picture:
        frames = _frame_count(picture)
        pixels = picture.width * picture.height
        if pixels > MOST_PIXELS:
            raise Refusal("too-many-pixels", width=picture.width, height=picture.height)
        notes: tuple[Note, ...] = (Note("size", {"width": picture.width, "height": picture.height}),)
        is_raw = reading.detected.format in RAW_FORMATS and pixels <= MOST_RAW_PIXELS
        if is_raw and frames <= _MOST_RAW_FRAMES:
            return Rendering(reading.detected, Plain(), raw=True, notes=notes)
        if job.page > frames:
            raise Refusal("no-such-page", page=job.page, pages=frames)
        picture.seek(job.page - 1)
        notes = (*notes, Note("drawn-anew"))
        drawn = _draw(picture, job, f"frame-{job.page}.png", _LARGEST)
    shown_frames = min(frames, _MOST_FRAMES)
    body = Pictures(job.page, (drawn,))
    return Rendering(reading.detected, body, job.page, shown_frames, job.page < shown_frames, notes=notes)


def draw_thumbnail(job: Job) -> None:
    """Draws a picture in small as `thumbnail.png`."""
    with _opened(job) as picture:
        if picture.width * picture.height > MOST_PIXELS:
            raise Refusal("too-many-pixels", width=picture.width, height=picture.height)
        picture.draft("RGB", _THUMBNAIL)
        _draw(picture, job, "thumbnail.png", _THUMBNAIL)


@contextmanager
def _opened(job: Job) -> Iterator[Image]:
    from PIL import Image as library

    library.MAX_IMAGE_PIXELS = None  # the limit is ours, by the header
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with open_picture(job.document) as picture:
                yield picture
        except PictureUnreadable as error:
            raise Refusal(_CODES.get(str(error.reason), str(error.reason))) from error


def _frame_count(picture: Image) -> int:
    return int(getattr(picture, "n_frames", 1))


def _draw(picture: Image, job: Job, name: str, largest: tuple[int, int]) -> Drawing:
    from PIL import ImageOps

    small = in_colour(ImageOps.exif_transpose(picture))
    small.thumbnail(largest)
    small.info.clear()
    small.save(job.folder / name, "PNG")
    return Drawing(name, small.width, small.height)


def _without_library(reading: Reading) -> Rendering:
    """What browsers draw is shown where its header says how large it is; nothing else can be."""
    size = size_by_header(reading.job.document, reading.detected.format)
    if size is None:
        return Rendering(reading.detected, Plain(), notes=(Note("tool-missing", {"tool": "Pillow"}),))
    width, height = size
    if width * height > MOST_RAW_PIXELS:
        raise Refusal("too-many-pixels", width=width, height=height)
    return Rendering(reading.detected, Plain(), raw=True, notes=(Note("size", {"width": width, "height": height}),))

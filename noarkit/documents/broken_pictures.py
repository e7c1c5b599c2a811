"""Whether a picture that ends early is drawn as far as it goes, or refused.

Pillow has one switch for a whole process, and WeasyPrint turns it on when it is imported: from then on a picture that
lost its second half would decode without a fault, and pass for whole. So it is off wherever a picture is judged or
converted, whatever was imported before, and on only while a page is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def refuse_cut_pictures() -> None:
    """Decoding a picture that ends early raises OSError from now on."""
    from PIL import ImageFile

    ImageFile.LOAD_TRUNCATED_IMAGES = False


@contextmanager
def cut_pictures_are_drawn() -> Iterator[None]:
    """In this block a picture that ends early is drawn as far as it goes: a page is worth more than its picture."""
    from PIL import ImageFile

    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        yield
    finally:
        refuse_cut_pictures()

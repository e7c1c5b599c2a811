"""Pages of a PDF: how many there are, the text on each, and how each looks in small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: the library has no types

if TYPE_CHECKING:
    from PIL.Image import Image

_POINTS_PER_INCH = 72
_MOST_PIXELS = 4_000_000


TextsOf = Callable[[Path], tuple[str, ...]]
"""What tells the text on each page of a PDF. Raises `PdfUnreadable`."""


class PdfUnreadable(ValueError):
    """A PDF that no page can be had of. `locked` where a password is in the way."""

    def __init__(self, *, locked: bool = False) -> None:
        super().__init__("locked" if locked else "unreadable")
        self.locked = locked


@dataclass(frozen=True, slots=True)
class PdfPages:
    """An open PDF."""

    _document: Any

    @property
    def count(self) -> int:
        """The number of pages."""
        return len(self._document)

    def text(self, number: int) -> str:
        """The text on a page, counted from 0. Raises `PdfUnreadable`."""
        with self._page(number) as page:
            text_page = page.get_textpage()
            try:
                return str(text_page.get_text_bounded())
            finally:
                text_page.close()

    def picture(self, number: int, dots_per_inch: int = 40, *, colour: bool = False) -> Image:
        """A page as it looks, in grey or in `colour`. Huge pages are drawn smaller. Raises `PdfUnreadable`."""
        with self._page(number) as page:
            width, height = page.get_size()
            scale = dots_per_inch / _POINTS_PER_INCH
            scale = min(scale, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
            bitmap = page.render(scale=scale, grayscale=not colour, may_draw_forms=True)
            try:
                picture: Image = bitmap.to_pil().convert("RGB" if colour else "L")
                picture.load()
                return picture.copy()
            finally:
                bitmap.close()

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        from pypdfium2 import PdfiumError

        try:
            page = self._document[number]
        except (PdfiumError, IndexError) as error:
            raise PdfUnreadable from error
        try:
            yield page
        except PdfiumError as error:
            raise PdfUnreadable from error
        finally:
            page.close()


@contextmanager
def open_pages(path: Path) -> Iterator[PdfPages]:
    """Opens a PDF as long as a block lasts. Raises `PdfUnreadable`."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, FileNotFoundError) as error:
        raise PdfUnreadable(locked="password" in str(error).lower()) from error
    try:
        yield PdfPages(document)
    finally:
        document.close()


def read_texts(path: Path) -> tuple[str, ...]:
    """The text on each page. Raises `PdfUnreadable`."""
    with open_pages(path) as pages:
        return tuple(pages.text(number) for number in range(pages.count))


def is_blank(picture: Image) -> bool:
    """True where a page shows nothing: all of it is one shade, or so nearly that no eye sees a difference."""
    lowest, highest = picture.getextrema()
    return isinstance(lowest, int) and isinstance(highest, int) and highest - lowest <= 4

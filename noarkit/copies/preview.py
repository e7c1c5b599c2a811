"""The first page of a document or of its copy as a person sees it: a picture, its first lines, or its words.

Nothing is drawn before the inspection let it pass, and all of it is bounded: in pixels, bytes and lines.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from noarkit.copies.converters.text import decode
from noarkit.copies.inspection import inspect, words_of
from noarkit.copies.inspection.mail_words import mail_texts
from noarkit.copies.inspection.markup import read_markup
from noarkit.copies.port import Failure, Identity
from noarkit.copies.reasons import Reason
from noarkit.documents.markup import text_of_markup
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.pictures import PictureUnreadable, in_colour, open_picture
from noarkit.documents.refusal import DocumentRefused, Refusal

if TYPE_CHECKING:
    from PIL.Image import Image

DOTS_PER_INCH = 80
MOST_LINES = 60
_LARGEST = (700, 1000)
"""Width and height that a picture is made to fit."""
_MOST_PIXELS = 100_000_000
_MOST_BYTES = 64 * 1024
_MOST_IN_LINE = 400
_WORDS_IN_LINE = 10
_FALLBACKS = ("cp1252", "latin-1")
_MAILS = frozenset({"message/rfc822", "application/vnd.ms-outlook"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset({"application/json", "application/xml"})


@dataclass(frozen=True, slots=True)
class Preview:
    """What can be shown of a file. `none` where nothing can, with the reason where there is one."""

    kind: Literal["picture", "text", "words", "none"]
    png: bytes = b""
    lines: tuple[str, ...] = ()
    cut: bool = False
    """True where the file has more lines than these."""
    reason: Reason | None = None


def preview(path: Path, identity: Identity) -> Preview:
    """The first page of a file, by what it is. Raises `OSError` where the file itself cannot be read."""
    found = inspect(path, identity)
    if isinstance(found, Failure):
        return Preview("none", reason=found.reason)
    media_type = (identity.media_type or "").partition(",")[0]
    try:
        return _maker(media_type)(path, identity)
    except PdfUnreadable as error:
        return Preview("none", reason=Reason.PASSWORD if error.locked else Reason.DAMAGED)
    except DocumentRefused as refused:
        return Preview("none", reason=Reason(refused.reason))
    except Exception:  # noqa: BLE001  # a library may raise anything for a document, and a page is made all the same
        return Preview("none", reason=Reason.DAMAGED)


def _maker(media_type: str) -> Callable[[Path, Identity], Preview]:
    if media_type == "application/pdf":
        return _page
    if media_type in _MAILS:
        return _mail
    if media_type in _PAGES:
        return _web_page
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return _picture
    if (media_type.startswith("text/") and media_type != "text/rtf") or media_type in _TEXTS:
        return _text
    return _words


def _page(path: Path, _: Identity) -> Preview:
    with open_pages(path) as pages:
        return _picture_preview(pages.picture(0, DOTS_PER_INCH, colour=True))


def _picture(path: Path, _: Identity) -> Preview:
    from PIL import ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the limit is ours, below
        with open_picture(path) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise PictureUnreadable(Refusal.TOO_LARGE)
            picture.draft("RGB", _LARGEST)
            return _picture_preview(in_colour(ImageOps.exif_transpose(picture)))


def _picture_preview(picture: Image) -> Preview:
    picture.thumbnail(_LARGEST)
    data = BytesIO()
    picture.info.clear()
    picture.save(data, "PNG")
    return Preview("picture", data.getvalue())


def _text(path: Path, _: Identity) -> Preview:
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES)
        is_whole = not file.read(1)
    # the last sign may be cut in its middle
    ends = range(len(data), len(data) - (1 if is_whole else 4), -1)
    decoded = next(filter(None, (decode(data[:end], ()) for end in ends)), None) or decode(data, _FALLBACKS)
    if decoded is None or "\0" in decoded[0]:
        return Preview("none")
    return _lines(decoded[0].splitlines(), is_whole=is_whole)


def _web_page(path: Path, _: Identity) -> Preview:
    return _lines(_nonblank_lines(text_of_markup(read_markup(path)).splitlines()))


def _mail(path: Path, identity: Identity) -> Preview:
    parts = mail_texts(path)
    return _words(path, identity) if parts is None else _lines(_nonblank_lines("\n".join(parts).splitlines()))


def _words(path: Path, identity: Identity) -> Preview:
    """The words of a document that cannot be drawn, each once, in the order that they were read."""
    words = words_of(path, identity)
    if not words:
        return Preview("none")
    first = list(islice(words, MOST_LINES * _WORDS_IN_LINE))
    lines = (" ".join(first[start : start + _WORDS_IN_LINE]) for start in range(0, len(first), _WORDS_IN_LINE))
    return Preview("words", lines=tuple(line[:_MOST_IN_LINE] for line in lines), cut=len(words) > len(first))


def _nonblank_lines(lines: Iterable[str]) -> Iterable[str]:
    """Lines that show something, with single blanks."""
    return (" ".join(line.split()) for line in lines if line.strip())


def _lines(lines: Iterable[str], *, is_whole: bool = True) -> Preview:
    first = list(islice(lines, MOST_LINES + 1))
    shown = tuple(line[:_MOST_IN_LINE] for line in first[:MOST_LINES])
    return Preview("text", lines=shown, cut=len(first) > MOST_LINES or not is_whole)

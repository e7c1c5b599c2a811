"""The text of one document as lines with their layers, by what its bytes are, for whoever searches it.

What it is, `detect` tells. Word, Excel and PowerPoint before 2007 have no reader here:
they are `unknown-format` to everybody. A library may raise anything for a document that is not what it seems, so this
runs in a child that may be killed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from noarkit.documents.containers import format_in_ole
from noarkit.documents.detect import HEAD_BYTES, format_of
from noarkit.documents.encodings import decode_text
from noarkit.documents.layers import MOST_CHARACTERS, Purpose, TextLine
from noarkit.documents.mail_text import mail_text
from noarkit.documents.markup import text_of_markup
from noarkit.documents.office import office_text
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.rtf import rtf_text
from noarkit.safe.workplace import temporary_folder

_MOST_IN_MEMORY = 64 * 1024 * 1024
_BESIDE_PAGES = re.compile(rb"/(?:AcroForm|EmbeddedFiles|Collection)\b")
_HYPHEN = re.compile("[\x02\ufffe]\r?\n?")
_MARKUP = frozenset({"html", "svg", "xml"})
PLAIN_TEXTS = frozenset({"empty", "text", "csv", "tsv", "json", "mbox"})
"""Formats whose text is the whole of what they hold."""
_MOST_OF_PLAIN = 4 * MOST_CHARACTERS + 4


def ignore_gap() -> None:
    """Hears of no gap."""


@dataclass(frozen=True, slots=True)
class TextRequest:
    """What is wanted of a document: for which purpose, and with what hangs on a mail or without; that needs a folder
    to be written in. `note_gap` hears of each part of it that could not be read."""

    purpose: Purpose = "search"
    has_attachments: bool = True
    note_gap: Callable[[], None] = ignore_gap


def text_lines(
    path: Path, name: str = "", media_type: str = "", request: TextRequest | None = None
) -> Iterator[TextLine]:
    """The text of a document. Raises `DocumentRefused`, and whatever a library raises."""
    return _lines(path, name, media_type, request or TextRequest(), 0)


def _lines(path: Path, name: str, media_type: str, request: TextRequest, depth: int) -> Iterator[TextLine]:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    format_name = format_of(head, name, media_type)
    if format_name == "pdf":
        yield from _pdf(path, request.note_gap)
    elif format_name == "zip":
        yield from office_text(path, request.note_gap, request.purpose)
    elif format_name == "rtf":
        yield TextLine(rtf_text(path))
    elif format_name == "eml" or (format_name == "ole" and format_in_ole(path) == "msg"):
        yield from mail_text(_content(path), depth, _attachments(request), request.note_gap)
    elif format_name in _MARKUP:
        yield TextLine(text_of_markup(decode_text(_content(path), _stated_encoding(head), is_markup=True)))
    elif format_name in PLAIN_TEXTS:
        yield TextLine(plain_text(path, request.note_gap))
    else:
        raise DocumentRefused(Refusal.UNKNOWN_FORMAT)


def plain_text(path: Path, note_gap: Callable[[], None] = ignore_gap) -> str:
    """A text in whatever encoding, as much of it as anybody keeps."""
    if path.stat().st_size > _MOST_OF_PLAIN:
        note_gap()
    with path.open("rb") as file:
        content = file.read(_MOST_OF_PLAIN)
    return decode_text(content, is_beginning=len(content) == _MOST_OF_PLAIN)


def _attachments(request: TextRequest) -> Callable[[bytes, str, str, int], Iterator[TextLine]]:
    """What tells the text of an attachment: nothing but a gap where it has none, which is no fault of the mail."""

    def read(content: bytes, name: str, media_type: str, depth: int) -> Iterator[TextLine]:
        if not request.has_attachments:
            request.note_gap()
            return
        with temporary_folder("attachment") as folder:
            path = folder / "content"
            path.write_bytes(content)
            try:
                yield from _lines(path, name, media_type, request, depth)
            except DocumentRefused:
                request.note_gap()

    return read


def _pdf(path: Path, note_gap: Callable[[], None]) -> Iterator[TextLine]:
    if _holds_more_than_pages(path):
        note_gap()
    try:
        yield from _pages(path, note_gap)
    except PdfUnreadable as fault:
        raise DocumentRefused(Refusal.PASSWORD if fault.locked else Refusal.DAMAGED) from fault


def _pages(path: Path, note_gap: Callable[[], None]) -> Iterator[TextLine]:
    try:
        import pypdfium2  # noqa: F401  # an extra; what follows needs it
    except ImportError:
        yield from _pages_slowly(path)
        return
    with open_pages(path) as pages:
        for number in range(pages.count):
            try:
                text = _HYPHEN.sub("", pages.text(number))
            except PdfUnreadable:
                note_gap()
                continue  # the other pages have theirs
            if not text.strip():
                note_gap()
            yield TextLine(f"{text}\n")


def _holds_more_than_pages(path: Path) -> bool:
    """True for a PDF with a form or with files in it, as far as its bytes say so."""
    tail = b""
    with path.open("rb") as file:
        while block := file.read(1024 * 1024):
            if _BESIDE_PAGES.search(tail + block):
                return True
            tail = block[-32:]
    return False


def _pages_slowly(path: Path) -> Iterator[TextLine]:
    import pypdf

    with path.open("rb") as file:
        try:
            for page in pypdf.PdfReader(file).pages:
                yield TextLine(f"{page.extract_text()}\n")
        except pypdf.errors.FileNotDecryptedError as error:
            raise PdfUnreadable(locked=True) from error
        except pypdf.errors.PyPdfError as error:
            raise PdfUnreadable from error


def _content(path: Path) -> bytes:
    if path.stat().st_size > _MOST_IN_MEMORY:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    return path.read_bytes()


def _stated_encoding(head: bytes) -> str:
    claim = re.search(rb"""(?:charset|encoding)\s{0,5}=\s{0,5}["']?([\w-]{2,20})""", head, re.IGNORECASE)
    return claim[1].decode() if claim else ""

"""The text of one document, by what its bytes are; its name and stated type decide only between kinds of text.

Everything here runs in a child that may be killed (`child`). Why a document has no text is told by a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noarkit.catalogue.text.decoding import (
    MOST_BYTES,
    MOST_CHARACTERS,
    DocumentText,
    TextStretch,
    decode_text,
    is_text,
    tidy_text,
)
from noarkit.catalogue.text.mail import mail_text
from noarkit.catalogue.text.office import office_text
from noarkit.copies.inspection.markup import text_of_markup
from noarkit.copies.inspection.rtf import rtf_text
from noarkit.copies.pdf_pages import PdfUnreadable, open_pages
from noarkit.copies.reasons import Reason
from noarkit.documents.layers import PLAIN, Layer, TextLine
from noarkit.documents.outlook import SIGNATURE, streams_in
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.safe.workplace import temporary_folder

_MOST_IN_MEMORY = 64 * 1024 * 1024
_HEAD_BYTES = 4096
_PDF_HEAD = re.compile(rb"%PDF-")
_BESIDE_PAGES = re.compile(rb"/(?:AcroForm|EmbeddedFiles|Collection)\b")
_MARKUP = re.compile(
    rb"\s*(?:<!--.{0,500}?-->\s*)*<(?:!doctype html|html|head|body|svg|\?xml|table|div|p)\b", re.I | re.S
)
_MAIL = re.compile(
    rb"(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|delivered-to|x-[\w-]+)[ \t]*:",
    re.I,
)
_HYPHEN = re.compile("[\x02\ufffe]\r?\n?")
_OF_MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg")
_OF_MAIL = (".eml", ".mht", ".mhtml")
_NO_TEXT = "no-text"
_MOST_OF_PLAIN = 4 * MOST_CHARACTERS + 4


def read_document(path: Path, name: str = "", media_type: str = "") -> DocumentText:
    """The text of a document, at most `MOST_CHARACTERS`; a reason where there is none. What a library raises on a
    document that is not what it seems passes through."""
    if path.stat().st_size > MOST_BYTES:
        return DocumentText("", Reason.TOO_LARGE)
    gathering = _Gathering()
    reason = ""
    reader = _Reader()
    try:
        for piece in reader.pieces(path, name.lower(), media_type.lower(), 0):
            gathering.add(TextLine(piece) if isinstance(piece, str) else piece)
            if gathering.is_full:
                break
    except DocumentRefused as refused:
        reason = str(refused.reason)
    except PdfUnreadable as fault:
        reason = Reason.PASSWORD if fault.locked else Reason.DAMAGED
    text, stretches = gathering.tidied()
    return DocumentText(
        text,
        reason or ("" if text else _NO_TEXT),
        is_cut=gathering.is_full,
        has_gaps=reader.has_gaps,
        stretches=stretches,
    )


class _Gathering:
    """Text as it comes together, in stretches of one layer."""

    def __init__(self) -> None:
        self._stretches: list[tuple[Layer, list[str]]] = []
        self._doubles: list[str] = []
        self._length = 0

    @property
    def is_full(self) -> bool:
        """True where there is more than is kept."""
        return self._length > MOST_CHARACTERS

    def add(self, line: TextLine) -> None:
        """Takes some text. What stands in a document a second time goes to the end."""
        layer: Layer = "body" if line.layer in PLAIN else line.layer
        if layer == "fallback":
            self._doubles.append(line.text[:MOST_CHARACTERS])
            return
        if not self._stretches or self._stretches[-1][0] != layer:
            self._stretches.append((layer, []))
        text = line.text[: max(0, MOST_CHARACTERS - self._length)]
        self._stretches[-1][1].append(text)
        self._length += len(line.text)

    def tidied(self) -> tuple[str, tuple[TextStretch, ...]]:
        """The text as it is kept, and where it is of other layers than the body."""
        layer: Layer
        texts: list[str] = []
        stretches: list[TextStretch] = []
        at = 0
        doubles = "".join(self._doubles)[: max(0, MOST_CHARACTERS - self._length)]
        for layer, pieces in (*self._stretches, ("fallback", [doubles])):
            text = tidy_text("".join(pieces))
            if text:
                if layer != "body":
                    stretches.append(TextStretch(at, at + len(text), layer))
                texts.append(text)
                at += len(text) + 1
        return "\n".join(texts), tuple(stretches)


class _Reader:
    """One reading of a document with all that lies in it; `has_gaps` where a part of it was passed over."""

    def __init__(self) -> None:
        self.has_gaps = False

    def note_gap(self) -> None:
        """A part of the document could not be read."""
        self.has_gaps = True

    def pieces(self, path: Path, name: str, media_type: str, depth: int) -> Iterator[str | TextLine]:
        """The text of a file, piece by piece."""
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if _PDF_HEAD.search(head[:1024]):
            yield from self._pdf(path)
        elif head.startswith(b"PK\x03\x04"):
            yield from office_text(path, self.note_gap)
        elif head.startswith(b"{\\rtf"):
            yield rtf_text(path)
        elif head.startswith(SIGNATURE):
            if not _is_outlook(path):
                raise DocumentRefused(Refusal.UNKNOWN_FORMAT)
            yield from mail_text(_content(path), depth, self._attachment, self.note_gap)
        elif not is_text(head):
            raise DocumentRefused(Refusal.UNKNOWN_FORMAT)
        elif media_type == "message/rfc822" or name.endswith(_OF_MAIL) or _is_mail(head, name):
            yield from mail_text(_content(path), depth, self._attachment, self.note_gap)
        elif media_type in ("text/html", "application/xhtml+xml", "image/svg+xml") or _is_markup(head, name):
            yield text_of_markup(decode_text(_content(path), _stated_encoding(head)))
        else:
            if path.stat().st_size > _MOST_OF_PLAIN:
                self.note_gap()
            yield _plain(path)

    def _pdf(self, path: Path) -> Iterator[str]:
        if _holds_more_than_pages(path):
            self.note_gap()
        try:
            import pypdfium2  # noqa: F401  # an extra; what follows needs it
        except ImportError:
            yield from _pdf_slowly(path)
            return
        with open_pages(path) as pages:
            for number in range(pages.count):
                try:
                    text = _HYPHEN.sub("", pages.text(number))
                except PdfUnreadable:
                    self.note_gap()
                    continue  # the other pages have theirs
                if not text.strip():
                    self.note_gap()
                yield text + "\n"

    def _attachment(self, content: bytes, name: str, media_type: str, depth: int) -> Iterator[str | TextLine]:
        """The text of what is attached to a mail; nothing but a gap where it has none, which is no fault of the
        mail."""
        with temporary_folder("attachment") as folder:
            path = folder / "content"
            path.write_bytes(content)
            try:
                yield from self.pieces(path, name.lower(), media_type.lower(), depth)
            except (DocumentRefused, PdfUnreadable):
                self.note_gap()


def _holds_more_than_pages(path: Path) -> bool:
    """True for a PDF with a form or with files in it, as far as its bytes say so."""
    tail = b""
    with path.open("rb") as file:
        while block := file.read(1024 * 1024):
            if _BESIDE_PAGES.search(tail + block):
                return True
            tail = block[-32:]
    return False


def _pdf_slowly(path: Path) -> Iterator[str]:
    import pypdf

    with path.open("rb") as file:
        try:
            document = pypdf.PdfReader(file)
            for page in document.pages:
                yield page.extract_text() + "\n"
        except pypdf.errors.FileNotDecryptedError as error:
            raise PdfUnreadable(locked=True) from error
        except pypdf.errors.PyPdfError as error:
            raise PdfUnreadable from error


def _content(path: Path) -> bytes:
    if path.stat().st_size > _MOST_IN_MEMORY:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    return path.read_bytes()


def _plain(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_OF_PLAIN)
    return decode_text(content, is_beginning=len(content) == _MOST_OF_PLAIN)


def _is_outlook(path: Path) -> bool:
    with path.open("rb") as file:
        streams = streams_in(file)
    return streams is not None and "__properties_version1.0" in streams


def _is_mail(head: bytes, name: str) -> bool:
    if name.endswith((".txt", ".csv", ".md", ".log")):
        return False
    lines = head.splitlines()[:6]
    return bool(lines) and _MAIL.match(lines[0]) is not None and sum(bool(_MAIL.match(line)) for line in lines) > 1


def _is_markup(head: bytes, name: str) -> bool:
    return name.endswith(_OF_MARKUP) or (not name.endswith((".txt", ".csv")) and _MARKUP.match(head) is not None)


def _stated_encoding(head: bytes) -> str:
    claim = re.search(rb"""(?:charset|encoding)\s{0,5}=\s{0,5}["']?([\w-]{2,20})""", head, re.IGNORECASE)
    return claim[1].decode() if claim else ""

"""The words of a document, by what it is: what a reader of its printed page sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from noarkit.copies.inspection.mail_words import mail_words
from noarkit.copies.inspection.markup import drawing_words, page_words
from noarkit.copies.inspection.ooxml_words import slide_words
from noarkit.copies.inspection.rtf import rtf_words
from noarkit.copies.inspection.scan import is_ooxml
from noarkit.copies.port import Identity
from noarkit.copies.tokens import tokens
from noarkit.documents.layers import Span, text_for
from noarkit.documents.opendocument import opendocument_spans
from noarkit.documents.parts import office_parts
from noarkit.documents.pdf_pages import PdfUnreadable, open_pages
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.word import word_spans
from noarkit.documents.zipped import open_package

_ODF = "application/vnd.oasis.opendocument."
_MAILS = frozenset({"message/rfc822", "application/vnd.ms-outlook"})
_MAIL_PUIDS = frozenset({"fmt/278", "fmt/950", "x-fmt/430"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})


def words_of(path: Path, identity: Identity) -> Counter[str] | None:
    """The words of a document; None where nobody here can read them (spreadsheets, formats before 2007)."""
    media_type = (identity.media_type or "").partition(",")[0]
    try:
        if is_ooxml(media_type):
            with open_package(path) as package:
                parts = office_parts(package)
                if parts is not None and parts.format == "docx":
                    return _words_of_spans(word_spans(parts))
                return slide_words(parts) if parts is not None and parts.format == "pptx" else None
        if media_type.startswith(_ODF):
            if "spreadsheet" in media_type:
                return None
            with open_package(path) as package:
                return _words_of_spans(opendocument_spans(package))
        if media_type in ("application/rtf", "text/rtf"):
            return rtf_words(path)
        if media_type == "application/pdf":
            return _pdf_words(path)
        if media_type in _MAILS or identity.puid in _MAIL_PUIDS:
            return mail_words(path)
        if media_type == "image/svg+xml":
            return drawing_words(path)
        return page_words(path) if media_type in _PAGES else None
    except (DocumentRefused, PdfUnreadable):
        return None


def _words_of_spans(spans: Iterable[Span]) -> Counter[str]:
    words: Counter[str] = Counter()
    layers = text_for("words")
    for span in spans:
        words.update(tokens(span.text(layers)))
    return words


def _pdf_words(path: Path) -> Counter[str]:
    words: Counter[str] = Counter()
    with open_pages(path) as pages:
        for number in range(pages.count):
            words.update(tokens(pages.text(number)))
    return words

"""The words of a mail: who wrote to whom, the subject, the body that a reader sees, and when it was sent and received.

They are read by other means than the converter reads them: a part that one of the two overlooks is missing in the copy,
or in this count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.tokens import tokens
from noarkit.documents.layers import text_for
from noarkit.documents.mail import zone_text
from noarkit.documents.mail_text import mail_lines, mail_moments, says_more
from noarkit.documents.refusal import DocumentRefused, Refusal

_MOST_BYTES = 256 * 1024 * 1024


def mail_words(path: Path) -> Counter[str] | None:
    """The words of a mail, and when it was sent; None where its body cannot be read. Raises `DocumentRefused`."""
    texts = mail_texts(path)
    if texts is None:
        return None
    return Counter(word for text in (*texts, *_times(path.read_bytes())) for word in tokens(text))


def _times(content: bytes) -> Iterator[str]:
    """When a mail was sent and received, without the month, which is a word of the copy's language."""
    for moment in mail_moments(content).values():
        yield f"{moment.day} {moment.year} {moment:%H:%M} {zone_text(moment)}"


def mail_texts(path: Path) -> list[str] | None:
    """The parties, subject and body of a mail, as `mail_words` counts them, and any other form of it that says more.

    Raises `DocumentRefused`.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    lines = mail_lines(path.read_bytes())
    if lines is None:
        return None
    layers = text_for("words")
    body = [line.text for line in lines if line.layer in layers]
    alternatives = [line.text for line in lines if line.layer == "alternative"]
    return [*body, *(text for text in alternatives if says_more(text, "\n".join(body)))]

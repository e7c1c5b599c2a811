"""The words of a mail: who wrote to whom, the subject, and the body that a reader sees.

They are read by other means than the converter reads them: a part that one of the two overlooks is missing in the copy,
or in this count.
"""

from __future__ import annotations

import email.header
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from email.message import Message
from email.parser import BytesHeaderParser
from io import BytesIO
from pathlib import Path

from noarkit.copies.inspection.markup import text_of_markup
from noarkit.copies.tokens import tokens
from noarkit.documents.mail import moments_of, zone_text
from noarkit.documents.mime import Part, TooComplex, parts, payload
from noarkit.documents.outlook import SIGNATURE, read_message, read_message_body
from noarkit.documents.refusal import DocumentRefused, Refusal

_MOST_BYTES = 256 * 1024 * 1024
_HEADERS = ("from", "to", "cc", "subject")
_BODIES = ("text/plain", "text/html")


def mail_words(path: Path) -> Counter[str] | None:
    """The words of a mail, and when it was sent; None where its body cannot be read. Raises `DocumentRefused`."""
    texts = mail_texts(path)
    if texts is None:
        return None
    return Counter(word for text in (*texts, *_times(path.read_bytes())) for word in tokens(text))


def _times(content: bytes) -> Iterator[str]:
    """When a mail was sent and received, without the month, which is a word of the copy's language."""
    if content.startswith(SIGNATURE):
        fields = read_message(BytesIO(content), include_parts=False).fields
        moments = [datetime.fromisoformat(str(fields[name])) for name in ("date", "received") if fields.get(name)]
    else:
        moments = list(moments_of(content).values())
    for moment in moments:
        yield f"{moment.day} {moment.year} {moment:%H:%M} {zone_text(moment)}"


def mail_texts(path: Path) -> list[str] | None:
    """The parties, subject and body of a mail, as `mail_words` counts them. Raises `DocumentRefused`."""
    if path.stat().st_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    return texts_of_mail(path.read_bytes())


def texts_of_mail(content: bytes) -> list[str] | None:
    """The parties, subject and body of a mail in memory; None where its body cannot be read."""
    return _outlook_texts(content) if content.startswith(SIGNATURE) else _texts(content)


def _texts(content: bytes) -> list[str] | None:
    head = BytesHeaderParser().parsebytes(content)
    found = [_header_text(value) for name in _HEADERS for value in head.get_all(name, [])[:1]]
    try:
        all_parts = list(parts(content))
    except TooComplex:
        return None
    for part in _bodies(content, all_parts):
        raw, _ = payload(content, part)
        text = _decode(raw, part.head.get_content_charset() or "")
        found.append(text_of_markup(text) if part.media_type == "text/html" else text)
    return found


def _bodies(content: bytes, all_parts: Sequence[Part]) -> Iterator[Part]:
    """The parts that are shown: no attachment, and of alternatives no plain text beside HTML."""
    shown = [part for part in all_parts if part.media_type in _BODIES and not _is_attached(part.head)]
    alternatives = [_span(content, part) for part in all_parts if part.media_type == "multipart/alternative"]
    rich = [part for part in shown if part.media_type == "text/html"]
    for part in shown:
        around = [span for span in alternatives if part.start in span]
        if part in rich or not any(html.start in span for span in around for html in rich):
            yield part


def _span(content: bytes, outer: Part) -> range:
    """Where the parts of a part stand: up to its last boundary."""
    last = f"--{outer.head.get_boundary('')}--".encode("utf-8", "replace")
    end = content.find(last, outer.start)
    return range(outer.start, end if end >= 0 else len(content))


def _is_attached(head: Message) -> bool:
    return head.get_content_disposition() == "attachment" or bool(head.get_filename())


def _decode(raw: bytes, claimed: str) -> str:
    for encoding in (claimed, "utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("latin-1")


def _header_text(value: object) -> str:
    try:
        return str(email.header.make_header(email.header.decode_header(str(value))))
    except (ValueError, LookupError):
        return str(value)


def _outlook_texts(content: bytes) -> list[str] | None:
    body = read_message_body(BytesIO(content))
    message = read_message(BytesIO(content), include_parts=False)
    if body is None or not message.is_mail:
        return None
    parties = message.fields["parties"]
    names = [f"{party['name']} {party['address']}" for party in parties] if isinstance(parties, list) else []
    return [str(message.fields["subject"]), *names, body.text or text_of_markup(body.markup)]

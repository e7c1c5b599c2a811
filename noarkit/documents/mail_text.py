"""The text of a mail or Outlook message: when it was sent, who wrote to whom, the subject, bodies, what is attached.

Where a mail says the same in HTML and in plain text, the HTML is the body, as it is what people saw and what a copy is
made of; the plain one is the `alternative`.
"""

from __future__ import annotations

import email.header
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from email.message import Message
from email.parser import BytesHeaderParser
from io import BytesIO

from noarkit.documents.encodings import decode_text, known_encoding
from noarkit.documents.layers import TextLine
from noarkit.documents.mail import Mail, moments_of, read_mail
from noarkit.documents.markup import text_of_markup
from noarkit.documents.mime import Part, TooComplex, parts, payload
from noarkit.documents.outlook import SIGNATURE, read_message, read_message_body

DEEPEST = 10
"""How far mails that are attached to mails are followed."""
_MOST_ATTACHMENTS = 200
_HEADERS = ("from", "to", "cc", "subject")
_BODIES = ("text/plain", "text/html")
_WORD = re.compile(r"\w{1,100}")
_NO_WORDS = re.compile(r"<?https?://[^\s<>]{1,2000}>?|\[(?:image|cid|bilde)\b[^\]]{0,200}\]", re.IGNORECASE)
"""What the plain form of a page has instead of its links and pictures."""

ReadAttachment = Callable[[bytes, str, str, int], Iterator[TextLine]]
"""The text of an attachment by its bytes, its name, its media type and how deep it lies; none where it has none."""


def mail_text(
    content: bytes, depth: int, read_attachment: ReadAttachment, note_gap: Callable[[], None]
) -> Iterator[TextLine]:
    """The text of a mail in its order; `note_gap` hears of attachments beyond what is read."""
    moment = sent_at(content)
    if moment is not None:
        yield TextLine(f"{moment_text(moment)}\n")
    yield from mail_lines(content) or ()
    mail = _read(content)
    if len(mail.attachments) > _MOST_ATTACHMENTS or (mail.attachments and depth >= DEEPEST):
        note_gap()
    for attachment in mail.attachments[:_MOST_ATTACHMENTS]:
        yield TextLine(f"{attachment.name}\n")
        if depth < DEEPEST:
            yield from read_attachment(attachment.payload, attachment.name, attachment.media_type, depth + 1)
            yield TextLine("\n")


def mail_moments(content: bytes) -> dict[str, datetime]:
    """When a mail was sent and received (`date`, `received`), each in the zone that it states, else in UTC."""
    if content.startswith(SIGNATURE):
        fields = read_message(BytesIO(content), include_parts=False).fields
        stated = ((name, fields.get(name)) for name in ("date", "received"))
        return {name: datetime.fromisoformat(moment) for name, moment in stated if isinstance(moment, str) and moment}
    return dict(moments_of(content))


def sent_at(content: bytes) -> datetime | None:
    """When a mail was sent, in the zone that it states."""
    return mail_moments(content).get("date")


def moment_text(moment: datetime) -> str:
    """A moment in its own zone, as people read it: 2024-05-01 23:30 +01:00."""
    zone = f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M} {f'{zone[:3]}:{zone[3:5]}' if moment.utcoffset() else 'UTC'}"


def mail_lines(content: bytes) -> list[TextLine] | None:
    """The parties, subject and bodies of a mail; None where its body cannot be read."""
    return _outlook_lines(content) if content.startswith(SIGNATURE) else _lines(content)


def bodies(content: bytes, all_parts: Sequence[Part]) -> Iterator[tuple[Part, bool]]:
    """The parts that are a body, no attachment, and whether each is the alternative to another: plain text beside
    HTML."""
    candidates = [part for part in all_parts if _is_body(part) and not _is_attached(part.head)]
    alternatives = [_range(content, part) for part in all_parts if part.media_type == "multipart/alternative"]
    rich = [part for part in candidates if part.media_type == "text/html"]
    for part in candidates:
        around = [span for span in alternatives if part.start in span]
        yield part, part not in rich and any(html.start in span for span in around for html in rich)


def _is_body(part: Part) -> bool:
    """True for plain text and a page; a mail that is one part is its body whatever text that is, as an invitation."""
    return part.media_type in _BODIES or (part.top and not part.multipart and part.media_type.startswith("text/"))


def says_more(text: str, shown_text: str) -> bool:
    """True where a form of a mail has words that the form that is shown does not have."""
    return bool(_words(_NO_WORDS.sub(" ", text)) - _words(shown_text))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def decode_body(raw: bytes, part: Part) -> str:
    """The text of a body in the encoding that it states, where it can be read in it, else in its own."""
    claimed = known_encoding(part.head.get_content_charset() or "")
    return decode_text(raw, claimed, is_markup=part.media_type == "text/html")


def _lines(content: bytes) -> list[TextLine] | None:
    head = BytesHeaderParser().parsebytes(content)
    lines = [TextLine(f"{_header_text(value)}\n") for name in _HEADERS for value in head.get_all(name, [])[:1]]
    try:
        all_parts = list(parts(content))
    except TooComplex:
        return None
    for part, is_alternative in bodies(content, all_parts):
        raw, _ = payload(content, part)
        text = decode_body(raw, part)
        body = text_of_markup(text) if part.media_type == "text/html" else text
        lines.append(TextLine(f"{body}\n", "alternative" if is_alternative else "body"))
    return lines


def _range(content: bytes, outer: Part) -> range:
    """Where the parts of a part stand: up to its last boundary."""
    last = f"--{outer.head.get_boundary('')}--".encode("utf-8", "replace")
    end = content.find(last, outer.start)
    return range(outer.start, end if end >= 0 else len(content))


def _is_attached(head: Message) -> bool:
    return head.get_content_disposition() == "attachment" or bool(head.get_filename())


def _header_text(value: object) -> str:
    try:
        return str(email.header.make_header(email.header.decode_header(str(value))))
    except (ValueError, LookupError):
        return str(value)


def _outlook_lines(content: bytes) -> list[TextLine] | None:
    body = read_message_body(BytesIO(content))
    message = read_message(BytesIO(content), include_parts=False)
    if body is None or not message.is_mail:
        return None
    parties = message.fields["parties"]
    names = [f"{party['name']} {party['address']}" for party in parties] if isinstance(parties, list) else []
    lines = [TextLine(f"{text}\n") for text in (str(message.fields["subject"]), *names)]
    if body.text:
        lines.append(TextLine(f"{body.text}\n"))
    if body.markup:
        lines.append(TextLine(f"{text_of_markup(body.markup)}\n", "alternative" if body.text else "body"))
    return lines


def _read(content: bytes) -> Mail:
    return read_message(BytesIO(content), include_parts=True) if content.startswith(SIGNATURE) else read_mail(content)

"""Mails: their headers decoded, the body as text, attachments as a list, each to be looked at in its turn.

Of a body in HTML the text is shown, with the addresses of links beside them; nothing in it is fetched. What a mail
hides in a second body is not lost: the plain one is shown where both are there, and the other can be asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path

from noarkit.documents.mail import Attachment, Mail, read_head, read_mail
from noarkit.documents.mailbox import spans
from noarkit.documents.mime import Part, TooComplex, parts, payload
from noarkit.documents.outlook import read_message, read_message_body
from noarkit.reading_room.viewers.detection import detect
from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.kinds.encodings import encoding_of_bytes, known_encoding
from noarkit.reading_room.viewers.kinds.markup import blocks_of_markup
from noarkit.reading_room.viewers.kinds.text import show_text
from noarkit.reading_room.viewers.port import (
    Block,
    Header,
    HeaderName,
    Letter,
    Line,
    Member,
    Members,
    Note,
    Piece,
    Rendering,
    Way,
)
from noarkit.reading_room.viewers.signs import line_of, split_lines
from noarkit.safe.descriptors import open_descriptor, read_at

_MOST_BYTES = 256 * 1024 * 1024
_MOST_LINES = 5_000
_MOST_PARTIES = 100
_LONGEST_BODY = 8 * 1024 * 1024
_MOST_ATTACHMENTS = 500
_MAILS_IN_PAGE = 100
_HEAD_BYTES = 64 * 1024
_NO_NAME = re.compile(r"part-\d+\Z")
_PARTIES: tuple[HeaderName, ...] = ("from", "to", "cc", "bcc", "reply_to")


def show_mail(reading: Reading) -> Rendering:
    """A mail: as text, or its source where that is asked for."""
    job = reading.job
    is_message = reading.detected.format == "msg"
    if job.way == "source" and not is_message:
        return show_text(reading)
    mail = _read(reading)
    content = job.document.read_bytes()
    plain, markup = _message_bodies(content) if is_message else _bodies(content)
    notes = list(_notes(mail, plain, markup, job.way))
    lines = list(islice(_body_lines(plain, markup, job.way), _MOST_LINES + 1))
    if len(lines) > _MOST_LINES:
        notes.append(Note("text-cut"))
    body = Letter(tuple(_headers(mail.fields)), tuple(lines[:_MOST_LINES]), tuple(_attachments(mail.attachments)))
    ways: tuple[Way, ...] = () if is_message else ("source",)
    if plain and markup:
        ways = (*ways, "text")
    return Rendering(reading.detected, body, notes=tuple(notes), ways=ways)


def write_attachment(reading: Reading, target: Path) -> Line:
    """Writes one attachment and says its name. Raises `Refusal` where there is none of that number."""
    attachments = _read(reading).attachments
    attachment = next((each for each in attachments if each.number == reading.job.number), None)
    if attachment is None:
        raise Refusal("no-such-part", number=reading.job.number)
    target.write_bytes(attachment.payload)
    return line_of(_name_of(attachment), 200)


def show_mailbox(reading: Reading) -> Rendering:
    """A page of the mails of a mailbox."""
    job = reading.job
    first = (job.page - 1) * _MAILS_IN_PAGE
    members = []
    total = 0
    descriptor = open_descriptor(job.document)
    try:
        for number, span in enumerate(spans(descriptor), start=1):
            total = number
            if first < number <= first + _MAILS_IN_PAGE:
                head = read_head(read_at(descriptor, min(span.length, _HEAD_BYTES), span.offset))
                members.append(_member_of_mailbox(number, head, span.length))
    finally:
        os.close(descriptor)
    pages = max(1, -(-total // _MAILS_IN_PAGE))
    if job.page > pages:
        raise Refusal("no-such-page", page=job.page, pages=pages)
    body = Members(first + 1, tuple(members))
    return Rendering(reading.detected, body, job.page, pages, job.page < pages, ways=("source",))


def write_mail(reading: Reading, target: Path) -> Line:
    """Writes one mail of a mailbox and says its subject."""
    job = reading.job
    descriptor = open_descriptor(job.document)
    try:
        span = next(islice(spans(descriptor), max(0, job.number - 1), None), None)
        if span is None or span.length > _MOST_BYTES:
            raise Refusal("no-such-part", number=job.number)
        content = read_at(descriptor, span.length, span.offset)
    finally:
        os.close(descriptor)
    target.write_bytes(content)
    return line_of(str(read_head(content[:_HEAD_BYTES]).fields.get("subject") or ""), 200)


def _member_of_mailbox(number: int, head: Mail, size_bytes: int) -> Member:
    fields = head.fields
    senders = ", ".join(_party(party) for party in _parties(fields, "from"))
    title = " — ".join(text for text in (senders, str(fields.get("subject") or "")) if text)
    return Member(number, line_of(title, 300), "message/rfc822", size_bytes, str(fields.get("date") or "")[:10])


def _read(reading: Reading) -> Mail:
    """The mail with all that hangs on it. Raises `Refusal` for what is none."""
    path = reading.job.document
    if path.stat().st_size > _MOST_BYTES:
        raise Refusal("too-large", limit=_MOST_BYTES)
    if reading.detected.format == "msg":
        with path.open("rb") as file:
            mail = read_message(file, include_parts=True)
    else:
        mail = read_mail(path.read_bytes())
    if not mail.is_mail:
        raise Refusal("too-complex" if mail.too_complex else "damaged")
    return mail


def _headers(fields: Mapping[str, object]) -> Iterator[Header]:
    yield Header("subject", line_of(str(fields.get("subject") or "")))
    for name in _PARTIES:
        people = _parties(fields, name)
        if people:
            text = ", ".join(_party(party) for party in people[:_MOST_PARTIES])
            cut = len(people) - _MOST_PARTIES
            value = line_of(text, 20_000)
            yield Header(name, (*value, Piece(f" +{cut}")) if cut > 0 else value)
    for name in ("date", "received"):
        moment = fields.get(name)
        if isinstance(moment, str) and moment:
            yield Header("date" if name == "date" else "received", line_of(_moment(moment)))


def _moment(wire: str) -> str:
    """A moment of the wire without what nobody reads: 2024-05-01 12:30 UTC."""
    return f"{wire[:10]} {wire[11:16]} UTC" if len(wire) >= 16 else wire


def _parties(fields: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    people = fields.get(name)
    return people if isinstance(people, list) else ()


def _party(party: Mapping[str, object]) -> str:
    name, address = str(party.get("name") or ""), str(party.get("address") or "")
    return f"{name} <{address}>" if address and name != address else name or address


def _attachments(attachments: Iterable[Attachment]) -> Iterator[Member]:
    for attachment in islice(attachments, _MOST_ATTACHMENTS):
        detected = detect(attachment.payload[:_HEAD_BYTES])
        name = line_of(_name_of(attachment), 200)
        yield Member(attachment.number, name, detected.media_type, len(attachment.payload))


def _name_of(attachment: Attachment) -> str:
    """Its name; its subject where it is a mail without one."""
    if not _NO_NAME.match(attachment.name) or detect(attachment.payload[:_HEAD_BYTES]).format != "eml":
        return attachment.name
    return str(read_head(attachment.payload[:_HEAD_BYTES]).fields.get("subject") or attachment.name)


def _notes(mail: Mail, plain: str, markup: str, mode: Way) -> Iterator[Note]:
    if mail.too_complex:
        yield Note("mail-not-taken-apart")
    elif mail.defective:
        yield Note("mail-defective")
    if mail.within:
        yield Note("attached-without-bytes", {"count": mail.within})
    if len(mail.attachments) > _MOST_ATTACHMENTS:
        yield Note("attachments-cut", {"limit": _MOST_ATTACHMENTS, "count": len(mail.attachments)})
    if markup and (not plain or mode == "text"):
        yield Note("body-of-markup")
    elif markup:
        yield Note("body-of-two")


def _body_lines(plain: str, markup: str, mode: Way) -> Iterator[Line]:
    if markup and (not plain or mode == "text"):
        for number, block in enumerate(blocks_of_markup(markup[:_LONGEST_BODY]).blocks):
            if number:
                yield ()
            yield from _lines_of_block(block)
        return
    for text in split_lines(plain[:_LONGEST_BODY].strip("\r\n")):
        yield line_of(text)


def _lines_of_block(block: Block) -> Iterator[Line]:
    if block.role != "table":
        yield (Piece("• "), *block.text) if block.role == "item" else block.text
        return
    for row in block.rows:
        line: list[Piece] = []
        for cell in row:
            if any(piece.text.strip() for piece in cell):
                line += [*([Piece("  |  ")] if line else []), *cell]
        yield tuple(line)


def _message_bodies(content: bytes) -> tuple[str, str]:
    body = read_message_body(BytesIO(content))
    return ("", "") if body is None else (body.text, body.markup)


def _bodies(content: bytes) -> tuple[str, str]:
    """The plain body and that in HTML: each the parts of its kind that are no attachments, one behind the other."""
    try:
        all_parts = list(parts(content))
    except TooComplex:
        return "", ""
    texts: dict[str, list[str]] = {"text/plain": [], "text/html": []}
    for part in all_parts:
        if part.media_type in texts and not _is_attached(part):
            raw, _ = payload(content, part)
            texts[part.media_type].append(_decode(raw[:_LONGEST_BODY], part))
    return "\n\n".join(texts["text/plain"]), "\n".join(texts["text/html"])


def _is_attached(part: Part) -> bool:
    return part.head.get_content_disposition() == "attachment" or bool(part.head.get_filename())


def _decode(raw: bytes, part: Part) -> str:
    claimed = known_encoding(part.head.get_content_charset() or "")
    for encoding in (claimed, "utf-8"):
        if encoding:
            try:
                return raw.decode(encoding)
            except (UnicodeError, ValueError):
                continue
    encoding, _ = encoding_of_bytes(raw, is_markup=part.media_type == "text/html")
    return raw.decode(encoding, "replace")

"""Mails: their headers decoded, the body as text, attachments as a list, each to be looked at in its turn.

Of a body in HTML the text is shown, with the addresses of links beside them; nothing in it is fetched. What a mail
hides in a second body is not lost: that in HTML is shown where both are there, and the plain one can be asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path

from noarkit.documents.mail import Attachment, Mail, read_head, read_mail
from noarkit.documents.mail_text import bodies, decode_body, mail_moments, moment_text
from noarkit.documents.mailbox import spans
from noarkit.documents.mime import TooComplex, parts, payload
from noarkit.documents.outlook import read_message, read_message_body
from noarkit.reading_room.viewers.detection import detect
from noarkit.reading_room.viewers.job import Reading, Refusal
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
    both = _message_bodies(content) if is_message else _bodies(content)
    other_way: Way = "text" if is_message else "plain"
    shown_bodies = both.others if both.others and job.way == other_way else both.bodies
    notes = list(_notes(mail, shown_bodies, has_two=bool(both.others)))
    lines = list(islice(_body_lines(shown_bodies), _MOST_LINES + 1))
    if len(lines) > _MOST_LINES:
        notes.append(Note("text-cut"))
    headers = tuple(_headers(mail.fields, mail_moments(content)))
    body = Letter(headers, tuple(lines[:_MOST_LINES]), tuple(_attachments(mail.attachments)))
    ways: tuple[Way, ...] = () if is_message else ("source",)
    return Rendering(reading.detected, body, notes=tuple(notes), ways=(*ways, other_way) if both.others else ways)


@dataclass(frozen=True, slots=True)
class _Body:
    """A text of a mail, and whether it is HTML."""

    text: str
    is_markup: bool = False


@dataclass(frozen=True, slots=True)
class _Bodies:
    """What a mail says, and the same once more in its other form."""

    bodies: tuple[_Body, ...] = ()
    others: tuple[_Body, ...] = ()


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


def _headers(fields: Mapping[str, object], moments: Mapping[str, datetime]) -> Iterator[Header]:
    yield Header("subject", line_of(str(fields.get("subject") or "")))
    for name in _PARTIES:
        people = _parties(fields, name)
        if people:
            text = ", ".join(_party(party) for party in people[:_MOST_PARTIES])
            cut = len(people) - _MOST_PARTIES
            value = line_of(text, 20_000)
            yield Header(name, (*value, Piece(f" +{cut}")) if cut > 0 else value)
    names: tuple[HeaderName, ...] = ("date", "received")
    yield from (Header(name, line_of(moment_text(moments[name]))) for name in names if name in moments)


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


def _notes(mail: Mail, bodies_shown: Sequence[_Body], *, has_two: bool) -> Iterator[Note]:
    if mail.too_complex:
        yield Note("mail-not-taken-apart")
    elif mail.defective:
        yield Note("mail-defective")
    if mail.within:
        yield Note("attached-without-bytes", {"count": mail.within})
    if len(mail.attachments) > _MOST_ATTACHMENTS:
        yield Note("attachments-cut", {"limit": _MOST_ATTACHMENTS, "count": len(mail.attachments)})
    is_markup = any(body.is_markup for body in bodies_shown)
    if has_two:
        yield Note("body-of-two" if is_markup else "body-of-two-plain")
    elif is_markup:
        yield Note("body-of-markup")


def _body_lines(bodies_shown: Sequence[_Body]) -> Iterator[Line]:
    for place, body in enumerate(bodies_shown):
        if place:
            yield ()
        if body.is_markup:
            for number, block in enumerate(blocks_of_markup(body.text[:_LONGEST_BODY]).blocks):
                if number:
                    yield ()
                yield from _lines_of_block(block)
        else:
            for text in split_lines(body.text[:_LONGEST_BODY].strip("\r\n")):
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


def _message_bodies(content: bytes) -> _Bodies:
    body = read_message_body(BytesIO(content))
    if body is None:
        return _Bodies()
    both = tuple(each for each in (_Body(body.text), _Body(body.markup, is_markup=True)) if each.text)
    return _Bodies(both[:1], both[1:])


def _bodies(content: bytes) -> _Bodies:
    """The bodies of a mail, which are no attachments; the others are those in plain text, where it says the same in
    HTML."""
    try:
        all_parts = list(parts(content))
    except TooComplex:
        return _Bodies()
    shown: list[_Body] = []
    plain: list[_Body] = []
    has_two = False
    for part, is_alternative in bodies(content, all_parts):
        raw, _ = payload(content, part)
        body = _Body(decode_body(raw[:_LONGEST_BODY], part), part.media_type == "text/html")
        has_two |= is_alternative
        if not is_alternative:
            shown.append(body)
        if not body.is_markup:
            plain.append(body)
    return _Bodies(tuple(shown), tuple(plain) if has_two else ())

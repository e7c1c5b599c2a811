"""Reads mail that anyone may have written: whatever the bytes are, the answer is fields and attachments, never a stop.

Texts come out as Unicode, undecodable bytes as U+FFFD. A mail's parties are lists of `name`, `address` and `role`.
"""

from __future__ import annotations

import email.errors
import email.header
import email.parser
import email.policy
import email.utils
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.generator import BytesGenerator
from email.message import Message
from io import BytesIO

HEAD_BYTES = 256 * 1024

_PARTY_HEADERS = ("from", "to", "cc", "bcc", "reply-to", "sender")
_ROLES = ("from", "to", "cc", "bcc")
_KNOWN = frozenset({*_PARTY_HEADERS, "date", "subject", "message-id", "received", "references", "in-reply-to"})
_MOST_PARTIES = 5_000
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]+|[\r\n\x00]+")
_IDENTIFIER = re.compile(r"<[^<>\s]{1,900}>")
_SURROGATE = re.compile("[\ud800-\udfff]")

# what the standard library's mail code is known to raise on bytes that are no mail
_STUMBLES = (
    *(ValueError, LookupError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError),
    email.errors.MessageError,
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a mail that is a document of its own; `number` counts from 1 in the order they stand."""

    number: int
    name: str
    media_type: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says of itself. `is_mail` is False where no header of a mail was found."""

    fields: Mapping[str, object]
    attachments: tuple[Attachment, ...] = ()
    is_mail: bool = True
    defective: bool = False


def read_head(head: bytes) -> Mail:
    """A mail from its first bytes: parties, dates, subject and identifiers, no attachments."""
    try:
        message = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(head, headersonly=True)
    except _STUMBLES:
        return Mail({}, is_mail=False, defective=True)
    headers = _headers(message)
    is_mail = any(name in _KNOWN for name, _ in headers)
    return Mail(_fields(headers) if is_mail else {}, (), is_mail, _is_defective(message, headers))


def read_whole(content: bytes) -> Mail:
    """A mail with its attachments; a body that cannot be taken apart is told as defective, its head is kept."""
    head = read_head(content)
    if not head.is_mail:
        return head
    try:
        message = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(content)
        attachments = tuple(_attachments(message))
        defective = head.defective or any(part.defects for part in message.walk())
    except _STUMBLES:
        return Mail(head.fields, (), True, True)
    told = [{"name": one.name, "media_type": one.media_type, "size": len(one.payload)} for one in attachments]
    return Mail({**head.fields, "attachments": told}, attachments, True, defective)


def header_block(content: bytes) -> bytes:
    """The bytes before the first empty line."""
    ends = [end for end in (content.find(b"\n\n"), content.find(b"\n\r\n")) if end >= 0]
    return content[: min(ends, default=len(content))]


def _headers(message: Message) -> list[tuple[str, str]]:
    return [(name.lower(), _text(value)) for name, value in message.raw_items()]


def _fields(headers: list[tuple[str, str]]) -> dict[str, object]:
    first: dict[str, str] = {}
    for name, value in headers:
        first.setdefault(name, value)
    parties = {name: _parties(headers, name) for name in _PARTY_HEADERS}
    return {
        "subject": _decoded(first.get("subject", "")),
        "date": _date(first.get("date", "")),
        "message_id": _identifier(first.get("message-id", "")),
        "in_reply_to": _identifier(first.get("in-reply-to", "")),
        "references": _IDENTIFIER.findall(first.get("references", "")),
        "from": parties["from"],
        "to": parties["to"],
        "cc": parties["cc"],
        "bcc": parties["bcc"],
        "sender": parties["sender"],
        "reply_to": parties["reply-to"],
        "parties": [party for role in _ROLES for party in parties[role]],
        "attachments": [],
    }


def _parties(headers: list[tuple[str, str]], role: str) -> list[dict[str, str]]:
    values = [value for name, value in headers if name == role]
    try:
        pairs = email.utils.getaddresses(values)[:_MOST_PARTIES]
    except _STUMBLES:
        pairs = [(value, "") for value in values]
    named = ((_decoded(name), address) for name, address in pairs)
    return [{"name": name or address, "address": address, "role": role} for name, address in named if name or address]


def _decoded(value: str) -> str:
    """Encoded words as text."""
    try:
        pieces = email.header.decode_header(value)
        texts = (piece if isinstance(piece, str) else _decoded_bytes(piece, charset) for piece, charset in pieces)
        return _clean("".join(texts)) or _clean(value)
    except _STUMBLES:
        return _clean(value)


def _decoded_bytes(piece: bytes, charset: str | None) -> str:
    try:
        return piece.decode(charset or "ascii")
    except (LookupError, UnicodeError, ValueError):
        return _guessed(piece)


def _guessed(piece: bytes) -> str:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return piece.decode("cp1252", "replace")


def _text(value: object) -> str:
    """A raw header on one line, its bytes as the text they most likely are."""
    raw = str(value).encode("utf-8", "surrogateescape")
    return _clean(_guessed(raw))


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _FOLD.sub(" ", text)).strip()


def _date(value: str) -> str | None:
    try:
        moment = email.utils.parsedate_to_datetime(value)
        # a date without zone says by RFC 5322 that its zone is not known; UTC is what it is then counted in
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z" if moment.year >= 1000 else None
    except _STUMBLES:
        return None


def _identifier(value: str) -> str:
    found = _IDENTIFIER.search(value)
    return found[0] if found else value[:900]


def _is_defective(message: Message, headers: list[tuple[str, str]]) -> bool:
    names = [name for name, _ in headers]
    dates = [value for name, value in headers if name == "date"]
    doubled = any(names.count(name) > 1 for name in ("from", "subject", "date", "message-id"))
    return bool(message.defects) or doubled or any(_date(value) is None for value in dates)


def _attachments(message: Message) -> Iterator[Attachment]:
    for number, part in enumerate(_documents(message), start=1):
        name = _decoded(_clean(_file_name(part))) or f"part-{number}"
        yield Attachment(number, name, _content_type(part), _payload(part))


def _documents(message: Message) -> Iterator[Message]:
    """The parts that are neither body nor mere structure; a mail inside a mail is one part, whole."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload()
        is_mail = part is not message and _content_type(part) == "message/rfc822"
        if isinstance(inner, list) and not is_mail:
            waiting.extend(child for child in reversed(inner) if isinstance(child, Message))
        elif part is not message and (is_mail or _is_document(part)):
            yield part


def _is_document(part: Message) -> bool:
    if _file_name(part) or str(part.get("content-disposition", "")).strip().lower().startswith("attachment"):
        return True
    return _content_type(part) not in ("text/plain", "text/html")


def _file_name(part: Message) -> str:
    try:
        return str(part.get_filename("") or "")
    except _STUMBLES:
        return ""


def _content_type(part: Message) -> str:
    try:
        return part.get_content_type()
    except _STUMBLES:
        return "application/octet-stream"


def _payload(part: Message) -> bytes:
    inner = part.get_payload()
    if isinstance(inner, list):
        return b"".join(_flat(child) for child in inner if isinstance(child, Message))
    try:
        payload = part.get_payload(decode=True)
    except _STUMBLES:
        payload = None
    return payload if isinstance(payload, bytes) else str(inner).encode("utf-8", "surrogateescape")


def _flat(message: Message) -> bytes:
    target = BytesIO()
    try:
        BytesGenerator(target, mangle_from_=False, maxheaderlen=0, policy=email.policy.compat32).flatten(message)
    except _STUMBLES:
        return target.getvalue() + str(message.get_payload()).encode("utf-8", "surrogateescape")
    return target.getvalue()

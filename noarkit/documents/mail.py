"""Reads mail that anyone may have written: whatever the bytes are, the answer is fields and attachments, never a stop.

Texts come out as Unicode, undecodable bytes as U+FFFD. A mail's parties are lists of `name`, `address` and `role`; a
recipe that names the owner's domains learns of each whether it is the owner's, and of the mail which way it went.
"""

from __future__ import annotations

import email.header
import email.utils
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesHeaderParser

from noarkit.documents.mime import LONGEST_HEAD, PARSE_ERRORS, Part, TooComplex, head_of, parts, payload

HEAD_BYTES = LONGEST_HEAD

_PARTY_HEADERS = ("from", "to", "cc", "bcc", "reply-to", "sender")
_ROLES = ("from", "to", "cc", "bcc")
_KNOWN = frozenset({*_PARTY_HEADERS, "date", "subject", "message-id", "received", "references", "in-reply-to"})
_MOST_PARTIES = 5_000
_LONGEST_WORDS = 8_000
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]+|[\r\n\x00]+")
_IDENTIFIER = re.compile(r"<[^<>\s]{1,900}>")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a mail that is a document of its own; `number` counts from 1 in the order they stand."""

    number: int
    name: str
    media_type: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says of itself. `is_mail` is False if nothing of a mail was found; `within` counts what is
    attached and has no bytes of its own; `too_complex` is a mail that is not taken apart."""

    fields: Mapping[str, object]
    attachments: tuple[Attachment, ...] = ()
    is_mail: bool = True
    defective: bool = False
    within: int = 0
    too_complex: bool = False


def read_head(head: bytes) -> Mail:
    """A mail from its first bytes: parties, dates, subject and identifiers, no attachments."""
    raw_headers = head_of(head, _KNOWN)
    headers = [(name, _text(value)) for name, value in raw_headers.pairs]
    if not headers:
        return Mail({}, is_mail=False, defective=True)
    return Mail(fields_of(headers), (), True, raw_headers.defective or _is_defective(headers))


def read_mail(content: bytes) -> Mail:
    """A mail with its attachments; a body that cannot be taken apart is told as defective, its head is kept."""
    head = read_head(content)
    if not head.is_mail:
        return head
    try:
        mail_parts = list(parts(content))
    except TooComplex:
        return Mail(head.fields, (), True, head.defective, too_complex=True)
    defective = head.defective or any(part.broken for part in mail_parts)
    attachments = []
    for number, part in _documents(mail_parts):
        data, sound = payload(content, part)
        defective |= not sound
        attachments.append(Attachment(number, _name(part.head, number), part.media_type, data))
    return with_attachments(Mail(head.fields, (), True, defective), attachments)


def read_attachment(content: bytes, number: int) -> bytes | None:
    """The bytes of one attachment; None if the mail has none of that number."""
    try:
        attachment = next((part for at, part in _documents(list(parts(content))) if at == number), None)
    except TooComplex:
        return None
    return None if attachment is None else payload(content, attachment)[0]


def with_attachments(message: Mail, attachments: Iterable[Attachment], within: int = 0) -> Mail:
    """A mail with what hangs on it, in its fields too."""
    attached = tuple(attachments)
    entries = [
        {"name": attachment.name, "media_type": attachment.media_type, "size": len(attachment.payload)}
        for attachment in attached
    ]
    return Mail({**message.fields, "attachments": entries}, attached, True, message.defective, within)


def header_block(content: bytes) -> bytes:
    """The bytes before the first empty line."""
    ends = [end for end in (content.find(b"\n\n"), content.find(b"\n\r\n")) if end >= 0]
    return content[: min(ends, default=len(content))]


def fields_of(headers: list[tuple[str, str]]) -> dict[str, object]:
    """What headers tell, each a lower-case name and its text on one line."""
    first: dict[str, str] = {}
    for name, value in headers:
        first.setdefault(name, value)
    parties = {name: _parties(headers, name) for name in _PARTY_HEADERS}
    return {
        "subject": decode_words(first.get("subject", "")),
        "date": _date(first.get("date", "")),
        "received": _date(first.get("received", "").rpartition(";")[2]),
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
        "direction": "",
        "attachments": [],
    }


def with_direction(fields: Mapping[str, object], own_domains: Iterable[str]) -> dict[str, object]:
    """The fields as the owner of some domains sees them: each party `own` or not, the mail's direction `in`, `out`,
    `internal`, or empty if no address tells."""
    own = tuple(domain.lower().lstrip("@.") for domain in own_domains)
    result = dict(fields)
    for name in (*_ROLES, "sender", "reply_to", "parties"):
        parties = fields.get(name)
        if isinstance(parties, list):
            result[name] = [{**party, "own": _is_own(str(party.get("address", "")), own)} for party in parties]
    result["direction"] = _direction(result) if own else ""
    return result


def _is_own(address: str, own: tuple[str, ...]) -> bool:
    domain = domain_of(address)
    return bool(domain) and any(domain == own_domain or domain.endswith(f".{own_domain}") for own_domain in own)


def domain_of(address: str) -> str:
    """What stands behind the last @ of an address; empty if it has none."""
    return address.rpartition("@")[2].strip().lower().rstrip(".>") if "@" in address else ""


def _direction(fields: Mapping[str, object]) -> str:
    parties_by_field = {
        name: [party for party in _list(fields[name]) if domain_of(str(party["address"]))]
        for name in ("from", "sender", "parties")
    }
    senders = parties_by_field["from"] or parties_by_field["sender"]
    receivers = [party for party in parties_by_field["parties"] if party["role"] != "from"]
    ours = [bool(party["own"]) for party in receivers]
    if senders and not any(party["own"] for party in senders):
        return "in"
    if senders:
        return "internal" if ours and all(ours) else "out"
    if not ours:
        return ""
    return "in" if any(ours) else "out"


def _list(value: object) -> list[Mapping[str, object]]:
    return value if isinstance(value, list) else []


def _parties(headers: list[tuple[str, str]], role: str) -> list[dict[str, str]]:
    values = [value for name, value in headers if name == role]
    try:
        pairs = email.utils.getaddresses(values)[:_MOST_PARTIES]
    except PARSE_ERRORS:
        pairs = [(value, "") for value in values]
    decoded_pairs = ((decode_words(name), address) for name, address in pairs)
    return [
        {"name": name or address, "address": address, "role": role}
        for name, address in decoded_pairs
        if name or address
    ]


def decode_words(value: str) -> str:
    """Encoded words as text."""
    if "=?" not in value or len(value) > _LONGEST_WORDS:
        return _clean(value)
    try:
        pieces = email.header.decode_header(value)
        texts = (piece if isinstance(piece, str) else _decode_bytes(piece, charset) for piece, charset in pieces)
        return _clean("".join(texts)) or _clean(value)
    except PARSE_ERRORS:
        return _clean(value)


def _decode_bytes(piece: bytes, charset: str | None) -> str:
    try:
        return piece.decode(charset or "ascii")
    except (LookupError, UnicodeError, ValueError):
        return _guess_text(piece)


def _guess_text(piece: bytes) -> str:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return piece.decode("cp1252", "replace")


def _text(value: bytes) -> str:
    """A raw header on one line, its bytes as the text they most likely are."""
    return _clean(_guess_text(value))


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _FOLD.sub(" ", text)).strip()


def _date(value: str) -> str | None:
    try:
        moment = email.utils.parsedate_to_datetime(value[:200])
        # a date without zone says by RFC 5322 that its zone is not known; UTC is what it is then counted in
        return wire_time(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
    except PARSE_ERRORS:
        return None


def moments_of(content: bytes) -> Mapping[str, datetime]:
    """When a mail was sent and received (`date`, `received`), each in the zone that the mail states.

    Without a zone it is UTC; what cannot be read is left out.
    """
    head = BytesHeaderParser().parsebytes(content[:LONGEST_HEAD])
    moments: dict[str, datetime] = {}
    for name, text in (("date", str(head.get("date", ""))), ("received", str(head.get("received", "")))):
        date_text = text.rpartition(";")[2] if name == "received" else text
        with suppress(*PARSE_ERRORS):
            moment = email.utils.parsedate_to_datetime(date_text[:200])
            if moment.year >= 1000:
                moments[name] = moment.replace(tzinfo=moment.tzinfo or UTC)
    return moments


def zone_text(moment: datetime) -> str:
    """How far the zone of a moment is from UTC: +01:00."""
    text = f"{moment:%z}"
    return f"{text[:3]}:{text[3:5]}"


def wire_time(moment: datetime) -> str | None:
    """A moment as wire timestamp in UTC; None before the year 1000."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z" if moment.year >= 1000 else None


def _identifier(value: str) -> str:
    match = _IDENTIFIER.search(value)
    return match[0] if match else value[:900]


def _is_defective(headers: list[tuple[str, str]]) -> bool:
    names = [name for name, _ in headers]
    doubled = any(names.count(name) > 1 for name in ("from", "subject", "date", "message-id"))
    return doubled or any(_date(value) is None for name, value in headers if name == "date")


def _documents(mail_parts: list[Part]) -> Iterator[tuple[int, Part]]:
    """The parts that are neither body nor mere structure, numbered."""
    documents = (part for part in mail_parts if not part.multipart and _is_document(part))
    yield from enumerate(documents, start=1)


def _is_document(part: Part) -> bool:
    if _file_name(part.head) or str(part.head.get("content-disposition", "")).strip().lower().startswith("attachment"):
        return True
    if part.top:  # a mail that is nothing but a file
        return not part.media_type.startswith(("text/", "multipart/"))
    return part.media_type not in ("text/plain", "text/html")


def _name(head: Message, number: int) -> str:
    return decode_words(_clean(_file_name(head))) or f"part-{number}"


def _file_name(head: Message) -> str:
    try:
        return str(head.get_filename("") or "")
    except PARSE_ERRORS:
        return ""

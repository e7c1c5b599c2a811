"""Rebuilds an email as .eml from the fields of the service; it is marked as reconstructed, never as the original
message."""

from __future__ import annotations

import re
from base64 import b64encode, encodebytes
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from urllib.parse import quote

from noarkit.services.crm.times import parse_time, stated_time

MARK = "X-Reconstructed"
_WORD_BYTES = 36  # of UTF-8 in one encoded word: it fits behind a header's name on a line of 76
_LINE = 180
_WORDS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+")
_MAILBOX = re.compile(r"""[^\s<>()\[\],:;@"\\]+@[A-Za-z0-9.-]+""", re.ASCII)
_NEEDS_NOTHING = re.compile(r"(?!.*=\?)(?:[!-~]{1,60}(?: |$))*", re.ASCII)


def build_letter(email: Mapping[str, object]) -> bytes:
    """Builds the .eml message. Its attachments are documents of their own and are listed by name only."""
    sent_at = stated_time(email.get("sent_time")) or stated_time(email.get("time"))
    kind = "html" if str(email.get("mail_format") or "").casefold() == "html" else "plain"
    heads = [
        f"{MARK}: from the fields of a service, not the original message",
        f"Subject: {_text(plain(email.get('subject')))}",
        f"Message-ID: <{quote(plain(email.get('message_id')), safe='')}@reconstructed.invalid>",
    ]
    for name in ("from", "to", "cc"):
        addresses = [at for person in people(email.get(name)) if (at := address(person))]
        if addresses:
            heads.append(f"{name.capitalize()}: " + ",\r\n ".join(addresses))
    if sent_at is not None:
        heads.append(f"Date: {format_datetime(sent_at)}")
    for enclosure in enclosures(email):
        attachment = plain(f"{enclosure.get('name') or ''} ({enclosure.get('size')} bytes)")
        heads.append(f"X-Attachment: {_text(attachment)}")
    # base64 keeps every character, whatever the length of lines
    heads += ["MIME-Version: 1.0", f'Content-Type: text/{kind}; charset="utf-8"', "Content-Transfer-Encoding: base64"]
    content = str(email.get("content") or "").encode("utf-8", "backslashreplace")
    return "\r\n".join([*heads, "", ""]).encode("ascii") + encodebytes(content).replace(b"\n", b"\r\n")


def moment(email: Mapping[str, object]) -> datetime | None:
    """Returns when an email was sent."""
    return parse_time(email.get("sent_time")) or parse_time(email.get("time"))


def people(value: object) -> Sequence[Mapping[str, object]]:
    """Returns one or several correspondents as a list."""
    values = value if isinstance(value, list) else [value]
    return [person for person in values if isinstance(person, Mapping)]


def enclosures(email: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """Returns the attachments of an email."""
    attachments = email.get("attachments")
    return (
        [enclosure for enclosure in attachments if isinstance(enclosure, Mapping)]
        if isinstance(attachments, list)
        else []
    )


def address(person: Mapping[str, object]) -> str:
    """Formats a correspondent for a header. An invalid address, or one that headers cannot hold, is written as a name:
    a group without members."""
    name, at = plain(person.get("user_name")), plain(person.get("email"))
    if _MAILBOX.fullmatch(at) and at.isascii():
        return f"{_phrase(name)} <{at}>" if name else at
    text = f"{name} <{at}>" if name and at else name or at
    return f"{_phrase(text)} :;" if text else ""


def plain(value: object) -> str:
    """Formats a value on one line."""
    text = "" if value is None else str(value)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(text.split())


def _text(value: str) -> str:
    """Formats a header's text: unchanged if plain ASCII, or else as encoded words."""
    if not _NEEDS_NOTHING.fullmatch(value):
        return _encode_words(value)
    lines = [""]
    for word in value.split(" "):
        if len(lines[-1]) + len(word) > _LINE:
            lines.append("")
        lines[-1] += f" {word}"
    return "\r\n".join(lines).removeprefix(" ")


def _phrase(value: str) -> str:
    """Formats a display name: bare, quoted, or as encoded words."""
    if not _NEEDS_NOTHING.fullmatch(value):
        return _encode_words(value)
    if _WORDS.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _encode_words(value: str) -> str:
    return "\r\n ".join(f"=?utf-8?b?{b64encode(piece.encode()).decode()}?=" for piece in _pieces(value))


def _pieces(value: str) -> Iterator[str]:
    """Splits a text into pieces that fit in an encoded word, never within a character."""
    piece, size = "", 0
    for sign in value:
        more = len(sign.encode())
        if size + more > _WORD_BYTES:
            yield piece
            piece, size = "", 0
        piece, size = piece + sign, size + more
    yield piece

"""Reads Outlook messages (.msg: the message as properties in an OLE2 file, as MS-OXMSG has it) as mails.

The fields are those of any mail (see `mail`). What is attached as bytes is an attachment; a message within the message
and a link to a file have no bytes of their own and are counted as `within`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO

from olefile import OleFileIO

from noarkit.documents.mail import (
    Attachment,
    Mail,
    decode_words,
    fields_of,
    read_head,
    wire_time,
    with_attachments,
)
from noarkit.documents.mime import MOST_PARTS, PARSE_ERRORS, TooComplex

MEDIA_TYPE = "application/vnd.ms-outlook"
SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_MOST_ENTRIES = 60_000
_MOST_PARTIES = 5_000
_LONGEST_TEXT = 256 * 1024
_LONGEST_BODY = 64 * 1024 * 1024
_PROPERTIES = "__properties_version1.0"
_SUMMARY = "\x05SummaryInformation"
_TIMES_OF_SUMMARY = (13, 12)  # last saved, made: the numbers of MS-OSHARED
_ROLES = {1: "to", 2: "cc", 3: "bcc"}
_HEADER_BYTES = {"top": 32, "below": 8}
_HEADER = struct.Struct("<8s18xHHHH")  # version, byte order, sizes of sectors and of small sectors, as powers of 2
_HEADERS_KNOWN = ((SIGNATURE, 3, 0xFFFE, 9, 6), (SIGNATURE, 4, 0xFFFE, 12, 6))
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)

# the numbers of MS-OXPROPS
_SUBJECT, _HEADERS, _MESSAGE_ID, _REFERENCES, _IN_REPLY_TO = 0x0037, 0x007D, 0x1035, 0x1039, 0x1042
_SENT, _DELIVERED = 0x0039, 0x0E06
_SENDERS = ((0x5D02, 0x0065, 0x0042), (0x5D01, 0x0C1F, 0x0C1A))  # who it is sent for, then who sent it
_BODY, _HTML_BODY, _RICH_BODY = 0x1000, 0x1013, 0x1009
_NAME, _ADDRESS, _SMTP, _RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
_LONG_NAME, _SHORT_NAME, _MIME, _METHOD = 0x3707, 0x3704, 0x370E, 0x3705
_BYTES = "__substg1.0_37010102"
_BY_VALUE = 1

# what the reader of OLE2 is known to raise on bytes that are none
_BROKEN = (*PARSE_ERRORS, OSError, struct.error, MemoryError)


class _BoundedOleFile(OleFileIO):  # type: ignore[misc]  # the library has no types
    """An OLE2 file with no more entries than any message has."""

    def _load_direntry(self, sid: int) -> object:
        self.entries = getattr(self, "entries", 0) + 1
        if self.entries > _MOST_ENTRIES:
            raise TooComplex
        return super()._load_direntry(sid)


def read_message(file: IO[bytes], *, include_parts: bool) -> Mail:
    """The message in an open file, with its attachments where `include_parts`. Whatever the bytes are, it never
    raises."""
    try:
        with _open_container(file) as ole:
            if not ole.exists(_PROPERTIES):
                return Mail({}, is_mail=False, defective=True)
            fields = _fields(ole)
            message = Mail(fields, (), bool(fields["subject"] or fields["parties"] or fields["date"]))
            if not message.is_mail:
                return Mail({}, is_mail=False, defective=True)
            return _with_attachments(ole, message) if include_parts else message
    except TooComplex:
        return Mail({}, is_mail=False, defective=True, too_complex=True)
    except _BROKEN:
        return Mail({}, is_mail=False, defective=True)


def read_message_part(file: IO[bytes], number: int) -> bytes | None:
    """The bytes of one attachment; None if the message has none of that number."""
    try:
        with _open_container(file) as ole:
            places = [place for place in _storages(ole, "__attach_version1.0_#") if _has_bytes(ole, place)]
            return _stream(ole, f"{places[number - 1]}/{_BYTES}") if 0 < number <= len(places) else None
    except (TooComplex, *_BROKEN):
        return None


@dataclass(frozen=True, slots=True)
class MessageBody:
    """What a message says: plain, and in HTML; each empty where it is not there. `has_rich` tells of one in RTF."""

    text: str
    markup: str
    has_rich: bool


def read_message_body(file: IO[bytes]) -> MessageBody | None:
    """What the message in an open file says; None if it cannot be read, also in the encoding that it claims."""
    try:
        with _open_container(file) as ole:
            codepage = _codepage(ole)
            kinds = (("001F", "utf-16-le"), ("001E", codepage), ("0102", codepage))
            text, markup = (_long_text(ole, number, kinds) for number in (_BODY, _HTML_BODY))
            return MessageBody(text, markup, has_rich=bool(ole.exists(f"__substg1.0_{_RICH_BODY:04X}0102")))
    except (TooComplex, *_BROKEN):
        return None


def _long_text(ole: _BoundedOleFile, number: int, kinds: Iterable[tuple[str, str]]) -> str:
    """A text as it stands, with its lines."""
    for kind, encoding in kinds:
        path = f"__substg1.0_{number:04X}{kind}"
        if ole.exists(path):
            return _stream(ole, path, _LONGEST_BODY).decode(encoding).rstrip("\x00")
    return ""


def streams_in(file: IO[bytes]) -> frozenset[str] | None:
    """What stands directly in an OLE2 file; None if it cannot be read."""
    try:
        with _open_container(file) as ole:
            return frozenset(str(entry.name) for entry in ole.root.kids)
    except (TooComplex, *_BROKEN):
        return None


def document_times(file: IO[bytes]) -> list[str]:
    """When an old office document was last saved, and when it was made, in ISO 8601: what it tells of the two."""
    try:
        with _open_container(file) as ole:
            if not ole.exists(_SUMMARY):
                return []
            properties = ole.getproperties(_SUMMARY, convert_time=True)
            times = [properties.get(number) for number in _TIMES_OF_SUMMARY]
    except (TooComplex, *_BROKEN):
        return []
    return [time.replace(tzinfo=UTC).isoformat() for time in times if isinstance(time, datetime)]


@contextmanager
def _open_container(file: IO[bytes]) -> Iterator[_BoundedOleFile]:
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or _HEADER.unpack(head) not in _HEADERS_KNOWN:
        raise ValueError("no container of messages")  # the library takes whatever sizes of sectors a file claims
    file.seek(0)
    ole = _BoundedOleFile(file)
    try:
        yield ole
    finally:
        ole.close()


def _with_attachments(ole: _BoundedOleFile, message: Mail) -> Mail:
    attachments: list[Attachment] = []
    within = 0
    for place in _storages(ole, "__attach_version1.0_#"):
        if not _has_bytes(ole, place):
            within += 1
        elif len(attachments) >= MOST_PARTS:
            return Mail(message.fields, (), True, too_complex=True)
        else:
            texts = _Texts(ole, f"{place}/", _codepage(ole))
            number = len(attachments) + 1
            name = _first(texts, (_LONG_NAME, _SHORT_NAME, _NAME)) or f"part-{number}"
            kind = texts.get(_MIME) or "application/octet-stream"
            attachments.append(Attachment(number, name, kind, _stream(ole, f"{place}/{_BYTES}")))
    return with_attachments(message, attachments, within)


def _has_bytes(ole: _BoundedOleFile, place: str) -> bool:
    method = _numbers(ole, f"{place}/{_PROPERTIES}", _HEADER_BYTES["below"]).get(_METHOD, _BY_VALUE)
    return method == _BY_VALUE and bool(ole.exists(f"{place}/{_BYTES}"))


def _fields(ole: _BoundedOleFile) -> dict[str, object]:
    texts = _Texts(ole, "", _codepage(ole))
    numbers = _numbers(ole, _PROPERTIES, _HEADER_BYTES["top"])
    headers = texts.get(_HEADERS)
    header_fields = read_head(headers.encode("utf-8")).fields if headers else {}
    parties = [*_sender(texts), *_recipients(ole)]
    fields = dict(fields_of([]))
    fields.update(
        subject=decode_words(texts.get(_SUBJECT)) or header_fields.get("subject", ""),
        date=_moment(numbers.get(_SENT)) or header_fields.get("date"),
        received=_moment(numbers.get(_DELIVERED)) or header_fields.get("received"),
        message_id=texts.get(_MESSAGE_ID) or header_fields.get("message_id", ""),
        in_reply_to=texts.get(_IN_REPLY_TO) or header_fields.get("in_reply_to", ""),
        references=texts.get(_REFERENCES).split() or header_fields.get("references", []),
        parties=_merge_parties(parties, header_fields.get("parties")),
    )
    for role in ("from", "to", "cc", "bcc"):
        fields[role] = [party for party in _list(fields["parties"]) if party["role"] == role]
    for name in ("sender", "reply_to"):
        fields[name] = header_fields.get(name, [])
    return fields


def _merge_parties(own: list[dict[str, str]], header_parties: object) -> list[Mapping[str, str]]:
    """The message's own parties; each address that only the headers it was sent with know is taken from there."""
    addresses = {
        (party["name"], party["role"]): party["address"] for party in _list(header_parties) if "@" in party["address"]
    }
    parties: list[Mapping[str, str]] = []
    for party in own:
        address = party["address"] if "@" in party["address"] else addresses.get((party["name"], party["role"]), "")
        parties.append({**party, "address": address})
    missing = {"from", "to"} - {party["role"] for party in parties}
    return [*parties, *(party for party in _list(header_parties) if party["role"] in missing)]


def _sender(texts: _Texts) -> Iterator[dict[str, str]]:
    for smtp, address, name in _SENDERS:
        party = _party(texts, (smtp, address), (name,), "from")
        if party is not None:
            yield party
            return


def _recipients(ole: _BoundedOleFile) -> Iterator[dict[str, str]]:
    codepage = _codepage(ole)
    for number, place in enumerate(_storages(ole, "__recip_version1.0_#")):
        if number >= _MOST_PARTIES:
            return
        kind = _numbers(ole, f"{place}/{_PROPERTIES}", _HEADER_BYTES["below"]).get(_RECIPIENT_TYPE, 1)
        role = _ROLES.get(kind & 0xF, "to")
        party = _party(_Texts(ole, f"{place}/", codepage), (_SMTP, _ADDRESS), (_NAME,), role)
        if party is not None:
            yield party


def _party(texts: _Texts, addresses: Iterable[int], names: Iterable[int], role: str) -> dict[str, str] | None:
    """A party; an address of a mail server's own directory (`/O=…`) is none that others could write to."""
    address = next((text for number in addresses if "@" in (text := texts.get(number))), "")
    name = _first(texts, names) or address
    return {"name": name, "address": address, "role": role} if name else None


class _Texts:
    """The texts of a storage, by the numbers of their properties."""

    def __init__(self, ole: _BoundedOleFile, place: str, codepage: str) -> None:
        self._ole, self._place, self._codepage = ole, place, codepage

    def get(self, number: int) -> str:
        """The text of a property, cleaned; empty if there is none."""
        for kind, encoding in (("001F", "utf-16-le"), ("001E", self._codepage)):
            path = f"{self._place}__substg1.0_{number:04X}{kind}"
            if self._ole.exists(path):
                raw = _stream(self._ole, path, _LONGEST_TEXT)
                text = raw.decode(encoding, "replace").strip("\x00 \r\n\t")
                # the headers keep their lines, all else stands on one
                return text if number == _HEADERS else " ".join(text.replace("\x00", " ").split())
        return ""


def _first(texts: _Texts, numbers: Iterable[int]) -> str:
    return next((text for number in numbers if (text := texts.get(number))), "")


def _codepage(ole: _BoundedOleFile) -> str:
    numbers = _numbers(ole, _PROPERTIES, _HEADER_BYTES["top"])
    codepage = numbers.get(0x3FFD) or numbers.get(0x3FDE) or 1252
    name = {65001: "utf-8", 28591: "latin-1", 20127: "cp1252"}.get(codepage, f"cp{codepage}")
    try:
        b"".decode(name)
    except LookupError:
        return "cp1252"
    return name


def _numbers(ole: _BoundedOleFile, path: str, header_bytes: int) -> dict[int, int]:
    """The properties of fixed size: number and value, as they stand in 16 bytes each."""
    if not ole.exists(path):
        return {}
    raw = _stream(ole, path, 1024 * 1024)
    values: dict[int, int] = {}
    for at in range(header_bytes, len(raw) - 15, 16):
        kind, number, _, value = struct.unpack_from("<HHIQ", raw, at)
        if kind in (0x0002, 0x0003, 0x000B):
            values.setdefault(number, value & 0xFFFFFFFF)
        elif kind == 0x0040:
            values.setdefault(number, value)
    return values


def _moment(filetime: int | None) -> str | None:
    """Hundreds of nanoseconds since 1601 as wire timestamp."""
    if not filetime:
        return None
    try:
        return wire_time(_EPOCH + timedelta(microseconds=filetime // 10))
    except PARSE_ERRORS:
        return None


def _storages(ole: _BoundedOleFile, prefix: str) -> list[str]:
    """The storages of a kind that stand directly in the message, in the order of their numbers."""
    return sorted(entry.name for entry in ole.root.kids if entry.name.startswith(prefix) and entry.entry_type == 1)


def _stream(ole: _BoundedOleFile, path: str, most: int = -1) -> bytes:
    with ole.openstream(path) as stream:
        return bytes(stream.read(most))


def _list(value: object) -> list[Mapping[str, str]]:
    return value if isinstance(value, list) else []

"""When certificates of our own end, read from their PEM file: the standard library tells it of the other side's alone.

Of each certificate no more than its validity is looked at; what is not well formed raises `ValueError`.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_SEQUENCE, _VERSION, _UTC_TIME, _TIME = 0x30, 0xA0, 0x17, 0x18
_MOST_BYTES = 1024 * 1024


def certificates_end(path: Path) -> datetime | None:
    """When the first of the certificates in a PEM file ends; None without any. Raises `OSError`, `ValueError`."""
    with path.open("rb") as file:
        text = file.read(_MOST_BYTES).decode("ascii", "replace")
    parts = text.split(_BEGIN)[1:]
    ends = [_ends(ssl.PEM_cert_to_DER_cert(_BEGIN + part.split(_END)[0] + _END)) for part in parts]
    return min(ends, default=None)


def _ends(der: bytes) -> datetime:
    """The `notAfter`: in the certificate, in what is signed, after version, number, algorithm and issuer."""
    (_, certificate), *_ = _elements(der)
    (_, signed), *_ = _elements(certificate)
    members = [member for member in _elements(signed) if member[0] != _VERSION]
    kind, validity = members[3]
    times = list(_elements(validity)) if kind == _SEQUENCE else []
    if len(times) != 2:
        raise ValueError("not a certificate")
    form, encoded_time = times[1]
    text = encoded_time.decode("ascii")
    if form == _UTC_TIME:
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    elif form != _TIME:
        raise ValueError("not a certificate")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """The elements of an encoding, each by its tag."""
    at = 0
    while at < len(der):
        if at + 2 > len(der):
            raise ValueError("not a certificate")
        tag, length = der[at], der[at + 1]
        at += 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(der[at : at + size])
            at += size
        if at + length > len(der):
            raise ValueError("not a certificate")
        yield tag, der[at : at + length]
        at += length

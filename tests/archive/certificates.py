"""Certificates made as tests need them, with nothing but the standard library: one RSA key, X.509 by hand.

Only for tests: the key is made by a plain generator and is thrown away with them.
"""

from __future__ import annotations

import base64
import hashlib
import random
import ssl
import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

_SHA256_WITH_RSA = "1.2.840.113549.1.1.11"
_RSA = "1.2.840.113549.1.1.1"
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


@dataclass(frozen=True)
class Key:
    """An RSA key."""

    p: int
    q: int
    e: int = 65537

    @property
    def n(self) -> int:
        """The modulus."""
        return self.p * self.q

    @property
    def d(self) -> int:
        """The secret exponent."""
        return pow(self.e, -1, (self.p - 1) * (self.q - 1))


@dataclass(frozen=True)
class Identity:
    """What a certificate says. `days` may lie in the past; `issuer` None signs itself."""

    name: str
    hosts: tuple[str, ...] = ()
    addresses: tuple[bytes, ...] = ()
    days: tuple[int, int] = (-1, 30)
    issuer: str | None = None
    is_authority: bool = False


def write(identity: Identity, folder: Path) -> Path:
    """A PEM file with the certificate and its key."""
    key = the_key()
    path = folder / f"{identity.name}-{len(list(folder.iterdir()))}.pem"
    path.write_text(_pem("CERTIFICATE", _certificate(identity, key)) + _pem("RSA PRIVATE KEY", _private(key)))
    return path


def serving(certificate: Path, *, clients_signed_by: Path | None = None) -> ssl.SSLContext:
    """The server's side; with `clients_signed_by` it asks who the client is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if clients_signed_by:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_signed_by)
    return context


@cache
def the_key() -> Key:
    """One key for everybody; making one takes half a second."""
    chance = random.Random(5)
    return Key(_prime(chance, 1024), _prime(chance, 1024))


def _certificate(identity: Identity, key: Key) -> bytes:
    now = datetime.now(UTC)
    begins, ends = (now + timedelta(days=days) for days in identity.days)
    public = _sequence(_sequence(_oid(_RSA), _der(5)), _bits(_sequence(_integer(key.n), _integer(key.e))))
    fingerprint = hashlib.sha1(public, usedforsecurity=False).digest()
    body = _sequence(
        _der(0xA0, _integer(2)),
        _integer(int(now.timestamp() * 1_000_000)),
        _sequence(_oid(_SHA256_WITH_RSA), _der(5)),
        _name(identity.issuer or identity.name),
        _sequence(_time(begins), _time(ends)),
        _name(identity.name),
        public,
        _der(0xA3, _sequence(*_extensions(identity, fingerprint))),
    )
    return _sequence(body, _sequence(_oid(_SHA256_WITH_RSA), _der(5)), _bits(_sign(body, key)))


def _extensions(identity: Identity, fingerprint: bytes) -> list[bytes]:
    names = [_der(0x82, host.encode()) for host in identity.hosts] + [_der(0x87, one) for one in identity.addresses]
    usage = b"\x02\x04" if identity.is_authority else b"\x05\xa0"
    made = [
        _extension("2.5.29.19", _sequence(_der(1, b"\xff")) if identity.is_authority else _sequence(), critical=True),
        _extension("2.5.29.15", _der(3, usage), critical=True),
        _extension("2.5.29.14", _der(4, fingerprint)),
        _extension("2.5.29.35", _sequence(_der(0x80, fingerprint))),
    ]
    return [*made, _extension("2.5.29.17", _sequence(*names))] if names else made


def _extension(oid: str, content: bytes, *, critical: bool = False) -> bytes:
    return _sequence(_oid(oid), _der(1, b"\xff") if critical else b"", _der(4, content))


def _sign(content: bytes, key: Key) -> bytes:
    digest = _DIGEST_INFO + hashlib.sha256(content).digest()
    size = (key.n.bit_length() + 7) // 8
    padded = b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest
    return pow(int.from_bytes(padded, "big"), key.d, key.n).to_bytes(size, "big")


def _private(key: Key) -> bytes:
    parts = (0, key.n, key.e, key.d, key.p, key.q, key.d % (key.p - 1), key.d % (key.q - 1), pow(key.q, -1, key.p))
    return _sequence(*(_integer(part) for part in parts))


def _prime(chance: random.Random, bits: int) -> int:
    while True:
        candidate = chance.getrandbits(bits) | (3 << (bits - 2)) | 1
        if all(candidate % small for small in range(3, 2000, 2)) and pow(2, candidate - 1, candidate) == 1:
            return candidate


def _der(tag: int, content: bytes = b"") -> bytes:
    size = len(content)
    if size < 128:
        return bytes((tag, size)) + content
    told = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(told))) + told + content


def _sequence(*parts: bytes) -> bytes:
    return _der(0x30, b"".join(parts))


def _integer(value: int) -> bytes:
    return _der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _bits(content: bytes) -> bytes:
    return _der(3, b"\x00" + content)


def _oid(text: str) -> bytes:
    first, second, *rest = (int(part) for part in text.split("."))
    made = bytes((first * 40 + second,))
    for number in rest:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        made += bytes(reversed(groups))
    return _der(6, made)


def _name(common: str) -> bytes:
    return _sequence(_der(0x31, _sequence(_oid("2.5.4.3"), _der(12, common.encode()))))


def _time(moment: datetime) -> bytes:
    return _der(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())


def _pem(label: str, content: bytes) -> str:
    lines = "\n".join(textwrap.wrap(base64.b64encode(content).decode(), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"

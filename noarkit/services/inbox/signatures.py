"""Verifies webhook signatures over the raw bytes, before anything is parsed, in constant time. Stamps that are too old
or in the future are refused; several secrets are valid while one replaces another.

    standard      webhook-id, webhook-timestamp and webhook-signature: v1,BASE64 (several, apart by a blank)
    token         the body holds the token that was set when the channel was opened
    body          a header with the HMAC of the body, in base64 or hex
    stamped       a header with v0=HEX over v0:TIMESTAMP:BODY, the timestamp in another header
    path          nothing is signed: the path that messages come in at is known to the service alone
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from noarkit.secrets import Secret

Scheme = Literal["standard", "token", "body", "stamped", "path"]
TOLERANCE_S = 300.0
MILLISECONDS_FROM = 10**11
_MOST_SIGNATURES = 10


@dataclass(frozen=True, slots=True)
class Seal:
    """How messages of a connection are signed: the scheme, the headers and the secrets."""

    scheme: Scheme
    secrets: tuple[Secret, ...]
    header: str = ""
    timestamp_header: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a verification: `reason` is empty for a valid message. `id` identifies it over all its retries."""

    reason: str
    id: str = ""


def prove(seal: Seal, headers: Mapping[str, str], body: bytes, now_s: float) -> Proof:
    """Verifies a message. No content makes this fail. Header names are in small letters."""
    if not seal.secrets:
        return Proof("no-secret")
    if seal.scheme == "standard":
        return _prove_standard(seal, headers, body, now_s)
    if seal.scheme == "token":
        return _prove_token(seal, body)
    if seal.scheme == "body":
        return _prove_body(seal, headers, body)
    if seal.scheme == "path":
        return Proof("", hashlib.sha256(body).hexdigest())
    return _prove_stamped(seal, headers, body, now_s)


def _prove_standard(seal: Seal, headers: Mapping[str, str], body: bytes, now_s: float) -> Proof:
    message_id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message_id or len(message_id) > 200 or not _is_fresh(stamp, now_s):
        return Proof("stale" if message_id else "no-id")
    message = f"{message_id}.{stamp}.".encode("utf-8", "surrogateescape") + body
    parts = headers.get("webhook-signature", "").split(" ")[:_MOST_SIGNATURES]
    signatures = [part[3:] for part in parts if part.startswith("v1,")]
    expected = [_hmac(key, message) for secret in seal.secrets if (key := _standard_key(secret)) is not None]
    return Proof("", message_id) if _any_equal(signatures, expected) else Proof("signature")


def _prove_token(seal: Seal, body: bytes) -> Proof:
    try:
        members = json.loads(body)
    except (ValueError, RecursionError):
        return Proof("not-json")
    token = members.get("token") if isinstance(members, Mapping) else None
    if not isinstance(token, str):
        return Proof("signature")
    shown_bytes = token.encode("utf-8", "surrogatepass")
    if not _any_true(hmac.compare_digest(shown_bytes, secret.reveal().encode()) for secret in seal.secrets):
        return Proof("signature")
    parts = [members.get("module"), members.get("ids"), members.get("operation"), members.get("server_time")]
    return Proof("", hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest())


def _prove_body(seal: Seal, headers: Mapping[str, str], body: bytes) -> Proof:
    signature = headers.get(seal.header, "").strip().removeprefix("sha256=")
    expected = [_hmac(secret.reveal().encode(), body) for secret in seal.secrets]
    is_match = _any_equal([signature], expected) or _any_equal(
        [signature.casefold()], [_hex(value) for value in expected]
    )
    return Proof("", hashlib.sha256(body).hexdigest()) if is_match else Proof("signature")


def _prove_stamped(seal: Seal, headers: Mapping[str, str], body: bytes, now_s: float) -> Proof:
    stamp = headers.get(seal.timestamp_header, "")
    if not _is_fresh(stamp, now_s):
        return Proof("stale")
    message = b"v0:" + stamp.encode("ascii") + b":" + body
    expected = ["v0=" + _hex(_hmac(secret.reveal().encode(), message)) for secret in seal.secrets]
    is_match = _any_equal([headers.get(seal.header, "")], expected)
    return Proof("", hashlib.sha256(body).hexdigest()) if is_match else Proof("signature")


def _is_fresh(stamp: str, now_s: float) -> bool:
    """True if a stamp in seconds or milliseconds is within the tolerance."""
    if not stamp.isascii() or not stamp.isdigit() or len(stamp) > 16:
        return False
    stamp_s = int(stamp)
    seconds = stamp_s / 1_000 if stamp_s > MILLISECONDS_FROM else float(stamp_s)
    return abs(now_s - seconds) <= TOLERANCE_S


def _standard_key(secret: Secret) -> bytes | None:
    try:
        return base64.b64decode(secret.reveal().removeprefix("whsec_"), validate=True)
    except (ValueError, binascii.Error):
        return None


def _hmac(key: bytes, message: bytes) -> str:
    return base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode("ascii")


def _hex(text: str) -> str:
    return base64.b64decode(text).hex()


def _any_equal(signatures: Sequence[str], expected: Sequence[str]) -> bool:
    pairs = [
        (signature.encode("utf-8", "surrogateescape"), value.encode()) for signature in signatures for value in expected
    ]
    return _any_true(hmac.compare_digest(signature, value) for signature, value in pairs)


def _any_true(results: Iterable[bool]) -> bool:
    """True if any is true, after looking at all of them (constant time)."""
    good = False
    for result in results:
        good = result or good
    return good

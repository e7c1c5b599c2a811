"""TLS: whom a session trusts, how it shows itself, and in one word why a handshake came to nothing."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from noarkit.errors import ConfigFault, SecretFault

# What OpenSSL calls it → what we call it.
_VERIFY_CODES = {
    9: "not-yet-valid",
    10: "expired",
    18: "self-signed",
    19: "unknown-signer",
    20: "unknown-signer",
    21: "unknown-signer",
    23: "revoked",
    62: "wrong-host",
    64: "wrong-host",
}
# What the other side says of our own certificate → what we call it.
_CLIENT_CERTIFICATE_ALERTS = {
    "CERTIFICATE_REQUIRED": "client-certificate-missing",
    "UNKNOWN_CA": "client-certificate-unknown",
    "CERTIFICATE_EXPIRED": "client-certificate-expired",
    "BAD_CERTIFICATE": "client-certificate-refused",
    "CERTIFICATE_REVOKED": "client-certificate-refused",
    "CERTIFICATE_UNKNOWN": "client-certificate-refused",
    "ACCESS_DENIED": "client-certificate-refused",
    "HANDSHAKE_FAILURE": "handshake-refused",
}
_REMEDIES = {
    "expired": "do-renew",
    "revoked": "do-renew",
    "not-yet-valid": "do-clock",
    "wrong-host": "do-address",
    "self-signed": "do-name-signer",
    "unknown-signer": "do-name-signer",
    "client-certificate-missing": "do-show-ours",
    "handshake-refused": "do-show-ours",
    "client-certificate-expired": "do-renew-ours",
    "client-certificate-unknown": "do-other-ours",
    "client-certificate-refused": "do-other-ours",
    "not-tls": "do-scheme",
}
_SUBJECT_ALT_NAME = bytes.fromhex("0603551d11")
_BOOLEAN, _DNS_NAME = 0x01, 0x82
_NOT_TLS = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "RECORD_LAYER_FAILURE",
    "PACKET_LENGTH_TOO_LONG",
    "UNKNOWN_PROTOCOL",
)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom to trust (`ca_file` alone, else the usual authorities), and the client certificate to show."""

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None


def client_context(trust: Trust) -> ssl.SSLContext:
    """The TLS context of a session. Raises `ConfigFault` or `SecretFault` for files that cannot be used."""
    if trust == Trust():
        return _usual_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    tls_context = _trust_context(trust.ca_file)
    if trust.certificate_file is not None:
        _load_certificate(tls_context, trust.certificate_file, trust.key_file)
    return tls_context


def server_context(certificate_file: Path, key_file: Path, client_ca: Path | None = None) -> ssl.SSLContext:
    """The TLS context of a service of ours; with `client_ca` nobody is let in whom that authority has not signed.

    Raises `ConfigFault` or `SecretFault` for files that cannot be used; a password is never asked for.
    """
    tls_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls_context.sslobject_class = _DiagnosticSSLObject
    tls_context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load_certificate(tls_context, certificate_file, key_file)
    if client_ca is not None:
        tls_context.verify_mode = ssl.CERT_REQUIRED
        try:
            tls_context.load_verify_locations(client_ca)
        except (OSError, ssl.SSLError) as error:
            raise ConfigFault(where=str(client_ca), why=_why_unusable(error)) from error
    return tls_context


def why_not_trusted(error: ssl.SSLError) -> str:
    """One word for a failed handshake: expired, wrong-host, self-signed, client-certificate-missing, not-tls, …"""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _VERIFY_CODES.get(error.verify_code, "unknown-signer")
    reason = (error.reason or "").upper()
    alert = next((alert for alert in _CLIENT_CERTIFICATE_ALERTS if alert in reason), None)
    if alert is not None:
        return _CLIENT_CERTIFICATE_ALERTS[alert]
    if any(word in reason for word in _NOT_TLS):
        return "not-tls"
    return "handshake"


def fault_details(why: str) -> dict[str, str]:
    """What a fault tells of it: why, what to do, and what it means where it is they who do not trust us."""
    about = {"why": why, "detail": _REMEDIES.get(why, "")}
    if why in _CLIENT_CERTIFICATE_ALERTS.values():
        about["description"] = "they-refused"
    return about


def is_about_trust(error: ssl.SSLError) -> bool:
    """True if TLS broke because one side does not trust the other, False if the connection merely broke."""
    return isinstance(error, ssl.SSLCertVerificationError) or "ALERT" in (error.reason or "").upper()


class _DiagnosticSSLObject(ssl.SSLObject):
    """A handshake that tells the other side why it failed: event loops close the line before that word has left."""

    _failed: ssl.SSLError | None = None

    def do_handshake(self) -> None:
        """Does the handshake like any TLS object; a failure is raised one call later, after its alert has been sent."""
        if self._failed is not None:
            raise self._failed
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            self._failed = error
            raise ssl.SSLWantReadError from error


@lru_cache(maxsize=4)
def _usual_context(ca_file: str | None, ca_folder: str | None) -> ssl.SSLContext:
    """The context of sessions that show no certificate and trust the usual authorities, whose hundreds are read once.

    OpenSSL itself looks for the authorities where the two arguments, its variables, point.
    """
    return _trust_context(None)


def _trust_context(ca_file: Path | None) -> ssl.SSLContext:
    if ca_file is None:
        import httpx  # only clients need it, and a service that starts is waited for

        tls_context = httpx.create_ssl_context(trust_env=False)
        tls_context.load_default_certs()
    else:
        try:
            tls_context = ssl.create_default_context(cafile=str(ca_file))
        except (OSError, ssl.SSLError) as error:
            raise ConfigFault(where=str(ca_file), why=_why_unusable(error)) from error
    tls_context.minimum_version = ssl.TLSVersion.TLSv1_2
    return tls_context


def _load_certificate(tls_context: ssl.SSLContext, certificate_file: Path, key_file: Path | None) -> None:
    prompted: list[bool] = []

    def never_prompt() -> str:
        prompted.append(True)
        return ""

    try:
        tls_context.load_cert_chain(str(certificate_file), str(key_file) if key_file else None, password=never_prompt)
    except (OSError, ssl.SSLError) as error:
        where = str(key_file or certificate_file)
        if prompted:
            raise SecretFault(where=where, why="key-has-password") from error
        raise ConfigFault(where=where, why=_why_unusable(error)) from error


def _why_unusable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "not-there"
    if isinstance(error, PermissionError):
        return "unreadable"
    return "not-a-pem-file" if isinstance(error, ssl.SSLError) else "unreadable"


def certificate_names(certificate: Path) -> tuple[str, ...]:
    """The DNS names that the first certificate of a PEM file is made out to; none where it cannot be read."""
    try:
        pem = certificate.read_text("ascii")
        end = "-----END CERTIFICATE-----"
        der = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE-----") : pem.index(end) + len(end)])
        at = der.index(_SUBJECT_ALT_NAME) + len(_SUBJECT_ALT_NAME)
        at += 3 if der[at] == _BOOLEAN else 0
        first, _ = _der_span(der, at)
        first, last = _der_span(der, first)
        names = []
        while first < last:
            start, stop = _der_span(der, first)
            if der[first] == _DNS_NAME:
                names.append(der[start:stop].decode("ascii"))
            first = stop
        return tuple(names)
    except (OSError, ValueError, IndexError):
        return ()


def _der_span(der: bytes, at: int) -> tuple[int, int]:
    """Where the content of the DER value at a place begins and ends."""
    length = der[at + 1]
    first = at + 2
    if length & 0x80:
        first += length & 0x7F
        length = int.from_bytes(der[at + 2 : first], "big")
    return first, first + length

"""Makes a certificate authority of one's own and the certificates it signs, as PEM.

The library behind it comes with the extras `noarkit[seal]` and `noarkit[cluster]`, and is imported when it is first
used.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from noarkit.errors import UsageFault
from noarkit.wings import extra_command

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName, KeyUsage, Name

_CLOCK_SKEW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CertifiedKey:
    """A private key and its certificate, both as PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """A new authority, which signs certificates for as long as it is in memory. `valid` counts from `now`."""

    def __init__(self, name: str, now: datetime, valid: timedelta) -> None:
        _require_library()
        from cryptography import x509

        self._now, self._valid = now, valid
        self._key = _new_key()
        self._name = _common_name(name)
        usage = _key_usage(signs_certificates=True)
        builder = self._builder(self._name, self._key).add_extension(usage, critical=True)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self._certificate = self._sign(builder)

    @property
    def pair(self) -> CertifiedKey:
        """The authority's own certificate and key."""
        return _as_pem(self._certificate, self._key)

    def issue(self, name: str, hosts: Sequence[str], *, serves: bool) -> CertifiedKey:
        """A certificate for a client, and for a server too if it `serves`, made out to host names and addresses."""
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        key = _new_key()
        purposes = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if serves else [])]
        builder = (
            self._builder(_common_name(name), key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
            .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
        )
        return _as_pem(self._sign(builder), key)

    def _builder(self, name: Name, key: EllipticCurvePrivateKey) -> CertificateBuilder:
        from cryptography import x509

        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCK_SKEW)
            .not_valid_after(self._now + self._valid)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )

    def _sign(self, builder: CertificateBuilder) -> Certificate:
        from cryptography.hazmat.primitives import hashes

        return builder.sign(self._key, hashes.SHA256())


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _common_name(name: str) -> Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_usage(*, signs_certificates: bool) -> KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _as_pem(certificate: Certificate, key: EllipticCurvePrivateKey) -> CertifiedKey:
    from cryptography.hazmat.primitives import serialization

    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return CertifiedKey(certificate.public_bytes(serialization.Encoding.PEM), private)


def _require_library() -> None:
    try:
        import cryptography  # noqa: F401  # that it is there is what is asked
    except ImportError as error:
        raise UsageFault(what="no-cluster", where="cryptography", do=extra_command("cluster")) from error

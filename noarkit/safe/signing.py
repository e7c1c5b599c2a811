"""Ed25519 signatures: a key pair as PEM files, as OpenSSL makes and reads them too.

A signature is 64 bytes beside what was signed; `openssl pkeyutl -verify -rawin` says the same of it. The library
behind it comes with the extra `seal`, and is imported when a key is first used.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noarkit.errors import ConfigFault, UsageFault
from noarkit.wings import extra_command

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE_BYTES = 64
_PRIVATE, _PUBLIC = b"PRIVATE KEY-----", b"-----BEGIN PUBLIC KEY-----"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that others sign with, as far as they show it. `fingerprint` is what two people compare by telephone."""

    where: str
    fingerprint: str
    _key: Ed25519PublicKey = field(repr=False)

    def signed(self, signature: bytes, message: bytes) -> bool:
        """True if the owner of the key signed exactly this."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Signer:
    """A key of our own; it is never shown and never written."""

    public: PublicKey
    _key: Ed25519PrivateKey = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message; the same message has always the same."""
        return self._key.sign(message)


def new_key_pair() -> tuple[bytes, bytes]:
    """A new key pair: the private half and the public one, as PEM. Raises `UsageFault` without the library."""
    _library()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, public


def read_signer(content: bytes, where: str) -> Signer:
    """The private key in a PEM file. Raises `ConfigFault` for anything else; nothing of the file is ever told."""
    _library()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if _PUBLIC in content:
        raise ConfigFault(where=where, why="key-public")
    try:
        key = serialization.load_pem_private_key(content, None)
    except TypeError:
        raise ConfigFault(where=where, why="key-has-password") from None
    except Exception:  # noqa: BLE001  # the library has many ways to say it; none is chained, for it may quote the key
        raise ConfigFault(where=where, why="seal-no-key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigFault(where=where, why="key-kind")
    return Signer(_public(key.public_key(), where), key)


def read_public(content: bytes, where: str) -> PublicKey:
    """The public key in a PEM file. Raises `ConfigFault` for anything else, a private key among it."""
    _library()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if _PRIVATE in content:
        raise ConfigFault(where=where, why="key-private")
    try:
        key = serialization.load_pem_public_key(content)
    except Exception:  # noqa: BLE001  # as above
        raise ConfigFault(where=where, why="seal-no-key") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigFault(where=where, why="key-kind")
    return _public(key, where)


def _public(key: Ed25519PublicKey, where: str) -> PublicKey:
    from cryptography.hazmat.primitives import serialization

    plain = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(where, hashlib.sha256(plain).hexdigest(), key)


def _library() -> None:
    try:
        import cryptography  # noqa: F401  # that it is there is what is asked
    except ImportError as error:
        raise UsageFault(what="no-seal", where="cryptography", do=extra_command("seal")) from error

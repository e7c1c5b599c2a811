"""COPIES/seal.json and seal.sig: what a folder of copies held when somebody sealed it, signed with an Ed25519 key.

A folder that was carried to another machine is what it was while its seal is good: the same documents, the same
copies, states and acceptances. The bytes of a copy are held to their checksum, which is sealed, whenever they are read.
Whatever changes the folder afterwards breaks the seal, and it is sealed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import orjson

from noarkit.copies.store import CopyStore
from noarkit.errors import SealBroken
from noarkit.results import Result
from noarkit.safe import atomic
from noarkit.safe.signing import SIGNATURE_BYTES, PublicKey, Signer

SEAL, SIGNATURE = "seal.json", "seal.sig"
_KIND = "noarkit-copies"
_VERSION = 1
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class CopiesSeal(Result):
    """A seal: how many copies it covers, their bytes, and the fingerprint of the key that sealed them."""

    EVENT: ClassVar = "copies_sealed"

    copies: str
    objects: int
    bytes: int
    fingerprint: str
    sealed_at: str


def seal_store(store: CopyStore, signer: Signer, by: Mapping[str, str], at: str) -> CopiesSeal:
    """Seals a folder of copies as it is now; an earlier seal is replaced. Raises `DiskFull`."""
    objects, size, digest = _contents(store)
    statement = {
        **{"kind": _KIND, "version": _VERSION, "sealed_at": at, "by": dict(by), "key": signer.public.fingerprint},
        **{"objects": objects, "bytes": size, "sha256": digest},
    }
    text = json.dumps(statement, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    (store.folder / SIGNATURE).unlink(missing_ok=True)  # a seal without its signature is none
    atomic.write_text(store.folder / SEAL, text, mode=0o644)
    atomic.write_bytes(store.folder / SIGNATURE, signer.sign(text.encode()), mode=0o644)
    return CopiesSeal(str(store.folder), objects, size, signer.public.fingerprint, at)


def prove_seal(store: CopyStore, trusted_keys: Sequence[PublicKey]) -> CopiesSeal:
    """The seal of a folder of copies, proven. Raises `SealBroken` where there is none, where it is not by one of the
    keys, and where the folder has changed since."""
    where = str(store.folder)
    text, signature = (_read(store.folder / name, where) for name in (SEAL, SIGNATURE))
    key = next((key for key in trusted_keys if key.signed(signature, text)), None)
    if key is None or len(signature) != SIGNATURE_BYTES:
        raise SealBroken(where=where, why="seal-stranger", name=SIGNATURE)
    try:
        statement = orjson.loads(text)
        kind, version, expected = statement["kind"], int(statement["version"]), str(statement["sha256"])
        sealed_at = str(statement["sealed_at"])
    except (ValueError, TypeError, KeyError) as error:
        raise SealBroken(where=where, why="seal-unreadable", name=SEAL) from error
    if kind != _KIND or version > _VERSION:
        raise SealBroken(where=where, why="seal-not-of-copies", name=SEAL)
    objects, size, digest = _contents(store)
    if digest != expected:
        raise SealBroken(where=where, why="seal-copies-changed", name=SEAL)
    return CopiesSeal(where, objects, size, key.fingerprint, sealed_at)


def _read(path: Path, where: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise SealBroken(where=where, why="seal-none", name=path.name) from error


def _contents(store: CopyStore) -> tuple[int, int, str]:
    """How many copies there are, their bytes, and a digest of everything that a plan takes from the store."""
    digest = hashlib.sha256()
    for row in _rows(store):
        digest.update(orjson.dumps(row) + b"\n")
    objects = list(store.objects())
    return len(objects), sum(size for _, size in objects), digest.hexdigest()


def _rows(store: CopyStore) -> Iterator[tuple[object, ...]]:
    yield ("agent", store.meta("agent"))
    yield from store.sealed_rows()

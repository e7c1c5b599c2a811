"""The digests that an archive states of itself: whether they are still those of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from noarkit.forms.siard.model import MessageDigest
from noarkit.forms.siard.read.places import ZipPlace
from noarkit.forms.siard.spec import HASHES
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.fixity import is_same_digest


def wrong_digests(path: Path, place: ZipPlace, digests: Iterable[MessageDigest]) -> Iterator[tuple[MessageDigest, str]]:
    """Digests over everything before the header that are not so, with what was found.

    Writers do not agree on where the header begins: at its folder, or at `metadata.xml`. Either is taken.
    """
    unproven = [digest for digest in digests if digest.algorithm in HASHES]
    ends = [end for end in dict.fromkeys((place.header_at(), place.metadata_at())) if end is not None]
    actual_by_name: dict[str, str] = {}
    for end in ends:
        hashers = {digest.algorithm: hashlib.new(HASHES[digest.algorithm]) for digest in unproven}
        bytes_left = end
        with path.open("rb") as file:
            while bytes_left and (block := file.read(min(BLOCK_BYTES, bytes_left))):
                bytes_left -= len(block)
                for hasher in hashers.values():
                    hasher.update(block)
        actual_by_name = {name: hasher.hexdigest() for name, hasher in hashers.items()} | actual_by_name
        unproven = [digest for digest in unproven if not same_digest(digest.digest, hashers[digest.algorithm].digest())]
        if not unproven:
            return
    yield from ((digest, actual_by_name[digest.algorithm]) for digest in unproven)


def same_digest(expected: str, actual: bytes) -> bool:
    """A digest may be written in hexadecimal, in letters of either size, or in Base64."""
    return is_same_digest(expected, actual.hex())

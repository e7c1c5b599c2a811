"""The digests that an archive states of itself: whether they are still those of its bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from noarkit.packages.siard.model import MessageDigest
from noarkit.packages.siard.places import ZipPlace
from noarkit.packages.siard.spec import HASHES
from noarkit.safe.digest import BLOCK_BYTES


def wrong_digests(path: Path, place: ZipPlace, digests: Iterable[MessageDigest]) -> Iterator[tuple[MessageDigest, str]]:
    """Digests over everything before the header that are not so, with what was found.

    Writers do not agree on where the header begins: at its folder, or at `metadata.xml`. Either is taken.
    """
    known = [one for one in digests if one.algorithm in HASHES]
    ends = [end for end in dict.fromkeys((place.header_at(), place.metadata_at())) if end is not None]
    found: dict[str, str] = {}
    for end in ends:
        running = {one.algorithm: hashlib.new(HASHES[one.algorithm]) for one in known}
        left = end
        with path.open("rb") as file:
            while left and (block := file.read(min(BLOCK_BYTES, left))):
                left -= len(block)
                for each in running.values():
                    each.update(block)
        found = {name: each.hexdigest() for name, each in running.items()} | found
        known = [one for one in known if not same_digest(one.digest, running[one.algorithm].digest())]
        if not known:
            return
    yield from ((one, found[one.algorithm]) for one in known)


def same_digest(told: str, found: bytes) -> bool:
    """A digest may be written in hexadecimal, in letters of either size, or in Base64."""
    spelt = told.strip()
    if spelt.lower() == found.hex():
        return True
    try:
        return base64.b64decode(spelt, validate=True) == found
    except (binascii.Error, ValueError):
        return False

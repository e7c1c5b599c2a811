"""The bytes of a file, held while they are read against the checksum that its package or extract tells."""

from __future__ import annotations

import hashlib

from noarkit.records import ContentStream


class VerifiedStream:
    """A stream that has the checksum it should have; no `algorithm`, nothing to hold it against."""

    def __init__(self, stream: ContentStream, algorithm: str, expected: str) -> None:
        self._stream = stream
        self._hash = hashlib.new(algorithm, usedforsecurity=False) if algorithm else None
        self._expected = expected

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        block = self._stream.read(size)
        if self._hash is not None:
            self._hash.update(block)
        return block

    def still_the_same(self) -> bool:
        """True if nobody touched it meanwhile, and the bytes have their checksum."""
        good = self._hash is None or self._hash.hexdigest() == self._expected
        return good and self._stream.still_the_same()

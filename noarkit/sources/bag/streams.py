"""The bytes of a bag's files, held against what the manifests say while they are read."""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO

from noarkit.errors import ItemChanged, ItemUnreadable
from noarkit.graph.entity import Content
from noarkit.sources.port import ContentStream


class FileBytes:
    """A file of a bag that is a folder. Raises `ItemChanged` where it is not as it was planned."""

    def __init__(self, file: BinaryIO, content: Content) -> None:
        self._file = file
        self._content = content
        if not self.still_the_same():
            raise ItemChanged(key=content.locator, why="time")

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise ItemUnreadable(key=self._content.locator, why=str(error.strerror)) from error

    def still_the_same(self) -> bool:
        """True where size and time are as planned."""
        status = os.fstat(self._file.fileno())
        planned = self._content
        return planned.size_bytes in (None, status.st_size) and planned.modified_ns in (None, status.st_mtime_ns)


class BagStream:
    """A stream that has the checksum of the manifest, where that is another than SHA-256."""

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
        """True where nobody touched it meanwhile, and the bytes have their checksum."""
        good = self._hash is None or self._hash.hexdigest() == self._expected
        return good and self._stream.still_the_same()

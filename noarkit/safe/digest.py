"""Hashes while bytes pass by, so that no file is read twice and none is held in memory."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

BLOCK_BYTES = 1024 * 1024


class Readable(Protocol):
    """Anything bytes can be read from."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end."""


def buffered(source: Readable) -> io.BufferedReader:
    """The same bytes for whoever reads lines or text of them."""
    return io.BufferedReader(_Raw(source), BLOCK_BYTES)


class _Raw(io.RawIOBase):
    def __init__(self, source: Readable) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # a memoryview is what is given
        block = self._source.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)


class Writable(Protocol):
    """Anything bytes can be written to."""

    def write(self, block: bytes, /) -> object:
        """Takes the whole block."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Size and sha256 of a stream that was read to its end."""

    sha256: str
    size_bytes: int


class HashingReader:
    """Reads from another reader and hashes what passes: `read` or iterate, then ask `digest()`."""

    def __init__(self, source: Readable, algorithm: str = "sha256") -> None:
        self._source = source
        self._hash = hashlib.new(algorithm)
        self.size_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes of the source, hashed."""
        block = self._source.read(size)
        self._hash.update(block)
        self.size_bytes += len(block)
        return block

    def __iter__(self) -> Iterator[bytes]:
        """The rest of the source in blocks."""
        while block := self.read(BLOCK_BYTES):
            yield block

    def hexdigest(self) -> str:
        """The hash, in lower-case hexadecimal, of what was read so far."""
        return self._hash.hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in lower-case hexadecimal."""
    return hash_of(path, "sha256")


def hash_of_stream(source: Readable, algorithm: str) -> str:
    """The hash of what is left of a stream, read once, by any algorithm that hashlib knows."""
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    while block := source.read(BLOCK_BYTES):
        hasher.update(block)
    return hasher.hexdigest()


def sha256_of_stream(source: Readable) -> str:
    """The sha256 of what is left of a stream, read once."""
    hasher = hashlib.sha256()
    while block := source.read(BLOCK_BYTES):
        hasher.update(block)
    return hasher.hexdigest()


def hash_of(path: Path, algorithm: str) -> str:
    """The hash of a file by any algorithm that hashlib knows (`"md5"`, `"sha1"`, `"sha256"`, `"sha512"`, …)."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def copy_hashing(source: Readable, target: Writable) -> Digest:
    """Copies all of `source` to `target` and says what passed."""
    reader = HashingReader(source)
    for block in reader:
        target.write(block)
    return Digest(reader.hexdigest(), reader.size_bytes)

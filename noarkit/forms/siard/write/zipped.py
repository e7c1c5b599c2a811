"""Writes a ZIP that every reader can read: sizes stand before the bytes, ZIP64 fields only where they are needed.

Nothing is patched and nothing follows the bytes of a member, so the file can be hashed as it grows, and cut back to
any member that was finished. What the end must tell is kept in a file beside it, never in memory.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Protocol

from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.scratch import nameless_file

_U16 = 0xFFFF
_U32 = 0xFFFFFFFF
_UTF8_FLAG = 0x0800
_DOS_TIME = (0, 0x0021)
_WAITING = 4


class PackedMember(Protocol):
    """A member whose packed bytes are ready."""

    method: int
    crc: int
    size_bytes: int
    packed_bytes: int

    def blocks(self) -> Readable:
        """The packed bytes, from the first on."""
        ...


class Part:
    """The bytes of one member, packed as they come, in a file without a name. A thread of its own does the packing."""

    def __init__(self, folder: Path, level: int) -> None:
        self._file = nameless_file(folder)
        self._packing = zlib.compressobj(level, zlib.DEFLATED, -15) if level else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="noarkit-zip")
        self._waiting: deque[Future[None]] = deque()
        self.method = 8 if level else 0
        self.crc = 0
        self.size_bytes = 0
        self.packed_bytes = 0

    def write(self, block: bytes) -> None:
        """Takes a block; waits where too many wait already."""
        self._waiting.append(self._thread.submit(self._take, block))
        if len(self._waiting) > _WAITING:
            self._waiting.popleft().result()

    def _take(self, block: bytes) -> None:
        self.crc = zlib.crc32(block, self.crc)
        self.size_bytes += len(block)
        self._append(block if self._packing is None else self._packing.compress(block))

    def _append(self, packed: bytes) -> None:
        self.packed_bytes += len(packed)
        self._file.write(packed)

    def finish(self) -> None:
        """All is there."""
        while self._waiting:
            self._waiting.popleft().result()
        if self._packing is not None:
            self._append(self._packing.flush())
            self._packing = None

    def close(self) -> None:
        """Forgets the bytes."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._file.close()

    def blocks(self) -> BinaryIO:
        """The packed bytes, from the first on."""
        self._file.seek(0)
        return self._file


class ZipWriter:
    """A ZIP at `path` that grows behind `length` bytes; its directory is kept at `beside`, cut to as many bytes too."""

    def __init__(self, path: Path, beside: Path, lengths: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.at, directory, self.count = lengths
        self._file = _cut(path, self.at)
        self._directory = _cut(beside, directory)
        self._hash = hashlib.sha256()
        self._rehash(path)

    def _rehash(self, path: Path) -> None:
        bytes_left = self.at
        with path.open("rb") as file:
            while bytes_left and (block := file.read(min(BLOCK_BYTES, bytes_left))):
                self._hash.update(block)
                bytes_left -= len(block)

    def lengths(self) -> tuple[int, int, int]:
        """How much stands now, on disk: what another writer may go on from."""
        for file in (self._file, self._directory):
            file.flush()
            os.fsync(file.fileno())
        return self.at, self._directory.tell(), self.count

    def digest(self) -> str:
        """The SHA-256 over everything so far."""
        return self._hash.hexdigest()

    def folder(self, name: str) -> None:
        """An empty folder; its name ends with a slash."""
        self._begin(name, 0, 0, (0, 0))

    def add(self, name: str, content: bytes, level: int = 0) -> None:
        """A member that is at hand."""
        packed = content
        if level:
            packing = zlib.compressobj(level, zlib.DEFLATED, -15)
            packed = packing.compress(content) + packing.flush()
        method, body = (8, packed) if level and len(packed) < len(content) else (0, content)
        self._begin(name, method, zlib.crc32(content), (len(content), len(body)))
        self._write(body)

    def add_part(self, name: str, part: PackedMember) -> None:
        """A member that was packed before, and is finished."""
        self._begin(name, part.method, part.crc, (part.size_bytes, part.packed_bytes))
        source = part.blocks()
        while block := source.read(BLOCK_BYTES):
            self._write(block)

    def finish(self) -> None:
        """Writes the directory, and makes all durable."""
        begin = self.at
        size = self._directory.tell()
        self._directory.seek(0)
        while block := self._directory.read(BLOCK_BYTES):
            self._write(block)
        self._write(_end(begin, size, self.count))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Lets the files go."""
        self._file.close()
        self._directory.close()

    def _begin(self, name: str, method: int, crc: int, sizes: tuple[int, int]) -> None:
        spelt = name.encode()
        size, packed = sizes
        needs = max(size, packed) >= _U32
        extra = struct.pack("<HHQQ", 1, 16, size, packed) if needs else b""
        shown_sizes = (_U32, _U32) if needs else (packed, size)
        fields = (45 if needs else 20, _UTF8_FLAG, method, *_DOS_TIME, crc, *shown_sizes, len(spelt), len(extra))
        self._add_to_directory(spelt, (method, crc), sizes)
        self._write(struct.pack("<IHHHHHIIIHH", 0x04034B50, *fields) + spelt + extra)

    def _add_to_directory(self, spelt: bytes, method_and_crc: tuple[int, int], sizes: tuple[int, int]) -> None:
        method, crc = method_and_crc
        size, packed = sizes
        far = [value for value in (size, packed, self.at) if value >= _U32]
        extra = struct.pack(f"<HH{len(far)}Q", 1, 8 * len(far), *far) if far else b""
        version_needed = 45 if far else 20
        mode = (0o040755 << 16 | 0x10) if spelt.endswith(b"/") else 0o100644 << 16
        fields = (
            version_needed | 3 << 8,
            version_needed,
            _UTF8_FLAG,
            method,
            *_DOS_TIME,
            crc,
            min(packed, _U32),
            min(size, _U32),
        )
        tail = (len(spelt), len(extra), 0, 0, 0, mode, min(self.at, _U32))
        self._directory.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, *fields, *tail) + spelt + extra)
        self.count += 1

    def _write(self, block: bytes) -> None:
        self._file.write(block)
        self._hash.update(block)
        self.at += len(block)


def _end(begin: int, size: int, count: int) -> bytes:
    tail = struct.pack(
        "<IHHHHIIH", 0x06054B50, 0, 0, min(count, _U16), min(count, _U16), min(size, _U32), min(begin, _U32), 0
    )
    if count < _U16 and size < _U32 and begin < _U32:
        return tail
    zip64_end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45 | 3 << 8, 45, 0, 0, count, count, size, begin)
    return zip64_end + struct.pack("<IIQI", 0x07064B50, 0, begin + size, 1) + tail


def _cut(path: Path, length: int) -> BinaryIO:
    file = os.fdopen(open_descriptor(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
    file.truncate(length)
    file.seek(length)
    return file

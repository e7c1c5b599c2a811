"""Reads zip files without holding their directory in memory: entries come one by one, however many millions.

Python's `zipfile` keeps an object for each entry, some gigabytes for a few million, and trusts the directory alone.

What the directory says of a file is held against what stands before the file itself. Only `unpack` uses this.
"""

from __future__ import annotations

import bz2
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from noarkit.errors import PackageFault, UnsafeMember
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.scratch import scratch

STORED, DEFLATED, BZIP2 = 0, 8, 12
_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_MOST_COMMENT = 65_535
_U32 = 0xFFFFFFFF
_MOST_BYTES = 2**62
_UTF8_FLAG = 0x0800
_STEP = 64 * 1024
_MOST_ENTRY = _CENTRAL.size + 3 * 65_535


class Packing(NamedTuple):
    """How the bytes of a file lie in a zip: where its own header begins, and what the directory says of it."""

    header_at: int
    method: int
    packed_bytes: int
    crc: int


class Entry(NamedTuple):
    """One line of the directory. `mode` is what a Unix system would say of the file, 0 if nothing is told."""

    name: str
    size_bytes: int
    mode: int
    encrypted: bool
    packing: Packing
    is_utf8: bool = True

    @property
    def is_folder(self) -> bool:
        """True for the name of a folder."""
        return self.name.endswith("/")


def count_of(file: BinaryIO) -> int:
    """How many lines the directory says that it has, before any is read; `zipfile.BadZipFile` where it is too short."""
    return _directory(file)[2]


def entries(file: BinaryIO) -> Iterator[Entry]:
    """The directory in its own order, from first to last. Raises `zipfile.BadZipFile` for one that is none."""
    begin, size, count = _directory(file)
    directory = _Window(file, begin, size)
    buffer, at, unread = b"", 0, size
    for _ in range(count):
        # The buffer always holds one whole entry of the largest kind (a header and three fields of 64 KiB), so `_entry`
        # never meets one that is cut.
        if unread and len(buffer) - at < _MOST_ENTRY:
            buffer, at = buffer[at:] + directory.read(BLOCK_BYTES), 0
            unread = max(unread - BLOCK_BYTES, 0)
        entry, at = _entry(buffer, at)
        yield entry
    # Bytes behind the last entry could hold others, which a reader that goes by size instead of count would unpack.
    if at < len(buffer) or unread:
        raise zipfile.BadZipFile("the directory goes on beyond its last entry")


def refuse_overlaps(file: BinaryIO) -> None:
    """Two entries that share bytes are how a small file holds petabytes: `UnsafeMember`.

    Where entries lie in the order in which they are named, as they do in nearly every zip, whoever reads them sees that
    each begins where the last ended or later (`end_of`), and need not ask this.
    """
    db = scratch()
    try:
        # Sorted by SQLite on disk: millions of places need not fit into memory.
        db.execute("CREATE TABLE place (begin INTEGER, end INTEGER, name BLOB)")
        rows = ((entry.packing.header_at, end_of(entry), os.fsencode(entry.name)) for entry in entries(file))
        db.execute("BEGIN")
        db.executemany("INSERT INTO place VALUES (?, ?, ?)", rows)
        db.execute("COMMIT")
        end = -1
        for begin, entry_end, name in db.execute("SELECT begin, end, name FROM place ORDER BY begin, end"):
            if begin < end:
                raise UnsafeMember(where=os.fsdecode(name), why="overlap")
            end = entry_end
    finally:
        db.close()


def end_of(entry: Entry) -> int:
    """Where the bytes of an entry end at the earliest: what else its own header holds is not known here."""
    return entry.packing.header_at + _LOCAL.size + entry.packing.packed_bytes


def open_entry(file: BinaryIO, name: str, packing: Packing, size_bytes: int) -> Readable:
    """The bytes of one file, held against its checksum at the end; another may not be read meanwhile."""
    file.seek(packing.header_at)
    header = _LOCAL.unpack(_exactly(file, _LOCAL.size))
    signature, flags, method, length, extra = header[0], header[2], header[3], header[9], header[10]
    # A file has two headers, the directory's and its own. Readers differ in which they believe, so one zip could show a
    # scanner one file and a user another: both must say the same.
    if signature != b"PK\x03\x04" or method != packing.method:
        raise zipfile.BadZipFile(f"the header of {name!r} is not what the directory says")
    if _text(_exactly(file, length), flags) != name:
        raise zipfile.BadZipFile(f"the header of {name!r} bears another name")
    begin = packing.header_at + _LOCAL.size + length + extra
    packed = _Window(file, begin, packing.packed_bytes)
    if method == STORED:
        if packing.packed_bytes != size_bytes:
            raise zipfile.BadZipFile(f"{name!r} is stored with two sizes")
        return _ChecksummedReader(packed, name, packing.crc, size_bytes)
    return _ChecksummedReader(_Unpacked(packed, _unpacker(method, name)), name, packing.crc, size_bytes)


def _directory(file: BinaryIO) -> tuple[int, int, int]:
    """Where the directory begins, its bytes and its entries."""
    file_size = file.seek(0, os.SEEK_END)
    tail = min(file_size, _END.size + _MOST_COMMENT)
    file.seek(file_size - tail)
    content = _exactly(file, tail)
    # The end of a zip carries a comment of unknown length, so it is searched from behind; the length it states must
    # then fit exactly, lest a second, hidden directory stands in the comment.
    at = content.rfind(b"PK\x05\x06", 0, len(content) - _END.size + 4)
    if at < 0 or at + _END.size > len(content):
        raise zipfile.BadZipFile("there is no end of a directory")
    _, _, _, _, few, size, begin, comment = _END.unpack_from(content, at)
    if at + _END.size + comment != len(content):
        raise zipfile.BadZipFile("something stands behind the end of the directory")
    end, count = file_size - tail + at, few
    large = _end_64(file, end)  # some writers always write the large end, others where they must
    if large is not None:
        end, begin, size, count = large
    # No room between directory and end: programs put in front of zips, and hidden entries, move it.
    if begin + size != end:
        raise zipfile.BadZipFile("the directory is not where it should be")
    # Refused before a loop over what may be claimed to be billions of entries.
    if count * _CENTRAL.size > size:
        raise zipfile.BadZipFile("the directory is too short for its entries")
    return begin, size, count


def _end_64(file: BinaryIO, end: int) -> tuple[int, int, int, int] | None:
    if end < _LOCATOR.size:
        return None
    file.seek(end - _LOCATOR.size)
    signature, _, place, _ = _LOCATOR.unpack(_exactly(file, _LOCATOR.size))
    if signature != b"PK\x06\x07":
        return None
    file.seek(place)
    record = _END_64.unpack(_exactly(file, _END_64.size))
    if record[0] != b"PK\x06\x06":
        raise zipfile.BadZipFile("the end of a large directory is not where it should be")
    return place, record[9], record[8], record[7]


def _entry(buffer: bytes, at: int) -> tuple[Entry, int]:
    """The entry that begins at a place of what was read, and where the next one does."""
    begin = at + _CENTRAL.size
    if begin > len(buffer):
        raise zipfile.BadZipFile("the file ends too early")
    record = _CENTRAL.unpack_from(buffer, at)
    signature, _, _, flags, method, _, _, crc, packed, size, length, extra, comment, _, _, mode, place = record
    if signature != b"PK\x01\x02":
        raise zipfile.BadZipFile("the directory is broken")
    name_end = begin + length
    end = name_end + extra + comment
    if end > len(buffer):
        raise zipfile.BadZipFile("the file ends too early")
    name = _text(buffer[begin:name_end], flags)
    if _U32 in (size, packed, place):
        size, packed, place = _large(buffer[name_end : name_end + extra], size, packed, place)
        # 64-bit numbers beyond this would overflow seeks, with faults nobody expects.
        if max(size, packed, place) > _MOST_BYTES:
            raise zipfile.BadZipFile(f"{name!r} says that it is larger than anything can be")
    return Entry(
        name, size, mode >> 16, flags & 1 == 1, Packing(place, method, packed, crc), flags & _UTF8_FLAG != 0
    ), end


def _large(extra: bytes, *values: int) -> tuple[int, int, int]:
    """Sizes and place of an entry beyond four gigabytes stand in its extra field, those that need it, in order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            large = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            sizes = [next(large, value) if value == _U32 else value for value in values]
            return sizes[0], sizes[1], sizes[2]
        at += 4 + length
    return values[0], values[1], values[2]


def _text(name: bytes, flags: int) -> str:
    return name.decode("utf-8") if flags & _UTF8_FLAG else name.decode("cp437")


def _exactly(file: Readable, size: int) -> bytes:
    content = file.read(size) if size else b""
    if len(content) != size:
        raise zipfile.BadZipFile("the file ends too early")
    return content


class _Window:
    """A stretch of a file."""

    def __init__(self, file: BinaryIO, begin: int, size: int) -> None:
        self._file = file
        self._at = begin
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        count = self._left if size < 0 else min(size, self._left)
        self._file.seek(self._at)
        block = self._file.read(count)
        self._at += len(block)
        self._left -= len(block)
        return block


class _Unpacker(Protocol):
    """What makes bytes of packed ones, no more at a time than it is asked for."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Inflater:
    """Raw deflate with the manner of the other."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(-15)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _unpacker(method: int, name: str) -> _Unpacker:
    if method == DEFLATED:
        return _Inflater()
    if method == BZIP2:
        return bz2.BZ2Decompressor()
    raise PackageFault(where=name, why="unknown-compression", detail=f"compression {method}")


class _Unpacked:
    """Packed bytes as they were."""

    def __init__(self, packed: Readable, unpacker: _Unpacker) -> None:
        self._packed = packed
        self._unpacker = unpacker
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        count = BLOCK_BYTES if size < 0 else size
        # `max_length` bounds each step: without it a few kilobytes could become gigabytes in one call.
        while count and not self._unpacker.eof:
            block = self._unpacker.decompress(b"", count) if self._ended else b""
            if not self._ended:
                more = self._packed.read(_STEP)
                self._ended = not more
                block = self._unpacker.decompress(more, count)
            if block:
                return block
            if self._ended:
                break
        return b""


class _ChecksummedReader:
    """Bytes that have the checksum they should have, once all of them were read."""

    def __init__(self, source: Readable, name: str, crc: int, size_bytes: int) -> None:
        self._source = source
        self._name = name
        self._expected = crc
        self._left = size_bytes
        self._crc = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        count = self._left if size < 0 else min(size, self._left)
        block = self._source.read(count)
        self._crc = zlib.crc32(block, self._crc)
        self._left -= len(block)
        # At the last byte, not at a read after it: callers stop when they have what was announced.
        if self._left == 0 and block and self._crc != self._expected:
            raise zipfile.BadZipFile(f"{self._name!r} is not what its checksum says")
        return block

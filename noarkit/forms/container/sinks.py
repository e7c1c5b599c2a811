"""Where a package is written to: a folder, or a zip or tar that grows by one file after the other.

Each can be cut back to any file that was finished, so that a build goes on where it stopped. A zip is stored and every
size may be beyond four gigabytes; a tar.gz is made of members that each end at a mark.
"""

from __future__ import annotations

import os
import struct
import tarfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from noarkit.errors import ItemChanged
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.digest import BLOCK_BYTES, Readable

Form = Literal["folder", "zip", "tar", "tar.gz"]
_SUFFIXES: tuple[tuple[str, Form], ...] = ((".zip", "zip"), (".tar", "tar"), (".tar.gz", "tar.gz"), (".tgz", "tar.gz"))
_U32 = 0xFFFFFFFF
_EPOCH_DOS = (0, 0x0021)
_UTF8_FLAG = 0x0800
_MARK_BYTES = 64 * 1024 * 1024
_LAST_TAR_SECOND = 8**11 - 1  # what a plain header holds, of bytes as well
_TAR_NAME_BYTES = 100


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file that stands in a container: where its bytes begin and end, and what the container must remember of it."""

    name: str
    size_bytes: int
    begin: int
    end: int
    crc: int = 0


class Sink(Protocol):
    """Takes the bytes of one file after the other."""

    def add(self, name: str, content: Readable, size_bytes: int | None, modified_s: float = 0) -> PlacedFile:
        """Writes a file whole. `size_bytes` is needed by a tar, which also tells when the file was last changed; other
        content than that is `ItemChanged`."""
        ...

    def folder(self, name: str) -> None:
        """A folder, where the container tells of folders: a tar does, in a zip they are known by their files."""
        ...

    def checkpoint(self) -> int:
        """Makes everything so far readable for another process, and says how long it is."""
        ...

    def finish(self, files: Iterable[PlacedFile]) -> None:
        """Writes what stands at the end."""
        ...

    def close(self) -> None:
        """Lets the file go."""
        ...


def form_of_target(path: Path) -> Form:
    """What a target's name asks for."""
    name = path.name.lower()
    return next((form for tail, form in reversed(_SUFFIXES) if name.endswith(tail)), "folder")


def top_name(path: Path) -> str:
    """What the top folder of a package is called: the target's name without its tail."""
    for tail, _ in reversed(_SUFFIXES):
        if path.name.lower().endswith(tail) and len(path.name) > len(tail):
            return path.name[: -len(tail)]
    return path.name


def open_sink(path: Path, form: Form, top: str, length: int, *, mode: int = 0o644) -> Sink:
    """The container at `path`, cut back to `length` bytes; made with `mode` where it is not there."""
    file = os.fdopen(open_descriptor(path, os.O_RDWR | os.O_CREAT, mode), "r+b", buffering=0)
    file.truncate(length)
    file.seek(length)
    return sink_into(file, form, top, length)


def sink_into(file: BinaryIO, form: Form, top: str, length: int = 0) -> Sink:
    """The container that is written into an open file, which stands at `length`."""
    if form == "zip":
        return _Zip(file, top, length)
    return _Tar(file, top) if form == "tar" else _PackedTar(file, top)


class _Writer(Protocol):
    def write(self, block: bytes, /) -> object: ...


class _Zip:
    """Local headers are written after their bytes, for only then are they known."""

    def __init__(self, file: BinaryIO, top: str, length: int) -> None:
        self._file = file
        self._top = top
        self._at = length

    def add(self, name: str, content: Readable, size_bytes: int | None, modified_s: float = 0) -> PlacedFile:
        begin = self._at
        spelt = f"{self._top}/{name}".encode()
        header_bytes = 30 + len(spelt) + 20
        small = content.read(BLOCK_BYTES)
        crc, size = zlib.crc32(small), len(small)
        more = content.read(BLOCK_BYTES) if small else b""
        if not more:
            _write_all(self._file, _local_header(spelt, crc, size) + small)
        else:
            self._file.seek(begin + header_bytes)
            _write_all(self._file, small)
            while more:
                crc, size = zlib.crc32(more, crc), size + len(more)
                _write_all(self._file, more)
                more = content.read(BLOCK_BYTES)
            self._file.seek(begin)
            _write_all(self._file, _local_header(spelt, crc, size))
        self._at = begin + header_bytes + size
        self._file.seek(self._at)
        return PlacedFile(name, size, begin + header_bytes, self._at, crc)

    def folder(self, name: str) -> None:
        return

    def checkpoint(self) -> int:
        return self._at

    def finish(self, files: Iterable[PlacedFile]) -> None:
        begin, count = self._at, 0
        buffer = bytearray()
        for file in files:
            buffer += self._central(file)
            count += 1
            if len(buffer) > BLOCK_BYTES:
                _write_all(self._file, bytes(buffer))
                self._at += len(buffer)
                buffer.clear()
        _write_all(self._file, bytes(buffer))
        self._at += len(buffer)
        _write_all(self._file, _zip_end(begin, self._at, count))

    def _central(self, file: PlacedFile) -> bytes:
        spelt = f"{self._top}/{file.name}".encode()
        header = file.begin - 30 - len(spelt) - 20
        extra = struct.pack("<HHQQQ", 1, 24, file.size_bytes, file.size_bytes, header)
        fields = (0x02014B50, 45 | 3 << 8, 45, _UTF8_FLAG, 0, *_EPOCH_DOS, file.crc, _U32, _U32)
        tail = (len(spelt), len(extra), 0, 0, 0, 0o100644 << 16, _U32)
        return struct.pack("<IHHHHHHIIIHHHHHII", *fields, *tail) + spelt + extra

    def close(self) -> None:
        self._file.close()


def _local_header(spelt: bytes, crc: int, size: int) -> bytes:
    extra = struct.pack("<HHQQ", 1, 16, size, size)
    fields = (0x04034B50, 45, _UTF8_FLAG, 0, *_EPOCH_DOS, crc, _U32, _U32, len(spelt), len(extra))
    return struct.pack("<IHHHHHIIIHH", *fields) + spelt + extra


def _zip_end(begin: int, end: int, count: int) -> bytes:
    zip64_end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45 | 3 << 8, 45, 0, 0, count, count, end - begin, begin)
    locator = struct.pack("<IIQI", 0x07064B50, 0, end, 1)
    few = min(count, 0xFFFF)
    return (
        zip64_end
        + locator
        + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, few, few, min(end - begin, _U32), min(begin, _U32), 0)
    )


class _Tar:
    """Headers are plain where they can be, and PAX where names or sizes need it."""

    def __init__(self, file: BinaryIO, top: str) -> None:
        self._file = file
        self._top = top

    def add(self, name: str, content: Readable, size_bytes: int | None, modified_s: float = 0) -> PlacedFile:
        begin = self._file.tell()
        header_bytes = _tar_member(self._file, f"{self._top}/{name}", content, (size_bytes, modified_s))
        return PlacedFile(name, size_bytes or 0, begin + header_bytes, self._file.tell())

    def folder(self, name: str) -> None:
        _write_all(self._file, _tar_folder(f"{self._top}/{name}"))

    def checkpoint(self) -> int:
        return self._file.tell()

    def finish(self, files: Iterable[PlacedFile]) -> None:
        _write_all(self._file, bytes(2 * tarfile.BLOCKSIZE))

    def close(self) -> None:
        self._file.close()


class _PackedTar:
    """A tar in gzip. What is packed ends at each mark, and begins again: readers see one stream."""

    def __init__(self, file: BinaryIO, top: str) -> None:
        self._file = file
        self._top = top
        self._packer = _Packer(file)

    def add(self, name: str, content: Readable, size_bytes: int | None, modified_s: float = 0) -> PlacedFile:
        begin = self._file.tell()
        _tar_member(self._packer, f"{self._top}/{name}", content, (size_bytes, modified_s))
        return PlacedFile(name, size_bytes or 0, begin, self._file.tell())

    def folder(self, name: str) -> None:
        self._packer.write(_tar_folder(f"{self._top}/{name}"))

    def checkpoint(self) -> int:
        self._packer.end()
        return self._file.tell()

    def finish(self, files: Iterable[PlacedFile]) -> None:
        self._packer.write(bytes(2 * tarfile.BLOCKSIZE))
        self._packer.end()

    def close(self) -> None:
        self._file.close()


class _Packer:
    """Gzip members one after the other; no time in their headers, so that the same content gives the same bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._packing: zlib._Compress | None = None

    def write(self, block: bytes) -> None:
        if self._packing is None:
            self._packing = zlib.compressobj(6, zlib.DEFLATED, 31)
        _write_all(self._file, self._packing.compress(block))

    def end(self) -> None:
        if self._packing is not None:
            _write_all(self._file, self._packing.flush())
            self._packing = None


def _tar_member(file: BinaryIO | _Packer, name: str, content: Readable, size_and_time: tuple[int | None, float]) -> int:
    size_bytes, modified_s = size_and_time[0] or 0, size_and_time[1]
    header = _tar_header(name, size_bytes, min(max(int(modified_s), 0), _LAST_TAR_SECOND))
    block = content.read(min(BLOCK_BYTES, size_bytes + 1))
    if len(block) == size_bytes and not (block and content.read(1)):
        _write_all(file, b"".join((header, block, bytes(-size_bytes % tarfile.BLOCKSIZE))))
        return len(header)
    _write_all(file, header)
    size = 0
    while block and (size := size + len(block)) <= size_bytes:
        _write_all(file, block)
        block = content.read(BLOCK_BYTES)
    if size != size_bytes:
        raise ItemChanged(key=name, why="size")
    _write_all(file, bytes(-size % tarfile.BLOCKSIZE))
    return len(header)


def _tar_header(name: str, size_bytes: int, modified_s: int) -> bytes:
    """What stands before a file: made by the library, or of its plainest header where nothing but numbers differ."""
    if len(name) <= _TAR_NAME_BYTES and name.isascii() and name[-1:] != "/" and size_bytes <= _LAST_TAR_SECOND:
        plain, plain_sum = _plain_tar_header()
        name_bytes, numbers = name.encode(), b"%011o\0%011o\0" % (size_bytes, modified_s)
        checksum = plain_sum + sum(name_bytes) + sum(numbers)
        return b"".join(
            (name_bytes.ljust(_TAR_NAME_BYTES, b"\0"), plain[100:124], numbers, b"%06o\0" % checksum, plain[155:])
        )
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size_bytes, modified_s, 0o644
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


@cache
def _plain_tar_header() -> tuple[bytes, int]:
    """The library's header of a file without a name, and the sum of its bytes without those that differ."""
    info = tarfile.TarInfo("")
    info.mode = 0o644
    header = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")
    return header, sum(header[100:124]) + 8 * ord(" ") + sum(header[156:])


def _tar_folder(name: str) -> bytes:
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    info.mode = 0o755
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def _write_all(file: _Writer, block: bytes) -> None:
    count = file.write(block)
    while isinstance(count, int) and count < len(block):
        block = block[count:]
        count = file.write(block)

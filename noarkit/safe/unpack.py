"""Reads and unpacks zip and tar files safely: members are streamed one by one, and only plain files come through.

Links, devices, duplicates, twins and names that lead out are refused, and so is an archive file that grows beyond
measure. Nothing is written by the archive library itself; `unpack_to` writes with the checks of this module.

What "beyond measure" is: deflate, which zip and gzip use, cannot give more than 1,032 bytes for one, so a ratio cannot
tell an honest file of zeros from a bomb; what such a file can give is bounded by its own size, as long as its entries
share no bytes and no archive file inside it is opened, and both are seen to. bzip2 and xz give thousands for one, or a
million: they may do so up to `free_bytes` of all their content. Beyond that the ratio counts, and `total_bytes` always.
No member gives more than was announced for it before, so what is only read and hashed ends there; what is written to
disk (a packed tar that is read backwards, a copy for another validator) is held against the room there is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn, Protocol

from noarkit.errors import PackageFault, TooLarge, UnsafeMember
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.safe import zipped
from noarkit.safe.archive_names import tar_name, zip_name
from noarkit.safe.atomic import no_room
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.disk import room_in
from noarkit.safe.paths import NameKeys, Names, checked_parts
from noarkit.safe.zipped import Packing

EVENTS: EventFields = {"members_listed": {"members": "count", "of": "count?"}}
Form = Literal["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"]

_MAGIC: tuple[tuple[bytes, Form], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "tar.gz"),
    (b"BZh", "tar.bz2"),
    (b"\xfd7zXZ\x00", "tar.xz"),
)
_ARCHIVE_ENDINGS = (".zip", ".siard", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_TAIL_BYTES, _END_BYTES = 64 * 1024 + 22, 22
"""How far before its end a zip's directory may end, with a comment after it; and the record that says so."""
_TELL_EVERY = 10_000
_MAX_HEADER_BYTES = 16 * 1024 * 1024
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    struct.error,
    ValueError,
    OverflowError,
)
"""What the libraries say of an archive file that is damaged."""


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """How much an honest archive file may hold; the ratio, more than deflate can reach, counts beyond `free_bytes`.
    Names in it that are no UTF-8 are read in `encoding`, where one is given."""

    members: int = 5_000_000
    total_bytes: int = 2**44
    ratio: int = 1_100
    free_bytes: int = 1024 * 1024 * 1024
    nesting: int = 3
    encoding: str = ""


LIMITS = UnpackLimits()


@dataclass(frozen=True, slots=True)
class Member:
    """A plain file of an archive file: `offset_bytes` is where its bytes begin in an unpacked tar, `packing` how they
    lie in a zip, which spells its name as `spelt`."""

    parts: tuple[str, ...]
    size_bytes: int
    modified_s: float | None
    offset_bytes: int | None = None
    packing: Packing | None = None
    spelt: str = ""

    @property
    def name(self) -> str:
        """Its path, written with `/`."""
        return "/".join(self.parts)


class Content:
    """The bytes of one member, to be read before the next member is asked for."""

    def __init__(self, source: Readable, member: Member) -> None:
        self._source = source
        self._member = member
        self._left = member.size_bytes

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end. Never more than the archive file said there would be."""
        # Never more than announced, whatever the compressed bytes would still give: this ends a bomb whose header lies.
        count = self._left if size < 0 else min(size, self._left)
        with _translating(self._member.name):
            block = self._source.read(count) if count else b""
        if count and not block:
            raise PackageFault(where=self._member.name, why="cut-short")
        self._left -= len(block)
        return block

    def __iter__(self) -> Iterator[bytes]:
        """The rest in blocks."""
        while block := self.read(BLOCK_BYTES):
            yield block


class _Meter:
    """Counts what comes out, as it is announced; no member gives more than it announced."""

    def __init__(self, where: str, packed_bytes: int, limits: UnpackLimits) -> None:
        self._where = where
        self._limits = limits
        self.encoding = limits.encoding
        self._members = 0
        self._bytes = 0
        # Counted over the whole file and not by member: a bomb of a million small members is one, too.
        by_ratio = packed_bytes * limits.ratio + limits.free_bytes
        self._most = min(limits.total_bytes, by_ratio)
        self._why = "ratio" if by_ratio < limits.total_bytes else "total-bytes"

    def announce(self, size_bytes: int) -> None:
        """Takes a member that says how large it will be."""
        self._members += 1
        if self._members > self._limits.members:
            self.refuse_count()
        # By what members announce, before any byte of them is unpacked; `Content` holds them to it.
        self._bytes += size_bytes
        if self._bytes > self._most:
            raise TooLarge(where=self._where, why=self._why, limit=self._most)

    def expect(self, count: int) -> None:
        """Refuses what says beforehand that it holds too many."""
        if count > self._limits.members:
            self.refuse_count()

    def refuse_count(self) -> NoReturn:
        """Too many members."""
        raise TooLarge(where=self._where, why="members", limit=self._limits.members)


def form_of(path: Path) -> Form | None:
    """What kind of archive file this is, by its first bytes; None for anything else."""
    with path.open("rb") as file:
        return form_of_head(file.read(512))


def form_of_head(head: bytes) -> Form | None:
    """What kind of archive file begins with these bytes, a block of a tar at least."""
    for magic, form in _MAGIC:
        if head.startswith(magic):
            return form
    return "tar" if _is_tar_header(head[:512]) else None


def damaged_archive(path: Path) -> str:
    """What is wrong with a file that can only be meant as a zip or tar: `archive-prefix` where other bytes stand before
    a zip, `archive-empty` where it holds nothing, `archive-head` where it begins as neither; empty for anything else.

    What begins otherwise is judged by its end, and by its name: nothing else is left of it.
    """
    if form_of(path) is not None:
        return "" if next(stream_members(path), None) is not None else "archive-empty"
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        if at >= 0 and len(tail) >= at + _END_BYTES:
            directory = size - len(tail) + at - int.from_bytes(tail[at + 12 : at + 16], "little")
            file.seek(max(0, directory))
            if directory >= 0 and file.read(4) == b"PK\x01\x02":
                return "archive-prefix"
    if not path.name.lower().endswith(_ARCHIVE_ENDINGS):
        return ""
    return "archive-head" if tail.strip(b"\0") else "archive-empty"


def members(
    path: Path, *, limits: UnpackLimits = LIMITS, depth: int = 0, twins: bool = False
) -> Iterator[tuple[Member, Content]]:
    """Yields each plain file of `path` with its bytes, in the order they stand.

    `depth` says how many archive files this one was found inside. Raises `UnsafePath`, `UnsafeMember`, `TooLarge`, or
    `PackageFault` for a file that is no archive file, is encrypted or cut short. A zip is judged whole before anything
    of it is yielded.
    """
    # A zip's directory can name a file twice, or let entries share bytes, and the last entry may be the one that shows
    # it. So one pass over the directory alone comes before the first byte is handed out. A tar has no directory: its
    # members are judged as they come.
    if form_of(path) == "zip":
        deque(stream_members(path, limits=limits, depth=depth, twins=twins), maxlen=0)
    yield from stream_members(path, limits=limits, depth=depth, twins=twins)


def stream_members(
    path: Path, *, limits: UnpackLimits = LIMITS, depth: int = 0, twins: bool = False, emit: Listener = ignore_event
) -> Iterator[tuple[Member, Content]]:
    """What `members` yields, for whoever uses nothing of it before all of it came: what only the whole of a zip shows
    (names that stand twice, bytes that are shared) is refused at its end. `twins` allows names that only some system
    takes for one, for whoever reads and does not unpack."""
    if depth > limits.nesting:
        raise TooLarge(where=str(path), why="nesting", limit=limits.nesting)
    form = form_of(path)
    if form is None:
        raise PackageFault(where=str(path), why="not-an-archive-file")
    meter = _Meter(str(path), path.stat().st_size, limits)
    with _translating(str(path)):
        entries = (
            _zip_members(path, meter, twins, emit) if form == "zip" else _tar_members(path, form, meter, twins, emit)
        )
        yield from entries


class Picker:
    """Opens single files of an archive file in any order, after `members` has judged all of it.

    One file is read at a time. In a packed tar, going backwards means unpacking from the start.
    """

    def __init__(self, path: Path) -> None:
        form = form_of(path)
        if form is None:
            raise PackageFault(where=str(path), why="not-an-archive-file")
        with ExitStack() as stack, _translating(str(path)):
            self._zip = stack.enter_context(path.open("rb")) if form == "zip" else None
            self._stream = None if form == "zip" else stack.enter_context(_unpacked(path, form))
            self._held = stack.pop_all()

    def close(self) -> None:
        """Lets the archive file go."""
        self._held.close()

    @contextmanager
    def open(self, member: Member) -> Iterator[Content]:
        """The bytes of a member as `members` told of it."""
        with _translating(member.name):
            if self._zip is not None and member.packing is not None:
                yield Content(zipped.open_entry(self._zip, member.spelt, member.packing, member.size_bytes), member)
            elif self._stream is not None:
                self._stream.seek(member.offset_bytes or 0)
                yield Content(self._stream, member)
            else:
                raise PackageFault(where=member.name, why="not-there")


def unpack_to(path: Path, folder: Path, *, limits: UnpackLimits = LIMITS, depth: int = 0) -> int:
    """Writes every plain file of `path` under `folder`, which must be empty and ours alone; says how many."""
    count = 0
    for member, content in members(path, limits=limits, depth=depth):
        # Asked for each member: others write to the same disk.
        if member.size_bytes > (room := room_in(folder)):
            raise TooLarge(where=str(path), why="no-room", limit=room)
        target = folder.joinpath(*member.parts)
        with no_room(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            # x: an archive file must not overwrite even what it wrote itself; names that only some systems tell apart
            # were refused before.
            with target.open("xb") as file:
                for block in content:
                    file.write(block)
        count += 1
    return count


def expand_to(path: Path, target: Path, *, limits: UnpackLimits = LIMITS) -> None:
    """Writes the tar that is packed in `path` as it is: no more of it than an honest one holds, or than there is room
    for."""
    form = form_of(path)
    if form is None or form == "zip":
        raise PackageFault(where=str(path), why="not-an-archive-file")
    room = room_in(target.parent)
    by_ratio = min(limits.total_bytes, path.stat().st_size * limits.ratio + limits.free_bytes)
    most, why = (room, "no-room") if room < by_ratio else (by_ratio, "ratio")
    remaining = most
    with _translating(str(path)), _unpacked(path, form) as source, target.open("xb") as file:
        while block := source.read(BLOCK_BYTES):
            remaining -= len(block)
            if remaining < 0:
                raise TooLarge(where=str(path), why=why, limit=most)
            file.write(block)


def _zip_members(path: Path, meter: _Meter, twins: bool, emit: Listener) -> Iterator[tuple[Member, Content]]:
    # Two handles: reading a member must not move the place in the directory.
    with path.open("rb") as file, path.open("rb") as contents, NameKeys(twins=twins) as names:
        count = zipped.count_of(file)
        meter.expect(count)
        end, in_order = -1, True
        for number, entry in enumerate(zipped.entries(file), 1):
            if in_order and entry.packing.header_at < end:  # before anybody reads what it shares with another
                in_order = False
                zipped.refuse_overlaps(contents)
            end = zipped.end_of(entry)
            parts = checked_parts(_zip_name(entry, meter.encoding))
            if number % _TELL_EVERY == 0:
                emit(Event("members_listed", {"members": number, "of": count}))
            if entry.name.endswith("/"):
                names.add(parts, "folder")
                continue
            names.add(parts)
            _judge_zip_entry(entry)
            meter.announce(entry.size_bytes)
            member = Member(parts, entry.size_bytes, None, None, entry.packing, entry.name)
            yield member, Content(_LazySource(contents, member), member)
        if names.may_repeat():
            _refuse_repeated(file, twins, meter.encoding)


def _zip_name(entry: zipped.Entry, encoding: str) -> str:
    return entry.name if entry.is_utf8 else zip_name(entry.name, encoding)


def _refuse_repeated(file: BinaryIO, twins: bool, encoding: str) -> None:
    """Says which name stands twice, where one does."""
    with Names(twins=twins) as names:
        for entry in zipped.entries(file):
            names.add(checked_parts(_zip_name(entry, encoding)), "folder" if entry.is_folder else "file")


class _LazySource:
    """Opens a member of a zip when it is first read: who only wants names, reads nothing else."""

    def __init__(self, file: BinaryIO, member: Member) -> None:
        self._file = file
        self._member = member
        self._source: Readable | None = None

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        if self._source is None:
            packing = self._member.packing
            assert packing is not None  # noqa: S101  # as every member of a zip has
            self._source = zipped.open_entry(self._file, self._member.spelt, packing, self._member.size_bytes)
        return self._source.read(size)


def _judge_zip_entry(entry: zipped.Entry) -> None:
    kind = stat.S_IFMT(entry.mode)
    if kind not in (0, stat.S_IFREG):
        raise UnsafeMember(where=entry.name, why="link" if kind == stat.S_IFLNK else "device")
    if entry.encrypted:
        raise PackageFault(where=entry.name, why="encrypted")


def _tar_members(
    path: Path, form: Form, meter: _Meter, twins: bool, emit: Listener
) -> Iterator[tuple[Member, Content]]:
    with (
        _unpacked(path, form) as stream,
        closing(StrictReader(stream)) as reader,
        tarfile.TarFile(fileobj=reader, mode="r") as archive,
        Names(twins=twins) as names,
    ):
        number = 0
        while (info := archive.next()) is not None:
            number += 1
            if number % _TELL_EVERY == 0:
                emit(Event("members_listed", {"members": number}))
            archive.members.clear()  # type: ignore[attr-defined]  # the library keeps every header it ever read
            # some writers store a folder as an empty file whose name ends as a folder's does
            folder = info.isdir() or (info.isreg() and info.size == 0 and info.name.endswith("/"))
            parts = (
                () if folder and info.name in (".", "./", "") else checked_parts(tar_name(info.name, meter.encoding))
            )
            if parts:
                names.add(parts, "folder" if folder else "file")
            if folder:
                continue
            # Sparse files are refused with links and devices: their size says nothing of their bytes, so a few bytes
            # could hold terabytes of zeros.
            source = archive.extractfile(info) if info.isreg() and not info.issparse() else None
            if source is None:
                raise UnsafeMember(where=info.name, why="link" if info.issym() or info.islnk() else "device")
            meter.announce(info.size)
            member = Member(parts, info.size, float(info.mtime), info.offset_data)
            yield member, Content(source, member)
        # The library takes a header that is broken or cut short for the end, and says nothing of what lies behind it.
        if reader.last_block.strip(b"\0"):
            raise tarfile.ReadError("a header in the middle is broken")


class _Seekable(Readable, Protocol):
    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def tell(self) -> int: ...


class StrictReader:
    """Refuses to read a header of gigabytes at once; content is asked for in blocks."""

    def __init__(self, source: _Seekable) -> None:
        self._source = source
        self.last_block = b""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; `last_block` is what was read last, a header where the library looks for one."""
        # tarfile reads a pax or long-name header whole, as large as it says it is.
        if size < 0 or size > _MAX_HEADER_BYTES:
            raise TooLarge(where="", why="header", limit=_MAX_HEADER_BYTES)
        self.last_block = self._source.read(size)
        return self.last_block

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Goes to a place."""
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        """The current position."""
        return self._source.tell()

    def write(self, block: bytes, /) -> object:
        """Never: what comes in is only read."""
        raise NotImplementedError  # pragma: no cover  # there for the library's eyes alone

    def close(self) -> None:
        """Left to the one who opened it."""


@contextmanager
def _unpacked(path: Path, form: Form) -> Iterator[_Seekable]:
    with path.open("rb") as file:
        yield expand_stream(file, form)


def expand_stream(file: BinaryIO, form: Form) -> _Seekable:
    """The tar that is packed in a file."""
    if form == "tar.gz":
        return gzip.GzipFile(fileobj=file)
    if form == "tar.bz2":
        return bz2.BZ2File(file)
    if form == "tar.xz":
        return lzma.LZMAFile(file)
    return file


def _is_tar_header(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


@contextmanager
def _translating(where: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise PackageFault(where=where, why="broken-archive-file", detail=str(error)) from error
    except OSError as error:
        if error.errno is not None:
            raise
        # what a decompressor says of broken bytes has no number of the system
        raise PackageFault(where=where, why="broken-archive-file", detail=str(error)) from error

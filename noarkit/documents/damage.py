"""What is wrong with a document of no known format: empty, written in part, cut off, or not what its name says.

A handful of reads at fixed places, whatever its size. Only what the ending of a name promises is looked for; a format
that is not known here is left unknown.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from noarkit.safe.descriptors import read_at

Damage = Literal["", "empty", "half-written", "cut-off", "wrong-start", "damaged"]
"""What is wrong with the bytes of a document; empty where nothing is seen."""

_TAIL_BYTES = 66 * 1024
"""The end of a zip file, with the longest comment that it may have."""
_LEAST_ZEROS = 512
"""So many bytes of nothing at the end are room that was kept for what was never written."""
_BLOCK = 1024 * 1024
MOST_UNPACKED = 4 * 1024**3
"""What a zipped document may have unpacked; more is a bomb."""
MOST_RATIO = 200
SMALL = 16 * 1024 * 1024
"""Below this a ratio says nothing: a short member of blanks packs a thousandfold."""
ENCRYPTED = 0x1
"""The mark of a locked member."""
_SECTOR = 512

ZIPPED = frozenset(
    {"docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "pptx", "pptm", "potx", "ppsx"}
    | {"odt", "ods", "odp", "odg", "zip", "epub"}
)
"""Endings of documents that are a zip."""
_CONTAINERS = "doc dot xls xlt ppt pps msg"


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A file by its descriptor."""

    descriptor: int
    size: int

    def read(self, at: int, count: int) -> bytes:
        return read_at(self.descriptor, count, max(0, at))

    def tail(self, count: int) -> bytes:
        return self.read(self.size - count, count)


def find_damage(descriptor: int, size: int, suffix: str) -> tuple[Damage, int | None]:
    """What is wrong with a file of no known format, and from which byte on; empty where nothing is seen."""
    if not size:
        return "empty", None
    file = _Bytes(descriptor, size)
    kind = _KINDS.get(suffix)
    zeros = _zeros_from(file)
    if zeros == 0 or (zeros is not None and kind is not None and not kind.must_hold(file).strip(b"\0")):
        return "half-written", zeros
    if kind is None:
        return "", None
    if not kind.begins(file.read(0, _SECTOR * 2)):
        return "wrong-start", 0
    return ("damaged", None) if kind.is_whole(file) else ("cut-off", size)


def is_judged(suffix: str) -> bool:
    """True where `damage_of` reads what has this ending; of all else it sees nothing, unless it is empty."""
    return suffix in _KINDS


def damage_of(descriptor: int, size: int, suffix: str) -> Damage:
    """What is wrong with a document by the ending of its name, where its format may be known all the same: of what is
    zipped, every member is read. Empty where nothing is seen."""
    kind = _KINDS.get(suffix)
    if kind is None or not size:
        return "" if size else "empty"
    damage, _ = find_damage(descriptor, size, suffix)
    if damage != "damaged":
        return damage
    if suffix not in ZIPPED:
        return ""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return "" if not is_bomb(file) and opens(file) else "damaged"


def is_bomb(place: Path | BinaryIO) -> bool:
    """True for a zip that would unpack to far more than its size; False for what is no zip at all."""
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
        return False
    unpacked = sum(member.file_size for member in members)
    packed = max(1, sum(member.compress_size for member in members))
    return unpacked > MOST_UNPACKED or (unpacked > SMALL and unpacked / packed > MOST_RATIO)


def is_locked(descriptor: int) -> bool:
    """True for a zip of which a member is locked with a password; False for what is no zip at all."""
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file, zipfile.ZipFile(file) as archive:
            return any(member.flag_bits & ENCRYPTED for member in archive.infolist())
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
        return False


def opens(place: Path | BinaryIO) -> bool:
    """True where every member of a zip can be read, and has the checksum that it is stored with.

    Raises `OSError`; says nothing of one that is locked, or too large to be read to its end.
    """
    return broken_member(place) is None


def broken_member(place: Path | BinaryIO) -> str | None:
    """The first member of a zip that cannot be read to its end or has another checksum, empty where that is the list
    of members; None where all is well, as `opens` has it. Raises `OSError`."""
    name = ""
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > MOST_UNPACKED:
                return None
            for member in members:
                name = member.filename
                if member.flag_bits & ENCRYPTED:
                    continue
                with archive.open(member) as stream:
                    while stream.read(_BLOCK):
                        pass
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError):
        return name
    return None


def _zeros_from(file: _Bytes) -> int | None:
    """Where the zeros begin that a file ends in; None where they are few."""
    if file.tail(_LEAST_ZEROS).strip(b"\0") or file.size < _LEAST_ZEROS:
        return None
    at = file.size
    while at:
        begin = max(0, at - _BLOCK)
        block = file.read(begin, at - begin).rstrip(b"\0")
        if block:
            at = begin + len(block)
            break
        at = begin
    return at if file.size - at >= _LEAST_ZEROS else None


@dataclass(frozen=True, slots=True)
class _Kind:
    """How files with an ending begin, and what shows that their end is there."""

    begins: Callable[[bytes], bool]
    is_whole: Callable[[_Bytes], bool]
    must_hold: Callable[[_Bytes], bytes] = lambda _: b"\0"
    """For kinds that end in zeros also when they are whole: bytes that are never zeros where all was written, and
    anything but zeros where they would lie beyond the end."""


def _starts(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _tail_holds(mark: bytes, within: int) -> Callable[[_Bytes], bool]:
    return lambda file: mark in file.tail(within)


def _number(form: str, at: int) -> Callable[[_Bytes], int]:
    size = struct.calcsize(form)
    return lambda file: int(struct.unpack(form, file.read(at, size).ljust(size, b"\0"))[0])


def _has_container(file: _Bytes) -> bool:
    """True where the sectors that the head of an OLE container names lie within it."""
    head = file.read(0, _SECTOR)
    if len(head) < _SECTOR:
        return False
    power = _power(head)
    tables = [sector for sector in struct.unpack_from("<109I", head, 76) if sector < 0xFFFFFFFA]
    return all((sector + 2) << power <= file.size for sector in (*tables, struct.unpack_from("<I", head, 48)[0]))


def _directory(file: _Bytes) -> bytes:
    """The beginning of the directory of an OLE container; its name where it lies beyond the end."""
    head = file.read(0, _SECTOR)
    if not _has_container(file):
        return b"directory"
    return file.read((struct.unpack_from("<I", head, 48)[0] + 1) << _power(head), 128)


def _power(head: bytes) -> int:
    return min(12, max(9, int(struct.unpack_from("<H", head, 30)[0])))


def _has_picture_table(file: _Bytes) -> bool:
    """True where the first table of a TIFF lies within it."""
    form = "<I" if file.read(0, 2) == b"II" else ">I"
    return _number(form, 4)(file) + 6 <= file.size


def _has_chunks(file: _Bytes) -> bool:
    """True for a RIFF file that is as long as its head says."""
    return _number("<I", 4)(file) + 8 <= file.size


def _has_bitmap(file: _Bytes) -> bool:
    return _number("<I", 2)(file) <= file.size


def _ends(*ends: bytes) -> Callable[[_Bytes], bool]:
    return lambda file: file.tail(64).rstrip(b"\0\r\n \t").endswith(ends)


_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(ZIPPED, _Kind(_starts(b"PK\x03\x04", b"PK\x05\x06"), _tail_holds(b"PK\x05\x06", _TAIL_BYTES))),
    **dict.fromkeys(_CONTAINERS.split(), _Kind(_starts(bytes.fromhex("d0cf11e0a1b11ae1")), _has_container, _directory)),
    "pdf": _Kind(lambda head: b"%PDF-" in head, _tail_holds(b"%%EOF", 2048)),
    "png": _Kind(_starts(b"\x89PNG\r\n\x1a\n"), _tail_holds(b"IEND", 64)),
    **dict.fromkeys(("jpg", "jpeg"), _Kind(_starts(b"\xff\xd8\xff"), _tail_holds(b"\xff\xd9", 4096))),
    "gif": _Kind(_starts(b"GIF8"), _ends(b";")),
    **dict.fromkeys(("tif", "tiff"), _Kind(_starts(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"), _has_picture_table)),
    "bmp": _Kind(_starts(b"BM"), _has_bitmap),
    "rtf": _Kind(_starts(b"{\\rt"), _ends(b"}")),
    **dict.fromkeys(("wav", "avi", "webp"), _Kind(_starts(b"RIFF"), _has_chunks)),
}
KNOWN_ENDINGS = frozenset(_KINDS)
"""Endings of which it is known how a file of them begins and ends."""

"""Single members of a zip by the list at its end: a few reads at fixed places, whatever the size of the file.

    tail = read_tail(descriptor, size)
    member = find_member(tail, b"docProps/core.xml")
    head = read_member(descriptor, member, most=65_536)

For whoever wants a few bytes of millions of files. What is unpacked whole goes through `safe.zipped`.
"""

from __future__ import annotations

import zlib
from struct import unpack_from
from typing import NamedTuple

from noarkit.safe.descriptors import read_at

SIGNATURE = b"PK\x03\x04"
TAIL_BYTES = 66 * 1024
"""The end of a zip file, with the longest comment it may have."""
_ENTRY, _ENTRY_BYTES, _LOCAL_BYTES = b"PK\x01\x02", 46, 30
_MOST_EXTRA_BYTES = 1024
_STORED, _DEFLATED, _RAW = 0, 8, -15


class Member(NamedTuple):
    """How a member is packed, into how many bytes, and where it begins."""

    method: int
    packed_bytes: int
    begins: int

    @property
    def is_plain(self) -> bool:
        """True if it is there uncompressed."""
        return self.method == _STORED


def read_tail(descriptor: int, size: int, most: int = TAIL_BYTES) -> bytes:
    """The last bytes of a file."""
    return read_at(descriptor, most, max(size - most, 0))


def find_member(tail: bytes, name: bytes) -> Member | None:
    """The member of that name, if the list at the end of a zip has it within these bytes."""
    at = tail.find(name)
    while at >= 0:
        entry = at - _ENTRY_BYTES
        if entry >= 0 and tail.startswith(_ENTRY, entry) and unpack_from("<H", tail, entry + 28)[0] == len(name):
            (method,), (packed,) = unpack_from("<H", tail, entry + 10), unpack_from("<I", tail, entry + 20)
            return Member(method, packed, unpack_from("<I", tail, entry + 42)[0])
        at = tail.find(name, at + 1)
    return None


def read_member(descriptor: int, member: Member, most: int) -> bytes:
    """The first bytes of a member, unpacked; nothing where it is not there, or damaged, or packed by another method."""
    local = read_at(descriptor, _LOCAL_BYTES + min(member.packed_bytes, most) + _MOST_EXTRA_BYTES, member.begins)
    if len(local) < _LOCAL_BYTES or not local.startswith(SIGNATURE):
        return b""
    packed = local[_LOCAL_BYTES + sum(unpack_from("<HH", local, 26)) :][: member.packed_bytes]
    if member.is_plain:
        return packed[:most]
    try:
        return zlib.decompressobj(_RAW).decompress(packed, most) if member.method == _DEFLATED else b""
    except zlib.error:
        return b""

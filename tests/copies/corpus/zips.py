"""Zipped documents written member by member, with one date, so that the same call gives the same bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

_DATE = (2026, 1, 2, 10, 0, 0)
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def pack(members: Mapping[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    """A ZIP of these members in this order; those of `stored` are not deflated."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, _DATE)
            member.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return buffer.getvalue()


def deflated_zeros(size_bytes: int) -> bytes:
    """So many zeros as zlib packs them, made in no time: one packed MiB again and again, and the checksum reckoned."""
    packer = zlib.compressobj(9, wbits=-15)
    mebibyte = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(bytes(size_bytes % (1 << 20))) + packer.flush()
    checksum = (size_bytes % 65_521) << 16 | 1
    return b"\x78\xda" + mebibyte * (size_bytes >> 20) + last + checksum.to_bytes(4, "big")

"""The size of a picture by its header alone, where no library is installed that could tell it."""

from __future__ import annotations

import struct
from pathlib import Path

_HEAD_BYTES = 1024 * 1024


def size_by_header(path: Path, name: str) -> tuple[int, int] | None:
    """Width and height of the picture at `path`, whose format goes by `name`; None where its header does not tell."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if name == "png" and len(head) >= 24:
        width, height = struct.unpack_from(">II", head, 16)
        return int(width), int(height)
    if name == "gif" and len(head) >= 10:
        width, height = struct.unpack_from("<HH", head, 6)
        return int(width), int(height)
    if name == "webp":
        return _size_of_webp(head)
    return _size_of_jpeg(head) if name == "jpeg" else None


def _size_of_jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker, size = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return int(width), int(height)
        at += 2 + size
    return None


def _size_of_webp(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X" and len(head) >= 30:
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack_from("<HH", head, 26)
        return int(width) & 0x3FFF, int(height) & 0x3FFF
    return None

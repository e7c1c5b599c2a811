"""The codec of a video, by its own bytes: no ending and no PRONOM identifier tells it, and a depot takes but a few.

An MP4 file is boxes in boxes, each `size (4 bytes) name (4 bytes) content`: `moov/trak/mdia/hdlr` names what a track
holds (`"vide"`), and the first entry of `minf/stbl/stsd` bears its codec (`"avc1"`). Matroska writes `V_MPEG4/ISO/AVC`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from noarkit.safe.descriptors import read_at

UNKNOWN = "unknown"
_MP4, _MATROSKA = frozenset({"mp4", "m4v"}), frozenset({"mkv"})
VIDEO_ENDINGS = _MP4 | _MATROSKA
_ACCEPTED = frozenset({"avc1", "avc3", "mjp2", "V_FFV1", "V_MPEG4/ISO/AVC", "V_MPEG2", "V_MPEG1"})
_CODEC_ID = re.compile(rb"\x86[\x81-\xa0](V_[A-Z0-9_/]{2,30})")
"""The element CodecID (0x86) of a track: its length in one byte, then its name."""
_HEADER_BYTES = 4 * 1024 * 1024
_MOST_MOOV = 256 * 1024 * 1024
_MOST_BOXES = 10_000


def unaccepted_codec(descriptor: int, size: int, suffix: str) -> str:
    """The codec of a video that no depot takes, or `unknown`; empty for one that is taken, and for what is no video
    whose codec must be known."""
    if suffix in _MP4:
        codecs = set(_mp4_codecs(_moov(descriptor, size)))
    elif suffix in _MATROSKA:
        header = read_at(descriptor, min(size, _HEADER_BYTES), 0)
        codecs = {match.decode() for match in _CODEC_ID.findall(header)}
    else:
        return ""
    return min(codecs - _ACCEPTED, default="") if codecs else UNKNOWN


def _moov(descriptor: int, size: int) -> bytes:
    """The content of the box that describes the tracks; nothing where there is none."""
    at = 0
    for _ in range(_MOST_BOXES):
        head = read_at(descriptor, 16, at)
        if len(head) < 8:
            break
        length, start = int.from_bytes(head[:4], "big"), 8
        if length == 1:
            length, start = int.from_bytes(head[8:16], "big"), 16
        elif length == 0:
            length = size - at
        if length < start:
            break
        if head[4:8] == b"moov":
            return read_at(descriptor, min(length - start, _MOST_MOOV), at + start)
        at += length
    return b""


def _mp4_codecs(moov: bytes) -> Iterator[str]:
    for track in _boxes(moov, b"trak"):
        for media in _boxes(track, b"mdia"):
            if any(handler[8:12] == b"vide" for handler in _boxes(media, b"hdlr")):
                tables = (table for info in _boxes(media, b"minf") for table in _boxes(info, b"stbl"))
                for entry in (entry for table in tables for entry in _boxes(table, b"stsd")):
                    yield entry[12:16].decode("latin-1")


def _boxes(content: bytes, name: bytes) -> Iterator[bytes]:
    """The content of each box of that name that lies directly in `content`."""
    at = 0
    while at + 8 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        if length < 8:
            return
        if content[at + 4 : at + 8] == name:
            yield content[at + 8 : at + length]
        at += length

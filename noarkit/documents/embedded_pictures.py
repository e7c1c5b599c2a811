"""Pictures within documents: made of pixels, of lines, or of nothing that anybody can draw.

A name says nothing: an office program draws nothing, without a word, for a picture that it cannot decode. Metafiles
(EMF, WMF, SVM) are lists of records; one without a record that draws is an empty frame.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from noarkit.documents.pictures import PictureUnreadable, open_picture

PictureKind = Literal["pictures", "drawings", ""]
"""Of pixels, of lines; empty where nobody can draw it, or where it draws nothing."""

_MOST_BYTES = 256 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_EMF_MARK, _EMF_MARK_AT, _EMF_END = b" EMF", 40, 14
_PLACEABLE = bytes.fromhex("d7cdc69a")
_SVM_MARK = b"VCLMTF"
_PLACEABLE_BYTES, _WMF_HEAD_BYTES = 22, 18
_WMF_HEADS = (b"\x01\x00\x09\x00", b"\x02\x00\x09\x00")
_EMF_COMMENT, _EMF_PLUS = 70, b"EMF+"
_EMF_DRAWS = frozenset(
    {*range(2, 9), 15, *range(41, 48), *range(53, 57), *range(62, 65), *range(71, 75), *range(76, 82)}
    | {83, 84, *range(85, 93), 96, 97, 108, 114, 116, 118}
)
"""Records of lines, areas, texts and pixels; all others choose a pen, move, or remember."""
_WMF_DRAWS = frozenset(
    {0x0213, 0x0325, 0x0324, 0x0538, 0x0418, 0x041B, 0x061C, 0x0817, 0x081A, 0x0830, 0x0521, 0x0A32, 0x0922}
    | {0x0B23, 0x0940, 0x0B41, 0x0F43, 0x0D33, 0x061D, 0x041F, 0x0228, 0x012B, 0x012A, 0x0419, 0x0548}
)
_SVG_HEAD = 4096
_LARGE_SIDE = 1_000


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """What a picture is made of, a digest of what it shows, and its size in pixels."""

    kind: PictureKind
    digest: str = ""
    size: tuple[int, int] = (0, 0)


def examine_picture(content: bytes) -> EmbeddedPicture:
    """What a picture is, by its bytes."""
    content = _unpacked(content)
    if content[_EMF_MARK_AT : _EMF_MARK_AT + 4] == _EMF_MARK:
        return _drawing(content, any(_emf_draws(content)))
    if content.startswith(_SVM_MARK):
        return _drawing(content, _svm_actions(content) > 0)
    if content.startswith((_PLACEABLE, *_WMF_HEADS)):
        return _drawing(content, any(_wmf_draws(content)))
    if b"<svg" in content[:_SVG_HEAD] or b":svg" in content[:_SVG_HEAD]:
        return _drawing(content, b"foreignObject" not in content)  # a web page within it is drawn by browsers only
    return _pixels(content)


def _drawing(content: bytes, draws: bool) -> EmbeddedPicture:
    return EmbeddedPicture("drawings" if draws else "", hashlib.sha256(content).hexdigest())


def _pixels(content: bytes) -> EmbeddedPicture:
    """Decodes every pixel: what is cut off is drawn with a black rest."""
    try:
        with open_picture(io.BytesIO(content)) as picture:
            size = picture.size
            if max(size) > _LARGE_SIDE:  # a JPEG is decoded whole, and told in small
                picture.draft("RGB", (picture.width // 8, picture.height // 8))
            picture.load()
            digest = hashlib.sha256(repr(size).encode() + picture.tobytes()).hexdigest()
            return EmbeddedPicture("pictures", digest, size)
    except PictureUnreadable:
        return EmbeddedPicture("")


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return file.read(_MOST_BYTES)
    except (OSError, EOFError, zlib.error):
        return content


def _emf_draws(content: bytes) -> Iterator[bool]:
    """For each record of an EMF whether it draws; nothing behind one that has no good size."""
    place = 0
    while place + 8 <= len(content):
        kind, size = struct.unpack_from("<II", content, place)
        if size < 8 or place + size > len(content) or kind == _EMF_END:
            return
        yield kind in _EMF_DRAWS or (kind == _EMF_COMMENT and content[place + 12 : place + 16] == _EMF_PLUS)
        place += size


def _svm_actions(content: bytes) -> int:
    """How many actions a metafile of OpenOffice says it has: they stand behind its version, how it is packed, a scale
    with a length of its own, and its size."""
    try:
        (scale_bytes,) = struct.unpack_from("<I", content, 18)
        (count,) = struct.unpack_from("<I", content, 22 + scale_bytes + 8)
    except struct.error:
        return 0
    return int(count)


def _wmf_draws(content: bytes) -> Iterator[bool]:
    """The same for a WMF, whose records count in words of two bytes."""
    place = _WMF_HEAD_BYTES + (_PLACEABLE_BYTES if content.startswith(_PLACEABLE) else 0)
    while place + 6 <= len(content):
        words, function = struct.unpack_from("<IH", content, place)
        if words < 3 or place + 2 * words > len(content) or not function:
            return
        yield function in _WMF_DRAWS
        place += 2 * words

"""The bytes of a path as text, and back: a key is unique wherever the path is, whatever its names hold.

Text stands as text; each undecodable byte, each control character and each literal `%` stands percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from noarkit.errors import UnsafePath

_ESCAPE = re.compile(r"%([0-9A-F]{2})")
_STRAY = re.compile(r"%(?![0-9A-F]{2})")
_LIKE_PERCENT = re.compile(r"[%\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


def key_of(path: bytes) -> str:
    """The key of a path's bytes: the path itself, with all that is no plain text percent-encoded."""
    text = path.decode("utf-8", "surrogateescape")
    if "%" not in text and text.isprintable():
        return text
    return _LIKE_PERCENT.sub(_encode, text)


def path_of(key: str) -> bytes:
    """The exact bytes behind a key; `UnsafePath` where no path of ours ever had it."""
    if _STRAY.search(key):
        raise UnsafePath(where=key, why="escape")
    # bytes of several characters may stand encoded one by one, so decoding goes by byte
    path = b"".join(
        bytes.fromhex(piece) if odd else piece.encode("utf-8", "surrogatepass")
        for odd, piece in _alternating(_ESCAPE.split(key))
    )
    if b"\0" in path or any(part in (b"", b".", b"..") for part in path.split(b"/")):
        raise UnsafePath(where=key, why="climbs")
    return path


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape"))


def _alternating(pieces: list[str]) -> Iterable[tuple[bool, str]]:
    return ((bool(index % 2), piece) for index, piece in enumerate(pieces))

"""Which encoding a text has: by its mark, by what it states, as UTF-8, else the one that makes words of its bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from noarkit.reading_room.viewers.detection import MARKS

_SAMPLE_BYTES = 32 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
_STATED = re.compile(
    rb"""<\?xml[^>]{0,100}?\bencoding\s{0,5}=\s{0,5}["']([\w.:-]{1,40})|<meta[^>]{0,300}?charset\s{0,5}=\s{0,5}["']?\s{0,5}([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_SINGLE_BYTE = ("cp1252", "cp865", "mac_roman", "iso8859_10")
"""The likelier first: Windows, DOS in Norway, the old Mac, Sami."""
_NORDIC = frozenset("æøåÆØÅäöüÄÖÜéèêóòôÉáàâ«»–—’‘“”…§°½ ")
_SAMI = frozenset("čđŋšŧžČĐŊŠŦŽ")
_ODD = re.compile("[\x80-\x9f\ufffd¡¢¤¥¦¨ª¬¯±²³´µ¶·¸¹º¿×÷þÞðÐ═║╔╗╚╝─│┌┐└┘▒░▓√∫∂∆˙˚˝˛ˇ◊Ω≈≠]")
_NEVER = frozenset({"utf_7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs"})


def encoding_of(path: Path, *, is_markup: bool = False) -> tuple[str, bool]:
    """The encoding of the text at `path`, and whether that is certain (a mark, a statement that holds, UTF-8)."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    return encoding_of_bytes(sample, is_markup=is_markup)


def encoding_of_bytes(sample: bytes, *, is_markup: bool = False) -> tuple[str, bool]:
    """The same for bytes, which may be the beginning of more."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return encoding, True
    wide = _wide(sample[:4096])
    if wide:
        return wide, False
    stated = _STATED.search(sample[:2048]) if is_markup else None
    if stated is not None:
        encoding = (stated[1] or stated[2]).decode("ascii", "replace").lower()
        if _reads(sample, encoding):
            return encoding, True
    if _reads(sample, "utf-8"):
        return "utf-8", True
    return _likeliest(sample[: 256 * 1024]), False


def known_encoding(name: str) -> str:
    """The name of an encoding of texts that Python has, empty for any other."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    is_text = info.name.replace("-", "_") not in _NEVER and getattr(info, "_is_text_encoding", True)
    return info.name if is_text else ""


def _wide(sample: bytes) -> str:
    half = max(1, len(sample) // 2)
    if sample[1::2].count(0) > 0.6 * half and sample[0::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if sample[0::2].count(0) > 0.6 * half and sample[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return ""


def _reads(sample: bytes, encoding: str) -> bool:
    name = known_encoding(encoding)
    if not name:
        return False
    decoder = codecs.getincrementaldecoder(name)()
    try:
        for at in range(0, len(sample), _BLOCK_BYTES):
            decoder.decode(sample[at : at + _BLOCK_BYTES])
    except (UnicodeError, ValueError):
        return False
    return True


def _likeliest(sample: bytes) -> str:
    high = bytes(byte for byte in sample if byte >= 0x80)[:20_000]
    return max(_SINGLE_BYTE, key=lambda encoding: (_score(high, encoding), -_SINGLE_BYTE.index(encoding)))


def _score(high: bytes, encoding: str) -> int:
    text = high.decode(encoding, "replace")
    letters = sum(2 for character in text if character in _NORDIC)
    sami = sum(1 for character in text if character in _SAMI) if encoding == "iso8859_10" else 0
    return letters + sami - 3 * len(_ODD.findall(text))

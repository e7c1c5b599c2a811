"""Which encoding a text has: by its mark, by what it states, as UTF-8, else the one that makes words of its bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
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
_RIVALS = ("cp1252", "mac_roman", "cp865", "cp850", "cp437")
"""What a Norwegian text of one byte a letter may be in; those that read it alike are one."""
_SMALL, _LARGE = frozenset("æøå"), frozenset("ÆØÅ")
_USUAL_SIGNS = frozenset("äöüÄÖÜéèêóòôÉáà«»–—’‘“”…§°½ ")
_TWICE = re.compile("Ã[\u0080-\u00bf†˜…]|â€[œ\u009d™“”\u0093\u0094]")
"""Letters of UTF-8 that were read as Windows has them, and written once more: «Ã¸» for «ø»."""
_ALL_MARKS = tuple(mark for mark, _ in MARKS)
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS, _MOST_ZEROS = 0.02, 0.002
"""Shares of a text: what a terminal wrote down has bells, steps back and escapes, and still is one."""
_LEAST_WIDE_BYTES = 8
_SCORED_BYTES = 256 * 1024
_NEVER = frozenset({"utf_7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs"})


def encoding_of(path: Path, *, is_markup: bool = False) -> tuple[str, bool]:
    """The encoding of the text at `path`, and whether that is certain (a mark, a statement that holds, UTF-8)."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    return encoding_of_bytes(sample, is_markup=is_markup)


def encoding_of_bytes(sample: bytes, *, is_markup: bool = False) -> tuple[str, bool]:
    """The same for bytes, which may be the beginning of more."""
    if mark := marked_encoding(sample[:4096]):
        return mark, sample.startswith(_ALL_MARKS)
    stated = _STATED.search(sample[:2048]) if is_markup else None
    if stated is not None:
        encoding = (stated[1] or stated[2]).decode("ascii", "replace").lower()
        if _reads(sample, encoding):
            return encoding, True
    if _reads(sample, "utf-8"):
        return "utf-8", True
    return _likeliest(sample[: 256 * 1024]), False


def decode_text(content: bytes, claimed: str = "", *, is_markup: bool = False, is_beginning: bool = False) -> str:
    """The text of some bytes: in the encoding that is claimed for them, where they can be read in it, else in their
    own; never fails. Those that are only the beginning of a text may end in the middle of a character."""
    encoding = claimed if claimed and not content.startswith(_ALL_MARKS) and _reads(content, claimed) else ""
    if not encoding:
        encoding, _ = encoding_of_bytes(content[:_SAMPLE_BYTES], is_markup=is_markup)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    return decoder.decode(content, not is_beginning).removeprefix("\ufeff")


def marked_encoding(head: bytes) -> str:
    """The encoding that a mark tells, or the zeros of UTF-16 without one; empty for any other."""
    return next((encoding for mark, encoding in MARKS if head.startswith(mark)), "") or _wide(head)


def is_text(head: bytes) -> bool:
    """True where the beginning of a document is text, in whatever encoding."""
    if marked_encoding(head):
        return True
    is_wild = len(_CONTROLS.findall(head)) > _MOST_CONTROLS * len(head)
    return not is_wild and head.count(0) <= _MOST_ZEROS * len(head)


def known_encoding(name: str) -> str:
    """The name of an encoding of texts that Python has, empty for any other."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    is_text = info.name.replace("-", "_") not in _NEVER and getattr(info, "_is_text_encoding", True)
    return info.name if is_text else ""


def is_encoded_twice(text: str) -> bool:
    """True for a text in which letters stand as two signs each: it was read in a wrong encoding, and written again."""
    return bool(_TWICE.search(text))


def likelier_readings(content: bytes, encoding: str) -> dict[str, str]:
    """Readings of a text that make more of a Norwegian one than `encoding` does, by their encodings, the best first."""
    sample = content[:_SCORED_BYTES]
    readings = {name: sample.decode(name, "replace") for name in _RIVALS}
    limit = _norwegian(sample.decode(encoding, "replace"))
    scores = {name: _norwegian(text) for name, text in readings.items()}
    better = sorted((name for name in _RIVALS if scores[name] > limit), key=lambda name: -scores[name])
    return {name: readings[name] for name in better}


def _norwegian(text: str) -> int:
    """How much of a Norwegian text this is, by its letters beyond ASCII: those of Norwegian in the case of the letter
    before them speak for it, other letters and signs against it."""
    score = 0
    for before, character in zip(f" {text}", text, strict=False):
        if character < "\x80":
            continue
        if character in _SMALL or character in _LARGE:
            score += -2 if character in _LARGE and before.islower() else 4
        elif character in _USUAL_SIGNS:
            score += 1
        else:
            score -= 2 if character.isalpha() else 3
    return score


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark: in a western text every other byte is zero."""
    if len(sample) < _LEAST_WIDE_BYTES:
        return ""
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

"""Bytes of an unknown encoding as text: by their byte order mark, as UTF-8, else as Windows has them in the west."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.documents.layers import LAYERS, Layer

MOST_CHARACTERS = 2_000_000
"""More of one document is not kept: some four hundred pages of nothing but text."""
MOST_BYTES = 256 * 1024 * 1024
"""A larger document is not read."""


@dataclass(frozen=True, slots=True)
class TextStretch:
    """Where in a text, from one position to the next, it is not of the body: deleted, in a comment, in a header …"""

    begin: int
    end: int
    layer: Layer


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document; `reason` says why there is none. `is_cut` where there was more, `has_gaps`
    where parts of it (attachments, embedded files, scanned pages, the fields of a form) could not be read."""

    text: str
    reason: str = ""
    is_cut: bool = False
    has_gaps: bool = False
    stretches: tuple[TextStretch, ...] = ()

    @property
    def searched(self) -> str:
        """The text without what stands in it a second time, which is the last of it."""
        doubles = [stretch.begin for stretch in self.stretches if stretch.layer == "fallback"]
        return self.text[: doubles[0]].rstrip("\n") if doubles else self.text


def parts_of(text: str, stretches: Iterable[TextStretch]) -> Iterator[tuple[Layer, str]]:
    """A text cut where its layer changes, without what stands in it a second time."""
    at = 0
    for stretch in stretches:
        yield "body", text[at : stretch.begin]
        if stretch.layer != "fallback":
            yield stretch.layer, text[stretch.begin : stretch.end]
        at = stretch.end
    yield "body", text[at:]


def stretches_from(rows: object, length: int) -> tuple[TextStretch, ...]:
    """The stretches of a text of some length by what was written down of them. Raises `ValueError`."""
    stretches: list[TextStretch] = []
    at = 0
    for entry in rows if isinstance(rows, list) else ():
        begin, end, layer = entry
        is_within = isinstance(begin, int) and isinstance(end, int) and at <= begin <= end <= length
        if not is_within or layer not in LAYERS:
            raise ValueError(layer)
        stretches.append(TextStretch(begin, end, layer))
        at = end
    return tuple(stretches)


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]+")
_BLANKED = bytes(0x20 if byte < 9 or 14 <= byte <= 27 or byte == 0x7F else byte for byte in range(256))
"""UTF-8 with its control characters as blanks, byte by byte."""
_OF_NO_CHARACTER = (b"\xed", b"\xef")
"""How the UTF-8 of every other unwanted character begins; few texts have any that begins so."""
_MOST_CONTROLS = 0.01


def decode_text(content: bytes, claimed: str = "", *, is_beginning: bool = False) -> str:
    """The text of some bytes: in the encoding that they claim, where it is one and fits; never fails. Those that are
    only the beginning of a text may end in the middle of a character."""
    for mark, codec in _MARKS:
        if content.startswith(mark):
            return content.decode(codec, "replace")
    for codec in (claimed, "utf-8"):
        try:
            return content.decode(codec)
        except UnicodeDecodeError as fault:
            if is_beginning and codec == "utf-8" and fault.start >= len(content) - 4:
                return content.decode("utf-8", "ignore")
        except (LookupError, ValueError):
            continue
    return content.decode(_guess_utf16(content) or "cp1252", "replace")


def is_text(head: bytes) -> bool:
    """True where the beginning of a document is text, in whatever encoding."""
    if any(head.startswith(mark) for mark, _ in _MARKS) or _guess_utf16(head):
        return True
    return len(_CONTROLS.findall(head)) <= _MOST_CONTROLS * len(head)


def _guess_utf16(content: bytes) -> str | None:
    """UTF-16 without a mark: in a western text every other byte is zero."""
    sample = content[:4_000]
    if len(sample) < 8:
        return None
    odd, even = sample[1::2].count(0), sample[::2].count(0)
    half = len(sample) // 2
    if odd > 0.7 * half and even < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.1 * half else None


def tidy_text(text: str) -> str:
    """A text as it is kept: composed characters, no control characters, no runs of blanks or empty lines."""
    lines = (" ".join(line.split()) for line in _without_controls(text).splitlines())
    tidy = "\n".join(line for line in lines if line)
    return tidy if tidy.isascii() else unicodedata.normalize("NFC", tidy)


def _without_controls(text: str) -> str:
    # a table of bytes is ten times as fast as the pattern
    encoded = text.encode("utf-8", "surrogatepass")
    if any(lead in encoded for lead in _OF_NO_CHARACTER):
        return _UNWANTED.sub(" ", text)
    return encoded.translate(_BLANKED).decode()

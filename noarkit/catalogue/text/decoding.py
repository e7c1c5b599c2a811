"""The text of a document as it is kept: tidied, with the stretches of it that are of another layer than the body."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.documents.layers import LAYERS, Layer

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


_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]+")
_BLANKED = bytes(0x20 if byte < 9 or 14 <= byte <= 27 or byte == 0x7F else byte for byte in range(256))
"""UTF-8 with its control characters as blanks, byte by byte."""
_OF_NO_CHARACTER = (b"\xed", b"\xef")
"""How the UTF-8 of every other unwanted character begins; few texts have any that begins so."""


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

"""What a document is, by its bytes: the PRONOM identifier that rules are found by, and whether its name agrees.

A name alone is no identity: a converter that is handed random bytes named `.docx` makes a valid PDF/A of garbage. Where
the bytes say nothing the identity is unknown, and nothing is converted.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Self

from noarkit.copies.port import Basis, Identity
from noarkit.documents.damage import Damage, find_damage
from noarkit.documents.detect import HEAD_BYTES, MediaTypes, format_of
from noarkit.safe.descriptors import open_descriptor, read_at
from noarkit.sources.files.puids import PuidMatch, Puids

_BASES: tuple[tuple[str, Basis], ...] = (
    ("container", "container"),
    ("byte match", "signature"),
    ("xml match", "signature"),
    ("riff match", "signature"),
    ("text match", "text"),
)
_TEXTS = frozenset({"application/json", "application/x-ndjson", "application/xml", "application/javascript"})
_LONGEST_SUFFIX = 10
_PDF, _PDF_HEAD, _PDF_END = "application/pdf", b"%PDF-", b"startxref"
_LATEST_HEAD, _TAIL_BYTES = 1024, 2048
"""Where readers look for the beginning and the end of a PDF."""
_SVG_TYPE = "image/svg+xml"
_SVG_1_1 = re.compile(rb"<(?:svg:)?svg\b[^<>]{0,3000}?\sversion\s{0,20}=\s{0,20}[\"']1\.1")
_TEMPLATES = {"ott": "text", "ots": "spreadsheet", "otp": "presentation", "otg": "graphics"}
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_WRAPPINGS = frozenset({"fmt/111"})
"""Containers whose content nobody recognised: what they hold is unknown."""


class Identifier:
    """Identifies documents. Use as a context: it has a worker process. Serves one thread.

    Raises `ConfigFault` where the extra `noarkit[pronom]` is not installed.
    """

    def __init__(self) -> None:
        self._puids = Puids()
        self._media_types = MediaTypes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._puids.close()

    def identify(self, path: Path, name: str) -> Identity:
        """What the file at `path` is, which its source calls `name`. Raises `OSError` where it cannot be read."""
        suffix = suffix_of(name)
        descriptor = open_descriptor(path)
        try:
            head = read_at(descriptor, HEAD_BYTES, 0)
            match = self._puids.match(descriptor, suffix, head)
            media_type = self._media_types.of(head, suffix) if head else None
            identity = Identity(None, media_type, suffix, "none")
            if match is not None and media_type is not None:
                identity = _judge(match, suffix, media_type)
            if identity.puid is None and format_of(head) == "svg":
                identity = Identity(_svg_puid(head), _SVG_TYPE, suffix, "text")
            if identity.puid is None or identity.puid in _WRAPPINGS:
                size = os.fstat(descriptor).st_size
                damage, at = find_damage(descriptor, size, suffix)
                identity = replace(identity, damage=damage, damaged_at=at)
                if is_misread_pdf(head, read_at(descriptor, _TAIL_BYTES, max(0, size - _TAIL_BYTES)), damage):
                    identity = replace(identity, media_type=_PDF, damage="damaged", damaged_at=None)
        finally:
            os.close(descriptor)
        return identity


def is_misread_pdf(head: bytes, tail: bytes, damage: Damage) -> bool:
    """True for a PDF that no signature knows although nothing of it is missing: bytes stand before it, or its last line
    is not there. Readers of PDF find their way in it, and converters may."""
    return _PDF_HEAD in head[:_LATEST_HEAD] and _PDF_END in tail and damage in ("", "damaged", "cut-off")


def suffix_of(name: str) -> str:
    """The ending of a document's name, in small letters and without the dot; empty where it is none."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix[1:].lower()
    return suffix if len(suffix) <= _LONGEST_SUFFIX and suffix.isalnum() else ""


def _svg_puid(head: bytes) -> str:
    """Which SVG a drawing is that no signature knows, for those ask for an XML declaration, which it need not have."""
    return "fmt/92" if _SVG_1_1.search(head) else "fmt/91"


def _judge(match: PuidMatch, suffix: str, media_type: str) -> Identity:
    basis: Basis = next((basis for words, basis in _BASES if words in match.basis), "name")
    if basis == "name" and (media_type.startswith("text/") or media_type in _TEXTS):
        basis = "text"  # formats without a signature that are text: CSV, SQL, JSON
    if basis == "name":
        return Identity(None, media_type, suffix, "name")
    # many formats are plain text; its name may say which
    mismatch = bool(suffix) and basis != "text" and "extension mismatch" in match.warning
    if match.media_type == _OPEN_DOCUMENT + _TEMPLATES.get(suffix, "none"):
        mismatch = False  # PRONOM names the endings of templates for some versions of OpenDocument only
    return Identity(match.puid, match.media_type or media_type, suffix, basis, mismatch)

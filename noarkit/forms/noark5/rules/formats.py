"""Whether documents are in archive formats: by their bytes where the library that knows them is installed (the extra
`noarkit[pronom]`), by the endings of their names otherwise.

A PDF is judged here by being one; whether it declares to be PDF/A is a rule of its own. The library takes half a second
to start, so it is asked only where its answer may be another than that of the ending and the first bytes.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager

from noarkit.forms.noark5.rules.store import Store, Value
from noarkit.model.formats import PDFA_WANTED, is_accepted
from noarkit.sources.files.puids import Puids

_BY_FIRST_BYTES = frozenset({"pdf", "png", "jpg", "jpeg", "tif", "tiff", "flac"})
"""Endings that the first bytes prove, by a rule of its own."""
_TEXTS = frozenset({"txt", "xml", "csv", "json", "sql", "html", "htm", "xhtml", "gml", "sos", "sosi", "ifc"})
_NO_TEXT = (b"{\\rtf", b"%PDF", b"PK\x03\x04")
_PDFA = {
    "1a": "fmt/95",
    "1b": "fmt/354",
    "2a": "fmt/476",
    "2b": "fmt/477",
    "2u": "fmt/478",
    "3a": "fmt/479",
    "3b": "fmt/480",
    "3u": "fmt/481",
}
_PART = re.compile(rb"pdfaid:part\s*(?:=\s*[\"']|>)\s*([1-3])")
_CONFORMANCE = re.compile(rb"pdfaid:conformance\s*(?:=\s*[\"']|>)\s*([ABUabu])")
_BY_NAME = "match on extension only"
_USABLE = (
    " AND NOT EXISTS (SELECT 1 FROM files u WHERE u.name = o.path AND u.kind = 'file'"
    " AND (u.size = 0 OR u.fits = 0 OR u.whole = 0))"
)
"""What is empty, damaged or no such file at all is told as that, and once."""
_KINDS = (
    "SELECT DISTINCT o.ending, f.puid, f.fits FROM objects o"
    " LEFT JOIN files f ON f.name = o.path AND f.kind = 'file' AND f.size > 0"
)
_OF_KIND = (
    "SELECT o.owner, o.at, coalesce(f.puid, o.ending), o.path FROM objects o"  # noqa: S608  # our own words
    " LEFT JOIN files f ON f.name = o.path AND f.kind = 'file' AND f.size > 0"
    f" WHERE o.ending = ? AND f.puid IS ? AND f.fits IS ?{_USABLE} ORDER BY o.at"
)
_CONVERTED = (
    "SELECT o.owner, o.at, o.made_as, f.puid, o.path FROM objects o JOIN files f ON f.name = o.path"
    " WHERE o.made_as IS NOT NULL AND f.puid IS NOT NULL AND o.made_as != f.puid ORDER BY o.at"
)

_ALONE = (
    "SELECT o.owner, o.at, o.ending, o.path FROM objects o WHERE o.variant = 'P'"  # noqa: S608  # so many marks
    f" AND o.ending IN ({','.join('?' * len(PDFA_WANTED))}) AND NOT EXISTS (SELECT 1 FROM objects a"
    f" WHERE a.document = o.document AND a.version = o.version AND a.variant = 'A'){_USABLE} ORDER BY o.at"
)


class FormatIdentifier:
    """Identifies open files by their bytes; without the library, none."""

    def __init__(self, puids: Puids | None) -> None:
        self._puids = puids

    def identify(self, descriptor: int, suffix: str, head: bytes) -> str | None:
        """The PRONOM identifier of a file; None where its bytes do not say."""
        if self._puids is None or not _is_in_doubt(suffix, head):
            return None
        match = self._puids.match(descriptor, suffix, head)
        return None if match is None or _BY_NAME in match.warning else match.puid


def _is_in_doubt(suffix: str, head: bytes) -> bool:
    """True where the ending and the first bytes leave open what a file is: containers, codecs, other formats."""
    if suffix in _TEXTS:
        return b"\0" in head or head.startswith(_NO_TEXT)
    return suffix not in _BY_FIRST_BYTES


def declared_pdfa(metadata: bytes) -> str | None:
    """The PRONOM identifier of the PDF/A that the metadata of a PDF declare, which is all that it rests on."""
    part, conformance = _PART.search(metadata), _CONFORMANCE.search(metadata)
    return _PDFA.get((part[1] + conformance[1]).decode().lower()) if part and conformance else None


@contextmanager
def format_identifier() -> Iterator[FormatIdentifier]:
    """What identifies files, for as long as a block lasts."""
    if importlib.util.find_spec("pygfried") is None:
        yield FormatIdentifier(None)
        return
    with Puids() as puids:
        yield FormatIdentifier(puids)


def unaccepted_documents(store: Store) -> Iterator[tuple[Value, ...]]:
    """The versions whose files are in no archive format: owner, number, format and path."""
    for ending, puid, fits in sorted(store.ask(_KINDS), key=str):
        # one that does not begin as its name says is told as that
        identified = str(puid) if puid and fits != 0 else None
        if not is_archival(str(ending or ""), identified):
            yield from store.ask(_OF_KIND, (ending, puid, fits))


def is_archival(suffix: str, puid: str | None) -> bool:
    """True for a file of an archive format; `puid` is what its bytes say."""
    return is_accepted(None if suffix == "pdf" else puid, suffix)


def wrongly_converted(store: Store) -> Iterator[tuple[Value, ...]]:
    """The versions that are in another format than their conversion says: owner, number, both formats and path."""
    yield from store.ask(_CONVERTED)


def alone(store: Store) -> Iterator[tuple[Value, ...]]:
    """The office documents in production format that no archival version stands beside: owner, number, format, path."""
    yield from store.ask(_ALONE, tuple(sorted(PDFA_WANTED)))

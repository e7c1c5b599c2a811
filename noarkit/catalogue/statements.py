"""What a place states of the bytes of a document: its checksums, or where it has none its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from noarkit.catalogue.port import IN_EXTRACT, Document, PlaceKind
from noarkit.safe.fixity import (
    BY_ARCHIVE,
    BY_CATALOGUE,
    BY_EXTRACT,
    BY_PACKAGE,
    BY_PLAN,
    BY_SIARD,
    SHA256,
    Fixity,
    algorithm_of,
)

_STATED_BY: Mapping[PlaceKind, str] = {
    "run": BY_PLAN,
    "extract": BY_EXTRACT,
    "package": BY_PACKAGE,
    "archive": BY_ARCHIVE,
}
_CHECKSUMS = (("sjekksum", "sjekksumAlgoritme"), ("digest", "digestType"), ("checksum", "algorithm"))
_OBJECT, _SIZE = "dokumentobjekt", "filstoerrelse"


def statements(document: Document, kind: PlaceKind) -> tuple[Fixity, ...]:
    """All that a place of this kind states of a document."""
    by = _STATED_BY.get(kind, BY_CATALOGUE)
    if (document.locator or "").startswith(IN_EXTRACT):
        by = BY_EXTRACT
    if "digestType" in document.fields:
        by = BY_SIARD
    known = [Fixity(SHA256, document.sha256, by=by)] if document.sha256 else []
    known += _of_fields(document.fields, by)
    return tuple(known)


def _of_fields(fields: Mapping[str, object], by: str) -> Iterator[Fixity]:
    inner = fields.get(_OBJECT)
    own: Mapping[str, object] = inner if isinstance(inner, Mapping) else fields
    has_checksum = False
    for name, algorithm_name in _CHECKSUMS:
        digest = own.get(name)
        algorithm = algorithm_of(str(own.get(algorithm_name) or ""))
        if isinstance(digest, str) and digest and algorithm:
            has_checksum = True
            yield Fixity(algorithm, digest, by=by)
    size = str(own.get(_SIZE) or "")
    if not has_checksum and size.isdecimal() and len(size) < 19:
        yield Fixity(size_bytes=int(size), by=by)

"""Finds the versions in production format that have no archival version beside them, in a part of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import orjson

from noarkit.extraction.store import ExtractStore
from noarkit.model.conversions import source_of
from noarkit.model.own_marks import ACCESS_COPY_OF, DERIVED_FROM
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.copies.archived import ArchivedDocument, ArchivedVersion

_PRODUCTION, _ARCHIVAL = "P", "A"

# what is disposed of, or expired with its record or case, gets no copies; nor does a copy for reading
_VERSIONS = """
SELECT d.id, d.uuid, d.open, v.uuid, v.sort, v.file, v.path, v.size, v.data,
  (SELECT json_group_array(json_extract(x.data, '$.f.eksternID')) FROM part x WHERE x.parent = v.id AND x.family = 'V'
    AND x.type = 'EksternId' AND json_extract(x.data, '$.f.eksterntSystem') = ?)
FROM document d JOIN version v ON v.parent = d.id AND NOT EXISTS (SELECT 1 FROM part y WHERE y.parent = v.id
  AND y.family = 'V' AND y.type = 'EksternId' AND json_extract(y.data, '$.f.eksterntSystem') = ?)
LEFT JOIN unit r ON r.id = d.parent AND r.kind = 'R' LEFT JOIN unit m ON m.id = r.parent AND m.kind = 'M'
WHERE json_extract(d.data, '$.f.kassertDato') IS NULL
  AND coalesce(json_extract(r.data, '$.f.journalstatus'), '') != 'U'
  AND coalesce(json_extract(m.data, '$.f.saksstatus'), '') != 'U'
ORDER BY d.id, v.sort, v.id
"""


@dataclass(frozen=True, slots=True)
class _Version:
    """A version with its variant, and the checksums of what it says that it was made of."""

    version: ArchivedVersion
    variant: str
    origins: frozenset[str]


def uncopied_documents(store: ExtractStore) -> Iterator[ArchivedDocument]:
    """Each document with the versions that lack a copy; documents that lack none are left out."""
    require_wing("copies")
    from noarkit.copies.archived import ArchivedDocument

    store.index()
    rows = store.rows(_VERSIONS, (DERIVED_FROM, ACCESS_COPY_OF))
    for _, group in groupby(rows, key=lambda row: row[0]):
        document_rows = list(group)
        versions = _without_copy([_version(row) for row in document_rows])
        if versions:
            yield ArchivedDocument(str(document_rows[0][1]), not document_rows[0][2], tuple(versions))


def _without_copy(versions: Iterable[_Version]) -> list[ArchivedVersion]:
    """The production versions that no archival one belongs to.

    A copy of noarkit names the checksum of its original. Any other archival version belongs to the newest production
    version up to its own number, and so does one whose original cannot be told by checksum.
    """
    versions = list(versions)
    originals = [one.version for one in versions if one.variant == _PRODUCTION and one.version.file]
    covered: set[str] = set()
    for archival in (one for one in versions if one.variant == _ARCHIVAL):
        named = {one.uuid for one in originals if one.sha256 is not None and one.sha256 in archival.origins}
        if archival.origins and (named or all(one.sha256 for one in originals)):
            covered |= named
            continue
        earlier = [one for one in originals if one.number <= archival.version.number]
        if earlier:
            covered.add(max(earlier, key=lambda one: one.number).uuid)
    return [one for one in originals if one.uuid not in covered]


def _version(row: tuple[str | int | None, ...]) -> _Version:
    from noarkit.copies.archived import ArchivedVersion

    _, _, _, uuid, number, file, path, size, data, origins = row
    fields = orjson.loads(str(data))["f"]
    size_bytes = size if isinstance(size, int) and size >= 0 else None
    name = str(fields.get("filnavn") or PurePosixPath(str(path)).name)
    version = ArchivedVersion(
        str(uuid),
        int(str(number)),
        str(file),
        name,
        size_bytes,
        str(fields.get("sjekksumAlgoritme", "")),
        str(fields.get("sjekksum", "")).lower(),
    )
    labels = {source_of(str(label)) for label in orjson.loads(str(origins))}
    return _Version(version, str(fields.get("variantformat", "")), frozenset(one for one in labels if one))

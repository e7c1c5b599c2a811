"""Numbers versions where copies are among them: a copy has the number of the version that it is a copy of.

The archive counts the versions of a document by itself, and would give a copy the next number. Where the account may
set numbers, those of a document with copies are therefore all set; other documents are left to the archive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.model.conversions import original_key

_VERSION, _NUMBER = "Dokumentversjon", "versjonsnummer"


def numbers_with_copies(
    archive: Archive, graph: GraphStore, entities: Sequence[PlannedEntity], known_ids: Mapping[int, str]
) -> dict[int, int]:
    """The numbers of the versions to be sent, for documents that get a copy; by entity.

    `known_ids` are the ids of what stands in the archive; the numbers of versions there are asked for.
    """
    by_document: dict[int, list[PlannedEntity]] = {}
    for entity in entities:
        if entity.type == _VERSION and entity.parent is not None:
            by_document.setdefault(entity.parent, []).append(entity)
    numbers: dict[int, int] = {}
    for document, versions in by_document.items():
        if any(original_key(version.key) is not None for version in versions):
            standing = _standing_numbers(archive, known_ids[document]) if document in known_ids else {}
            planned = {graph.entity(n).key: n for n in graph.children(document, _VERSION)}
            in_archive = {key: standing[known_ids[n]] for key, n in planned.items() if known_ids.get(n) in standing}
            numbers |= _number(versions, in_archive, max(standing.values(), default=0))
    return numbers


def _number(versions: Sequence[PlannedEntity], numbers_by_key: Mapping[str, int], highest: int) -> dict[int, int]:
    """Numbers after the highest one; that of its original for a copy."""
    by_key = dict(numbers_by_key)
    numbers: dict[int, int] = {}
    for version in versions:
        own = version.fields.get(_NUMBER)
        original = original_key(version.key)
        if isinstance(own, int | float):
            number = int(own)
        elif original is not None and original in by_key:
            number = by_key[original]
        else:
            number = highest + 1
        highest = max(highest, number)
        by_key[version.key] = numbers[version.n] = number
    return numbers


def _standing_numbers(archive: Archive, document: str) -> dict[str, int]:
    """The numbers of a document's versions in the archive, by id."""
    query = Query(_VERSION, "refDokument.id = @d", {"@d": document}, order=(("id", "asc"),))
    return {
        version.id: int(number)
        for version in objects(archive, query)
        if isinstance(number := version.fields.get(_NUMBER), int | float)
    }

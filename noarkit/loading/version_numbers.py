"""Numbers documents and versions where the archive, which counts them by itself, would give them another number.

A copy has the number of the version that it is a copy of; what was lost and is made again, the number of its place
among those that still stand. Where the account may not set numbers, all of them are left to the archive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import objects_of_ids, uuid_for
from noarkit.model.conversions import original_key

NUMBERS: Mapping[str, str] = {"Dokument": "dokumentnummer", "Dokumentversjon": "versjonsnummer"}
"""The fields in which the archive numbers what is below one parent."""
_VERSION, _NUMBER = "Dokumentversjon", "versjonsnummer"


class Renumbered(NamedTuple):
    """A planned entity that has a lower number than one before it in the plan, and both numbers."""

    n: int
    key: str
    detail: str


def numbers_of_remade(
    archive: Archive,
    graph: GraphStore,
    facts: RunFacts,
    entities: Sequence[PlannedEntity],
    known_ids: Mapping[int, str],
) -> dict[int, int]:
    """The numbers of documents and versions that are made below a parent where later ones stand; by entity."""
    by_parent: dict[tuple[int, str], list[PlannedEntity]] = {}
    for entity in entities:
        is_told = NUMBERS.get(entity.type) in entity.fields
        if entity.type in NUMBERS and not is_told and entity.parent is not None and entity.parent in known_ids:
            by_parent.setdefault((entity.parent, entity.type), []).append(entity)
    numbers: dict[int, int] = {}
    for (parent, kind), missing in by_parent.items():
        siblings = graph.children(parent, kind)
        if siblings[-1] == missing[-1].n and len(missing) == 1:
            continue  # it comes last
        standing = _numbers_below(archive, kind, known_ids[parent], "uuid")
        by_entity = {n: standing.get(uuid_for(facts, graph.entity(n))) for n in siblings}
        made, before = {entity.n for entity in missing}, 0
        for at, n in enumerate(siblings):
            later = [number for other in siblings[at + 1 :] if (number := by_entity[other]) is not None]
            number = by_entity[n]
            if n in made and number is None and later and before + 1 < min(later):
                number = numbers[n] = before + 1
            before = number if number is not None else before
    return numbers


def find_renumbered(archive: Archive, graph: GraphStore, journal: Journal, entity: PlannedEntity) -> Renumbered | None:
    """The one after an entity in the plan that has a lower number in the archive, for the entity was made again."""
    if entity.type not in NUMBERS or entity.parent is None:
        return None
    siblings = graph.children(entity.parent, entity.type)
    ids = journal.ids(siblings)
    following = next((n for n in siblings[siblings.index(entity.n) + 1 :] if n in ids), None)
    if following is None or entity.n not in ids:
        return None
    name = NUMBERS[entity.type]
    objects_by_id = {item.id: item for item in objects_of_ids(archive, entity.type, [ids[entity.n], ids[following]])}
    own, later = (
        item.fields.get(name) if (item := objects_by_id.get(ids[n])) is not None else None
        for n in (entity.n, following)
    )
    if not isinstance(own, int | float) or not isinstance(later, int | float):
        return None
    if later > own or (later == own and entity.type == _VERSION):
        return None
    return Renumbered(following, graph.entity(following).key, f"{entity.type}.{name} {own:g} → {later:g}")


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
            standing = _numbers_below(archive, _VERSION, known_ids[document], "id") if document in known_ids else {}
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


def _numbers_below(archive: Archive, kind: str, parent_id: str, name: str) -> dict[str, int]:
    """The numbers of what stands below a parent in the archive, by id or uuid."""
    link = "refRegistrering" if kind == "Dokument" else "refDokument"
    query = Query(kind, f"{link}.id = @d", {"@d": parent_id}, order=(("id", "asc"),))
    return {
        (item.id if name == "id" else str(item.fields.get(name)).lower()): int(number)
        for item in objects(archive, query)
        if isinstance(number := item.fields.get(NUMBERS[kind]), int | float)
    }

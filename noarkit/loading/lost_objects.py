"""What the archive has lost of that which a run loaded, by what a retry asked for. Reads only.

An id alone proves nothing: after an older backup the archive gives ids anew, and another's object stands where ours
was. It is ours by its key; else by its uuid, where the run writes uuids; else by what was planned of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from noarkit.archive.port import Archive
from noarkit.archive.values import SavedObject
from noarkit.graph.store import GraphStore, PlannedEntity, Position
from noarkit.loading.findings import LOST
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import (
    ORDERS,
    Owner,
    is_similar,
    objects_of_ids,
    surely_owners_of_keys,
    uuid_for,
    uuid_of_new_version,
)
from noarkit.model import metamodel

_AT_ONCE = 10_000
_WITH_KEYS = frozenset({"AbstraktMappe", "AbstraktRegistrering"})


def asked_numbers(journal: Journal) -> Iterator[list[int]]:
    """The numbers of the entities that a retry asked for as lost, some at a time, in their order."""
    last = 0
    kinds = orjson.dumps(sorted(LOST)).decode()
    while rows := journal.rows(
        "SELECT DISTINCT entity FROM finding WHERE state = 'asked' AND entity > ? AND kind IN"
        " (SELECT value FROM json_each(?)) ORDER BY entity LIMIT ?",
        (last, kinds, _AT_ONCE),
    ):
        yield [n for (n,) in rows]
        last = rows[-1][0]


def find_lost(
    journal: Journal, graph: GraphStore, archive: Archive, numbers: Collection[int], *, strictly: bool = False
) -> dict[int, Position]:
    """What of these entities is not in the archive, with all that belongs to the same record: planned entities that
    the journal has an id of, and their places in the order.

    Each is asked for in every order: an empty answer may be a false one. What only may be ours is not lost, for it
    would be made twice; `strictly` takes it for lost, so that it is not said to be there either.
    """
    facts = RunFacts(
        plan=(journal.meta("plan") or "")[:16],
        external_system=graph.meta("external_system") or "noarkit",
        honours_versions=False,
        sets_system_fields=journal.meta("sets_system_fields") == "True",
        fresh=False,
        deadline_s=0,
    )
    places: dict[int, Position] = {}
    entities = _members(graph, numbers)
    ids = journal.ids(entity.n for entity in entities)
    already_there = journal.already_there(entity.n for entity in entities)
    keys = [entity.key for entity in entities if entity.n in ids and _has_key(entity)]
    owners = surely_owners_of_keys(archive, facts.external_system, keys, None)
    judge = _Judge(facts, ids, already_there, owners, strictly=strictly)
    objects = _objects(archive, [entity for entity in entities if entity.n in ids], ids)
    for entity in entities:
        if entity.n in ids:
            actual = objects.get(entity.n)
            is_lost = actual is None or not judge.is_ours(entity, actual)
        else:  # another run's, which this one never asked for: it went with its record
            is_lost = entity.n in already_there and entity.bundle in judge.lost
        if is_lost:
            judge.lost.add(entity.n)
            places[entity.n] = (entity.unit, entity.bundle, entity.n)
    return places


@dataclass(slots=True)
class _Judge:
    """Judges whether an object that has the id of a planned entity is the one that was loaded. Parents come first."""

    facts: RunFacts
    ids: Mapping[int, str]
    already_there: Collection[int]
    owners: Mapping[str, Owner]
    strictly: bool
    lost: set[int] = field(default_factory=set)

    def is_ours(self, entity: PlannedEntity, actual: SavedObject) -> bool:
        """True if it is, or may be, and nothing else could be known."""
        if _has_key(entity):
            owner = self.owners.get(entity.key)
            if owner is not None and owner.id == actual.id:
                return True
            if self.strictly:
                return False
        uuid = str(actual.fields.get("uuid") or "").lower()
        if uuid and uuid in (uuid_for(self.facts, entity), uuid_of_new_version(self.facts, entity.key)):
            return True
        if entity.parent in self.lost:
            return False
        parent_id = None if entity.parent is None else self.ids.get(entity.parent)
        is_below = parent_id is not None and actual.links.get(entity.parent_link or "") == parent_id
        if is_below and not _has_key(entity):
            return True  # below an object of ours that stands
        if self.facts.sets_system_fields and entity.n not in self.already_there:
            return False
        return actual.type == entity.type and is_similar(entity, actual)


def _has_key(entity: PlannedEntity) -> bool:
    return metamodel().types[entity.type].family in _WITH_KEYS


def _objects(archive: Archive, entities: Collection[PlannedEntity], ids: Mapping[int, str]) -> dict[int, SavedObject]:
    """What stands under these ids, by the number of the entity."""
    objects: dict[int, SavedObject] = {}
    by_family: dict[str, dict[str, int]] = {}
    for entity in entities:
        by_family.setdefault(metamodel().types[entity.type].family, {})[ids[entity.n]] = entity.n
    for family, missing in by_family.items():
        for order in ORDERS:
            for actual in objects_of_ids(archive, family, list(missing), order=order):
                if actual.id in missing:
                    objects[missing.pop(actual.id)] = actual
            if not missing:
                break
    return objects


def _members(graph: GraphStore, numbers: Collection[int]) -> list[PlannedEntity]:
    """These entities, and all that stands in the same bundles, parents first."""
    numbers_json = orjson.dumps(list(numbers)).decode()
    rows = graph.db.execute(
        "SELECT n FROM entity WHERE n IN (SELECT value FROM json_each(?1)) OR (bundle != 0 AND"
        " bundle IN (SELECT bundle FROM entity WHERE n IN (SELECT value FROM json_each(?1))))"
        " ORDER BY unit, bundle, n",
        (numbers_json,),
    ).fetchall()
    return [graph.entity(n) for (n,) in rows]

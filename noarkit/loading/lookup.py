"""Finds objects in the archive by external id, uuid or natural key. Reads only.

Three ways to find an object again: by the EksternId that bears its source key, by the uuid made from its key (where the
account may write uuids), and by its natural key: what was sent, under the parent it was sent for, in the order sent.

What is not found is made, so an empty answer must not be believed lightly: an index that lags or a proxy that answers
from before would have made again what is there. Either the question holds a key that is known to be there, its
*witness*, without which no answer counts; or it is put several times, in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from typing import TypeVar

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Order, Query, SavedObject
from noarkit.errors import ArchiveStrange
from noarkit.graph.store import PlannedEntity
from noarkit.loading.lease import RunFacts
from noarkit.model import metamodel

T = TypeVar("T")

_NAMESPACE = bytes.fromhex("6f2f9d0e6f0b5c589f0e2f0c4f7f5a11")
GUARD_TYPE = "Klasse"
KEYS_A_QUERY = 100
_POST = "Journalpost"
_IDENTS = {
    "AbstraktMappe": ("AbstraktMappe", "mappeIdent"),
    "AbstraktRegistrering": ("AbstraktRegistrering", "registreringsIdent"),
    _POST: ("AbstraktRegistrering", "registreringsIdent"),
}
"""By the type that is numbered: the one that must not bear the number already, and in which field."""
SortOrder = tuple[tuple[str, Order], ...]
_OLDEST_FIRST: SortOrder = (("id", "asc"),)
_NEWEST_FIRST: SortOrder = (("id", "desc"),)
# four, since faults come in rows: an index that is being built again answers more than one question with nothing
ORDERS: tuple[SortOrder, ...] = (_OLDEST_FIRST, _NEWEST_FIRST) * 2
"""The orders in which a question is put until nothing is missing; only after the last one is it not there."""
MADE_AGAIN = frozenset({"Dokumentversjon", "EksternId"})
"""Types whose objects another plan may make once more under the same keys: a further version, and what names it."""
_UNDER_TWO_UUIDS = MADE_AGAIN | {"Dokument"}
"""Types whose objects bear their own uuid, or one that names their plan too."""
_OWNERS = ("refMappe", "refRegistrering", "refDokument", "refDokumentversjon")
# volatile or filled in by the archive: not part of what identifies an object under its parent
_NOT_NATURAL = frozenset({"uuid", "virksomhetsspesifikkeMetadata", "referanseDokumentfil", "skjerming"})


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of an EksternId: the link to its type family, and its id."""

    link: str
    id: str


def uuid_of(facts: RunFacts, key: str) -> str:
    """The uuid of an entity in every archive: the uuid5 of its external system and key."""
    return uuid_of_key(facts.external_system, key)


def uuid_of_key(system: str, key: str) -> str:
    """The uuid of what bears a key of an external system, whichever run loads it."""
    return _uuid5(f"{system}\n{key}")


def uuid_for(facts: RunFacts, entity: PlannedEntity) -> str:
    """The uuid of an entity: the one that its source kept, else the one made from its key."""
    kept_uuid = entity.fields.get("uuid")
    return kept_uuid.lower() if isinstance(kept_uuid, str) else uuid_of(facts, entity.key)


def uuid_of_new_version(facts: RunFacts, key: str) -> str:
    """The uuid of a further version of a document: its first one, loaded by another plan, bears the key's own."""
    return _uuid5(f"{facts.external_system}\n{key}\n{facts.plan}")


def _uuid5(name: str) -> str:
    """What `uuid.uuid5` makes, in a third of its time: every entity of a load has one."""
    digits = sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def owners_of_keys(archive: Archive, system: str, keys: Iterable[str]) -> dict[str, Owner]:
    """The objects that bear these external ids, by key; a key that several bear is answered with the oldest."""
    keys = dict.fromkeys(keys)
    owners: dict[str, Owner] = {}
    for batch in key_batches(list(keys)):
        for key, owner in _bearers(archive, system, batch, _OLDEST_FIRST).items():
            if owner is not None:
                owners[key] = owner
    return owners


def surely_owners_of_keys(archive: Archive, system: str, keys: Iterable[str], witness: str | None) -> dict[str, Owner]:
    """Like `owners_of_keys`, where a key that is not found will be made. Raises `ArchiveStrange` for an archive that
    keeps forgetting the witness, a key that it showed before."""
    keys = dict.fromkeys(keys)
    owners: dict[str, Owner] = {}
    for batch in key_batches(list(keys)):
        for order in ORDERS:
            bearers = _bearers(archive, system, dict.fromkeys((*batch, witness)) if witness else batch, order)
            owners.update({key: owner for key, owner in bearers.items() if owner is not None and key in keys})
            if (witness in bearers) if witness else all(key in owners for key in batch):
                break
        else:
            if witness:
                raise ArchiveStrange(call="query", why="witness-missing")
    return owners


def _bearers(archive: Archive, system: str, keys: Iterable[str], order: SortOrder) -> dict[str, Owner | None]:
    """Which of these external ids the archive has, each with the oldest object that bears it."""
    # Ordered by id, so that of two bearers of one key the older answers, in every run the same.
    keys = list(keys)
    parameters = {f"@k{i}": key for i, key in enumerate(keys)}
    condition = "eksterntSystem = @s && (" + " || ".join(f"eksternID = @k{i}" for i in range(len(keys))) + ")"
    answer = objects(archive, Query("EksternId", condition, {"@s": system, **parameters}, order=order))
    bearers: dict[str, Owner | None] = {}
    for external in answer if order == _OLDEST_FIRST else reversed(list(answer)):
        key = str(external.fields.get("eksternID"))
        # An archive may compare without case or trailing spaces; a key that is not exactly ours is somebody else's.
        if external.type != "EksternId" or key not in keys:
            continue
        owner = next((Owner(link, external.links[link]) for link in _OWNERS if link in external.links), None)
        bearers[key] = bearers.get(key) or owner
    return bearers


def system_is_known(archive: Archive, system: str) -> bool:
    """True if any object bears an external id of this system."""
    return _newest_key(archive, system) is not None


def find_witness(archive: Archive, system: str) -> tuple[bool, str | None]:
    """Whether any object bears an external id of this system; and the newest of them as a witness, or None where the
    archive does not find it by its value."""
    # The newest, since an answer that shows it is complete: page by page, and up to what came last.
    newest = _newest_key(archive, system)
    if newest is None:
        return False, None
    is_found = any(newest in _bearers(archive, system, [newest], order) for order in ORDERS)
    return True, newest if is_found else None


def _newest_key(archive: Archive, system: str) -> str | None:
    for order in reversed(ORDERS):
        query = Query("EksternId", "eksterntSystem = @s", {"@s": system}, order=order, limit=1)
        for external in archive.query(query).objects:
            return str(external.fields.get("eksternID"))
    return None


@dataclass(frozen=True, slots=True)
class NumberBlock:
    """Numbers on end that a plan is to give in a year, behind a number that it knows: to so many objects of a type."""

    type: str
    year: int
    after: int
    count: int


def first_free_numbers(archive: Archive, blocks: Iterable[NumberBlock]) -> list[int]:
    """The first number of each block, so that no number of it stands in an identifier of the archive, which has the
    year and the number. Posts come behind those that the archive has of the year."""
    return [_first_free(archive, block) for block in blocks]


def _first_free(archive: Archive, block: NumberBlock) -> int:
    last_looked_at = block.after
    if block.type == _POST:
        last_looked_at = max(last_looked_at, _highest_post_number(archive, block.year))
    kind, ident = _IDENTS[block.type]
    first = last_looked_at + 1
    if not archive.query(Query(kind, f"{ident} %= @p", {"@p": f"{block.year}/%"}, limit=1)).objects:
        return first
    while last_looked_at < first + block.count - 1:
        batch = range(last_looked_at + 1, min(last_looked_at + KEYS_A_QUERY, first + block.count - 1) + 1)
        last_looked_at = batch[-1]
        first = max((number + 1 for number in _borne(archive, kind, ident, block.year, batch)), default=first)
    return first


def _highest_post_number(archive: Archive, year: int) -> int:
    query = Query(_POST, "journalaar = @y", {"@y": year}, order=(("journalsekvensnummer", "desc"),), limit=1)
    posts = archive.query(query).objects
    return max((int(str(post.fields.get("journalsekvensnummer") or 0)) for post in posts), default=0)


def _borne(archive: Archive, kind: str, ident: str, year: int, numbers: Iterable[int]) -> list[int]:
    """Those of some numbers of a year that the archive has."""
    numbers_by_ident = {f"{year}/{number}": number for number in numbers}
    parameters = {f"@i{place}": text for place, text in enumerate(numbers_by_ident)}
    condition = " || ".join(f"{ident} = {name}" for name in parameters)
    bearers = objects(archive, Query(kind, condition, parameters, order=_OLDEST_FIRST))
    return [numbers_by_ident[text] for item in bearers if (text := str(item.fields.get(ident))) in numbers_by_ident]


def objects_of_ids(
    archive: Archive, kind: str, ids: Iterable[str], *, order: SortOrder = _OLDEST_FIRST
) -> Iterator[SavedObject]:
    """The objects of a type, or of an abstract type's kinds, that have these ids."""
    ids, model = dict.fromkeys(ids), metamodel()
    for batch in key_batches(list(ids)):
        parameters = {f"@i{i}": object_id for i, object_id in enumerate(batch)}
        condition = " || ".join(f"id = {name}" for name in parameters)
        query = Query(kind, condition, parameters, order=order)
        yield from (item for item in objects(archive, query) if model.is_a(item.type, kind) and item.id in ids)


def ids_by_uuid(archive: Archive, facts: RunFacts, entities: Iterable[PlannedEntity]) -> dict[int, str]:
    """The ids of those entities that stand in the archive under their uuids."""
    own_ids, ids_by_plan = ids_by_both_uuids(archive, facts, entities)
    return own_ids | ids_by_plan


def ids_by_both_uuids(
    archive: Archive, facts: RunFacts, entities: Iterable[PlannedEntity]
) -> tuple[dict[int, str], dict[int, str]]:
    """The ids of those entities that stand under the uuid of their key, and of those under the one that names this plan
    too: it added them to a record found there."""
    by_type: dict[str, list[PlannedEntity]] = {}
    for entity in entities:
        by_type.setdefault(entity.type, []).append(entity)
    own_ids: dict[int, str] = {}
    ids_by_plan: dict[int, str] = {}
    for kind, members in by_type.items():
        for batch in key_batches(members):
            own_uuids = {uuid_for(facts, entity): entity.n for entity in batch}
            uuids_of_plan = {
                uuid_of_new_version(facts, entity.key): entity.n for entity in batch if kind in _UNDER_TWO_UUIDS
            }
            parameters = {f"@u{i}": name for i, name in enumerate((*own_uuids, *uuids_of_plan))}
            condition = " || ".join(f"uuid = {name}" for name in parameters)
            answer = objects(archive, Query(kind, condition, parameters))
            ids_by_text = {str(item.fields.get("uuid")): item.id for item in answer if item.type == kind}
            own_ids |= {n: ids_by_text[name] for name, n in own_uuids.items() if name in ids_by_text}
            ids_by_plan |= {n: ids_by_text[name] for name, n in uuids_of_plan.items() if name in ids_by_text}
    return own_ids, ids_by_plan


def ids_by_natural_key(
    archive: Archive, facts: RunFacts, entities: Sequence[PlannedEntity], known_ids: Mapping[int, str]
) -> dict[int, str]:
    """The ids of those entities that can be found by external id, or under a parent known or found on the way."""
    numbers_by_key = {entity.key: entity.n for entity in entities if entity.type not in ("EksternId",)}
    # Bearers of a source key first. The others have no name of their own and are found under a parent, so the loop
    # below walks from parents to children: entities come in the order of the plan, where a parent precedes them.
    owners = owners_of_keys(archive, facts.external_system, numbers_by_key)
    ids_by_number = {numbers_by_key[key]: owner.id for key, owner in owners.items()}
    taken_ids: set[str] = set(ids_by_number.values())
    groups: dict[tuple[str, str, int], list[PlannedEntity]] = {}
    for entity in entities:
        if entity.parent is not None and entity.parent_link is not None and entity.n not in ids_by_number:
            groups.setdefault((entity.type, entity.parent_link, entity.parent), []).append(entity)
    for (kind, link, parent), members in groups.items():
        archive_id = ids_by_number.get(parent) or known_ids.get(parent)
        if archive_id is None:
            continue
        children = [child for child in _children(archive, kind, link, archive_id) if child.id not in taken_ids]
        # under a parent of the same chunk all is ours; under one that stood before, what came last is
        pairs = (
            _match_children(members, children)
            if parent in ids_by_number
            else _match_children(members, _last_similar(members, children))
        )
        ids_by_number.update(pairs)
        taken_ids.update(pairs.values())
    return ids_by_number


def _match_children(members: Sequence[PlannedEntity], children: Sequence[SavedObject]) -> dict[int, str]:
    """Pairs each planned object with the first similar one; the others by position, if as many remain."""
    # Example: planned merknader A, A, B; the archive has A, B', A. Both A are paired with an A; B and B' alone remain,
    # as many on both sides, so they are the same (the archive normalised a text). With another count nothing is
    # guessed.
    free = list(children)
    pairs: dict[int, str] = {}
    for entity in members:
        match = next((child for child in free if is_similar(entity, child)), None)
        if match is not None:
            pairs[entity.n] = match.id
            free.remove(match)
    unmatched = [entity for entity in members if entity.n not in pairs]
    if len(unmatched) == len(free):
        pairs.update({entity.n: child.id for entity, child in zip(unmatched, free, strict=True)})
    return pairs


def _last_similar(members: Sequence[PlannedEntity], children: Sequence[SavedObject]) -> list[SavedObject]:
    alike = [child for child in children if any(is_similar(entity, child) for entity in members)]
    # A parent that stood before may have had like children of others. Ours came last, and ids grow.
    return alike[-len(members) :]


def _children(archive: Archive, kind: str, link: str, parent: str) -> Iterator[SavedObject]:
    query = Query(kind, f"{link}.id = @p", {"@p": parent}, order=(("id", "asc"),))
    return (item for item in objects(archive, query) if item.type == kind)


def is_similar(entity: PlannedEntity, saved_object: SavedObject) -> bool:
    """True if an object has what was planned of an entity, as far as an archive stores it as it was sent."""
    fields = metamodel().types[entity.type].fields
    for name, value in entity.fields.items():
        # Only what the archive stores as sent can be compared; fields it fills in or converts would make every object a
        # stranger.
        if name in _NOT_NATURAL or value is None or (name in fields and fields[name].save != "x"):
            continue
        if fields[name].kind in ("string", "number", "boolean") and saved_object.fields.get(name) != value:
            return False
    return True


def key_batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in batches of as many as one query asks for."""
    for start in range(0, len(items), KEYS_A_QUERY):
        yield items[start : start + KEYS_A_QUERY]

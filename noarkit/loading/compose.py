"""Composes the transaction of a chunk from its entities: the same input gives the same actions.

Every entity is saved under a temporary id made from its number and linked to its parent; parents come first. The guard,
where there is one, goes in front with the version it must still have; the anchor hangs on the first entity that can
bear an external id. Fields that an archive takes only for what is linked are saved after the links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, FieldValue, Link, Save, SavedObject
from noarkit.errors import ArchiveStrange
from noarkit.graph.store import PlannedEntity, PlannedLink
from noarkit.loading.finality import withheld_fields
from noarkit.loading.lease import Guard, RunFacts
from noarkit.loading.lookup import GUARD_TYPE, uuid_for, uuid_of_new_version
from noarkit.loading.version_numbers import NUMBERS
from noarkit.model import metamodel

_ANCHOR = "anchor"
_BEARERS = {
    "AbstraktMappe": "refMappe",
    "AbstraktRegistrering": "refRegistrering",
    "Dokument": "refDokument",
    "Dokumentversjon": "refDokumentversjon",
}


@dataclass(frozen=True, slots=True)
class Composition:
    """The actions, and the orphans: numbers of entities whose parent is missing, with the number of that parent."""

    actions: tuple[Action, ...]
    orphans: Mapping[int, int]


def temporary_id(n: int) -> str:
    """The id an entity goes by inside one transaction."""
    return f"e{n}"


def compose(
    entities: Iterable[PlannedEntity],
    links: Mapping[int, list[PlannedLink]],
    known_ids: Mapping[int, str],
    files: Mapping[int, str],
    facts: RunFacts,
    *,
    again: frozenset[int] = frozenset(),
    numbers: Mapping[int, int] = MappingProxyType({}),
) -> Composition:
    """Composes the saves and links of `entities`; `known_ids` are ids in the archive, `files` upload ids by version.

    `again` are further versions of what another plan loaded under the same keys, `numbers` those of documents and
    versions that the archive does not count by itself.
    """
    actions: list[Action] = []
    orphans: dict[int, int] = {}
    made_here: set[int] = set()
    plain = _writable_fields(facts)
    for entity in entities:
        parent = entity.parent
        if parent is not None and parent not in made_here and parent not in known_ids:
            orphans[entity.n] = parent
            continue
        n, kind = entity.n, entity.type
        me = temporary_id(n)
        made_here.add(n)
        fields = _fields_to_save(entity, plain[kind], files, facts)
        if facts.sets_system_fields:
            fields["uuid"] = uuid_of_new_version(facts, entity.key) if n in again else uuid_for(facts, entity)
            if n in numbers:
                fields[NUMBERS[kind]] = numbers[n]
        late_fields = _take_late_fields(kind, fields) if facts.writes_after_link else {}
        actions.append(Save(kind, me, fields))
        if parent is not None and entity.parent_link is not None:
            target = known_ids.get(parent) or temporary_id(parent)
            actions.append(Link(kind, me, entity.parent_link, (target,)))
        for link in links.get(n, ()):
            target_id = known_ids.get(link.target) or (temporary_id(link.target) if link.target in made_here else None)
            if target_id is None:
                orphans[n] = link.target
            else:
                actions.append(Link(kind, me, link.name, (target_id,)))
        if late_fields:
            actions.append(Save(kind, me, late_fields))
    return Composition(tuple(actions), orphans)


def send(archive: Archive, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
    """Sends a transaction. Raises `ArchiveStrange` for an answer without every object to be made."""
    saved_objects = archive.transaction(actions)
    for action in actions:
        if isinstance(action, Save) and not action.id.isdigit():
            answer = saved_objects.get(action.id)
            if answer is None or answer.type != action.type:
                raise ArchiveStrange(call="transaction", why="not-all-saved", fate="unknown")
    return saved_objects


def add_guard(actions: tuple[Action, ...], guard: Guard | None, facts: RunFacts, chunk_key: str) -> tuple[Action, ...]:
    """Adds the guard before the actions and the anchor after them: this is what is sent."""
    anchor = facts.anchor(chunk_key)
    first: list[Action] = []
    if guard is not None:
        first.append(Save(GUARD_TYPE, guard.id, {"beskrivelse": anchor}, version=guard.version))
    return (*first, *actions, *_anchor(actions, facts, anchor))


def _anchor(actions: tuple[Action, ...], facts: RunFacts, anchor: str) -> tuple[Action, ...]:
    model = metamodel()
    for action in actions:
        link = _BEARERS.get(model.types[action.type].family) if isinstance(action, Save) else None
        if link is not None:
            fields = {"eksterntSystem": facts.anchor_system, "eksternID": anchor}
            return (Save("EksternId", _ANCHOR, fields), Link("EksternId", _ANCHOR, link, (action.id,)))
    return ()


def _fields_to_save(
    entity: PlannedEntity, writable: frozenset[str], files: Mapping[int, str], facts: RunFacts
) -> dict[str, FieldValue]:
    fields: dict[str, FieldValue] = {name: value for name, value in entity.fields.items() if name in writable}
    if facts.closes:
        for name in withheld_fields(entity.type, entity.fields):
            fields.pop(name, None)
    if facts.codes:
        _translate_codes(entity.type, fields, facts)
    if entity.n in files:
        fields["referanseDokumentfil"] = files[entity.n]
    return fields


def _take_late_fields(kind: str, fields: dict[str, FieldValue]) -> dict[str, FieldValue]:
    """Takes out what the archive fills in itself, to be saved once the object is linked."""
    described = metamodel().types[kind].fields
    names = [name for name in fields if name in described and described[name].save == "cw"]
    return {name: fields.pop(name) for name in names}


def _translate_codes(kind: str, fields: dict[str, FieldValue], facts: RunFacts) -> None:
    fields_by_name = metamodel().types[kind].fields
    for name, value in fields.items():
        archive_codes = facts.codes.get(fields_by_name[name].code_list or "")
        if archive_codes is not None and isinstance(value, str):
            fields[name] = archive_codes.get(value, value)


def _writable_fields(facts: RunFacts) -> dict[str, frozenset[str]]:
    """The fields that the account may write, by type."""
    writable = ("x", "cw") if facts.sets_system_fields else ("x",)
    return {
        name: frozenset(field.name for field in kind.fields.values() if field.save in writable)
        for name, kind in metamodel().types.items()
    }

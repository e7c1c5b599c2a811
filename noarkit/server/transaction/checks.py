"""Rules that are checked when all actions are done and nothing is written yet.

Objects are saved before they are linked, and a move unlinks before it links; so mandatory fields and links, the rules
over several of them, and the place of classes are looked at here, for everything the transaction touched.
"""

from __future__ import annotations

from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal

_PRIMARY = "refPrimaerKlasse"
_SYSTEM = "refKlassifikasjonssystem"
_EMPTY = (None, "")


def check_all(stage: Stage) -> None:
    """Raises Refusal (400) for the first object that is not as it must be."""
    for entity in stage.new:
        _check_fields(entity)
        _check_links(entity)
        if entity.claimed_values:
            _check_claims(entity)
        if entity.plan.must_many:
            _check_many(entity)
    # What was there before was valid; only what was touched can have become otherwise.
    for entity in stage.entities.values():
        if entity.old is not None and entity.touched_columns:
            _check_links(entity)
            if "type" in entity.touched_columns:
                _check_fields(entity)
    _check_new_parents(stage)
    _check_places(stage)


def _check_fields(entity: StagedEntity) -> None:
    values = entity.values
    for name in entity.plan.must:
        value = values.get(name)
        if value is None or value == "":
            raise Refusal(400, f"{entity.location}: field {name} must have a value.")


def _check_links(entity: StagedEntity) -> None:
    values = entity.values
    for name in entity.plan.must_links:
        if values.get(name) is None:
            raise Refusal(400, f"{entity.location}: ref {name} must be linked.")
    for names in entity.plan.exactly_one:
        if sum(values.get(name) not in _EMPTY for name in names) != 1:
            filled_names = [name for name in names if values.get(name) not in _EMPTY]
            filled_text = " and ".join(filled_names) or "none"
            raise Refusal(
                400, f"{entity.location}: exactly one of {', '.join(names)} must be set, found {filled_text}."
            )


def _check_claims(entity: StagedEntity) -> None:
    for name, claimed_value in (entity.claimed_values or {}).items():
        if entity.values.get(name) != claimed_value:
            raise Refusal(400, f"{entity.location}: field {name} is only ever filled in by the archive.")


def _check_many(entity: StagedEntity) -> None:
    for name in entity.plan.must_many:
        if not (entity.child_counts or {}).get(name):
            raise Refusal(400, f"{entity.location}: ref {name} must be linked to at least one object.")


def _check_new_parents(stage: Stage) -> None:
    """Rules over a new object's children: all of them are made or moved here, so their counts are the truth."""
    for entity in stage.parents.values():
        if entity.old is None:
            present = {name for name, count in (entity.child_counts or {}).items() if count > 0}
            refuse_both(entity, present)


def refuse_both(entity: StagedEntity, present: set[str]) -> None:
    """Raises Refusal (400) where an object holds children of two kinds that exclude each other."""
    for names in entity.plan.not_both:
        if len(present.intersection(names)) > 1:
            raise Refusal(
                400, f"{entity.location}: {entity.plan.name} {entity.id} cannot have both {' and '.join(names)}."
            )


def _check_places(stage: Stage) -> None:
    sound: set[int] = set()
    for entity in list(stage.entities.values()):
        changed = entity.values if entity.old is None else entity.changed_columns()
        if "refForelderMappe" in changed or "refForelderKlasse" in changed:
            _check_no_circle(stage, entity, sound)
        if entity.plan.name == "Klasse" and changed:
            _check_same_system(stage, entity)
        if entity.values.get(_PRIMARY) is not None and (
            entity.old is None or {_PRIMARY, "refArkivdel", "refMappe", "refForelderMappe"}.intersection(changed)
        ):
            _check_primary_class(stage, entity)


def _check_no_circle(stage: Stage, entity: StagedEntity, sound: set[int]) -> None:
    visited: set[int] = set()
    member: StagedEntity | None = entity
    while member is not None and member.id not in sound:
        if member.id in visited:
            raise Refusal(400, f"{entity.location}: {entity.plan.name} {entity.id} would stand below itself.")
        visited.add(member.id)
        member = stage.parent_of(member)
    sound |= visited


def _check_same_system(stage: Stage, entity: StagedEntity) -> None:
    parent = entity.values.get("refForelderKlasse")
    if parent is None:
        return
    above = stage.look_up("Klasse", int(parent))
    if above is not None and above.values.get(_SYSTEM) != entity.values.get(_SYSTEM):
        raise Refusal(
            400, f"{entity.location}: ref refForelderKlasse leads to a class of another classification system."
        )


def _check_primary_class(stage: Stage, entity: StagedEntity) -> None:
    primary_class = stage.look_up("Klasse", _id(entity.values.get(_PRIMARY)))
    series = _series(stage, entity)
    if primary_class is None or series is None:
        return
    if series.values.get("refPrimaerKlassifikasjonssystem") != primary_class.values.get(_SYSTEM):
        raise Refusal(
            400,
            f"{entity.location}: ref {_PRIMARY}: class {primary_class.id} is not in the primary classification system"
            f" of Arkivdel {series.id}.",
        )


def _series(stage: Stage, entity: StagedEntity) -> StagedEntity | None:
    """The Arkivdel that an object stands in, however deep."""
    member: StagedEntity | None = entity
    while member is not None and member.plan.name != "Arkivdel":
        member = stage.parent_of(member)
    return member


def _id(value: Stored) -> int:
    return int(value or 0)

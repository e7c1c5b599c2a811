"""What must hold once the whole transaction is done, judged before anything is written.

Objects are saved before they are linked, and a move unlinks before it links; so mandatory fields and links, the rules
over several of them, and the place of classes are looked at here, for everything the transaction touched.
"""

from __future__ import annotations

from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal

_PRIMARY = "refPrimaerKlasse"
_SYSTEM = "refKlassifikasjonssystem"


def check_all(stage: Stage) -> None:
    """Raises Refusal (400) for the first object that is not as it must be."""
    for thing in stage.new:
        _check_fields(thing)
        _check_links(thing)
        if thing.claimed:
            _check_claims(thing)
        if thing.plan.must_many:
            _check_many(thing)
    for thing in stage.things.values():
        if thing.old is not None and thing.touched:
            _check_links(thing)
            if "type" in thing.touched:
                _check_fields(thing)
    _check_new_parents(stage)
    _check_places(stage)


def _check_fields(thing: Thing) -> None:
    values = thing.values
    for name in thing.plan.must:
        stored = values.get(name)
        if stored is None or stored == "":
            raise Refusal(400, f"{thing.where}: field {name} must have a value.")


def _check_links(thing: Thing) -> None:
    values = thing.values
    for name in thing.plan.must_links:
        if values.get(name) is None:
            raise Refusal(400, f"{thing.where}: ref {name} must be linked.")
    for names in thing.plan.exactly_one:
        held = [name for name in names if values.get(name) not in (None, "")]
        if len(held) != 1:
            found = " and ".join(held) or "none"
            raise Refusal(400, f"{thing.where}: exactly one of {', '.join(names)} must be set, found {found}.")


def _check_claims(thing: Thing) -> None:
    for name, stored in (thing.claimed or {}).items():
        if thing.values.get(name) != stored:
            raise Refusal(400, f"{thing.where}: field {name} is only ever filled in by the archive.")


def _check_many(thing: Thing) -> None:
    for name in thing.plan.must_many:
        if not (thing.kids or {}).get(name):
            raise Refusal(400, f"{thing.where}: ref {name} must be linked to at least one object.")


def _check_new_parents(stage: Stage) -> None:
    """Rules over a new object's children: all of them are made or moved here, so their counts are the truth."""
    for thing in stage.parents.values():
        if thing.old is None:
            held = {name for name, count in (thing.kids or {}).items() if count > 0}
            refuse_both(thing, held)


def refuse_both(thing: Thing, held: set[str]) -> None:
    """Raises Refusal (400) where an object holds children of two kinds that exclude each other."""
    for names in thing.plan.not_both:
        if len(held.intersection(names)) > 1:
            raise Refusal(400, f"{thing.where}: {thing.plan.name} {thing.id} cannot have both {' and '.join(names)}.")


def _check_places(stage: Stage) -> None:
    sound: set[int] = set()
    for thing in list(stage.things.values()):
        changed = thing.values if thing.old is None else thing.changed()
        if "refForelderMappe" in changed or "refForelderKlasse" in changed:
            _check_no_circle(stage, thing, sound)
        if thing.plan.name == "Klasse" and changed:
            _check_same_system(stage, thing)
        if thing.values.get(_PRIMARY) is not None and (
            thing.old is None or {_PRIMARY, "refArkivdel", "refMappe", "refForelderMappe"}.intersection(changed)
        ):
            _check_primary_class(stage, thing)


def _check_no_circle(stage: Stage, thing: Thing, sound: set[int]) -> None:
    seen: set[int] = set()
    member: Thing | None = thing
    while member is not None and member.id not in sound:
        if member.id in seen:
            raise Refusal(400, f"{thing.where}: {thing.plan.name} {thing.id} would stand below itself.")
        seen.add(member.id)
        member = stage.above(member)
    sound |= seen


def _check_same_system(stage: Stage, thing: Thing) -> None:
    parent = thing.values.get("refForelderKlasse")
    if parent is None:
        return
    above = stage.look("Klasse", int(parent))
    if above is not None and above.values.get(_SYSTEM) != thing.values.get(_SYSTEM):
        raise Refusal(400, f"{thing.where}: ref refForelderKlasse leads to a class of another classification system.")


def _check_primary_class(stage: Stage, thing: Thing) -> None:
    found = stage.look("Klasse", _id(thing.values.get(_PRIMARY)))
    series = _series(stage, thing)
    if found is None or series is None:
        return
    if series.values.get("refPrimaerKlassifikasjonssystem") != found.values.get(_SYSTEM):
        raise Refusal(
            400,
            f"{thing.where}: ref {_PRIMARY}: class {found.id} is not in the primary classification system of"
            f" Arkivdel {series.id}.",
        )


def _series(stage: Stage, thing: Thing) -> Thing | None:
    """The Arkivdel that an object stands in, however deep."""
    member: Thing | None = thing
    while member is not None and member.plan.name != "Arkivdel":
        member = stage.above(member)
    return member


def _id(stored: Stored) -> int:
    return int(stored or 0)

"""Keeps what the archive has no place for in its business-specific metadata, so that an extract can tell it again.

What stands in an object that has such metadata is kept there; what stands in a thing that hangs on one (a version, a
remark, an answer) is kept by what it hangs on; what stands in a fonds, series or classification system is kept by the
first folder or record that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from noarkit.graph.entity import Entity, FieldValue
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.fitting import fits
from noarkit.packages.noark5.original import (
    ABOVE,
    GROUP,
    NAMES,
    OWN,
    Original,
    describing,
    feeding,
    of_value,
    state_of,
    to_text,
)
from noarkit.packages.noark5.unit_notes import Piece, UnitNotes

MUST_BE_ACCEPTED = ("gradering", "utfoertKassasjon")
"""Elements that protect or prove something: they are carried only where somebody accepted that the archive does not."""

_MAY_STAND_OFTEN = ("kryssreferanse",)
_OLDER: Mapping[tuple[str, str], str] = {("gradering", "gradering"): "grad"}
_ELEMENTS: Mapping[str, str] = {
    "Arkiv": "arkiv",
    "Arkivskaper": "arkivskaper",
    "Arkivdel": "arkivdel",
    "Klassifikasjonssystem": "klassifikasjonssystem",
    "Dokumentversjon": "dokumentobjekt",
}


@dataclass(slots=True)
class Carrier:
    """Puts what would be lost into the entities of one package; `accepted` names what may be carried although the
    archive does not act on it."""

    business: BusinessFields
    accepted: frozenset[str] = frozenset()
    _above: list[tuple[Original, tuple[Piece, ...]]] = field(default_factory=list)

    def into(self, entities: Sequence[Entity], notes: UnitNotes, *, with_above: bool = False) -> tuple[Entity, ...]:
        """The entities of a unit with all that they can keep; what is kept moves from the losses of the notes to what
        is carried. A folder or record takes along what waits from above it."""
        waiting = self._above if with_above else []
        if not notes.pieces and not waiting:
            return tuple(entities)
        keys = {one.key: one for one in entities}
        carried: dict[str, list[tuple[Entity, Piece]]] = {}
        left: list[Piece] = []
        for piece in notes.pieces:
            owner = keys.get(piece.key)
            holder = None if owner is None else _holder(owner, keys)
            if owner is None or holder is None or not self._may(piece) or not _has_place(owner, piece):
                left.append(piece)
                continue
            carried.setdefault(holder.key, []).append((owner, piece))
            notes.carried += piece.losses
        notes.pieces = left
        made = [self._with_own(one, carried[one.key], entities) if one.key in carried else one for one in entities]
        if waiting:
            made[0] = self._keeping(made[0], ABOVE, [one for one, _ in waiting])
            notes.carried += [loss for _, pieces in waiting for piece in pieces for loss in piece.losses]
            waiting.clear()
        return tuple(made)

    def above(self, entities: Sequence[Entity], notes: UnitNotes) -> None:
        """Takes what stands in a fonds, series or classification system along for the next folder or record."""
        for entity in entities:
            own = tuple(
                piece
                for piece in notes.pieces
                if piece.key == entity.key and self._may(piece) and _has_place(entity, piece)
            )
            if own:
                notes.pieces = [piece for piece in notes.pieces if piece not in own]
                self._above.append((_thing(entity, own, entities), own))

    def rest(self, notes: UnitNotes) -> None:
        """Tells what found no folder or record that could keep it."""
        notes.pieces += [piece for _, pieces in self._above for piece in pieces]
        self._above.clear()

    def _may(self, piece: Piece) -> bool:
        for _, path, _, _ in piece.losses:
            names = set(path.split("/"))
            if names.intersection(MUST_BE_ACCEPTED) and not {*names, path}.intersection(self.accepted):
                return False
        return True

    def _with_own(self, holder: Entity, found: Iterable[tuple[Entity, Piece]], all_of: Sequence[Entity]) -> Entity:
        by_owner: dict[str, list[Piece]] = {}
        owners = {owner.key: owner for owner, _ in found}
        for owner, piece in found:
            by_owner.setdefault(owner.key, []).append(piece)
        originals: list[Original] = []
        for key, pieces in by_owner.items():
            if key == holder.key:
                originals += _elements(holder, pieces)
            else:
                originals.append(_thing(owners[key], pieces, all_of))
        return self._keeping(holder, OWN, originals)

    def _keeping(self, holder: Entity, name: str, originals: Sequence[Original]) -> Entity:
        groups = self.business.groups.setdefault(GROUP, {})
        for one in (OWN, ABOVE):
            groups.setdefault(one, "string")
        for key, said in NAMES.items():
            self.business.names[key if key == GROUP else f"{GROUP}/{key}"] = said
        held = holder.fields.get(BUSINESS_METADATA)
        metadata: dict[str, object] = dict(held) if isinstance(held, Mapping) else {}
        before = metadata.get(GROUP)
        group: dict[str, object] = dict(before) if isinstance(before, Mapping) else {}
        said_before = group.get(name)
        values = list(said_before.get("values", [])) if isinstance(said_before, Mapping) else []
        metadata[GROUP] = {**group, name: {"values": [*values, to_text(originals)]}}
        fields: dict[str, FieldValue] = {**holder.fields, BUSINESS_METADATA: metadata}
        return replace(holder, fields=fields)


def may_keep(type_name: str) -> bool:
    """True for a type whose objects have business-specific metadata in the archive."""
    return BUSINESS_METADATA in mapping().types[type_name].fields


def _holder(owner: Entity, keys: Mapping[str, Entity]) -> Entity | None:
    """The entity that keeps what its own or a thing that hangs on it has lost."""
    if may_keep(owner.type):
        return owner
    above = keys.get(owner.parent or "")
    return above if above is not None and may_keep(above.type) else None


def _has_place(owner: Entity, piece: Piece) -> bool:
    """True where an extract can tell it again in its own element."""
    return all(fits(owner.type, one) for one in _elements(owner, (piece,)))


def _thing(owner: Entity, pieces: Iterable[Piece], all_of: Sequence[Entity]) -> Original:
    """A thing that cannot keep anything itself, with what it lost, and what it is known again by."""
    alike = [one.key for one in all_of if one.parent == owner.parent and one.type == owner.type]
    names = ("tittel",) if "tittel" in owner.fields else describing(owner.fields)
    element = _ELEMENTS.get(owner.type) or mapping().types[owner.type].group or owner.type
    return Original(
        element,
        within=_elements(owner, pieces),
        fields=names,
        state=state_of(names, owner.fields),
        place=alike.index(owner.key) + 1,
        system_id=str(owner.fields.get("uuid") or ""),
    )


def _elements(owner: Entity, pieces: Iterable[Piece]) -> list[Original]:
    """The elements that an entity lost, each with the fields that it belongs to."""
    found: list[Original] = []
    groups: dict[str, Original] = {}
    for steps, held in ((piece.steps, piece.held) for piece in pieces):
        for value in held:
            one = of_value(steps[-1], value)
            if one is None:
                continue
            for at in range(len(steps) - 2, -1, -1):
                name = steps[at]
                if at == 0 and name in groups:
                    groups[name].within.append(one)
                    break
                one = Original(name, within=[one])
                if at == 0 and name not in _MAY_STAND_OFTEN:
                    groups[name] = one
            else:
                found.append(one)
    for one in found:
        names = feeding(owner.type, one.name)
        if names:
            one.fields, one.state = names, state_of(names, owner.fields)
        _rename(one)
    return found


def _rename(one: Original) -> None:
    """Gives elements of 3.1 and 4.0 the names that the written version has for them."""
    for inner in one.within:
        inner.name = _OLDER.get((one.name, inner.name), inner.name)
        _rename(inner)

"""Keeps what the archive has no place for in its business-specific metadata, so that an extract can tell it again.

What stands in an object that has such metadata is kept there; what stands in a thing that hangs on one (a version, a
remark, an answer) is kept by what it hangs on; what stands in a fonds, series or classification system is kept by the
first folder or record that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from noarkit.forms.noark5.read.business import BusinessFields
from noarkit.forms.noark5.read.original import (
    ABOVE,
    GROUP,
    NAMES,
    OWN,
    Original,
    describing_fields,
    fields_of_element,
    original_from,
    state_of,
    to_text,
)
from noarkit.forms.noark5.read.unit_notes import Piece, UnitNotes
from noarkit.forms.noark5.write.fitting import fits
from noarkit.graph.entity import Entity, FieldValue
from noarkit.model.mapping import BUSINESS_METADATA, mapping

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

    def carry_into(
        self, entities: Sequence[Entity], notes: UnitNotes, *, with_above: bool = False
    ) -> tuple[Entity, ...]:
        """The entities of a unit with all that they can keep; what is kept moves from the losses of the notes to what
        is carried. A folder or record takes along what waits from above it."""
        waiting = self._above if with_above else []
        if not notes.pieces and not waiting:
            return tuple(entities)
        keys = {item.key: item for item in entities}
        pieces_by_holder: dict[str, list[tuple[Entity, Piece]]] = {}
        uncarried: list[Piece] = []
        for piece in notes.pieces:
            owner = keys.get(piece.key)
            holder = None if owner is None else _holder(owner, keys)
            if owner is None or holder is None or not self._may_carry(piece) or not _has_place(owner, piece):
                uncarried.append(piece)
                continue
            pieces_by_holder.setdefault(holder.key, []).append((owner, piece))
            notes.carried_losses += piece.losses
        notes.pieces = uncarried
        result = [
            self._with_own(item, pieces_by_holder[item.key], entities) if item.key in pieces_by_holder else item
            for item in entities
        ]
        if waiting:
            result[0] = self._add_originals(result[0], ABOVE, [item for item, _ in waiting])
            notes.carried_losses += [loss for _, pieces in waiting for piece in pieces for loss in piece.losses]
            waiting.clear()
        return tuple(result)

    def collect_above(self, entities: Sequence[Entity], notes: UnitNotes) -> None:
        """Takes what stands in a fonds, series or classification system along for the next folder or record."""
        for entity in entities:
            own = tuple(
                piece
                for piece in notes.pieces
                if piece.key == entity.key and self._may_carry(piece) and _has_place(entity, piece)
            )
            if own:
                notes.pieces = [piece for piece in notes.pieces if piece not in own]
                self._above.append((_owner_original(entity, own, entities), own))

    def flush(self, notes: UnitNotes) -> None:
        """Tells what found no folder or record that could keep it."""
        notes.pieces += [piece for _, pieces in self._above for piece in pieces]
        self._above.clear()

    def _may_carry(self, piece: Piece) -> bool:
        for _, path, _, _ in piece.losses:
            names = set(path.split("/"))
            if names.intersection(MUST_BE_ACCEPTED) and not {*names, path}.intersection(self.accepted):
                return False
        return True

    def _with_own(
        self, holder: Entity, owned_pieces: Iterable[tuple[Entity, Piece]], all_of: Sequence[Entity]
    ) -> Entity:
        by_owner: dict[str, list[Piece]] = {}
        owners = {owner.key: owner for owner, _ in owned_pieces}
        for owner, piece in owned_pieces:
            by_owner.setdefault(owner.key, []).append(piece)
        originals: list[Original] = []
        for key, pieces in by_owner.items():
            if key == holder.key:
                originals += _elements(holder, pieces)
            else:
                originals.append(_owner_original(owners[key], pieces, all_of))
        return self._add_originals(holder, OWN, originals)

    def _add_originals(self, holder: Entity, name: str, originals: Sequence[Original]) -> Entity:
        groups = self.business.groups.setdefault(GROUP, {})
        for field_id in (OWN, ABOVE):
            groups.setdefault(field_id, "string")
        for key, label in NAMES.items():
            self.business.names[key if key == GROUP else f"{GROUP}/{key}"] = label
        stored_metadata = holder.fields.get(BUSINESS_METADATA)
        metadata: dict[str, object] = dict(stored_metadata) if isinstance(stored_metadata, Mapping) else {}
        stored_group = metadata.get(GROUP)
        group: dict[str, object] = dict(stored_group) if isinstance(stored_group, Mapping) else {}
        stored_field = group.get(name)
        values = list(stored_field.get("values", [])) if isinstance(stored_field, Mapping) else []
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
    """True if an extract can tell it again in its own element."""
    return all(fits(owner.type, original) for original in _elements(owner, (piece,)))


def _owner_original(owner: Entity, pieces: Iterable[Piece], all_of: Sequence[Entity]) -> Original:
    """A thing that cannot keep anything itself, with what it lost, and what it is known again by."""
    alike = [entity.key for entity in all_of if entity.parent == owner.parent and entity.type == owner.type]
    names = ("tittel",) if "tittel" in owner.fields else describing_fields(owner.fields)
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
    originals: list[Original] = []
    groups: dict[str, Original] = {}
    for steps, values in ((piece.steps, piece.values) for piece in pieces):
        for value in values:
            original = original_from(steps[-1], value)
            if original is None:
                continue
            for at in range(len(steps) - 2, -1, -1):
                name = steps[at]
                if at == 0 and name in groups:
                    groups[name].within.append(original)
                    break
                original = Original(name, within=[original])
                if at == 0 and name not in _MAY_STAND_OFTEN:
                    groups[name] = original
            else:
                originals.append(original)
    for original in originals:
        names = fields_of_element(owner.type, original.name)
        if names:
            original.fields, original.state = names, state_of(names, owner.fields)
        _rename(original)
    return originals


def _rename(original: Original) -> None:
    """Gives elements of 3.1 and 4.0 the names that the written version has for them."""
    for inner in original.within:
        inner.name = _OLDER.get((original.name, inner.name), inner.name)
        _rename(inner)

"""Gives fields back that the form has no element for: what stands in `ikkeIFormen` becomes fields and things again.

What names nothing that is here, and what is no value of its field, has no place and is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from noarkit.forms.noark5.nodes import Node, exact_texts, nodes, text
from noarkit.forms.noark5.read import values
from noarkit.forms.noark5.read.business import BusinessFields
from noarkit.forms.noark5.read.structure import Unit
from noarkit.forms.noark5.read.unit_notes import UnitLocation, UnitNotes
from noarkit.forms.noark5.write import unmapped
from noarkit.graph.entity import Entity, FieldValue
from noarkit.model import Field, metamodel
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.model.own_marks import OWN_SYSTEMS

_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FILE_NAME, _MEDIA_TYPE = "filnavn", "innholdstype"
_PLAIN_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,255}")
_PLAIN_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")
_LINKS: Mapping[str, str] = {"mappe": "refMappe", "registrering": "refRegistrering"}


@dataclass(frozen=True, slots=True)
class UnmappedReader:
    """Gives back what one package tells; codes and groups that the archive must have are remembered."""

    codes: values.Codes
    business: BusinessFields

    def restore_into(self, entities: tuple[Entity, ...], unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """The entities of a unit, the unit itself first, with all that its metadata and those of its parties tell."""
        node = unit.node
        if BUSINESS_METADATA not in node and "part" not in node and "sakspart" not in node:
            return entities
        parties = [*nodes(node, "part"), *nodes(node, "sakspart")]
        if not any(_has_unmapped(item) for item in (node, *parties)):
            return entities
        work = _UnitRestore(self, unit, notes, {item.key: item for item in entities})
        for type_name, object_node in _objects_in(node):
            work.restore_object(type_name, object_node)
        for place, party in enumerate(parties, 1):
            for _, object_node in _objects_in(party):
                work.fill(f"{unit.key}#p{place}", object_node)
        return tuple(work.entities.values())


class _UnitRestore:
    """One unit at work."""

    def __init__(self, reader: UnmappedReader, unit: Unit, notes: UnitNotes, entities: dict[str, Entity]) -> None:
        self.entities = entities
        self._reader = reader
        self._unit = unit
        self._notes = notes
        self._filled_keys: set[str] = set()

    def restore_object(self, type_name: str, object_node: Node) -> None:
        """One object: the unit itself, a thing that hangs on it, or one that comes back with it."""
        if type_name in unmapped.NAMED:
            self._fill_if(self._find_party(type_name, object_node), type_name, object_node)
        elif type_name in unmapped.IDENTIFIED:
            self._fill_if(self._find_by_uuid(object_node), type_name, object_node)
        elif type_name in unmapped.exported_types() and mapping().types[type_name].group is None:
            self._add(type_name, object_node)
        else:
            self._fill_if(self._unit.key, type_name, object_node)

    def fill(self, key: str, object_node: Node) -> None:
        """Puts the fields of an object into its entity."""
        entity = self.entities[key]
        fields, unused = self._fields(entity.type, object_node)
        updated_entity = replace(entity, fields={**entity.fields, **fields})
        if entity.content is not None:
            name, media_type = text(object_node, _FILE_NAME) or "", text(object_node, _MEDIA_TYPE) or ""
            if _PLAIN_NAME.fullmatch(name):
                updated_entity = replace(updated_entity, content=replace(entity.content, name=name))
            if updated_entity.content is not None and _PLAIN_TYPE.fullmatch(media_type):
                updated_entity = replace(updated_entity, content=replace(updated_entity.content, media_type=media_type))
        self.entities[key] = updated_entity
        self._lose(entity.type, unused)

    def _fill_if(self, key: str | None, type_name: str, object_node: Node) -> None:
        if key is None or self.entities[key].type != type_name:
            self._lose(type_name, object_node)
        else:
            self.fill(key, object_node)

    def _find_party(self, type_name: str, object_node: Node) -> str | None:
        """The first thing of that name and role that nothing was given back to yet."""
        name, role = unmapped.NAMED[type_name]
        party_name, its_role = text(object_node, unmapped.CONCERNS), text(object_node, unmapped.ROLE)
        alike = [
            entity.key
            for entity in self.entities.values()
            if entity.type == type_name
            and entity.key not in self._filled_keys
            and str(entity.fields.get(name, "")).strip() == party_name
        ]
        code_list = metamodel().types[type_name].fields[role].code_list
        code = its_role if code_list is None or its_role is None else self._reader.codes.code(code_list, its_role)
        match_key = next((key for key in alike if self.entities[key].fields.get(role) == code), next(iter(alike), None))
        if match_key is not None:
            self._filled_keys.add(match_key)
        return match_key

    def _find_by_uuid(self, object_node: Node) -> str | None:
        uuid = (text(object_node, unmapped.CONCERNS) or "").lower()
        return next(
            (entity.key for entity in self.entities.values() if uuid and entity.fields.get("uuid") == uuid), None
        )

    def _add(self, type_name: str, object_node: Node) -> None:
        """A thing that the form has no element for at all."""
        parent, link = self._unit.key, _LINKS[self._unit.kind]
        if unmapped.CONCERNS in object_node:
            parent, link = self._find_by_uuid(object_node) or "", "refDokument"
        fields, unused = self._fields(type_name, object_node)
        reserved = str(fields.get("eksterntSystem", "")).startswith(OWN_SYSTEMS)
        if not parent or not fields or reserved or link not in metamodel().types[type_name].references:
            self._lose(type_name, object_node)
            return
        key = f"{self._unit.key}#e{len(self.entities)}"
        self.entities[key] = Entity(key, type_name, fields, parent, link, recipe_line=self._unit.line)
        self._lose(type_name, unused)

    def _fields(self, type_name: str, object_node: Node) -> tuple[dict[str, FieldValue], Node]:
        """What an object tells as fields of the archive, and what of it is none."""
        type_fields, may = metamodel().types[type_name].fields, unmapped.exported_types().get(type_name, ())
        fields: dict[str, FieldValue] = {}
        unused: Node = {}
        for name, raw_values in object_node.items():
            if name in (unmapped.CONCERNS, unmapped.ROLE):
                continue
            if name == BUSINESS_METADATA and name in may:
                fields[name] = self._reader.business.read(nodes(object_node, name))
                continue
            value = self._value(type_fields[name], raw_values) if name in may else None
            if value is None:
                unused[name] = raw_values
            elif type_fields[name].save != "sm":
                fields[name] = value
        return fields, unused

    def _value(self, field: Field, raw_values: Sequence[object]) -> FieldValue:
        """The value of a field; None for a text that is none."""
        texts = exact_texts({"": list(raw_values)}, "")  # type: ignore[arg-type]  # values of a node
        if len(texts) != 1:
            return None
        if field.code_list:
            return self._reader.codes.code(field.code_list, texts[0])
        return _READ[field.kind](texts[0])

    def _lose(self, type_name: str, object_node: Node) -> None:
        where = UnitLocation(self._unit.key, self._unit.kind, self._unit.line)
        for name, raw_values in object_node.items():
            if name not in (unmapped.CONCERNS, unmapped.ROLE):
                self._notes.lose(where, f"{BUSINESS_METADATA}/{type_name}/{name}", raw_values)


def _has_unmapped(node: Node) -> bool:
    return BUSINESS_METADATA in node and any(unmapped.MARK in metadata for metadata in nodes(node, BUSINESS_METADATA))


def _objects_in(node: Node) -> Iterator[tuple[str, Node]]:
    """The objects that a unit or party tells, each with its type."""
    for metadata in nodes(node, BUSINESS_METADATA) if BUSINESS_METADATA in node else ():
        for root in nodes(metadata, unmapped.MARK):
            for type_name in root:
                for object_node in nodes(root, type_name):
                    yield type_name, object_node


def _boolean(value: str) -> FieldValue:
    return {"true": True, "false": False}.get(value)


def _number(value: str) -> FieldValue:
    if not _NUMBER.fullmatch(value):
        return None
    return float(value) if "." in value else int(value)


def _date(value: str) -> FieldValue:
    try:
        return values.day(value) if len(value) == 10 else None
    except values.Unreadable:
        return None


_READ: Mapping[str, Callable[[str], FieldValue]] = {
    "string": lambda said: said,
    "timestamp": lambda said: said if _TIMESTAMP.fullmatch(said) else None,
    "date": _date,
    "number": _number,
    "boolean": _boolean,
    "object": lambda _: None,
}

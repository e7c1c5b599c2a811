"""Gives fields back that the form has no element for: what stands in `ikkeIFormen` becomes fields and things again.

What names nothing that is here, and what is no value of its field, has no place and is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from noarkit.graph.entity import Entity, FieldValue
from noarkit.model import Field, metamodel
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.packages.noark5 import beyond, values
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.nodes import Node, exact, nodes, text
from noarkit.packages.noark5.read import Unit
from noarkit.packages.noark5.unit_notes import UnitNotes, Where

_OWN_KEYS = "noarkit:"
"""Systems of keys by which a load finds its own way; a package may not bring such."""

_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FILE_NAME, _MEDIA_TYPE = "filnavn", "innholdstype"
_PLAIN_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,255}")
_PLAIN_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")
_LINKS: Mapping[str, str] = {"mappe": "refMappe", "registrering": "refRegistrering"}


@dataclass(frozen=True, slots=True)
class GivenBack:
    """Gives back what one package tells; codes and groups that the archive must have are remembered."""

    codes: values.Codes
    business: BusinessFields

    def into(self, made: tuple[Entity, ...], unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """The entities of a unit, the unit itself first, with all that its metadata and those of its parties tell."""
        node = unit.node
        parties = [*nodes(node, "part"), *nodes(node, "sakspart")]
        if not any(_is_told(one) for one in (node, *parties)):
            return made
        work = _Work(self, unit, notes, {one.key: one for one in made})
        for type_name, told in _told(node):
            work.take(type_name, told)
        for place, party in enumerate(parties, 1):
            for _, told in _told(party):
                work.fill(f"{unit.key}#p{place}", told)
        return tuple(work.entities.values())


class _Work:
    """One unit at work."""

    def __init__(self, how: GivenBack, unit: Unit, notes: UnitNotes, entities: dict[str, Entity]) -> None:
        self.entities = entities
        self._how = how
        self._unit = unit
        self._notes = notes
        self._filled: set[str] = set()

    def take(self, type_name: str, told: Node) -> None:
        """One object: the unit itself, a thing that hangs on it, or one that comes back with it."""
        if type_name in beyond.NAMED:
            self._fill_if(self._named(type_name, told), type_name, told)
        elif type_name in beyond.IDENTIFIED:
            self._fill_if(self._identified(told), type_name, told)
        elif type_name in beyond.told_types() and mapping().types[type_name].group is None:
            self._add(type_name, told)
        else:
            self._fill_if(self._unit.key, type_name, told)

    def fill(self, key: str, told: Node) -> None:
        """Puts the fields of an object into its entity."""
        entity = self.entities[key]
        fields, left = self._fields(entity.type, told)
        made = replace(entity, fields={**entity.fields, **fields})
        if entity.content is not None:
            name, media_type = text(told, _FILE_NAME) or "", text(told, _MEDIA_TYPE) or ""
            if _PLAIN_NAME.fullmatch(name):
                made = replace(made, content=replace(entity.content, name=name))
            if made.content is not None and _PLAIN_TYPE.fullmatch(media_type):
                made = replace(made, content=replace(made.content, media_type=media_type))
        self.entities[key] = made
        self._lose(entity.type, left)

    def _fill_if(self, key: str | None, type_name: str, told: Node) -> None:
        if key is None or self.entities[key].type != type_name:
            self._lose(type_name, told)
        else:
            self.fill(key, told)

    def _named(self, type_name: str, told: Node) -> str | None:
        """The first thing of that name and role that nothing was given back to yet."""
        name, role = beyond.NAMED[type_name]
        wanted, its_role = text(told, beyond.CONCERNS), text(told, beyond.ROLE)
        alike = [
            one.key
            for one in self.entities.values()
            if one.type == type_name and one.key not in self._filled and str(one.fields.get(name, "")).strip() == wanted
        ]
        listed = metamodel().types[type_name].fields[role].code_list
        code = its_role if listed is None or its_role is None else self._how.codes.code(listed, its_role)
        found = next((key for key in alike if self.entities[key].fields.get(role) == code), next(iter(alike), None))
        if found is not None:
            self._filled.add(found)
        return found

    def _identified(self, told: Node) -> str | None:
        wanted = (text(told, beyond.CONCERNS) or "").lower()
        return next((one.key for one in self.entities.values() if wanted and one.fields.get("uuid") == wanted), None)

    def _add(self, type_name: str, told: Node) -> None:
        """A thing that the form has no element for at all."""
        parent, link = self._unit.key, _LINKS[self._unit.kind]
        if beyond.CONCERNS in told:
            parent, link = self._identified(told) or "", "refDokument"
        fields, left = self._fields(type_name, told)
        reserved = str(fields.get("eksterntSystem", "")).startswith(_OWN_KEYS)
        if not parent or not fields or reserved or link not in metamodel().types[type_name].references:
            self._lose(type_name, told)
            return
        key = f"{self._unit.key}#e{len(self.entities)}"
        self.entities[key] = Entity(key, type_name, fields, parent, link, recipe_line=self._unit.line)
        self._lose(type_name, left)

    def _fields(self, type_name: str, told: Node) -> tuple[dict[str, FieldValue], Node]:
        """What an object tells as fields of the archive, and what of it is none."""
        known, may = metamodel().types[type_name].fields, beyond.told_types().get(type_name, ())
        fields: dict[str, FieldValue] = {}
        left: Node = {}
        for name, held in told.items():
            if name in (beyond.CONCERNS, beyond.ROLE):
                continue
            if name == BUSINESS_METADATA and name in may:
                fields[name] = self._how.business.read(nodes(told, name))
                continue
            value = self._value(known[name], held) if name in may else None
            if value is None:
                left[name] = held
            elif known[name].save != "sm":
                fields[name] = value
        return fields, left

    def _value(self, field: Field, held: Sequence[object]) -> FieldValue:
        """The value of a field; None for a text that is none."""
        said = exact({"": list(held)}, "")  # type: ignore[arg-type]  # values of a node
        if len(said) != 1:
            return None
        if field.code_list:
            return self._how.codes.code(field.code_list, said[0])
        return _READ[field.kind](said[0])

    def _lose(self, type_name: str, told: Node) -> None:
        where = Where(self._unit.key, self._unit.kind, self._unit.line)
        for name, held in told.items():
            if name not in (beyond.CONCERNS, beyond.ROLE):
                self._notes.lose(where, f"{BUSINESS_METADATA}/{type_name}/{name}", held)


def _is_told(node: Node) -> bool:
    return BUSINESS_METADATA in node and any(beyond.MARK in one for one in nodes(node, BUSINESS_METADATA))


def _told(node: Node) -> Iterator[tuple[str, Node]]:
    """The objects that a unit or party tells, each with its type."""
    for metadata in nodes(node, BUSINESS_METADATA) if BUSINESS_METADATA in node else ():
        for root in nodes(metadata, beyond.MARK):
            for type_name in root:
                for told in nodes(root, type_name):
                    yield type_name, told


def _boolean(said: str) -> FieldValue:
    return {"true": True, "false": False}.get(said)


def _number(said: str) -> FieldValue:
    if not _NUMBER.fullmatch(said):
        return None
    return float(said) if "." in said else int(said)


def _date(said: str) -> FieldValue:
    try:
        return values.day(said) if len(said) == 10 else None
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

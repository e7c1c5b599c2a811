"""The two names of a field and of a type: the archive's (mappeIdent, Dokument), and the standard's, which is what the
XML of an extract calls it (mappeID, dokumentbeskrivelse).

    archive_name("Saksmappe", "mappeID")       ->  "mappeIdent"
    standard_name("Saksmappe", "mappeIdent")   ->  "mappeID"

Which names belong together is read from the mapping; no name stands here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from types import MappingProxyType

from noarkit.model.mapping import FieldMap, TypeMap, mapping
from noarkit.model.metamodel import metamodel

_A_LITTLE = 0.05
"""How much less like a name may be that the type has itself."""


def standard_name(type_name: str, field: str) -> str:
    """What the standard calls a field of the type; the archive's own name where the standard has none.

    >>> standard_name("Journalpost", "registreringsDato"), standard_name("Saksmappe", "prefiks")
    ('journaldato', 'prefiks')
    """
    return _standard_names(type_name).get(field, field)


def archive_name(type_name: str, name: str) -> str:
    """What the archive calls a field of the type, by either of its names; a name that it does not have as it is.

    >>> archive_name("Journalpost", "journaldato"), archive_name("Saksmappe", "journaldato")
    ('registreringsDato', 'journaldato')
    """
    return _archive_names(type_name).get(name, name)


def field_names(type_name: str) -> tuple[str, ...]:
    """Every name that a field of the type may be written by."""
    kind = metamodel().types.get(type_name)
    return () if kind is None else tuple(dict.fromkeys((*kind.fields, *_archive_names(type_name))))


def fields_called(name: str) -> tuple[tuple[str, str], ...]:
    """The types that have a field of that name, by either, with the name that the archive has for it."""
    return tuple(
        (kind.name, field)
        for kind in metamodel().types.values()
        if (field := archive_name(kind.name, name)) in kind.fields
    )


def type_called(name: str) -> str | None:
    """The type of that name: the archive's, or that of its element in any version; in capitals or not.

    >>> type_called("dokumentbeskrivelse"), type_called("saksmappe"), type_called("sak")
    ('Dokument', 'Saksmappe', None)
    """
    return _types_by_name().get(name.lower())


@dataclass(frozen=True, slots=True)
class UnknownField:
    """What is known of a name that a type does not have: the field that was meant (`near`); or the types that have it,
    by `other`; or that it is an element for which the archive has no field (`lost`)."""

    near: str = ""
    owners: tuple[str, ...] = ()
    other: str = ""
    lost: bool = False


def explain_unknown(type_name: str, name: str) -> UnknownField:
    """What is known of a name: by the mapping, else by who has it, else by how it is spelt.

    >>> explain_unknown("Saksmappe", "journaldato").owners, explain_unknown("Saksmappe", "sakstatus").near
    (('Journalpost',), 'saksstatus')
    """
    field = _field_meant(type_name, name)
    if field is not None:
        return UnknownField(near=standard_name(type_name, field))
    paths = (element.path.split("/") for element in mapping().types[type_name].lost_elements)
    if any(name in steps for steps in paths):
        return UnknownField(lost=True)
    return _owned_elsewhere(name) or _spelt_like(type_name, name)


def _field_meant(type_name: str, name: str) -> str | None:
    """The field of the type that a name stands for: by either name, its name in 3.1 and 4.0, or its English one."""
    kind, type_map = metamodel().types[type_name], mapping().types[type_name]
    own_name = archive_name(type_name, name)
    if own_name in kind.fields:
        return own_name
    older = {field.older: field.name for field in type_map.fields.values() if field.older}
    return older.get(name) or next((field.name for field in kind.fields.values() if field.alias == name), None)


def _owned_elsewhere(name: str) -> UnknownField | None:
    fields_by_type = {kind: field for kind in metamodel().types if (field := _field_meant(kind, name)) is not None}
    if not fields_by_type:
        return None
    kind, field = next(iter(fields_by_type.items()))
    its_name = standard_name(kind, field) if name not in (field, standard_name(kind, field)) else name
    return UnknownField(owners=tuple(fields_by_type), other=its_name)


def _spelt_like(type_name: str, name: str) -> UnknownField:
    here = field_names(type_name)
    everywhere = {field: None for kind in metamodel().types for field in field_names(kind)}
    best = next(iter(get_close_matches(name, everywhere, 1)), "")
    near = next(iter(get_close_matches(name, here, 1)), "")
    if best in here or not best or (near and _likeness(name, near) > _likeness(name, best) - _A_LITTLE):
        return UnknownField(near=near)
    return UnknownField(owners=tuple(owner for owner, _ in fields_called(best)), other=best)


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, other, name).ratio()


@cache
def _standard_names(type_name: str) -> Mapping[str, str]:
    type_map = mapping().types.get(type_name)
    pairs = () if type_map is None else tuple(_pairs(type_map))
    return MappingProxyType(dict(pairs))


def _pairs(type_map: TypeMap) -> Iterator[tuple[str, str]]:
    """The archive's name and the standard's of each field with an element of another name, no element twice."""
    names = {field.name: _element_of(field, type_map) for field in type_map.fields.values() if field.path is not None}
    for field, element in names.items():
        if element != field and element not in type_map.fields and list(names.values()).count(element) == 1:
            yield field, element


def _element_of(field: FieldMap, type_map: TypeMap) -> str:
    steps = field.steps("5.0")
    return steps[-1] if steps else str(type_map.group)


@cache
def _archive_names(type_name: str) -> Mapping[str, str]:
    return MappingProxyType({element: field for field, element in _standard_names(type_name).items()})


@cache
def _types_by_name() -> Mapping[str, str]:
    names: dict[str, str] = {}
    for type_map in mapping().types.values():
        for name in (type_map.type, type_map.group, type_map.older_group):
            if name:
                names.setdefault(name.lower(), type_map.type)
    return MappingProxyType(names)

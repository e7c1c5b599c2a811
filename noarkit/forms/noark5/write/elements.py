"""Compiles the tables of the model to a plan for each type: which XML elements it becomes, in which order.

A plan is the elements of a type in the order of the form: values of fields, groups of such values, what is nested, what
is referred to. Where units below it belong, the plan is cut in two. Nothing here knows an object.

    plan_of("Merknad")  ->  Plan("Merknad", "<merknad>\\n", "</merknad>\\n", before=(
                                Leaf("merknadstekst", field="tekst", rule="text", …, mandatory=True),
                                Leaf("merknadstype", field="merknadstype", rule="code", …, mandatory=False),
                                Leaf("merknadsdato", field="opprettetDato", rule="instant", …, mandatory=True),
                                Leaf("merknadRegistrertAv", field="opprettetAv", rule="text", …)), after=(), …)

`structure` turns a plan into operations, `shapes` and `record_templates` turn those into templates of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from noarkit.forms.noark5.spec import WRITTEN_VERSION
from noarkit.model import metamodel
from noarkit.model.mapping import FieldMap, TypeMap, mapping
from noarkit.model.xml_model import Element, xml_model

UNITS = frozenset({"arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering"})
"""Where these stand within a group, the units below are written."""

_WITHIN: Mapping[str, str] = {"dokumentbeskrivelse": "d", "dokumentobjekt": "v"}


@dataclass(frozen=True, slots=True)
class Leaf:
    """An element that holds one value: of a field, by a rule, or by a rule alone where `field` is empty."""

    element: str
    field: str
    rule: str
    fallback: str | None
    mandatory: bool


@dataclass(frozen=True, slots=True)
class Block:
    """An element that holds leaves; written where a field of one of them is set."""

    element: str
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Nested:
    """What stands within: things of these types, or documents or versions where `member` is d or v."""

    element: str
    types: tuple[str, ...]
    member: str
    mandatory: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """An element, perhaps within another, for each link of this name."""

    path: tuple[str, ...]
    link: str
    many: bool


Part = Leaf | Block | Nested | Reference


@dataclass(frozen=True, slots=True)
class Plan:
    """A type as elements; `start_tag` is its own, with xsi:type where it is a kind of another."""

    type: str
    start_tag: str
    end_tag: str
    before: tuple[Part, ...]
    after: tuple[Part, ...]
    mapped_fields: frozenset[str]


@cache
def plan_of(type_name: str) -> Plan:
    """The plan of a type that the form has a group for."""
    type_map = mapping().types[type_name]
    group = type_map.group
    if group is None:
        raise KeyError(type_name)
    structure = xml_model(WRITTEN_VERSION).structure
    if group not in structure.groups:  # its objects are the text of one element
        only = next(field for field in type_map.fields.values() if field.path == ".")
        leaf = Leaf("", only.name, only.rule or "text", None, True)
        return Plan(type_name, f"<{group}>", f"</{group}>\n", (leaf,), (), frozenset({only.name}))
    # A Saksmappe is `<mappe xsi:type="saksmappe">`: the tag is the general one, the kind an attribute.
    tag = structure.groups[group].extends or group
    kind = f' xsi:type="{group}"' if tag != group else ""
    parts: list[list[Part]] = [[], []]
    for element in structure.groups[group].elements:
        # The form wants the units below a unit in the middle of its elements. They may be millions, so they are never
        # held as text: what stands before them is written, then they are, then what stands after them.
        if element.name in UNITS and element.kind == "group":
            # The mark makes the second half count as begun even while it is empty; it is dropped below.
            parts[1] = parts[1] or [_CUT]
            continue
        parts[1 if parts[1] else 0].extend(_parts(type_map, element))
    mapped_fields = frozenset(field.name for field in type_map.fields.values() if field.path is not None)
    return Plan(type_name, f"<{tag}{kind}>\n", f"</{tag}>\n", tuple(parts[0]), tuple(parts[1][1:]), mapped_fields)


_CUT = Leaf("", "", "cut", None, False)


def _parts(type_map: TypeMap, element: Element) -> Iterator[Part]:
    fields = [field for field in type_map.fields.values() if field.path == element.name]
    if fields:
        yield _leaf(fields[0], element)
        return
    fill_rule = next((fill for fill in type_map.fills if fill.path == element.name), None)
    if fill_rule is not None:
        yield Leaf(element.name, "", fill_rule.rule, None, True)
        return
    told = next((told for told in type_map.told_elements if told.path == element.name), None)
    if told is not None:
        yield Leaf("", told.field, told.rule, None, False)
        return
    nested = [link for link in type_map.links.values() if link.placement == "nest" and link.path == element.name]
    if nested:
        types = [target for link in nested for target in _targets(type_map.type, link.name)]
        yield Nested(element.name, tuple(dict.fromkeys(types)), _WITHIN.get(element.name, "p"), element.mandatory)
        return
    for link in type_map.links.values():
        if link.placement == "refer" and (link.path or "").split("/")[0] == element.name:
            yield Reference(tuple((link.path or "").split("/")), link.name, element.many)
    block = _block(type_map, element)
    if block is not None:
        yield block


def _leaf(field: FieldMap, element: Element) -> Leaf:
    return Leaf(element.name, field.name, field.rule or "text", field.fallback, element.mandatory)


def _block(type_map: TypeMap, element: Element) -> Block | None:
    """The group of that name as far as fields and fills of the type lead into it."""
    within = f"{element.name}/"
    feeding = {field.path: field for field in type_map.fields.values() if (field.path or "").startswith(within)}
    if not feeding or element.group is None:
        return None
    fills = {fill.path: fill.rule for fill in type_map.fills}
    leaves: list[Leaf] = []
    for child in xml_model(WRITTEN_VERSION).structure.groups[element.group].elements:
        path = within + child.name
        if path in feeding:
            leaves.append(_leaf(feeding[path], child))
        elif path in fills:
            leaves.append(Leaf(child.name, "", fills[path], None, True))
    return Block(element.name, tuple(leaves))


def _targets(type_name: str, link: str) -> Iterator[str]:
    model = metamodel()
    for target in model.types[type_name].references[link].targets:
        yield from model.concrete(target)


def skeleton(group: str) -> tuple[str, ...]:
    """The names of the elements of a group, in order: for units that are made up to hold others."""
    return tuple(element.name for element in xml_model(WRITTEN_VERSION).structure.groups[group].elements)

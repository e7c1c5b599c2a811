"""The places that records go to, as entities: arkiv, arkivskaper, classifications with declared classes, arkivdeler.

An entity to be found bears the fields it is found by. One to be found or made is found by its natural key
(`NATURAL_KEYS`, under its parent) or by its uuid where that is given. A Klasse hangs under its Klassifikasjonssystem;
the class above it is a further link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from noarkit.graph.entity import Entity, FieldValue, Target
from noarkit.model import ObjectType, metamodel
from noarkit.sources.recipe.compiled import FieldPlan, System
from noarkit.sources.recipe.format import Classification, DeclaredClass, Fields, Recipe, TargetRule, Value
from noarkit.sources.recipe.values import key_text

NATURAL_KEYS: Mapping[str, str] = {
    "Arkiv": "tittel",
    "Arkivskaper": "arkivskaperIdent",
    "Arkivdel": "tittel",
    "Klassifikasjonssystem": "tittel",
    "Klasse": "klasseIdent",
}


@dataclass(frozen=True, slots=True)
class Targets:
    """The target entities, parents first, with what maps call them."""

    entities: tuple[Entity, ...] = ()
    arkivdeler: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)


class Maker(Protocol):
    """What compiles fields and keeps problems."""

    @property
    def recipe(self) -> Recipe: ...
    def problem(self, line: int, key: str, **data: object) -> None: ...
    def near(self, name: str, known: Mapping[str, str]) -> str: ...
    def fields(self, kind: ObjectType, given: Fields, line: int, *, inside: bool = False) -> FieldPlan: ...


def target_entities(maker: Maker) -> Targets:
    """Makes the entities of `[target]`, and tells `maker` what is wrong with it."""
    target = maker.recipe.target
    entities: list[Entity] = []
    arkiv = None
    if target.arkiv:
        arkiv = _entity(maker, target.arkiv, "arkiv")
        entities.append(arkiv)
        if target.arkivskaper:
            entities.append(_entity(maker, target.arkivskaper, "arkivskaper", arkiv))
    systems, of_arkivdel = _systems(maker, entities)
    arkivdeler: dict[str, str] = {}
    for rule in target.arkivdeler:
        made = _entity(maker, rule, "arkivdel", arkiv, of_arkivdel.get(rule.name, ()))
        if rule.name in arkivdeler or made.key in arkivdeler.values():
            maker.problem(rule.line, "duplicate-target", name=rule.name)
        arkivdeler[rule.name] = made.key
        entities.append(made)
    return Targets(tuple(entities), arkivdeler, systems)


def _entity(
    maker: Maker, rule: TargetRule, prefix: str, arkiv: Entity | None = None, links: tuple[tuple[str, str], ...] = ()
) -> Entity:
    fields = constant_fields(maker, rule.type, rule.fields, rule.line, found_only=rule.mode is Target.FIND)
    if rule.mode is Target.FIND and not fields:
        maker.problem(rule.line, "nothing-to-find-by", type=rule.type)
    if arkiv is None and rule.type == "Arkivdel" and rule.mode is not Target.FIND:
        maker.problem(rule.line, "arkivdel-without-arkiv", name=rule.name)
    return Entity(
        key=f"{prefix}:{key_text(_natural(rule.type, fields))}",
        type=rule.type,
        fields=fields,
        parent=arkiv.key if arkiv else None,
        parent_link="refArkiv" if arkiv else None,
        links=links,
        target=rule.mode,
        recipe_line=rule.line,
    )


def _natural(kind: str, fields: Mapping[str, FieldValue]) -> str:
    found = fields.get(NATURAL_KEYS[kind]) or fields.get("uuid") or next(iter(fields.values()), "")
    return str(found)


def constant_fields(
    maker: Maker, kind: str, given: Fields, line: int, *, found_only: bool = False
) -> dict[str, FieldValue]:
    """Fields of a target: constants all. What is only to be found need not have all that a new one must."""
    for name, value in given.items():
        if value.expression is not None:
            maker.problem(value.line, "constant-wanted", field=name)
    object_type = metamodel().types[kind]
    if not found_only:
        return dict(maker.fields(object_type, given, line).constants)
    natural = {name: value for name in _needed(object_type) if (value := Value("-", line)) and name not in given}
    made = maker.fields(object_type, {**natural, **given}, line).constants
    return {name: value for name, value in made.items() if name in given}


def _needed(kind: ObjectType) -> list[str]:
    return [field.name for field in kind.fields.values() if field.need == "must" and not field.has_default]


def _systems(maker: Maker, entities: list[Entity]) -> tuple[dict[str, System], dict[str, tuple[tuple[str, str], ...]]]:
    """The classifications by name; and for each arkivdel the links to those it has."""
    target = maker.recipe.target
    names = {rule.name: "" for rule in target.arkivdeler}
    systems: dict[str, System] = {}
    links: dict[str, tuple[tuple[str, str], ...]] = {}
    primary: dict[str, str] = {}
    for rule in target.classifications:
        system, made = _system(maker, rule)
        if rule.name in systems:
            maker.problem(rule.line, "duplicate-target", name=rule.name)
        systems[rule.name] = system
        entities.extend(made)
        for name in rule.arkivdeler or tuple(names):
            if name not in names:
                maker.problem(
                    rule.line, "unknown-arkivdel", name=name, near=maker.near(name, names), known=", ".join(names)
                )
            if rule.primary and name in primary:
                maker.problem(rule.line, "second-primary-classification", name=rule.name, other=primary[name])
            elif rule.primary:
                primary[name] = rule.name
            link = "refPrimaerKlassifikasjonssystem" if rule.primary else "refSekundaerKlassifikasjonssystem"
            links[name] = (*links.get(name, ()), (link, system.key))
    return systems, links


def _system(maker: Maker, rule: Classification) -> tuple[System, list[Entity]]:
    given = rule.fields or {"tittel": Value(rule.name, rule.line)}
    found_only = rule.mode is Target.FIND
    fields = constant_fields(maker, "Klassifikasjonssystem", given, rule.line, found_only=found_only)
    title = _natural("Klassifikasjonssystem", fields)
    key = f"classification:{key_text(title)}"
    entity = Entity(key, "Klassifikasjonssystem", fields, target=rule.mode, recipe_line=rule.line)
    system = System(
        key=key,
        name=title,
        separator=rule.separator,
        child_of_all=rule.leaf == "child" and bool(rule.separator),
        leaf_ident=rule.leaf_ident,
        leaf_title=rule.leaf_title,
        mode=rule.class_mode,
        inner=_inner(rule),
    )
    declared: dict[str, Entity] = {}
    for one in sorted(rule.classes, key=lambda one: (one.ident.count(rule.separator or "\0"), one.ident)):
        for made in _declared(maker, system, one) if one.ident else ():
            declared.setdefault(str(made.fields["klasseIdent"]), made)
    with_classes = System(
        system.key,
        system.name,
        system.separator,
        system.child_of_all,
        system.leaf_ident,
        system.leaf_title,
        system.mode,
        declared,
        system.inner,
        _by_default(maker, system, rule.default_class),
    )
    return with_classes, [entity, *declared.values()]


def _by_default(maker: Maker, system: System, one: DeclaredClass | None) -> dict[str, Entity]:
    """The default class by its ident, so that a rule that names it by ident alone gets its title too."""
    if one is None or not one.ident:
        return {}
    last = _declared(maker, system, one)[-1]
    return {str(last.fields["klasseIdent"]): last}


def _inner(rule: Classification) -> frozenset[str]:
    """The declared idents that have declared classes beneath them."""
    if not rule.separator:
        return frozenset()
    return frozenset(ident for one in rule.classes for ident in idents_of(one.ident, rule.separator)[:-1])


def _declared(maker: Maker, system: System, one: DeclaredClass) -> list[Entity]:
    fields = {
        **one.fields,
        "klasseIdent": Value(one.ident, one.line),
        "tittel": Value(one.title, one.line),
    }
    made = constant_fields(maker, "Klasse", fields, one.line)
    idents = idents_of(one.ident, system.separator)
    chain = [
        class_entity(system, idents[: depth + 1], {"klasseIdent": ident, "tittel": ident}, one.line)
        for depth, ident in enumerate(idents[:-1])
    ]
    return [*chain, class_entity(system, idents, made, one.line)]


def idents_of(ident: str, separator: str) -> list[str]:
    """`1.2.3` as the idents on the way to it: `1`, `1.2`, `1.2.3`."""
    if not separator:
        return [ident]
    parts = ident.split(separator)
    return [separator.join(parts[: depth + 1]) for depth in range(len(parts))]


def class_key(system: System, ident: str) -> str:
    """The key of a class."""
    return f"class:{key_text(system.name)}#{key_text(ident)}"


def class_entity(system: System, idents: list[str], fields: Mapping[str, FieldValue], line: int) -> Entity:
    """The class at the end of `idents`, linked to the one before it."""
    above = (("refForelderKlasse", class_key(system, idents[-2])),) if len(idents) > 1 else ()
    return Entity(
        key=class_key(system, idents[-1]),
        type="Klasse",
        fields=fields,
        parent=system.key,
        parent_link="refKlassifikasjonssystem",
        links=above,
        target=system.mode,
        recipe_line=line,
    )

"""The places that records go to, as entities: arkiv, arkivskaper, classifications with declared classes, arkivdeler.

An entity to be found bears the fields it is found by. One to be found or made is found by its natural key
(`NATURAL_KEYS`, under its parent) or by its uuid where that is given. A Klasse hangs under its Klassifikasjonssystem;
the class above it is a further link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from noarkit.graph.entity import CreationMode, Entity, FieldValue
from noarkit.model import ObjectType, metamodel
from noarkit.recipes.compiled import FieldPlan, System
from noarkit.recipes.recipe_model import Classification, DeclaredClass, Fields, Recipe, TargetRule, Value
from noarkit.recipes.values import key_text

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


class FieldCompiler(Protocol):
    """What compiles fields and keeps problems."""

    @property
    def recipe(self) -> Recipe: ...
    def problem(self, line: int, key: str, **data: object) -> None: ...
    def near(self, name: str, candidates: Mapping[str, str]) -> str: ...
    def fields(self, kind: ObjectType, rule_fields: Fields, line: int, *, inside: bool = False) -> FieldPlan: ...


def target_entities(maker: FieldCompiler) -> Targets:
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
        arkivdel = _entity(maker, rule, "arkivdel", arkiv, of_arkivdel.get(rule.name, ()))
        if rule.name in arkivdeler or arkivdel.key in arkivdeler.values():
            maker.problem(rule.line, "duplicate-target", name=rule.name)
        arkivdeler[rule.name] = arkivdel.key
        entities.append(arkivdel)
    return Targets(tuple(entities), arkivdeler, systems)


def _entity(
    maker: FieldCompiler,
    rule: TargetRule,
    prefix: str,
    arkiv: Entity | None = None,
    links: tuple[tuple[str, str], ...] = (),
) -> Entity:
    fields = constant_fields(maker, rule.type, rule.fields, rule.line, found_only=rule.mode is CreationMode.FIND)
    if rule.mode is CreationMode.FIND and not fields:
        maker.problem(rule.line, "nothing-to-find-by", type=rule.type)
    if arkiv is None and rule.type == "Arkivdel" and rule.mode is not CreationMode.FIND:
        maker.problem(rule.line, "arkivdel-without-arkiv", name=rule.name)
    return Entity(
        key=f"{prefix}:{key_text(_natural_key(rule.type, fields))}",
        type=rule.type,
        fields=fields,
        parent=arkiv.key if arkiv else None,
        parent_link="refArkiv" if arkiv else None,
        links=links,
        target=rule.mode,
        recipe_line=rule.line,
    )


def _natural_key(kind: str, fields: Mapping[str, FieldValue]) -> str:
    value = fields.get(NATURAL_KEYS[kind]) or fields.get("uuid") or next(iter(fields.values()), "")
    return str(value)


def constant_fields(
    maker: FieldCompiler, kind: str, rule_fields: Fields, line: int, *, found_only: bool = False
) -> dict[str, FieldValue]:
    """Fields of a target: constants all. What is only to be found need not have all that a new one must."""
    for name, value in rule_fields.items():
        if value.expression is not None:
            maker.problem(value.line, "constant-wanted", field=name)
    object_type = metamodel().types[kind]
    if not found_only:
        return dict(maker.fields(object_type, rule_fields, line).constants)
    natural = {
        name: value for name in _required_fields(object_type) if (value := Value("-", line)) and name not in rule_fields
    }
    constants = maker.fields(object_type, {**natural, **rule_fields}, line).constants
    return {name: value for name, value in constants.items() if name in rule_fields}


def _required_fields(kind: ObjectType) -> list[str]:
    return [field.name for field in kind.fields.values() if field.need == "must" and not field.has_default]


def _systems(
    maker: FieldCompiler, entities: list[Entity]
) -> tuple[dict[str, System], dict[str, tuple[tuple[str, str], ...]]]:
    """The classifications by name; and for each arkivdel the links to those it has."""
    target = maker.recipe.target
    names = {rule.name: "" for rule in target.arkivdeler}
    systems: dict[str, System] = {}
    links: dict[str, tuple[tuple[str, str], ...]] = {}
    primary: dict[str, str] = {}
    for rule in target.classifications:
        system, system_entities = _system(maker, rule)
        if rule.name in systems:
            maker.problem(rule.line, "duplicate-target", name=rule.name)
        systems[rule.name] = system
        entities.extend(system_entities)
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


def _system(maker: FieldCompiler, rule: Classification) -> tuple[System, list[Entity]]:
    system_fields = rule.fields or {"tittel": Value(rule.name, rule.line)}
    found_only = rule.mode is CreationMode.FIND
    fields = constant_fields(maker, "Klassifikasjonssystem", system_fields, rule.line, found_only=found_only)
    title = _natural_key("Klassifikasjonssystem", fields)
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
    classes: dict[str, Entity] = {}
    for declared_class in sorted(rule.classes, key=lambda one: (one.ident.count(rule.separator or "\0"), one.ident)):
        for item in _class_entities(maker, system, declared_class) if declared_class.ident else ():
            classes.setdefault(str(item.fields["klasseIdent"]), item)
    with_classes = System(
        system.key,
        system.name,
        system.separator,
        system.child_of_all,
        system.leaf_ident,
        system.leaf_title,
        system.mode,
        classes,
        system.inner,
        _default_classes(maker, system, rule.default_class),
    )
    return with_classes, [entity, *classes.values()]


def _default_classes(maker: FieldCompiler, system: System, declared_class: DeclaredClass | None) -> dict[str, Entity]:
    """The default class by its ident, so that a rule that names it by ident alone gets its title too."""
    if declared_class is None or not declared_class.ident:
        return {}
    last = _class_entities(maker, system, declared_class)[-1]
    return {str(last.fields["klasseIdent"]): last}


def _inner(rule: Classification) -> frozenset[str]:
    """The declared idents that have declared classes beneath them."""
    if not rule.separator:
        return frozenset()
    return frozenset(
        ident for declared_class in rule.classes for ident in idents_of(declared_class.ident, rule.separator)[:-1]
    )


def _class_entities(maker: FieldCompiler, system: System, declared_class: DeclaredClass) -> list[Entity]:
    fields = {
        **declared_class.fields,
        "klasseIdent": Value(declared_class.ident, declared_class.line),
        "tittel": Value(declared_class.title, declared_class.line),
    }
    class_fields = constant_fields(maker, "Klasse", fields, declared_class.line)
    idents = idents_of(declared_class.ident, system.separator)
    chain = [
        class_entity(system, idents[: depth + 1], {"klasseIdent": ident, "tittel": ident}, declared_class.line)
        for depth, ident in enumerate(idents[:-1])
    ]
    return [*chain, class_entity(system, idents, class_fields, declared_class.line)]


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

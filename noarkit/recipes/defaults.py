"""What the four archive models fill in where a recipe is silent, so that a short recipe works.

1  records right under the arkivdel
2  records in Mapper
3  Journalposter in Saksmapper, each with a class and an administrativEnhet
4  Moeteregistreringer in Moetemapper
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from noarkit.graph.entity import CreationMode
from noarkit.model import metamodel
from noarkit.recipes.recipe_model import (
    Classification,
    DeclaredClass,
    Fields,
    FolderRule,
    MapRule,
    PartRule,
    Recipe,
    TargetRule,
    TargetSection,
    Traits,
    Value,
)

RECORD_OF_MODEL = {1: "Basisregistrering", 2: "Basisregistrering", 3: "Journalpost", 4: "Moeteregistrering"}
FOLDER_OF_MODEL = {1: "Mappe", 2: "Mappe", 3: "Saksmappe", 4: "Moetemappe"}
_FOLDER_KEY = {
    2: "record.top | default(record.folder) | default('.')",
    3: "record.case | default(record.top) | default(record.folder) | default('.')",
    4: "record.meeting | default(record.top) | default(record.folder) | default('.')",
}
_TITLE = "record.title | default(record.name) | default(key)"


def fill_defaults(recipe: Recipe) -> Recipe:
    """`recipe` with all that its archive model says about what it leaves out."""
    target = _target(recipe.target)
    maps = recipe.maps or (MapRule(line=1),)
    return replace(recipe, target=target, maps=tuple(_map(rule, target) for rule in maps))


def title_of_records(line: int) -> Value:
    """The tittel of a folder or record whose rule gives none: the record's title, else its name, else its key."""
    return Value(f"= {_TITLE}", line)


def _target(target: TargetSection) -> TargetSection:
    name = target.external_system or "noarkit"
    line = target.line
    arkivdeler = target.arkivdeler or (TargetRule(line, "Arkivdel"),)
    found_only = all(rule.mode is CreationMode.FIND for rule in arkivdeler)
    arkiv = target.arkiv or (None if found_only else TargetRule(line, "Arkiv"))
    arkivskaper = target.arkivskaper
    if arkivskaper is None and arkiv is not None and arkiv.mode is not CreationMode.FIND:
        arkivskaper = TargetRule(line, "Arkivskaper")
    return replace(
        target,
        arkivskaper=arkivskaper and _with_natural_key(arkivskaper, arkivskaperIdent=name, arkivskaperNavn=name),
        arkiv=arkiv and _with_natural_key(arkiv, tittel=name),
        arkivdeler=tuple(_with_name(_with_natural_key(rule, tittel=name)) for rule in arkivdeler),
        classifications=_classifications(target, name),
    )


def _classifications(target: TargetSection, name: str) -> tuple[Classification, ...]:
    systems = tuple(system if system.name else replace(system, name=name) for system in target.classifications)
    if target.model == 3 and not any(system.primary for system in systems):
        default_system = Classification(target.line, name, fields={"tittel": Value(name, target.line)})
        systems = (default_system, *systems)
    return tuple(_with_class(system, name) if target.model == 3 and system.primary else system for system in systems)


def _with_class(system: Classification, name: str) -> Classification:
    if system.default_class or system.classes:
        return system
    return replace(system, default_class=DeclaredClass(system.line, "0", name))


def _with_natural_key(rule: TargetRule, **names: str) -> TargetRule:
    """A target with its natural key, unless what it is found by is given already."""
    if rule.fields and rule.mode is CreationMode.FIND:
        return rule
    missing = {name: Value(text, rule.line) for name, text in names.items() if name not in rule.fields}
    return replace(rule, fields={**rule.fields, **missing})


def _with_name(rule: TargetRule) -> TargetRule:
    title = rule.fields.get("tittel")
    return rule if rule.name or title is None else replace(rule, name=str(title.raw))


def _map(rule: MapRule, target: TargetSection) -> MapRule:
    kind = rule.type or RECORD_OF_MODEL[target.model]
    is_record = kind in metamodel().abstract["AbstraktRegistrering"]
    parents = rule.parents
    if parents is None:
        parents = _parents(rule, target) if is_record and rule.parent is None else ()
    return replace(
        rule,
        type=kind,
        parents=tuple(_folder(parent, target) for parent in parents),
        fields=_with_title(kind, rule.fields, rule.line),
        traits=_with_sender(kind, rule.traits, rule.line, target),
        documents=rule.documents if rule.documents is not None or is_record else (),
    )


def _parents(rule: MapRule, target: TargetSection) -> tuple[FolderRule, ...]:
    key = _FOLDER_KEY.get(target.model)
    return () if key is None else (FolderRule(rule.line, Value(f"= {key}", rule.line)),)


def _folder(rule: FolderRule, target: TargetSection) -> FolderRule:
    kind = rule.type or FOLDER_OF_MODEL[target.model]
    fields = dict(rule.fields)
    if rule.key is not None:
        fields.setdefault("tittel", rule.key)
        if kind == "Moetemappe":
            fields.setdefault("moetenummer", rule.key)
    return replace(rule, type=kind, fields=fields, traits=_with_participants(kind, rule.traits, rule.line))


def _with_title(kind: str, fields: Fields, line: int) -> Fields:
    object_type = metamodel().types.get(kind)
    if (object_type is not None and "tittel" not in object_type.fields) or "tittel" in fields:
        return fields
    return {**fields, "tittel": title_of_records(line)}


def _with_sender(kind: str, traits: Traits, line: int, target: TargetSection) -> Traits:
    """A Journalpost without parties has the arkivskaper as its sender inside the house."""
    if kind != "Journalpost" or any(part.section == "parties" for part in traits.parts) or not target.arkivskaper:
        return traits
    name = target.arkivskaper.fields.get("arkivskaperNavn") or Value(target.external_system, line)
    fields: Mapping[str, Value] = {"korrespondanseparttype": Value("IA", line), "korrespondansepartNavn": name}
    return replace(traits, parts=(*traits.parts, PartRule("parties", line, "Korrespondansepart", fields=fields)))


def _with_participants(kind: str, traits: Traits, line: int) -> Traits:
    """A Moetemappe takes those whom the record names as participants."""
    if kind != "Moetemappe" or any(part.section == "participants" for part in traits.parts):
        return traits
    participants = Value("= record.participants | default([])", line)
    fields = {"navn": Value("= item.name | default(item)", line)}
    return replace(traits, parts=(*traits.parts, PartRule("participants", line, None, participants, fields=fields)))


def default_fields(kind: str) -> Mapping[str, object]:
    """Constants that a type has where neither the rule nor `[defaults]` gives them."""
    return _CONSTANTS.get(kind, {})


_CONSTANTS: Mapping[str, Mapping[str, object]] = {
    "Merknad": {"merknadstype": "MER"},
    "Journalpost": {"journalposttype": "X"},
    "Dokumentversjon": {"variantformat": "P"},
}

"""Compiles a Recipe to the Plan that runs: expressions, constants, and types, fields and links checked by the model.

    [[map]]                             MapPlan(kinds={"mail"},
    for = "mail"                            entity=EntityPlan("Journalpost",
    type = "Journalpost"            ->          fields=FieldPlan(constants={"journalposttype": "I"},
    [map.fields]                                                 slots=(FieldSlot("tittel", <compiled>, …),), …),
    tittel = "= record.subject"                 …), …)
    journalposttype = "I"

Every fault is kept with its line, so that `recipes.check` can tell them all and a plan is refused before it reads a
record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from noarkit.graph.entity import FieldValue
from noarkit.model import Field, ObjectType, metamodel
from noarkit.model.field_names import explain_unknown, type_called
from noarkit.recipes import links
from noarkit.recipes.compiled import (
    ClassPlan,
    DocumentPlan,
    EntityPlan,
    FieldPlan,
    FieldSlot,
    FolderPlan,
    MapPlan,
    Occurrences,
    PartPlan,
    Plan,
    ReferencePlan,
    SkipPlan,
    Slot,
    System,
    VersionPlan,
)
from noarkit.recipes.defaults import default_fields, fill_defaults
from noarkit.recipes.expressions import NAMES, ExpressionRefused, Sandbox
from noarkit.recipes.field_code import compile_fields
from noarkit.recipes.map_code import compile_map
from noarkit.recipes.personal import is_open_field
from noarkit.recipes.recipe_model import (
    ClassRule,
    CrossReference,
    DocumentRule,
    Fields,
    FolderRule,
    MapRule,
    PartRule,
    Recipe,
    RecipeProblem,
    Traits,
    Value,
    VersionRule,
)
from noarkit.recipes.targets import Targets, target_entities
from noarkit.recipes.values import ValueRefused, clean_text, converter, is_blank

_OUTSIDE = NAMES[:4]
_FORGOTTEN = re.compile(r"=\S|(record|item|contents)\s*[.\[|]")
_MOST_OWNERS = 4
_BUSINESS = "virksomhetsspesifikkeMetadata"
FILLED_LATER = frozenset({"referanseDokumentfil"})
FILLED_FROM_CONTENT = frozenset({"referanseDokumentfil", "format"})


def compile_plan(recipe: Recipe) -> tuple[Plan, tuple[RecipeProblem, ...]]:
    """The plan, and every problem that compiling met; a plan with problems that are no warnings must not run."""
    compiler = Compiler(fill_defaults(recipe))
    plan = compiler.plan()
    return plan, tuple(compiler.problems)


class Compiler:
    """Compiles one recipe; holds its sandbox and the problems met so far."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.problems: list[RecipeProblem] = []
        self.model = metamodel()
        self.sandbox = Sandbox(recipe.formats, recipe.codes)
        self.targets = Targets()

    def plan(self) -> Plan:
        """Compiles everything."""
        recipe = self.recipe
        if not recipe.target.external_system:
            self.problem(recipe.target.line, "missing-key", name="external_system")
        for name in recipe.defaults:
            self.type_of(name, min((value.line for value in recipe.defaults[name].values()), default=1))
        # Before the maps: their rules refer to series and classifications by name.
        self.targets = target_entities(self)
        return Plan(
            targets=self.targets.entities,
            arkivdeler=self.targets.arkivdeler,
            skips=tuple(
                SkipPlan(frozenset(rule.kinds), self.condition(rule.when), self._sure(self.slot(rule.reason)))
                for rule in recipe.skips
            ),
            maps=tuple(self._with_code(self._map(rule)) for rule in recipe.maps),
            formats=recipe.formats,
            identity_numbers=recipe.personal_data.identity_numbers,
            screening=recipe.personal_data.screening if recipe.personal_data.identity_numbers == "screen" else None,
        )

    def _with_code(self, plan: MapPlan) -> MapPlan:
        default_arkivdel = next(iter(self.targets.arkivdeler.values()), "")
        return replace(plan, run=compile_map(plan, default_arkivdel, self.sandbox.code, self.recipe.formats))

    def problem(self, line: int, key: str, **data: object) -> None:
        """Keeps a problem."""
        self._keep(RecipeProblem(line, key, data))

    def _keep(self, problem: RecipeProblem) -> None:
        """Keeps a problem; a field is called what the recipe calls it."""
        name = problem.data.get("field")
        if isinstance(name, str):
            data = {**problem.data, "field": self.recipe.spellings.get((problem.line, name), name)}
            problem = replace(problem, data=data)
        self.problems.append(problem)

    def near(self, name: str, candidates: Iterable[str]) -> str:
        """The known name most like `name`; empty if none is."""
        return next(iter(get_close_matches(name, list(candidates), 1)), "")

    def slot(self, value: Value | None, *, inside: bool = False) -> Slot | None:
        """Compiles a value; `inside` an `each = …`, the item is known too."""
        if value is None:
            return None
        source = value.expression
        if source is None:
            raw = value.raw
            # «record.subject» without «= » would become the title of every record. It may be meant, so it only warns.
            if isinstance(raw, str) and _FORGOTTEN.match(raw):
                data = {"expression": raw[:80]}
                self.problems.append(RecipeProblem(value.line, "looks-like-expression", data, warning=True))
            return Slot(value.line, lambda scene: raw, True)
        try:
            return Slot(value.line, self.sandbox.compile_value(source, NAMES if inside else _OUTSIDE))
        except ExpressionRefused as fault:
            self.problem(value.line, fault.why, name=fault.what, near=fault.near, expression=source)
            # A stand-in that gives nothing: compiling goes on, so that `check` tells all problems at once. A plan with
            # problems never runs.
            return Slot(value.line, lambda scene: None, True)

    def condition(self, value: Value | None, *, inside: bool = False) -> Slot | None:
        """Compiles a `when = …`: an expression, or true or false."""
        if value is not None and value.expression is None and not isinstance(value.raw, bool):
            self.problem(value.line, "condition-not-expression", expression=str(value.raw)[:80])
        return self.slot(value, inside=inside)

    def type_of(self, name: str, line: int) -> ObjectType | None:
        """The concrete type called `name`; an unknown one is a problem."""
        object_type = self.model.types.get(name)
        if object_type is None:
            self.problem(line, "unknown-type", type=name, near=type_called(name) or self.near(name, self.model.types))
        return object_type

    def fields(self, kind: ObjectType, rule_fields: Fields, line: int, *, inside: bool = False) -> FieldPlan:
        """Compiles the fields of one rule, those of `[defaults]` and of the type beneath them."""
        type_defaults = {name: Value(raw, line) for name, raw in default_fields(kind.name).items()}
        constants: dict[str, FieldValue] = {}
        slots: list[FieldSlot] = []
        # Later ones win: what the type has by itself, then [defaults] of the recipe, then the rule's own fields.
        for name, value in {**type_defaults, **self.recipe.defaults.get(kind.name, {}), **rule_fields}.items():
            field = self._field(kind, name, value.line)
            if field is None:
                continue
            slot = self.slot(value, inside=inside)
            if slot is not None and value.expression is not None:
                plain = field.kind == "string"
                slots.append(FieldSlot(name, slot, converter(field.kind), plain, plain and is_open_field(field)))
            elif slot is not None and not is_blank(value.raw):
                self._constant(field, value, constants)
        sure = {*constants, *(slot.name for slot in slots)}
        filled_later = FILLED_FROM_CONTENT if kind.name == "Dokumentversjon" else FILLED_LATER
        required = [
            field.name
            for field in kind.fields.values()
            if field.need == "must" and not field.has_default and field.name not in filled_later
        ]
        for name in required:
            if name not in sure:
                self.problem(line, "mandatory-without-value", type=kind.name, field=name)
        # A mandatory field from an expression is sure to be there only when a record has given it a value;
        # `FieldPlan.check` looks then.
        late = tuple(name for name in required if name not in constants)
        one_of = tuple(rule.names for rule in kind.rules if set(rule.names) <= set(kind.fields))
        plan = FieldPlan(kind.name, line, constants, tuple(slots), late, one_of)
        return replace(plan, run=compile_fields(plan, self.sandbox.code, self.recipe.formats))

    def _field(self, kind: ObjectType, name: str, line: int) -> Field | None:
        field = kind.fields.get(name)
        if field is None:
            self._unknown_field(kind, name, line)
        elif field.save == "sm" or name in FILLED_LATER:
            self.problem(line, "field-not-writable", type=kind.name, field=name)
            return None
        return field

    def _unknown_field(self, kind: ObjectType, name: str, line: int) -> None:
        answer = explain_unknown(kind.name, name)
        key = "link-as-field" if name in kind.references else "field-not-in-archive" if answer.lost else "unknown-field"
        owners = ", ".join(answer.owners[:_MOST_OWNERS]) + (" …" if len(answer.owners) > _MOST_OWNERS else "")
        self.problem(line, key, type=kind.name, field=name, near=answer.near, owners=owners, other=answer.other)

    def _constant(self, field: Field, value: Value, constants: dict[str, FieldValue]) -> None:
        try:
            constant = converter(field.kind)(value.raw, self.recipe.formats)
        except ValueRefused as fault:
            self.problem(value.line, "constant-wrong-kind", field=field.name, wanted=field.kind, why=str(fault))
            return
        if isinstance(constant, str):
            constant, forbidden = clean_text(constant)
            if forbidden:
                self.problem(value.line, "forbidden-sign", field=field.name)
        self._check_code(field, constant, value.line)
        constants[field.name] = constant

    def _check_code(self, field: Field, code: FieldValue, line: int) -> None:
        """A constant must be of its closed values. Not in the model's code list is a warning: archives have more."""
        known_codes = list(field.values)
        if field.code_list and not known_codes:
            known_codes = [entry.code for entry in self.model.code_lists[field.code_list].codes]
        # Values that the model closes are an error; a code list may be longer in this archive than in the model.
        if isinstance(code, str) and code not in known_codes and (known_codes or field.code_list):
            data = {"field": field.name, "code": code, "list": field.code_list or "", "known": ", ".join(known_codes)}
            self._keep(RecipeProblem(line, "unknown-code", data, warning=not field.values))

    def _map(self, rule: MapRule) -> MapPlan:
        kind = self.type_of(rule.type or "", rule.line) or self.model.types["Basisregistrering"]
        is_record = kind.family == "AbstraktRegistrering"
        if not is_record and kind.family != "AbstraktMappe" and rule.parent is None:
            self.problem(rule.line, "needs-parent", type=kind.name)
        if rule.documents and not is_record:
            self.problem(rule.documents[0].line, "cannot-hang-under", type="Dokument", under=kind.name)
        folders = tuple(self._folder(folder) for folder in rule.parents or ())
        parent, parent_link = self._parent(rule, kind)
        self._check_chain(rule, kind, folders)
        documents = rule.documents
        if documents is None:
            documents = (DocumentRule(rule.line),)
        return MapPlan(
            line=rule.line,
            kinds=frozenset(rule.kinds),
            when=self.condition(rule.when),
            key=self.slot(rule.key),
            entity=self._entity_plan(kind, rule.fields, rule.traits, rule.line),
            links=links.links_to_parents(kind),
            arkivdel=self._arkivdel(rule),
            parent=parent,
            parent_link=parent_link,
            folders=folders,
            documents=tuple(self._document(document) for document in documents),
        )

    def _arkivdel(self, rule: MapRule) -> Slot | None:
        value = rule.arkivdel
        arkivdeler = self.targets.arkivdeler
        if value is not None and value.expression is None and value.raw not in arkivdeler:
            near = self.near(str(value.raw), arkivdeler)
            self.problem(value.line, "unknown-arkivdel", name=value.raw, near=near, known=", ".join(arkivdeler))
        return self.slot(value)

    def _parent(self, rule: MapRule, kind: ObjectType) -> tuple[Slot | None, str | None]:
        """The key of another source record that this one hangs under, and by which link."""
        value = rule.parent
        if value is None:
            return None, None
        raw = value.raw if isinstance(value.raw, Mapping) else {"key": value.raw}
        type_name = raw.get("type")
        if rule.parents:
            self.problem(value.line, "parent-and-parents")
        types = (
            [type_name]
            if isinstance(type_name, str)
            else sorted({map_rule.type or "" for map_rule in self.recipe.maps})
        )
        # Without a named type the parent may be anything that the recipe makes; that is fine as long as all of them are
        # reached by the same link.
        link_names = {links.link_to_parent(kind, self.model.types[name]) for name in types if name in self.model.types}
        link_names.discard(None)
        if len(link_names) != 1:
            self.problem(value.line, "parent-type-unclear", type=kind.name, known=", ".join(types))
        return self.slot(Value(raw.get("key"), value.line)), next(iter(link_names), None)

    def _check_chain(self, rule: MapRule, kind: ObjectType, folders: tuple[FolderPlan, ...]) -> None:
        """Each folder must be able to hang under the one before, or in the arkivdel, and the record under the last."""
        above = "Arkivdel"
        for folder in folders:
            if above not in folder.links:
                self.problem(folder.entity.line, "cannot-hang-under", type=folder.entity.type, under=above)
            above = folder.entity.type
        if rule.parent is None and above not in links.links_to_parents(kind) and not links.is_owned(kind):
            self.problem(rule.line, "cannot-hang-under", type=kind.name, under=above)

    def _folder(self, rule: FolderRule) -> FolderPlan:
        kind = self.type_of(rule.type or "", rule.line) or self.model.types["Mappe"]
        if kind.family != "AbstraktMappe":
            self.problem(rule.line, "not-a-folder", type=kind.name)
        inside = rule.each is not None
        return FolderPlan(
            occurrences=self._occurrences(rule.each, rule.when),
            key=self._sure(self.slot(rule.key, inside=inside)),
            entity=self._entity_plan(kind, rule.fields, rule.traits, rule.line, inside=inside),
            links=links.links_to_parents(kind),
        )

    def _document(self, rule: DocumentRule) -> DocumentPlan:
        each_value = rule.each or Value("= contents", rule.line)
        # Defaults are written as recipe values and go the same way as a user's: what a recipe can override has no
        # second meaning in code.
        title = Value("= item.title | default(item.name) | default(record.title) | default(key)", rule.line)
        role = Value("= 'H' if index == 0 else 'V'", rule.line)
        fields = {"tittel": title, "tilknyttetRegistreringSom": role, **rule.fields}
        versions = (VersionRule(rule.line),) if rule.versions is None else rule.versions
        return DocumentPlan(
            occurrences=self._occurrences(each_value, rule.when),
            entity=self._entity_plan(self.model.types["Dokument"], fields, rule.traits, rule.line, inside=True),
            versions=tuple(self._version(version) for version in versions),
        )

    def _version(self, rule: VersionRule) -> VersionPlan:
        kind = self.model.types["Dokumentversjon"]
        return VersionPlan(
            occurrences=self._occurrences(rule.each, rule.when, inside=True),
            content=self.slot(rule.content, inside=True),
            entity=self._entity_plan(kind, rule.fields, rule.traits, rule.line, inside=True),
        )

    def _occurrences(self, each_value: Value | None, when: Value | None, *, inside: bool = False) -> Occurrences:
        return Occurrences(
            self.slot(each_value, inside=inside), self.condition(when, inside=inside or each_value is not None)
        )

    def _entity_plan(
        self, kind: ObjectType, fields: Fields, traits: Traits, line: int, *, inside: bool = False
    ) -> EntityPlan:
        plan = self.fields(kind, fields, line, inside=inside)
        business = self._business(kind, traits, line, inside)
        parts = tuple(part for rule in traits.parts if (part := self._part(rule, kind, inside)))
        must = links.needed_parts(kind)
        for name in must:
            if not any(part.type == name for part in parts):
                self.problem(line, "mandatory-part", type=kind.name, part=name)
        return EntityPlan(
            type=kind.name,
            line=line,
            fields=replace(plan, business=business, run=None) if business else plan,
            parts=parts,
            classes=self._classes(kind, traits, line, inside),
            references=tuple(
                reference for rule in traits.cross_references if (reference := self._reference(rule, kind, inside))
            ),
            must=must,
            screenable="skjerming" in kind.fields,
        )

    def _business(
        self, kind: ObjectType, traits: Traits, line: int, inside: bool
    ) -> tuple[tuple[str, str, tuple[Slot, ...]], ...]:
        if traits.business_metadata and _BUSINESS not in kind.fields:
            self.problem(line, "unknown-field", type=kind.name, field=_BUSINESS, near="")
        return tuple(
            (group, field, tuple(self._sure(self.slot(value, inside=inside)) for value in values))
            for group, fields in traits.business_metadata.items()
            for field, values in fields.items()
        )

    def _part(self, rule: PartRule, owner: ObjectType, inside: bool) -> PartPlan | None:
        options = links.types_of_section(rule.section, owner)
        name = rule.type or (options[0] if options else "")
        kind = self.type_of(name, rule.line) if name else None
        link = links.link_to_parent(kind, owner) if kind else None
        if kind is None or link is None or name not in options:
            if kind is not None or not options:
                self.problem(rule.line, "cannot-hang-under", type=name or rule.section, under=owner.name)
            return None
        within = inside or rule.each is not None
        return PartPlan(
            letter=links.LETTERS[rule.section],
            type=name,
            link=link,
            occurrences=self._occurrences(rule.each, rule.when, inside=inside),
            fields=self.fields(kind, rule.fields, rule.line, inside=within),
            by=self.slot(rule.by, inside=within),
        )

    def _reference(self, rule: CrossReference, owner: ObjectType, inside: bool) -> ReferencePlan | None:
        link = f"refKryssreferanseTil{rule.to}"
        if link not in owner.references:
            self.problem(rule.line, "cannot-refer", type=owner.name, to=rule.to)
            return None
        key = self._sure(self.slot(rule.key, inside=inside or rule.each is not None))
        return ReferencePlan(
            link, self._occurrences(rule.each, rule.when, inside=inside), key, rule.made_from == "parents"
        )

    def _classes(self, kind: ObjectType, traits: Traits, line: int, inside: bool) -> tuple[ClassPlan, ...]:
        primary = traits.in_class
        reference = kind.references.get("refPrimaerKlasse")
        if primary is None and reference is not None and reference.need == "must":
            primary = self._default_class(kind, line)
        rules = [(rule, "refPrimaerKlasse") for rule in (primary,) if rule]
        rules += [(rule, "refSekundaerKlasse") for rule in traits.secondary_classes]
        plans = []
        for rule, link in rules:
            if link not in kind.references:
                self.problem(rule.line, "cannot-have-class", type=kind.name)
            elif plan := self._class(rule, link, inside):
                plans.append(replace(plan, must=kind.references[link].need == "must"))
        return tuple(plans)

    def _default_class(self, kind: ObjectType, line: int) -> ClassRule | None:
        for system in self.recipe.target.classifications:
            if system.primary and system.default_class:
                default_class = system.default_class
                return ClassRule(
                    default_class.line,
                    Value(default_class.ident, default_class.line),
                    Value(default_class.title, default_class.line),
                    fields=default_class.fields,
                )
        self.problem(line, "mandatory-class", type=kind.name)
        return None

    def _class(self, rule: ClassRule, link: str, inside: bool) -> ClassPlan | None:
        system = self._system(rule, link == "refPrimaerKlasse")
        if system is None:
            return None
        kind = self.model.types["Klasse"]
        # Ident and title come from slots of their own when the class is met; the dashes only satisfy the check for
        # mandatory fields.
        fields = {**rule.fields, "klasseIdent": Value("-", rule.line), "tittel": Value("-", rule.line)}
        return ClassPlan(
            line=rule.line,
            link=link,
            system=system,
            ident=self._sure(self.slot(rule.ident, inside=inside)),
            title=self.slot(rule.title, inside=inside),
            titles=self.slot(rule.titles, inside=inside),
            fields=self.fields(kind, fields, rule.line, inside=inside),
        )

    def _system(self, rule: ClassRule, primary: bool) -> System | None:
        systems = [system for system in self.recipe.target.classifications if system.primary == primary]
        if not systems:
            self.problem(rule.line, "no-classification", role="primary" if primary else "secondary")
            return None
        names = [system.name for system in systems]
        name = rule.system or names[0]
        if name not in names:
            self.problem(
                rule.line, "unknown-classification", name=name, near=self.near(name, names), known=", ".join(names)
            )
            return None
        return self.targets.systems.get(name)

    def _sure(self, slot: Slot | None) -> Slot:
        return slot or Slot(0, lambda scene: None, True)

"""TOML text to a Recipe: every key known or told with the nearest that is, every value with its line.

Only a text that is no TOML is refused outright; all else is kept as a problem, so that one reading tells of all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noarkit.errors import PlanFault
from noarkit.graph.entity import FOLLOWED, CreationMode
from noarkit.model import metamodel
from noarkit.recipes.defaults import FOLDER_OF_MODEL, RECORD_OF_MODEL
from noarkit.recipes.lines import lines_of, with_names
from noarkit.recipes.links import types_of_section
from noarkit.recipes.recipe_model import (
    EVIDENCE,
    ONLY_TEXT,
    ArchivedPolicy,
    Classification,
    ClassRule,
    CrossReference,
    DateRules,
    DeclaredClass,
    DocumentRule,
    Fields,
    FolderRule,
    IdentityNumberPolicy,
    LeftOutPolicy,
    MapRule,
    OpenPolicy,
    PartRule,
    PersonalData,
    Recipe,
    RecipeProblem,
    RegisterRules,
    SkipRule,
    TargetRule,
    TargetSection,
    Traits,
    Value,
    VersionRule,
)
from noarkit.recipes.register_section import read_register_rules
from noarkit.recipes.toml_table import ASK, KINDS, UNANSWERED, Table
from noarkit.recipes.values import LOCALES, Formats, ValueRefused, make_formats, read_date_form
from noarkit.safe.toml import BadToml, load_toml

PART_SECTIONS = ("parties", "notes", "identifiers", "external_ids", "sign_offs", "flows", "participants")
_TRAITS = (*PART_SECTIONS, "class", "secondary_classes", "keywords", "cross_references")
_MUNICIPALITY = re.compile(r"\d{4}")
_OF_FILES = (
    *("links", "hidden", "system", "empty_folders", "file_systems", "look_inside", "settle_s", "media_types", "puids"),
    *(
        "mail",
        "mail_cases",
        "own_domains",
        "mail_limit_bytes",
        "registers",
        "register_column",
        "lead",
        "unnamed",
        "case_level",
    ),
    *("case_name", "case_exceptions"),
    *("include", "exclude"),
)
_DATES_OF_FILES = ("from", "copied")
_OF_DATABASES = ("tables", "views", "schemas", "base", "keys", "changed", "text_without", "documents")
# what [source] may set, by the kind of the source; `siard` is the archive in a package whose tables are read
SOURCE_KEYS: Mapping[str, tuple[str, ...]] = {
    "files": _OF_FILES,
    "database": _OF_DATABASES,
    "addml": _OF_DATABASES,
    "eark": (*_OF_DATABASES, "siard"),
}
_SHORT = ("screening", "disposal", "business_metadata", "fields")


def read_recipe(text: str, name: str = "recipe") -> Recipe:
    """Reads a recipe; faults call it `name`. Raises PlanFault (where, line, column, why) where it is no TOML."""
    try:
        data = load_toml(text)
    except BadToml as error:
        why = {"too-large": "recipe-too-long", "depth": "recipe-too-deep"}.get(error.why, error.detail)
        line = error.line or text.count("\n") + 1
        raise PlanFault(where=name, line=line, column=error.column, why=why) from error
    lines = lines_of(text)
    problems: list[RecipeProblem] = []
    return _recipe(Table(data, (), lines, problems), name, text)


def _recipe(top: Table, name: str, text: str) -> Recipe:
    top.check_keys(
        *("source", "target", "dates", "register", "columns", "personal_data", "skip", "codes", "formats", "defaults"),
        "map",
    )
    source = top.table("source")
    kinds = source.texts("kind")
    keys = dict.fromkeys(key for kind, names in SOURCE_KEYS.items() if kind in kinds for key in names)
    source.check_keys("kind", *keys)
    for name in ("own_domains", "case_exceptions") if "files" in kinds else ():
        if ASK in source.texts(name):
            source.problem(UNANSWERED, name, name=name)
    target = _target(top.table("target"))
    defaults = {kind: _defaults(top.table("defaults"), kind) for kind in top.table("defaults").data}
    maps = tuple(_map(table, target.model) for table in top.tables("map"))
    return Recipe(
        name=name,
        kinds=kinds,
        target=target,
        dates=_dates(top.table("dates"), kinds),
        register=read_register_rules(top.table("register"), kinds) if "register" in top.data else RegisterRules(),
        personal_data=_personal_data(top.table("personal_data")),
        skips=tuple(_skip(table) for table in top.tables("skip")),
        codes=_codes(top.table("codes")),
        only_text=_only_text(top.table("columns")),
        formats=_formats(top.table("formats"), target.zone),
        defaults=defaults,
        maps=maps,
        problems=tuple(top.problems),
        data=top.data,
        text=with_names(text, top.renames),
        spellings={(top.line_of(*path), name): str(path[-1]) for path, name in top.renames.items()},
    )


def _codes(table: Table) -> dict[str, Mapping[str, object]]:
    codes = {name: table.table(name) for name in table.data}
    for part in codes.values():
        for word in (word for word, code in part.data.items() if code == ASK):
            part.problem(UNANSWERED, word, name=word)
    return {name: part.data for name, part in codes.items()}


def _only_text(table: Table) -> frozenset[str]:
    return frozenset(name for name in table.data if table.choice(name, (ONLY_TEXT,), ONLY_TEXT))


def _target(table: Table) -> TargetSection:
    table.check_keys(
        "external_system", "model", "zone", "close", "arkivskaper", "arkiv", "arkivdel", "classification", "follow"
    )
    model = table.typed("model", int, 1)
    if model not in (1, 2, 3, 4):
        table.problem("unknown-choice", "model", name="model", value=model, near="", known="1, 2, 3, 4")
        model = 1
    return TargetSection(
        external_system=table.text("external_system"),
        model=model,
        zone=_zone(table),
        close=table.typed("close", bool, True),
        arkivskaper=_target_rule(table.table("arkivskaper"), "Arkivskaper") if "arkivskaper" in table.data else None,
        arkiv=_target_rule(table.table("arkiv"), "Arkiv") if "arkiv" in table.data else None,
        arkivdeler=tuple(_target_rule(part, "Arkivdel") for part in table.tables("arkivdel")),
        classifications=tuple(
            _classification(part, index) for index, part in enumerate(table.tables("classification"))
        ),
        line=table.line,
        follow=_follow(table.table("follow")),
    )


def _follow(table: Table) -> Mapping[str, tuple[str, ...]]:
    """What of folders that are in the archive already follows their source, by type."""
    table.check_keys(*FOLLOWED)
    names_by_kind = {kind: table.texts(kind) for kind in table.data if kind in FOLLOWED}
    for kind, names in names_by_kind.items():
        for name in names:
            if name not in FOLLOWED[kind]:
                near = get_close_matches(name, FOLLOWED[kind], 1)
                choices = ", ".join(FOLLOWED[kind])
                table.problem("unknown-choice", kind, name=kind, value=name, near="".join(near), known=choices)
    return names_by_kind


def _zone(table: Table) -> str:
    zone = table.text("zone", "Europe/Oslo")
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        table.problem("unknown-zone", "zone", value=zone)
        return "Europe/Oslo"
    return zone


def _mode(table: Table, name: str = "mode") -> CreationMode:
    return CreationMode(table.choice(name, [mode.value for mode in CreationMode], CreationMode.FIND_OR_CREATE.value))


def _target_rule(table: Table, kind: str) -> TargetRule:
    table.check_keys("mode", "fields", *(["name"] if kind == "Arkivdel" else []))
    fields = table.fields(kind)
    title = fields.get("tittel")
    name = table.text("name", str(title.raw) if title else "")
    return TargetRule(table.line, kind, name, _mode(table), fields)


def _classification(table: Table, index: int) -> Classification:
    table.check_keys(
        *("name", "mode", "role", "fields", "arkivdel", "separator", "leaf", "leaf_ident", "leaf_title"),
        *("default_class", "classes", "class_mode"),
    )
    fields = table.fields("Klassifikasjonssystem")
    title = fields.get("tittel")
    return Classification(
        line=table.line,
        name=table.text("name", str(title.raw) if title else ""),
        mode=_mode(table),
        primary=table.choice("role", ("primary", "secondary"), "secondary" if index else "primary") == "primary",
        fields=fields,
        arkivdeler=table.texts("arkivdel"),
        separator=table.text("separator", "."),
        leaf=table.choice("leaf", ("fault", "child"), "fault"),
        leaf_ident=table.text("leaf_ident", "0"),
        leaf_title=table.text("leaf_title", "Generelt"),
        default_class=_declared_class(table.table("default_class")) if "default_class" in table.data else None,
        classes=tuple(_declared_class(part) for part in table.tables("classes")),
        class_mode=_mode(table, "class_mode"),
    )


def _declared_class(table: Table) -> DeclaredClass:
    table.check_keys("ident", "title", "fields")
    ident = table.text("ident")
    if not ident:
        table.problem("missing-key", name="ident")
    return DeclaredClass(table.line, ident, table.text("title", ident), table.fields("Klasse"))


def _dates(table: Table, kinds: tuple[str, ...]) -> DateRules:
    of_source = _DATES_OF_FILES if "files" in kinds else ()
    table.check_keys("case", "archived", "period", "open", *of_source)
    evidence = table.texts("from")
    for index, name in enumerate(evidence):
        if name not in EVIDENCE:
            near, known = get_close_matches(name, EVIDENCE, 1), ", ".join(EVIDENCE)
            table.problem("unknown-choice", "from", index, name="from", value=name, near="".join(near), known=known)
    ways: tuple[ArchivedPolicy, ...] = ("last", "load")
    open_ways: tuple[OpenPolicy, ...] = get_args(OpenPolicy)
    if table.data.get("open") == ASK:
        table.problem(UNANSWERED, "open", name="open")
    return DateRules(
        evidence=evidence,
        period=_days(table, "period"),
        copied=_days(table, "copied"),
        spans=table.choice("case", ("none", "span"), "none") == "span",
        archived=table.choice("archived", ways, "last"),
        open_cases=table.choice("open", open_ways, "close"),
    )


def _days(table: Table, name: str) -> tuple[str, ...]:
    """The first and the last of some days; nothing where none are stated."""
    days = table.texts(name)
    try:
        are_days = all(date.fromisoformat(day).isoformat() == day for day in days)
    except ValueError:
        are_days = False
    if are_days and (not days or (len(days) == 2 and days[0] <= days[1])):  # the first and the last
        return days
    table.problem("wrong-kind", name, name=name, wanted='["2014-01-01", "2019-12-31"]')
    return ()


def _defaults(table: Table, kind: str) -> Fields:
    """What a type gets where no rule says it; `"ask"` stands where nobody has decided yet."""
    for name, raw in table.table(kind).data.items():
        if raw == ASK:
            table.table(kind).problem(UNANSWERED, name, name=name)
        elif name == "knr" and not is_municipality(str(raw)) and not str(raw).startswith("="):
            table.table(kind).problem("municipality", name, name=name)
    return table.fields(kind, kind)


def is_municipality(text: str) -> bool:
    """True for the number of a municipality."""
    return _MUNICIPALITY.fullmatch(text) is not None


def _personal_data(table: Table) -> PersonalData:
    table.check_keys("identity_numbers", "screening", "left_out")
    policies: tuple[IdentityNumberPolicy, ...] = ("report", "set-aside", "screen")
    policy = table.choice("identity_numbers", policies, "report")
    screening = table.text("screening") or None
    if policy == "screen" and screening is None:
        table.problem("missing-key", "identity_numbers", name="screening")
    ways: tuple[LeftOutPolicy, ...] = ("mask", "show")
    return PersonalData(policy, screening, table.choice("left_out", ways, "mask"), table.line)


def _skip(table: Table) -> SkipRule:
    table.check_keys("for", "when", "reason")
    reason = table.value("reason")
    if reason is None or reason.raw == "":
        table.problem("missing-key", name="reason")
    return SkipRule(table.line, table.texts("for"), table.value("when"), reason or Value("", table.line))


def _formats(table: Table, zone: str) -> Formats:
    table.check_keys("locale", "dates", "decimal", "thousands", "century", "longest")
    forms = []
    for index, form in enumerate(table.texts("dates")):
        try:
            read_date_form(form)
            forms.append(form)
        except ValueRefused:
            table.problem("date-form", "dates", index, value=form)
    longest = table.typed("longest", int, 32_000)
    if longest < 1:
        table.problem("wrong-kind", "longest", name="longest", wanted=KINDS[int])
    return make_formats(
        Formats(
            zone=ZoneInfo(zone),
            locale=table.choice("locale", LOCALES, "nb"),
            dates=tuple(forms),
            decimal=table.text("decimal", ","),
            thousands=table.text("thousands", " "),
            century=table.typed("century", int, 1950),
            longest=max(longest, 1),
        )
    )


def _map(table: Table, model: int) -> MapRule:
    table.check_keys(*("for", "when", "type", "key", "arkivdel", "parent", "parents", "documents"), *_TRAITS, *_SHORT)
    kind = table.text("type")
    type_name = kind or RECORD_OF_MODEL[model]
    return MapRule(
        line=table.line,
        kinds=table.texts("for"),
        when=table.value("when"),
        type=kind or None,
        key=table.value("key"),
        arkivdel=table.value("arkivdel"),
        parent=table.value("parent"),
        parents=tuple(_folder(part, model) for part in table.tables("parents")) if "parents" in table.data else None,
        documents=tuple(map(_document, table.tables("documents"))) if "documents" in table.data else None,
        fields=_all_fields(table, type_name),
        traits=_traits(table, type_name),
    )


def _folder(table: Table, model: int) -> FolderRule:
    table.check_keys(*("when", "each", "key", "type"), *_TRAITS, *_SHORT)
    if "key" not in table.data:
        table.problem("missing-key", name="key")
    kind = table.text("type")
    type_name = kind or FOLDER_OF_MODEL[model]
    return FolderRule(
        line=table.line,
        key=table.value("key"),
        type=kind or None,
        each=table.value("each"),
        when=table.value("when"),
        fields=_all_fields(table, type_name),
        traits=_traits(table, type_name),
    )


def _document(table: Table) -> DocumentRule:
    table.check_keys(*("each", "when", "versions", "notes", "external_ids"), *_SHORT)
    return DocumentRule(
        line=table.line,
        each=table.value("each"),
        when=table.value("when"),
        fields=_all_fields(table, "Dokument"),
        traits=_traits(table, "Dokument"),
        versions=tuple(map(_version, table.tables("versions"))) if "versions" in table.data else None,
    )


def _version(table: Table) -> VersionRule:
    table.check_keys("content", "each", "when", "fields", "external_ids")
    return VersionRule(
        line=table.line,
        content=table.value("content"),
        each=table.value("each"),
        when=table.value("when"),
        fields=table.fields("Dokumentversjon"),
        traits=_traits(table, "Dokumentversjon"),
    )


def _all_fields(table: Table, kind: str) -> Fields:
    """`fields`, with `screening` and `disposal` under their Noark names."""
    fields = dict(table.fields(kind))
    disposal = table.table("disposal")
    disposal.check_keys("vedtak", "hjemmel", "bevaringstid")
    short_names = {
        "skjerming": (table, "screening"),
        "kassasjonsvedtak": (disposal, "vedtak"),
        "kassasjonshjemmel": (disposal, "hjemmel"),
        "bevaringstid": (disposal, "bevaringstid"),
    }
    for field, (place, short) in short_names.items():
        value = place.value(short)
        if value and field in fields:
            table.problem("field-twice", "fields", field=table.written_name(kind, field), other=short)
        elif value:
            fields[field] = value
    return fields


def _traits(table: Table, owner: str) -> Traits:
    parts = [_part(part, section, owner) for section in PART_SECTIONS for part in table.tables(section)]
    parts += [
        PartRule("keywords", value.line, "Noekkelord", value, None, {"verdi": Value("= item", value.line)})
        if value.expression is not None
        else PartRule("keywords", value.line, "Noekkelord", None, None, {"verdi": value})
        for value in table.values("keywords")
    ]
    return Traits(
        in_class=_class_rule(table, "class") if "class" in table.data else None,
        secondary_classes=_class_rules(table, "secondary_classes"),
        parts=tuple(parts),
        cross_references=tuple(_cross_reference(part) for part in table.tables("cross_references")),
        business_metadata=_business_metadata(table.table("business_metadata")),
    )


def _part(table: Table, section: str, owner: str) -> PartRule:
    table.check_keys("type", "each", "when", "fields", *(["by"] if section == "sign_offs" else []))
    if section == "identifiers" and "type" not in table.data:
        table.problem("missing-key", name="type")
    kind = table.text("type")
    return PartRule(
        section=section,
        line=table.line,
        type=kind or None,
        each=table.value("each"),
        when=table.value("when"),
        fields=table.fields(kind or _usual_part(section, owner)),
        by=table.value("by"),
    )


def _usual_part(section: str, owner: str) -> str:
    """The type that a section makes under an `owner` where the recipe names none."""
    kind = metamodel().types.get(owner)
    options = () if kind is None else types_of_section(section, kind)
    return options[0] if options else ""


def _class_rule(table: Table, name: str) -> ClassRule:
    if not isinstance(table.data[name], dict):
        return ClassRule(table.line_of(name), Value(table.data[name], table.line_of(name)))
    return _class_table(table.table(name))


def _class_rules(table: Table, name: str) -> tuple[ClassRule, ...]:
    return tuple(_class_table(part) for part in table.tables(name))


def _class_table(table: Table) -> ClassRule:
    table.check_keys("ident", "title", "titles", "in", "fields")
    ident = table.value("ident")
    if ident is None:
        table.problem("missing-key", name="ident")
    return ClassRule(
        line=table.line,
        ident=ident or Value("", table.line),
        title=table.value("title"),
        titles=table.value("titles"),
        system=table.text("in") or None,
        fields=table.fields("Klasse"),
    )


def _cross_reference(table: Table) -> CrossReference:
    table.check_keys("to", "key", "from", "each", "when")
    to = table.choice("to", ("Registrering", "Mappe"), "Registrering")
    key = table.value("key")
    if key is None:
        table.problem("missing-key", name="key")
    return CrossReference(
        line=table.line,
        to=to,
        key=key or Value("", table.line),
        made_from=table.choice("from", ("record", "parents"), "parents" if to == "Mappe" else "record"),
        each=table.value("each"),
        when=table.value("when"),
    )


def _business_metadata(table: Table) -> Mapping[str, Mapping[str, tuple[Value, ...]]]:
    return {
        group: {field: table.table(group).values(field) for field in table.table(group).data} for group in table.data
    }

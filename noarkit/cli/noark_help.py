"""What `noarkit help` says of a type, a field or an element of Noark 5: made of the model, the mapping and the words.

help Saksmappe     type_help       help journaldato, M101    field_help
help N5.60         cited_help: the rules of the validator that answer to a test or requirement of others
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.cli.main import PROGRAM
from noarkit.forms.findings import rules_of
from noarkit.manual.markdown import Block, Heading, Paragraph, Span, Table
from noarkit.model import Field, ObjectType, metamodel
from noarkit.model.disclosure import SCREENING_FIELD, SCREENING_KEY
from noarkit.model.field_names import field_names, fields_called, standard_name, type_called
from noarkit.model.mapping import TypeMap, mapping
from noarkit.model.own_marks import USUAL_SCREENING
from noarkit.model.xml_model import ValueKind, xml_model
from noarkit.recipes import links
from noarkit.recipes.compile import FILLED_FROM_CONTENT
from noarkit.recipes.defaults import default_fields
from noarkit.recipes.examples import constant_example, field_example, recipe_example
from noarkit.words.labels import known_label
from noarkit.words.texts import Texts

RULES = "noarkit.forms.noark5.rules"
_XS: dict[ValueKind, str] = {"date": "date", "dateTime": "dateTime", "moment": "dateTime", "integer": "integer"}
_MOST_RULES = 6
_MOST_TYPES = 8
_REQUIREMENT = "krav "


@dataclass(frozen=True, slots=True)
class FieldOnTypes:
    """A field as several types have it: by these names, and set in this way."""

    archive: str
    standard: str
    who: str
    types: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What a recipe may call it, the standard's name first."""
        return tuple(dict.fromkeys((self.standard, self.archive)))


def noark_names() -> list[str]:
    """Every type, field and element that help knows."""
    names = dict.fromkeys(metamodel().types)
    for kind in metamodel().types:
        names.update(dict.fromkeys(field_names(kind)))
    return [*names, *(group for type_map in mapping().types.values() if (group := type_map.group)), *_elements()]


def noark_help(topic: str, texts: Texts) -> tuple[Block, ...] | None:
    """What there is to say of a type, field, element or number; None for a word that is none of them."""
    if topic in metamodel().types:
        return type_help(topic, texts)
    name = topic if fields_called(topic) or topic in _elements() else _as_written(topic)
    if fields_called(name):
        return field_help(name, texts)
    if name in _elements():
        return _element_help(name, texts)
    kind = type_called(topic)
    return type_help(kind, texts) if kind else _number_help(topic.upper(), texts) or cited_help(topic, texts)


def _as_written(topic: str) -> str:
    if topic.lower() == SCREENING_KEY:
        return SCREENING_FIELD
    by_lower = {name.lower(): name for kind in metamodel().types for name in field_names(kind)}
    return topic if type_called(topic) else by_lower.get(topic.lower(), topic)


def type_help(name: str, texts: Texts) -> tuple[Block, ...]:
    """A type: where it lies, what it holds and must have, and who sets its fields."""
    kind = metamodel().types[name]
    group, older = mapping().types[name].group, mapping().types[name].older_group
    who = {"x": "noark.you-set", "cw": "noark.with-right", "sm": "noark.archive-sets"}
    rows = [
        ("noark.lies-in", ", ".join(links.links_to_parents(kind)) or texts.say("noark.at-top")),
        ("noark.holds", ", ".join(_held_types(kind))),
        ("noark.must-have", ", ".join(_musts(kind, texts))),
        *((key, ", ".join(_names_set(kind, save))) for save, key in who.items()),
        ("noark.sections", ", ".join(_sections(kind))),
        ("noark.in-extract", _group_text(group, older, texts)),
    ]
    if recipe_example(name):
        rows.append(("noark.example", f"{PROGRAM} help {name} --example"))
    return (
        _head(f"{name}{_bracket(name, texts)}"),
        _paragraph(_sentence(texts.text("noark_types", name))),
        _rows(((texts.say(key), text) for key, text in rows if text)),
        _paragraph(texts.say("noark.each-field", program=PROGRAM)),
    )


def field_help(name: str, texts: Texts) -> tuple[Block, ...]:
    """A field, by either name: what it is, which types have it, who sets it, its form, where it is in an extract."""
    variants = field_variants(name, texts)
    meaning = meaning_of(name, texts)
    kinds = [(metamodel().types[kind], field) for kind, field in fields_called(name)]
    forms = [(form_of(kind.fields[field], texts), kind.name) for kind, field in kinds]
    elements = [(_place(kind, field, texts), kind.name) for kind, field in kinds]
    checks = _checks(_numbers(name), texts)
    rows = [
        *(
            ("noark.on", text)
            for text in _lines_by_text(
                ((_who_text(variant, meaning, texts), variant.types) for variant in variants), texts
            )
        ),
        *(("noark.called", text) for text in _names_text(variants, texts)),
        *(
            ("noark.form", text)
            for text in _lines_by_text(((text, (kind,)) for text, kind in forms), texts, alone=True)
        ),
        *(
            ("noark.in-extract", text)
            for text in _lines_by_text(((text, (kind,)) for text, kind in elements), texts, alone=True)
        ),
        *(("noark.in-recipe", text) for text in (*_examples(name), *_screening_places(kinds, texts))),
        *(("noark.checked-by", text) for text in checks[:_MOST_RULES]),
        ("noark.more", f"{PROGRAM} help {variants[0].types[0]}"),
    ]
    head = f"{name}{_bracket(name, texts, ', '.join(_numbers(name)))}"
    return (_head(head), _paragraph(_sentence(meaning)), _rows((texts.say(key), text) for key, text in rows))


def field_variants(name: str, texts: Texts) -> list[FieldOnTypes]:
    """A field as the types have it; those that have it alike are one variant."""
    types_by_way: dict[tuple[str, str, str], list[str]] = {}
    for type_name, archive in fields_called(name):
        kind = metamodel().types[type_name]
        key = (archive, standard_name(type_name, archive), who_sets(kind, kind.fields[archive], texts))
        types_by_way.setdefault(key, []).append(type_name)
    return [FieldOnTypes(*way, tuple(types)) for way, types in types_by_way.items()]


def meaning_of(name: str, texts: Texts) -> str:
    """What a field is, in a phrase: by its own name, else by that of the standard."""
    names = (name, *(standard_name(kind, field) for kind, field in fields_called(name)))
    return next(texts.text("noark_fields", key) for key in names if texts.has("noark_fields", key))


def who_sets(kind: ObjectType, field: Field, texts: Texts) -> str:
    """Who sets a field, and what it is where a recipe is silent."""
    if field.save == "sm":
        return texts.say("noark.set.archive")
    if field.name in FILLED_FROM_CONTENT and kind.name == "Dokumentversjon":
        return texts.say("noark.set.noarkit")
    by_recipe = default_fields(kind.name).get(field.name)
    if by_recipe is not None:
        return texts.say("noark.set.recipe", default=_code_text(field, str(by_recipe), texts))
    right = "right" if field.save == "cw" else "you"
    if field.default is not None:
        return texts.say(f"noark.set.{right}-default", default=_default_text(field, texts))
    if field.need == "cond":
        names = next(rule.names for rule in kind.rules if field.name in rule.names)
        return texts.say("noark.set.one-of", names=", ".join(names))
    return texts.say("noark.set.must" if field.need == "must" else f"noark.set.{right}")


def form_of(field: Field, texts: Texts) -> str:
    """What a value looks like."""
    if field.values:
        return texts.say("noark.form.values", codes=", ".join(field.values))
    if field.code_list is None:
        return texts.say(f"noark.form.{field.kind}")
    codes = metamodel().code_lists[field.code_list].codes
    if not codes:
        text = texts.say("noark.form.own-list", list=field.code_list)
        usual = texts.say("noark.form.usual-codes", codes=", ".join(USUAL_SCREENING))
        return f"{text}; {usual}" if field.code_list == SCREENING_FIELD else text
    names = ", ".join(_code_text(field, code.code, texts) for code in codes)
    return texts.say("noark.form.codes", list=field.code_list, codes=names)


def cited_help(topic: str, texts: Texts) -> tuple[Block, ...] | None:
    """The rules that answer to a test of another validator (`N5.60`) or a requirement of the standard (`6.4.15`)."""
    cited = {topic.upper(), f"{_REQUIREMENT}{topic.lower().removeprefix(_REQUIREMENT)}"}
    rules = [
        rule
        for rule in rules_of(RULES).values()
        if cited & {cite if " " in cite else cite.upper() for cite in rule.cites}
    ]
    if not rules:
        return None
    rows = ((rule.code, texts.text("rules", rule.code, "title")) for rule in rules)
    first = rules[0].code
    return _head(texts.say("noark.cited", topic=topic)), _rows(rows), _paragraph(f"{PROGRAM} help {first}")


def _number_help(number: str, texts: Texts) -> tuple[Block, ...] | None:
    """The fields with a number of the metadata catalogue: those that are elements, else those of the archive."""
    candidates = [name for name in dict.fromkeys(_standard_fields()) if number in _numbers(name)]
    names = [name for name in candidates if name in xml_model("5.0").values] or candidates
    if len(names) == 1:
        return field_help(names[0], texts)
    rows = ((name, f"{PROGRAM} help {name}") for name in names)
    return (_head(number), _rows(rows)) if names else None


def _standard_fields() -> Iterator[str]:
    for kind in metamodel().types.values():
        yield from (standard_name(kind.name, field) for field in kind.fields)


def _elements() -> frozenset[str]:
    """The elements that no field feeds: filled by a rule when an archive is extracted, or lost when one is loaded."""
    steps = (
        step for type_map in mapping().types.values() for path, _ in _fieldless(type_map) for step in path.split("/")
    )
    return frozenset(step for step in steps if not fields_called(step) and not type_called(step))


def _fieldless(type_map: TypeMap) -> Iterator[tuple[str, str]]:
    """The paths of those elements of a type, each with the rule that fills it; without one, it is lost."""
    rules = {element.path: element.rule for element in type_map.fills}
    rules |= {element.path: element.rule for element in type_map.told_elements}
    yield from rules.items()
    yield from ((element.path, "") for element in type_map.lost_elements if element.path not in rules)


def _element_help(name: str, texts: Texts) -> tuple[Block, ...]:
    types_by_rule: dict[str, dict[str, None]] = {}
    for type_map in mapping().types.values():
        for path, rule in _fieldless(type_map):
            if name == path.rpartition("/")[2] or name == path.partition("/")[0] != path:
                types_by_rule.setdefault(rule, {})[type_map.type] = None
    rows = [
        (texts.say("noark.on"), f"{', '.join(types)}: {_rule_text(rule, texts)}")
        for rule, types in types_by_rule.items()
    ]
    value = xml_model("5.0").values.get(name)
    return (_head(f"{name}{_bracket(name, texts, value.number if value else '')}"), _rows(rows))


def _rule_text(rule: str, texts: Texts) -> str:
    return texts.say("noark.filled", why=texts.text("mapping_rules", rule)) if rule else texts.say("noark.lost")


def _who_text(variant: FieldOnTypes, meaning: str, texts: Texts) -> str:
    own_meaning = meaning_of(variant.standard, texts)
    return variant.who if own_meaning == meaning else f"{own_meaning}; {variant.who}"


def _names_text(variants: list[FieldOnTypes], texts: Texts) -> list[str]:
    """By which names recipes may call the field, where there are two."""
    ways = [
        (texts.say("noark.or", first=variant.names[0], second=variant.names[1]), variant.types)
        for variant in variants
        if len(variant.names) > 1
    ]
    return [text for text, _ in ways] if len(variants) == 1 else _lines_by_text(ways, texts)


def _lines_by_text(ways: Iterable[tuple[str, tuple[str, ...]]], texts: Texts, *, alone: bool = False) -> list[str]:
    """Each text once, behind the types that it holds for; with `alone` one that holds for all has none before it. Of a
    field that every type has, or is said elsewhere to have, the types of the longest list are not named one by one."""
    types_by_text: dict[str, list[str]] = {}
    for text, types in ways:
        types_by_text.setdefault(text, []).extend(types)
    if alone and len(types_by_text) == 1:
        return list(types_by_text)
    ordered = sorted(types_by_text.items(), key=lambda pair: len(pair[1]) if len(pair[1]) > _MOST_TYPES else 0)
    lines = [f"{', '.join(types)}: {text}" for text, types in ordered]
    count = sum(map(len, types_by_text.values()))
    if ordered and len(ordered[-1][1]) > _MOST_TYPES and (alone or count == len(metamodel().types)):
        remainder = texts.say("noark.all-others" if len(ordered) > 1 else "noark.all-types")
        lines[-1] = f"{remainder}: {ordered[-1][0]}"
    return lines


def _examples(name: str) -> list[str]:
    """Lines of a recipe: a constant where its form is not plain, and a value of the source."""
    for type_name, archive in fields_called(name):
        field = metamodel().types[type_name].fields[archive]
        if field.save != "sm" and field.name not in FILLED_FROM_CONTENT:
            constant = f"{name} = {constant_example(field)}" if field.kind in ("date", "timestamp", "number") else ""
            return [line for line in (constant, field_example(field, name)) if line]
    return []


def _screening_places(kinds: Iterable[tuple[ObjectType, str]], texts: Texts) -> Iterator[str]:
    """Where a recipe says that something is screened, for the field that it sets."""
    if any(field == SCREENING_FIELD for _, field in kinds):
        yield texts.say("noark.screening-place", code=USUAL_SCREENING[0])


def _numbers(name: str) -> tuple[str, ...]:
    """The numbers that the catalogue of the standard has for a field: that of its element first."""
    value = xml_model("5.0").values.get(name)
    if value is not None and value.number.startswith("M"):
        return (value.number,)
    pairs = [(type_name, metamodel().types[type_name].fields[field]) for type_name, field in fields_called(name)]
    own = [
        field.number
        for type_name, field in pairs
        if field.number and standard_name(type_name, field.name) == field.name
    ]
    return tuple(dict.fromkeys(own or [field.number for _, field in pairs if field.number]))


def _checks(numbers: Iterable[str], texts: Texts) -> list[str]:
    """The rules of the validator about a field, with the tests that archivists know them by."""
    number_set = set(numbers)
    rules = [rule for rule in rules_of(RULES).values() if number_set.intersection(rule.cites)]
    tests = {rule.code: ", ".join(cite for cite in rule.cites if cite.startswith("N5.")) for rule in rules}
    return [
        f"{rule.code} {texts.text('rules', rule.code, 'title')}"
        + (f" ({tests[rule.code]})" if tests[rule.code] else "")
        for rule in rules
    ]


def place_of(type_name: str, field: str) -> str:
    """The path of the element that a field becomes, within the element of its type; empty if it becomes none."""
    type_map = mapping().types[type_name]
    field_map = type_map.fields[field]
    if field_map.path is None:
        return ""
    return "/".join(field_map.steps("5.0")) or str(type_map.group)


def _place(kind: ObjectType, field: str, texts: Texts) -> str:
    """Where a field stands in an extract, and as what; or why it does not."""
    place = place_of(kind.name, field)
    if not place:
        reason = str(mapping().types[kind.name].fields[field].reason)
        return texts.say("noark.not-in-extract", why=texts.text("mapping_reasons", reason))
    value = xml_model("5.0").values.get(place.rpartition("/")[2])
    return f"{place} (xs:{_XS.get(value.kind, 'string')})" if value else place


def _default_text(field: Field, texts: Texts) -> str:
    default = str(field.default)
    word = default.strip("<>") if default.startswith("<") else default
    key = "own" if default == "?" else word
    if texts.has("noark_defaults", key):
        return texts.text("noark_defaults", key)
    return _code_text(field, default, texts)


def _code_text(field: Field, code: str, texts: Texts) -> str:
    """A code with what it means."""
    codes = metamodel().code_lists[field.code_list].codes if field.code_list else ()
    name = next((entry.name for entry in codes if entry.code == code), None)
    meaning = texts.tables["code_values"].get(name or "", name)
    return f"{code} ({meaning})" if meaning else code


def _held_types(kind: ObjectType) -> Iterator[str]:
    return (child.name for child in metamodel().types.values() if kind.name in links.links_to_parents(child))


def _musts(kind: ObjectType, texts: Texts) -> Iterator[str]:
    for field in kind.fields.values():
        if field.need == "must" and not field.has_default and field.name not in FILLED_FROM_CONTENT:
            yield standard_name(kind.name, field.name)
    yield from links.needed_parts(kind)
    reference = kind.references.get("refPrimaerKlasse")
    if reference is not None and reference.need == "must":
        yield texts.say("noark.a-class")


def _names_set(kind: ObjectType, save: str) -> Iterator[str]:
    for field in kind.fields.values():
        if field.save == save:
            standard = standard_name(kind.name, field.name)
            yield standard if standard == field.name else f"{standard} ({field.name})"


def _sections(kind: ObjectType) -> Iterator[str]:
    """The sections of a recipe that make something of or under a type, with what they make."""
    for name in ("refPrimaerKlasse", "refSekundaerKlasse"):
        if name in kind.references:
            yield "class" if name == "refPrimaerKlasse" else "secondary_classes"
    # what a part has under it, a recipe cannot say
    held_types = () if links.is_owned(kind) and not kind.name.startswith("Dokument") else tuple(_held_types(kind))
    made_types = {section: links.types_of_section(section, kind) for section in links.LETTERS}
    made_types |= {"documents": ("Dokument",), "versions": ("Dokumentversjon",)}
    for section, names in made_types.items():
        types = [name for name in names if name in held_types]
        if types:
            yield f"{section} ({', '.join(types)})"
    if "refKryssreferanseTilMappe" in kind.references:
        yield "cross_references"


def _group_text(group: str | None, older: str | None, texts: Texts) -> str:
    if group is None:
        return texts.say("noark.no-group")
    return texts.say("noark.group", group=group, older=older) if older else group


def _bracket(name: str, texts: Texts, number: str = "") -> str:
    """The plain name and the number behind a name; nothing where there is neither."""
    label = known_label(texts, name) or ""
    parts = [part for part in ("" if label.lower() == name.lower() else label, number) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _head(text: str) -> Heading:
    return Heading(2, (Span("text", text),))


def _paragraph(text: str) -> Paragraph:
    return Paragraph((Span("text", text),))


def _rows(rows: Iterable[tuple[str, str]]) -> Table:
    """Rows of a name and a text; a name that stands above already is not said again."""
    lines: list[tuple[tuple[Span, ...], ...]] = []
    before = ""
    for name, text in rows:
        lines.append(((Span("text", "" if name == before else name),), (Span("text", text),)))
        before = name
    return Table((), tuple(lines))

"""The tables are whole and consistent in themselves, and equal what independent readers took from the sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from noarkit.model import Field, ObjectType, Reference, metamodel
from noarkit.model.metamodel import Kind, Need, RuleKind, Save

MODEL = metamodel()
NEEDS = {True: "must", False: "may", "conditional": "cond"}
RULES = {"exactly_one_of": "exactly-one", "at_most_one_of": "at-most-one", "mutually_exclusive": "not-both"}


def stated() -> list[ObjectType]:
    """The types that the wire format itself states; newer clients know three more."""
    return [each for each in MODEL.types.values() if not each.newer]


def every_field() -> Iterator[tuple[ObjectType, Field]]:
    """Every field with its type."""
    for each in MODEL.types.values():
        for field in each.fields.values():
            yield each, field


def every_reference() -> Iterator[tuple[ObjectType, Reference]]:
    """Every reference with its type."""
    for each in MODEL.types.values():
        for reference in each.references.values():
            yield each, reference


@pytest.fixture(scope="module")
def oracle(reference: Path) -> dict[str, dict[str, object]]:
    """The types as facts, read by others."""
    told = json.loads((reference / "archive-object-types.json").read_text("utf-8"))
    types = told["types"]
    assert isinstance(types, dict)
    return types


@pytest.fixture(scope="module")
def listed(reference: Path) -> dict[str, dict[str, object]]:
    """The code lists as facts, read by others."""
    told = json.loads((reference / "archive-code-lists.json").read_text("utf-8"))
    return {each["listId"]: each for each in told["code_lists"]}


def facts(entry: dict[str, object], key: str) -> list[dict[str, object]]:
    """A list of records of an oracle entry."""
    found = entry[key]
    assert isinstance(found, list)
    return found


def plain_fields(entry: dict[str, object]) -> dict[str, dict[str, object]]:
    """The fields of an oracle type that are no references."""
    return {str(each["name"]): each for each in facts(entry, "fields") if each["kind"] != "ref"}


def references(entry: dict[str, object]) -> dict[str, dict[str, object]]:
    """The references of an oracle type."""
    return {str(each["name"]): each for each in facts(entry, "fields") if each["kind"] == "ref"}


def test_the_words_of_the_table_are_those_the_code_knows() -> None:
    for _, field in every_field():
        assert field.kind in get_args(Kind)
        assert field.need in get_args(Need)
        assert field.save in get_args(Save)
    for each, reference in every_reference():
        assert reference.need in get_args(Need), each.name
    assert {rule.kind for each in MODEL.types.values() for rule in each.rules} == set(get_args(RuleKind))


def test_there_are_27_types_and_three_newer_ones() -> None:
    assert len(stated()) == 27
    assert {each.name for each in MODEL.types.values() if each.newer} == {"Posisjon", "Foedselsnummer", "DNummer"}
    assert set(MODEL.abstract) == {
        "AbstraktMappe",
        "AbstraktRegistrering",
        "NasjonalIdentifikator",
        "PersonIdentifikator",
    }


def test_every_type_begins_with_id_version_and_uuid_and_knows_who_made_it() -> None:
    common = {"id", "version", "uuid", "opprettetDato", "opprettetAv", "opprettetAvBrukerIdent"}
    assert len(MODEL.types) == 30
    for each in MODEL.types.values():
        assert list(each.fields)[:2] == ["id", "version"], each.name
        assert common <= set(each.fields), each.name


def test_every_finalizable_type_can_say_when_and_by_whom() -> None:
    assert len([each for each in stated() if each.finalizable]) == 11
    for each in stated():
        if each.finalizable:
            assert {"avsluttetDato", "avsluttetAv", "avsluttetAvBrukerIdent"} <= set(each.fields), each.name


def test_every_reference_leads_to_types_there_are_and_is_seen_from_there() -> None:
    assert len(list(every_reference())) == 184
    for each, reference in every_reference():
        for target in reference.targets:
            concrete = MODEL.concrete(target)
            assert concrete, f"{each.name}.{reference.name} → {target}"
            for name in concrete:
                back = MODEL.types[name].references.get(reference.inverse)
                assert back is not None, f"{name}.{reference.inverse}"
                # a strict link may be seen by kin that cannot use it (a record below a plain folder)
                assert back.inverse == reference.name, f"{each.name}.{reference.name}"


def test_an_owned_type_is_never_unlinked_from_its_owner() -> None:
    assert len([each for each in MODEL.types.values() if each.owned]) == 16
    for each in MODEL.types.values():
        if each.owned:
            owners = [reference for reference in each.references.values() if reference.need != "may"]
            assert owners, each.name
            assert not any(reference.unlinkable for reference in owners), each.name


def test_rules_name_fields_and_links_of_their_type() -> None:
    assert sum(len(each.rules) for each in MODEL.types.values()) == 22
    for each in MODEL.types.values():
        for rule in each.rules:
            assert len(rule.names) >= 2
            assert set(rule.names) <= {*each.fields, *each.references}, each.name


def test_what_a_rule_decides_is_conditional_and_what_is_conditional_has_its_rule() -> None:
    assert len([each for each in MODEL.types.values() if each.rules]) == 17
    for each in MODEL.types.values():
        ruled = {name for rule in each.rules if rule.kind == "exactly-one" for name in rule.names}
        needs = {field.name: field.need for field in each.fields.values()}
        needs |= {reference.name: reference.need for reference in each.references.values()}
        assert {name for name, need in needs.items() if need == "cond"} == ruled, each.name


def test_code_lists_and_fields_know_each_other() -> None:
    named = {field.code_list for _, field in every_field() if field.code_list}
    assert named == set(MODEL.code_lists)
    for each, field in every_field():
        if field.code_list:
            assert (each.name, field.name) in MODEL.code_lists[field.code_list].used_by
            assert field.kind == "string"


def test_defaults_are_codes_of_their_list() -> None:
    assert len(MODEL.code_lists) == 30
    for code_list in MODEL.code_lists.values():
        codes = [code.code for code in code_list.codes]
        assert len(set(codes)) == len(codes), code_list.name
        assert code_list.default is None or code_list.default in codes, code_list.name
    assert len(list(every_field())) == 524
    for each, field in every_field():
        if field.code_list and field.default not in (None, "?"):
            assert field.default == MODEL.code_lists[field.code_list].default, f"{each.name}.{field.name}"
        if field.values and field.default is not None:
            assert field.default in field.values


def test_english_aliases_are_unique_within_a_type_and_clash_with_no_name() -> None:
    assert len({each.english for each in MODEL.types.values()}) == len(MODEL.types)
    for each in MODEL.types.values():
        aliases = [field.alias for field in each.fields.values() if field.alias]
        assert len(set(aliases)) == len(aliases), each.name
        others = {field.name for field in each.fields.values()} | set(each.references)
        assert not [alias for alias in aliases if alias in others and each.fields[alias].alias != alias], each.name


def test_families_hold_their_kin() -> None:
    assert MODEL.family("Journalpost") == "AbstraktRegistrering" == MODEL.family("AbstraktRegistrering")
    assert MODEL.family("Dokument") == "Dokument"
    assert MODEL.is_a("Saksmappe", "AbstraktMappe")
    assert MODEL.is_a("Saksmappe", "Saksmappe")
    assert not MODEL.is_a("Journalpost", "AbstraktMappe")
    assert MODEL.concrete("Nobody") == ()
    for name, kin in MODEL.abstract.items():
        assert {each.name for each in MODEL.types.values() if each.abstract == name} == set(kin)


def test_the_types_are_those_of_the_sources(oracle: dict[str, dict[str, object]]) -> None:
    assert {each.name for each in stated()} == set(oracle)
    for each in stated():
        told = oracle[each.name]
        assert (each.abstract, each.finalizable, each.has_business_metadata, each.owned, each.since) == (
            told["abstract"],
            told["finalizable"],
            told["supports_bsm"],
            told["owned"],
            told["since"],
        ), each.name


def test_the_636_fields_and_155_references_are_those_of_the_sources(oracle: dict[str, dict[str, object]]) -> None:
    ours = {(each.name, name) for each in stated() for name, field in each.fields.items() if not field.newer}
    ours |= {(each.name, name) for each in stated() for name, link in each.references.items() if not link.newer}
    theirs = {(name, str(field["name"])) for name, entry in oracle.items() for field in facts(entry, "fields")}
    assert ours == theirs
    assert len(theirs) == 636
    assert sum(len(references(entry)) for entry in oracle.values()) == 155


def test_every_field_is_as_the_sources_have_it(oracle: dict[str, dict[str, object]]) -> None:
    wrong = []
    for each in stated():
        for name, told in plain_fields(oracle[each.name]).items():
            field = each.fields[name]
            ours = (
                field.kind,
                field.save,
                field.viewed,
                field.queryable,
                field.sortable,
                field.need,
                field.has_default,
            )
            looks = (told["view"], told["query"], told["sort"])
            theirs = (told["type"], told["save"], *looks, NEEDS[told["not_null"]], told["has_default"])
            if ours != theirs or (field.number, field.code_list) != (told["field_no"], told["code_list"]):
                wrong.append((each.name, name, ours, theirs))
    assert wrong == []


def test_every_default_that_the_sources_name_is_ours(oracle: dict[str, dict[str, object]]) -> None:
    wrong = []
    for each in stated():
        for name, told in plain_fields(oracle[each.name]).items():
            default = told.get("default")
            written = default if isinstance(default, str) else json.dumps(default)
            if default is not None and each.fields[name].default != written.replace(" ", "-"):
                wrong.append((each.name, name, each.fields[name].default, default))
    assert wrong == []


def test_every_reference_is_as_the_sources_have_it(oracle: dict[str, dict[str, object]]) -> None:
    wrong = []
    for each in stated():
        for name, told in references(oracle[each.name]).items():
            link = each.references[name]
            ref = told["ref"]
            assert isinstance(ref, dict)
            ours = (link.many, link.targets, link.need, link.linkable, link.unlinkable, link.viewed)
            many = ref["cardinality"] == "to-many"
            flags = (told["link"], told["unlink"], told["view"])
            theirs = (many, tuple(ref["targets"]), NEEDS[told["not_null"]], *flags)
            inverses = {inverse.split(".")[1] for inverse in ref["inverse"]}
            if ours != theirs or (inverses and link.inverse not in inverses):
                wrong.append((each.name, name, ours, theirs, link.inverse, inverses))
    assert wrong == []


def test_every_rule_of_the_sources_is_ours_and_no_other(oracle: dict[str, dict[str, object]]) -> None:
    assert len(list(stated())) == 27
    for each in stated():
        theirs = set()
        for told in facts(oracle[each.name], "constraints"):
            names = told["fields"]
            assert isinstance(names, list)
            theirs.add((RULES[str(told["rule"])], frozenset(names)))
        newer = {name for name, link in each.references.items() if link.newer}
        assert {(rule.kind, frozenset(rule.names) - newer) for rule in each.rules} == theirs, each.name


def test_the_code_lists_are_those_of_the_sources(listed: dict[str, dict[str, object]]) -> None:
    assert set(MODEL.code_lists) == set(listed)
    for name, ours in MODEL.code_lists.items():
        told = listed[name]
        values = {(str(value["code"]), str(value["name"])) for value in facts(told, "values")}
        assert {(code.code, code.name) for code in ours.codes} == values, name
        assert ours.default == told["default_code"], name
        assert ours.steers_access is told["access_controlling_capable"], name
        assert ours.has_authority is ("authority" in str(told["extra_fields"])), name
        used = {(use["type"], use["field"]) for use in facts(told, "applies_to")}
        newer = {(each.name, field.name) for each, field in every_field() if field.newer or each.newer}
        assert set(ours.used_by) - newer == used, name


def test_what_newer_clients_know_is_marked_as_newer(reference: Path) -> None:
    told = json.loads((reference / "archive-object-types.json").read_text("utf-8"))
    assert told["java_client_extra"]
    for name, extra in told["java_client_extra"].items():
        each = MODEL.types[name]
        known = {**each.fields, **each.references}
        for member in (*extra["fields"], *extra["refs"]):
            assert member in known, f"{name}.{member}"

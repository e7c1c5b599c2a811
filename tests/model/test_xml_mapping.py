"""Nothing of the archive is without a line in the mapping, nothing that the form demands is without a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.model import Field, metamodel
from noarkit.model.mapping import FieldMap, LinkMap, TypeMap, mapping
from noarkit.model.xml_model import VERSIONS, Document, Element, Group, Version, xml_model
from noarkit.words.texts import texts

TABLE = mapping()
MODEL = metamodel()
STRUCTURE = xml_model("5.0").structure
SNAPSHOT = Path(__file__).with_name("xml-not-in-form.txt")
RULES_BY_KIND = {
    "string": {"text", "list", "lines", "code", "uuid", "file"},
    "timestamp": {"instant", "day"},
    "date": {"date"},
    "number": {"number"},
    "boolean": set[str](),
    "object": {"business"},
}
ELEMENT_KINDS = {
    "text": {"text"},
    "list": {"text"},
    "lines": {"text"},
    "code": {"text"},
    "file": {"text"},
    "uuid": {"uuid", "labelled-uuid"},
    "instant": {"dateTime"},
    "date": {"date"},
    "day": {"date"},
    "number": {"integer", "size"},
    "business": {"any"},
}


def mapped() -> Iterator[tuple[TypeMap, FieldMap, Field]]:
    """Every field that has an element, with what the archive says of it."""
    for one in TABLE.types.values():
        for field in one.fields.values():
            if field.path is not None:
                yield one, field, MODEL.types[one.type].fields[field.name]


def found(group: str, path: str, document: Document = STRUCTURE) -> Element | None:
    """The element at a path within a group."""
    held: Group | None = document.groups[group]
    element: Element | None = None
    for step in path.split("/"):
        element = held.element(step) if held else None
        held = document.groups[element.group] if element and element.group else None
    return element


def test_every_field_and_every_reference_of_the_archive_has_its_line() -> None:
    assert list(TABLE.types) == list(MODEL.types)
    for name, object_type in MODEL.types.items():
        assert list(TABLE.types[name].fields) == list(object_type.fields), name
        assert list(TABLE.types[name].links) == list(object_type.references), name
    assert sum(len(each.fields) + len(each.references) for each in MODEL.types.values()) >= 636


def test_every_path_leads_to_an_element_of_the_right_kind() -> None:
    assert len(list(mapped())) == 263
    for one, field, _ in mapped():
        assert one.group is not None
        assert field.path is not None
        if field.path == ".":
            assert xml_model("5.0").values[one.group].kind == "text"
            continue
        element = found(one.group, field.path)
        assert element is not None, field
        assert element.kind in ELEMENT_KINDS[field.rule or ""], field


def test_every_rule_fits_the_field_it_reads() -> None:
    assert len(list(mapped())) == 263
    for _, field, known in mapped():
        assert field.rule in RULES_BY_KIND[known.kind], field
        assert (field.rule == "code") is (known.code_list is not None), field
        assert field.rule in TABLE.words.rules, field


def test_no_two_fields_of_a_type_share_an_element() -> None:
    assert len(TABLE.types) == 30
    for one in TABLE.types.values():
        paths = [field.path for field in one.fields.values() if field.path] + [fill.path for fill in one.fills]
        paths += [lost.path for lost in one.lost_elements]
        assert len(paths) == len(set(paths)), one.type


def test_a_field_that_has_an_element_of_its_name_is_not_called_absent_from_the_form() -> None:
    assert len([one for one in TABLE.types.values() if one.group in STRUCTURE.groups]) == 21
    for one in TABLE.types.values():
        for field in one.fields.values():
            if field.path is None and one.group in STRUCTURE.groups:
                element = found(one.group or "", field.name)
                assert element is None or element.kind == "group", field


def test_a_field_whose_number_an_element_of_its_group_bears_is_not_called_absent_from_the_form() -> None:
    assert len([one for one in TABLE.types.values() if one.group in STRUCTURE.groups]) == 21
    for one in TABLE.types.values():
        if one.group not in STRUCTURE.groups:
            continue
        numbers = {element.number for element in STRUCTURE.groups[one.group or ""].elements if element.number}
        for field in one.fields.values():
            known = MODEL.types[one.type].fields[field.name]
            if field.path is None and not field.name.endswith("BrukerIdent"):
                assert known.number not in numbers, field


def test_every_element_is_fed_nested_referred_to_or_said_to_be_lost() -> None:
    assert len([one for one in TABLE.types.values() if one.group in STRUCTURE.groups]) == 21
    for one in TABLE.types.values():
        if one.group not in STRUCTURE.groups:
            continue
        told = {field.path for field in one.fields.values() if field.path} | {fill.path for fill in one.fills}
        told |= {link.path for link in one.links.values() if link.path and link.placement in ("nest", "refer")}
        told |= {lost.path for lost in one.lost_elements}
        assert set(_missing(one.group or "", "", told)) == set(), one.type


def _missing(group: str, prefix: str, told: set[str]) -> Iterator[str]:
    for element in STRUCTURE.groups[group].elements:
        path = prefix + element.name
        if path in told:
            continue
        if element.group and any(one.startswith(path + "/") for one in told):
            yield from _missing(element.group, path + "/", told)
        else:
            yield path


def test_every_mandatory_element_has_a_field_that_is_always_there_or_a_rule() -> None:
    assert len([one for one in TABLE.types.values() if one.group in STRUCTURE.groups]) == 21
    for one in TABLE.types.values():
        if one.group not in STRUCTURE.groups:
            continue
        fields = {field.path: field for field in one.fields.values() if field.path}
        filled = {fill.path for fill in one.fills}
        nested = {link.path for link in one.links.values() if link.placement == "nest"}
        for path, element in _mandatory(one.group or "", set(fields) | filled):
            if element.group:
                assert path in nested, (one.type, path)
            elif path not in filled:
                field = fields[path]
                always = MODEL.types[one.type].fields[field.name].need == "must" or field.name == "skjerming"
                assert always or field.fallback in TABLE.words.rules, field


def _mandatory(group: str, told: set[str], prefix: str = "") -> Iterator[tuple[str, Element]]:
    """What a group demands, and what the groups within it that are fed demand once they stand there."""
    for element in STRUCTURE.groups[group].elements:
        path = prefix + element.name
        if element.group and any(one.startswith(path + "/") for one in told):
            yield from _mandatory(element.group, told, path + "/")
        elif element.mandatory and element.choice is None:
            yield path, element


def test_links_lead_to_elements_and_their_inverses_agree() -> None:
    assert sum(len(one.links) for one in TABLE.types.values()) == 184
    for one in TABLE.types.values():
        for link in one.links.values():
            if link.placement in ("nest", "refer"):
                assert found(one.group or "", link.path or "") is not None, link
            elif link.placement == "parent":
                assert link.path in STRUCTURE.groups, link
            elif link.placement == "not-in-form":
                assert link.path is None, link
                assert link.reason in TABLE.words.reasons, link


@pytest.mark.parametrize("name", [name for name, one in TABLE.types.items() if one.group])
def test_a_link_is_told_in_the_way_that_its_inverse_allows(name: str) -> None:
    """Nested here is a parent there, referred to here is inverse there: nothing is told twice or not at all."""
    assert TABLE.types[name].links
    for link in TABLE.types[name].links.values():
        reference = MODEL.types[name].references[link.name]
        for target in (kind for each in reference.targets for kind in MODEL.concrete(each)):
            back = TABLE.types[target].links.get(reference.inverse)
            if back is None or "not-in-form" in (link.placement, back.placement):
                continue
            pair = {link.placement, back.placement}
            assert pair in ({"nest", "parent"}, {"refer", "inverse"}) or pair == {"refer"}, (link, back)


def test_names_of_older_versions_lead_to_elements_there() -> None:
    older: tuple[Version, ...] = ("3.1", "4.0")
    assert len([field for _, field, _ in mapped() if field.steps("4.0")]) > 200
    for version in older:
        for one, field, _ in mapped():
            group = one.group_in(version)
            if group is None or group not in xml_model(version).structure.groups or not field.steps(version):
                continue
            steps = field.steps(version)
            element = found(group, "/".join(steps), xml_model(version).structure)
            missing = (one.type, field.name) == ("Dokumentversjon", "uuid")
            only_newer = one.type == "Korrespondansepart"
            assert (element is None) is missing or only_newer, (version, field)


def test_a_group_stands_for_a_type_in_every_version() -> None:
    kinds = {"mappe": "Mappe", "saksmappe": "Saksmappe", "moetemappe": "Moetemappe", "journalpost": "Journalpost"}
    for version in VERSIONS:
        for group, type_name in kinds.items():
            assert TABLE.type_of(group, version) == type_name
        assert TABLE.type_of("registrering", version) == "Basisregistrering"
        assert TABLE.type_of("finnes-ikke", version) is None
    assert TABLE.type_of("basisregistrering", "3.1") == "Basisregistrering"
    assert TABLE.type_of("sakspart", "4.0") == TABLE.type_of("part", "5.0") == "Sakspart"
    assert TABLE.type_of("arkivnotat", "5.0") == "Arkivnotat"
    assert TABLE.type_of("arkivnotat", "4.0") is None


@pytest.mark.parametrize("name", ["endringslogg", "loependeJournal", "offentligJournal"])
def test_every_mandatory_element_of_the_other_documents_has_its_source(name: str) -> None:
    document = xml_model("5.0").documents[name]
    sources = {source.path: source for source in TABLE.documents[name]}
    wanted = set(_leaves(document, document.root, "", mandatory=True))
    assert wanted <= set(sources)
    assert set(sources) <= set(_leaves(document, document.root, "", mandatory=False))
    for source in sources.values():
        assert source.rule in TABLE.words.rules, source
        type_name, _, member = source.origin.partition(".")
        if type_name not in ("entry", "package"):
            assert member in {**MODEL.types[type_name].fields, **MODEL.types[type_name].references}, source


def _leaves(document: Document, group: str, prefix: str, *, mandatory: bool) -> Iterator[str]:
    for element in document.groups[group].elements:
        if mandatory and not element.mandatory:
            continue
        if element.group:
            yield from _leaves(document, element.group, f"{prefix}{element.name}/", mandatory=mandatory)
        else:
            yield prefix + element.name


def test_journals_are_made_of_elements_that_both_editions_of_5_0_know() -> None:
    for name in ("loependeJournal", "offentligJournal"):
        document = xml_model("5.0").documents[name]
        assert len(TABLE.documents[name]) > 20
        for source in TABLE.documents[name]:
            element = found(document.root, source.path, document)
            assert element is not None, source
            assert not element.since_2023, source


def test_every_reason_and_rule_is_used_and_has_its_sentence() -> None:
    reasons = {one.reason for one in TABLE.not_in_form()}
    rules: set[str | None] = set()
    for one in TABLE.types.values():
        reasons |= {lost.reason for lost in one.lost_elements} | {
            link.reason for link in one.links.values() if link.reason
        }
        rules |= {fill.rule for fill in one.fills} | {told.rule for told in one.told_elements}
        rules |= {word for field in one.fields.values() for word in (field.rule, field.fallback, field.absent)}
    rules |= {word for sources in TABLE.documents.values() for one in sources for word in (one.rule, one.fallback)}
    assert reasons == set(TABLE.words.reasons)
    assert rules - {None, "MER"} == set(TABLE.words.rules)
    assert all(TABLE.words.reasons.values())
    assert all(TABLE.words.rules.values())


def test_business_metadata_may_carry_more_where_the_form_has_it() -> None:
    carriers = {name for name in TABLE.types if TABLE.may_carry(name)}
    folders, records = MODEL.abstract["AbstraktMappe"], MODEL.abstract["AbstraktRegistrering"]
    assert carriers == {*folders, *records, "Sakspart"}


def test_synonyms_name_codes_that_the_archive_comes_with() -> None:
    assert len(TABLE.words.synonyms) == 2
    for synonym in TABLE.words.synonyms:
        codes = {code.code: code.name for code in MODEL.code_lists[synonym.code_list].codes}
        assert codes[synonym.code] == synonym.name
        assert synonym.text in xml_model("4.0").values[synonym.code_list].codes


def line(one: FieldMap | LinkMap) -> str:
    """A line of the list of what is not in the form."""
    return f"{one.type}.{one.name} {one.reason}"


def test_what_is_not_in_the_form_does_not_grow_unseen() -> None:
    """A field that newly leaves the form, or newly finds a place in it, is a change that someone must have seen."""
    lost = [f"{one.type}/{each.path} {each.reason}" for one in TABLE.types.values() for each in one.lost_elements]
    assert [line(one) for one in TABLE.not_in_form()] + lost == SNAPSHOT.read_text("utf-8").splitlines()


def test_every_word_of_the_table_has_its_sentence_in_both_languages() -> None:
    english, norwegian = texts("en"), texts("nb")
    for table, words in (("mapping_reasons", TABLE.words.reasons), ("mapping_rules", TABLE.words.rules)):
        assert english.tables[table] == words
        assert set(map(str, norwegian.tables[table])) == set(words)

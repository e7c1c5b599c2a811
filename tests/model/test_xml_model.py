"""The table of elements is whole in itself and says what the standard says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.model.xml_model import VERSIONS, Document, Element, Group, Version, xml_model


def groups(version: Version) -> Iterator[tuple[Document, Group]]:
    """Every group of a version with its document."""
    for document in xml_model(version).documents.values():
        for group in document.groups.values():
            yield document, group


def names(version: Version, group: str) -> list[str]:
    """The elements of a group of arkivstruktur, in order."""
    return [element.name for element in xml_model(version).structure.groups[group].elements]


def element(version: Version, group: str, name: str) -> Element:
    """One element of a group of arkivstruktur."""
    found = xml_model(version).structure.groups[group].element(name)
    assert found is not None, (group, name)
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_every_element_holds_a_group_of_its_document_or_a_value(version: Version) -> None:
    model = xml_model(version)
    assert len(list(groups(version))) == 47
    for document, group in groups(version):
        for one in group.own:
            if one.group:
                assert one.kind == "group"
                assert one.group in document.groups, (document.name, group.name, one.name)
            else:
                assert one.kind == model.values[one.name].kind
                assert one.number == model.values[one.name].number


@pytest.mark.parametrize("version", VERSIONS)
def test_no_group_names_an_element_twice(version: Version) -> None:
    assert len(list(groups(version))) == 47
    for document, group in groups(version):
        found = [one.name for one in group.elements]
        assert len(found) == len(set(found)), (document.name, group.name)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_group_is_reached_from_the_root(version: Version) -> None:
    assert len(xml_model(version).documents) == 4
    for document in xml_model(version).documents.values():
        reached, waiting = {document.root}, [document.root]
        while waiting:
            for kind in document.kinds(waiting.pop()):
                fresh = {one.group for one in document.groups[kind].elements if one.group} | {kind}
                waiting += [name for name in fresh if name not in reached]
                reached |= fresh
        assert reached == set(document.groups), document.name


@pytest.mark.parametrize("version", VERSIONS)
def test_a_choice_is_between_at_least_two(version: Version) -> None:
    assert [one for _, group in groups(version) for one in group.own if one.choice is not None]
    for _, group in groups(version):
        choices = [one.choice for one in group.own if one.choice is not None]
        assert all(choices.count(choice) > 1 for choice in choices), group.name


@pytest.mark.parametrize("version", VERSIONS)
def test_codes_stand_where_the_kind_is_a_code_and_nowhere_else(version: Version) -> None:
    assert len(xml_model(version).values) == 159
    for value in xml_model(version).values.values():
        assert (value.kind == "code") is bool(value.codes), value.name


def test_a_group_that_extends_another_begins_with_all_of_it() -> None:
    case_file, folder = names("5.0", "saksmappe"), names("5.0", "mappe")
    assert case_file[: len(folder)] == folder
    assert case_file[len(folder) :][:3] == ["saksaar", "sakssekvensnummer", "saksdato"]
    assert names("4.0", "journalpost")[: len(names("4.0", "basisregistrering"))] == names("4.0", "basisregistrering")


def test_kinds_of_folders_and_records_are_told_by_version() -> None:
    kinds = {version: xml_model(version).structure.kinds("registrering") for version in VERSIONS}
    assert kinds["3.1"] == kinds["4.0"] == ("registrering", "basisregistrering", "journalpost", "moeteregistrering")
    assert kinds["5.0"] == ("registrering", "journalpost", "arkivnotat", "moeteregistrering")
    assert {xml_model(version).structure.kinds("mappe") for version in VERSIONS} == {
        ("mappe", "saksmappe", "moetemappe")
    }


def test_what_changed_between_the_versions_is_known() -> None:
    assert "part" in names("5.0", "mappe")
    assert "part" not in names("4.0", "mappe")
    assert "sakspart" in names("4.0", "saksmappe")
    assert "sakspart" not in names("5.0", "saksmappe")
    assert element("3.1", "moeteregistrering", "moetesakstype").mandatory
    assert not element("4.0", "moeteregistrering", "moetesakstype").mandatory
    assert not element("4.0", "saksmappe", "saksaar").mandatory
    assert element("5.0", "saksmappe", "saksaar").mandatory
    assert element("4.0", "gradering", "gradering").kind == "code"
    assert element("5.0", "gradering", "grad").kind == "text"
    assert [element(version, "journalpost", "mottattDato").kind for version in VERSIONS] == [
        "dateTime",
        "moment",
        "dateTime",
    ]
    assert [element(version, "dokumentobjekt", "filstoerrelse").kind for version in VERSIONS] == [
        "string",
        "string",
        "size",
    ]
    assert "systemID" not in names("4.0", "dokumentobjekt")
    assert names("5.0", "dokumentobjekt")[0] == "systemID"


def test_codes_that_came_with_4_0_are_not_codes_of_3_1() -> None:
    older, newer = (xml_model(version).values["avskrivningsmaate"].codes for version in ("3.1", "4.0"))
    assert set(newer) - set(older) == {"Besvart med notat", "Saken ble avsluttet"}
    assert xml_model("5.0").values["avskrivningsmaate"].codes == ()


def test_only_the_journals_of_5_0_have_elements_of_the_maintenance() -> None:
    found = {
        (v, document.name) for v in VERSIONS for document, group in groups(v) for one in group.own if one.since_2023
    }
    assert found == {("5.0", "loependeJournal"), ("5.0", "offentligJournal")}


def test_children_of_a_class_exclude_each_other() -> None:
    choice = [one.name for one in xml_model("5.0").structure.groups["klasse"].own if one.choice == 1]
    assert choice == ["klasse", "mappe", "registrering"]


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        xml_model("5.5")

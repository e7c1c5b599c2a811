"""What the form has no element for goes out in business-specific metadata, and comes back as the fields it was."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import etree

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import BusinessField, BusinessGroup, ListedCode
from noarkit.archive.values import Action, Link, Query, Save, SavedObject, bytes_to_upload
from noarkit.extraction.run import ExtractResult, ExtractSettings, extract
from noarkit.forms.comparison import compare_extracts, compare_with_archive
from noarkit.forms.validation import validate
from tests.extraction.world import closing, spine, uuid
from tests.roundtrip.circle import BEGUN, WholeArchive, archive_in, extract_to, files_of, ingest

NAMESPACE = "{urn:noarkit:ikkeIFormen}"
METADATA = {"bygg": {"gate": {"values": ["Storgata & <co>", "Lillegata"]}, "etasjer": {"values": [3]}}}
DATES = {"dokumentetsDato": "2019-03-04", "mottattDato": "2019-03-05T07:00:00.000Z"}
KEYS = (("filer", "Saker/å & <b>.txt"), ("noark5", uuid(10)), ("annet", uuid(10)))


@dataclass(frozen=True)
class Both:
    """Two packages of the same archive, by way of another one, and that one."""

    made: ExtractResult
    again: ExtractResult
    archive: Path


def fill(archive: WholeArchive) -> None:
    """A folder and a record with something of all that the form cannot tell."""
    administration = Administration(archive)
    administration.put_business_group(BusinessGroup("bygg", "Bygg"))
    administration.put_business_field("bygg", BusinessField("gate", "Gate"))
    administration.put_business_field("bygg", BusinessField("etasjer", "Etasjer", "long"))
    administration.put_code("mappetype", ListedCode("EIG", "Eigedom & <grunn>"))
    file = archive.upload(bytes_to_upload(b"text", "å & <b>.txt")).id
    party = {"korrespondansepartNavn": "Per & co"}
    actions: list[Action] = [
        *spine(),
        Save("Mappe", "m", {"tittel": "Mappe", "uuid": uuid(9), "mappetype": "EIG"}),
        Link("Mappe", "m", "refArkivdel", ("series",)),
        Link("Mappe", "m", "refPrimaerKlasse", ("leaf",)),
        Save("Sakspart", "s", {"sakspartIdent": "1", "sakspartNavn": "Kari", "sakspartRolle": "Eier", "dnummer": "1"}),
        Link("Sakspart", "s", "refMappe", ("m",)),
        Save("Eiendom", "ei", {"knr": "0301", "gnr": "1", "bnr": "2", "bruksnavn": "Å <øvre>"}),
        Link("Eiendom", "ei", "refMappe", ("m",)),
        Save("Basisregistrering", "r", {"tittel": "Fil", "uuid": uuid(10), **DATES}),
        Link("Basisregistrering", "r", "refMappe", ("m",)),
        Save("Korrespondansepart", "k1", {**party, "korrespondanseparttype": "EA", "organisasjonsnummer": "974760673"}),
        Save("Korrespondansepart", "k2", {**party, "korrespondanseparttype": "EM", "foedselsnummer": "15076500565"}),
        *(Link("Korrespondansepart", one, "refRegistrering", ("r",)) for one in ("k1", "k2")),
        Save(
            "Dokument", "d", {"tittel": "Fil", "tilknyttetRegistreringSom": "H", "dokumenttype": "B", "uuid": uuid(11)}
        ),
        Save("Dokument", "d", {"virksomhetsspesifikkeMetadata": METADATA}),
        Link("Dokument", "d", "refRegistrering", ("r",)),
        Save("Dokumentversjon", "v", {"variantformat": "A", "format": "txt", "referanseDokumentfil": file}),
        Save("Dokumentversjon", "v", {"uuid": uuid(12)}),
        Link("Dokumentversjon", "v", "refDokument", ("d",)),
        Save("EksternId", "ed", {"eksterntSystem": "filer", "eksternID": "d/1"}),
        Link("EksternId", "ed", "refDokument", ("d",)),
    ]
    for at, (system, key) in enumerate(KEYS):
        actions.append(Save("EksternId", f"e{at}", {"eksterntSystem": system, "eksternID": key}))
        actions.append(Link("EksternId", f"e{at}", "refRegistrering", ("r",)))
    closed = {"avsluttetDato": "2020-01-01T10:00:00.000Z"}
    ends = (("Basisregistrering", "r"), ("Mappe", "m"), ("Klasse", "leaf"), ("Klasse", "other"), ("Klasse", "main"))
    actions += [Save(kind, name, closed) for kind, name in (*ends, ("Klassifikasjonssystem", "system"))]
    actions += closing(documents=("d",))
    archive.transaction(actions)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """archive → package → second archive → package."""
    place = tmp_path_factory.mktemp("beyond")
    with archive_in(place / "a") as archive:
        fill(archive)
        made = extract_to(archive, place / "first", include_open=True)
    with archive_in(place / "b") as archive:
        ingest(place / "first", place / "run", archive)
        again = extract_to(archive, place / "second", include_open=True)
    return Both(made, again, place / "b")


@pytest.fixture
def second(both: Both) -> Iterator[WholeArchive]:
    """The second archive."""
    with archive_in(both.archive) as archive:
        yield archive


def told(package: Path) -> set[tuple[str, str, str]]:
    """What stands beyond the form: type, field, value."""
    roots = etree.parse(package / "arkivstruktur.xml").iter(f"{NAMESPACE}ikkeIFormen")
    return {
        (etree.QName(one).localname, etree.QName(field).localname, field.text or "")
        for root in roots
        for one in root
        for field in one
    }


def found(archive: Archive, kind: str) -> list[SavedObject]:
    """All objects of a type."""
    return list(archive.query(Query(kind, order=(("id", "asc"),))).objects)


def test_all_of_it_stands_in_the_package(both: Both) -> None:
    facts = told(both.made.package)
    assert {
        ("Basisregistrering", "dokumentetsDato", "2019-03-04"),
        ("Basisregistrering", "mottattDato", "2019-03-05T07:00:00.000Z"),
        ("EksternId", "eksternID", "Saker/å & <b>.txt"),
        ("EksternId", "eksternID", "d/1"),
        ("EksternId", "eksterntSystem", "annet"),
        ("Dokumentversjon", "filnavn", "å & <b>.txt"),
        ("Korrespondansepart", "organisasjonsnummer", "974760673"),
        ("Sakspart", "dnummer", "1"),
        ("Mappe", "mappetype", "Eigedom & <grunn>"),
        ("Eiendom", "bruksnavn", "Å <øvre>"),
    } <= facts
    assert both.made.carried > 0


def test_a_key_that_repeats_the_system_id_is_left_out(both: Both) -> None:
    facts = told(both.made.package)
    assert ("EksternId", "eksterntSystem", "noark5") not in facts
    table = (both.made.package.parent / "first.not-in-form.csv").read_text("utf-8")
    assert '"eksterntSystem";"annet"' in table
    assert '"eksterntSystem";"noark5"' not in table


def test_nothing_of_it_stands_beside_the_package_alone(both: Both) -> None:
    assert both.made.beside == both.again.beside == 0


def test_our_schema_judges_it_and_so_do_our_rules(both: Both) -> None:
    package = both.made.package
    schema = etree.XMLSchema(etree.parse(package / "ikkeIFormen.xsd"))
    for root in etree.parse(package / "arkivstruktur.xml").iter(f"{NAMESPACE}ikkeIFormen"):
        assert schema.validate(etree.ElementTree(root)), schema.error_log
    assert "ikkeIFormen.xsd" in (package / "arkivuttrekk.xml").read_text("utf-8")
    report = validate(package)
    assert report.number("error") == 0
    assert "N110" not in report.codes  # each of its elements is explained


def test_the_official_schemas_judge_it(both: Both, reference: Path) -> None:
    judge = etree.XMLSchema(etree.parse(reference / "xsd" / "noark5" / "5.0" / "arkivstruktur.xsd"))
    assert judge.validate(etree.parse(both.made.package / "arkivstruktur.xml")), judge.error_log


def test_a_second_archive_gives_the_same_package(both: Both) -> None:
    first, second = files_of(both.made.package), files_of(both.again.package)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_fields_come_back_as_fields(second: WholeArchive) -> None:
    (record,) = found(second, "Basisregistrering")
    assert {name: record.fields[name] for name in DATES} == DATES
    (folder,) = found(second, "Mappe")
    (listed,) = Administration(second).code_lists("Mappe", "mappetype")
    assert {one.code: one.name for one in listed.values}[str(folder.fields["mappetype"])] == "Eigedom & <grunn>"
    (party,) = found(second, "Sakspart")
    assert party.fields["dnummer"] == "1"
    (version,) = found(second, "Dokumentversjon")
    assert version.fields["filnavn"] == "å & <b>.txt"


def test_parties_of_one_name_get_their_own_back(second: WholeArchive) -> None:
    by_role = {one.fields["korrespondanseparttype"]: one.fields for one in found(second, "Korrespondansepart")}
    assert by_role["EA"].get("organisasjonsnummer") == "974760673"
    assert by_role["EM"].get("foedselsnummer") == "15076500565"
    assert "foedselsnummer" not in by_role["EA"]


def test_things_that_the_form_does_not_know_come_back(second: WholeArchive) -> None:
    (estate,) = found(second, "Eiendom")
    (folder,) = found(second, "Mappe")
    assert (estate.fields["gnr"], estate.links["refMappe"]) == ("1", folder.id)
    keys = [one for one in found(second, "EksternId") if one.fields["eksterntSystem"] in ("filer", "annet")]
    owners = {str(one.fields["eksternID"]): one.links for one in keys}
    (record,), (document,) = found(second, "Basisregistrering"), found(second, "Dokument")
    assert owners["Saker/å & <b>.txt"]["refRegistrering"] == record.id
    assert owners[uuid(10)]["refRegistrering"] == record.id
    assert owners["d/1"]["refDokument"] == document.id


def test_metadata_of_documents_come_back_as_metadata(second: WholeArchive) -> None:
    (document,) = found(second, "Dokument")
    held = document.fields["virksomhetsspesifikkeMetadata"]
    assert isinstance(held, Mapping)
    assert held["bygg"]["gate"]["values"] == ["Storgata & <co>", "Lillegata"]
    assert held["bygg"]["etasjer"]["values"] == [3]


def test_package_and_archive_agree(both: Both, second: WholeArchive) -> None:
    assert compare_with_archive(both.made.package, second).differences == []


def test_another_value_is_a_difference_and_another_id_is_one_of_ids_alone(both: Both, tmp_path: Path) -> None:
    for at, (old, new) in enumerate((("2019-03-04", "2019-03-05"), (uuid(12), uuid(13)), ("d/1", "d/2"))):
        copy = tmp_path / str(at)
        shutil.copytree(both.made.package, copy)
        structure = copy / "arkivstruktur.xml"
        structure.write_text(structure.read_text("utf-8").replace(f">{old}<", f">{new}<"), "utf-8")
        assert not compare_extracts(both.made.package, copy).equal
        assert compare_extracts(both.made.package, copy, "key").equal is (old == uuid(12))


def test_what_is_left_beside_the_package_is_counted(tmp_path: Path) -> None:
    with archive_in(tmp_path / "a") as archive:
        fill(archive)
        terms = ExtractSettings(now=lambda: BEGUN, include_open=True, carry=False)
        made = extract(archive, tmp_path / "package", terms)
    table = (tmp_path / "package.not-in-form.csv").read_text("utf-8").splitlines()
    assert (made.carried, made.beside) == (0, len(table) - 1)
    assert told(made.package) == set()
    assert not (made.package / "ikkeIFormen.xsd").exists()

"""What an archivist reads in arkivstruktur.xml after a CRM was archived by its default recipe: titles, classes, dates,
parties and types, as the XML has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

SPACE = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}
TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
NO_TITLE = re.compile(r"\d{15}|[0-9a-f]{30}|\.(json|eml|txt|pdf|xml|csv|png|docx)$|[{}]|^Uttrekk", re.IGNORECASE)
Element = etree._Element


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CRM that was planned, loaded, closed and extracted."""
    folder = tmp_path_factory.mktemp("crm")
    archive = f"embedded:{folder / 'archive'}"
    with standing("crm", folder, StandinSpec(12)) as held:
        noarkit.plan("crm:standin", folder / "run", archive=archive, settings=held.site(archive))
        noarkit.ingest(folder / "run", archive=archive, workers=1, settings=held.site(archive))
    noarkit.close(folder / "run", archive=archive)
    noarkit.extract(folder / "package", archive=archive)
    return folder / "package"


@pytest.fixture(scope="module")
def structure(package: Path) -> Element:
    """The root of arkivstruktur.xml."""
    return etree.parse(package / "arkivstruktur.xml").getroot()


def texts(element: Element, path: str) -> list[str]:
    """The texts at a path."""
    return [str(one.text) for one in found(element, path)]


def found(element: Element, path: str) -> Iterator[Element]:
    """The elements at a path whose steps are of the standard's own space."""
    yield from element.iterfind("/".join(step if step in (".", "") else f"n:{step}" for step in path.split("/")), SPACE)


def test_no_title_is_a_file_name_an_id_or_a_piece_of_data(structure: Element) -> None:
    titles = texts(structure, ".//tittel")
    assert len(titles) > 100
    assert [title for title in titles if NO_TITLE.search(title)] == []


def test_the_class_has_the_title_of_the_recipe(structure: Element) -> None:
    assert texts(structure, ".//klasse/klasseID") == ["K"]
    assert texts(structure, ".//klasse/tittel") == ["Kundesaker"]


def test_case_files_hold_journal_posts_and_archive_notes_alone(structure: Element, package: Path) -> None:
    assert {one.get(TYPE) for one in found(structure, ".//registrering")} == {"journalpost", "arkivnotat"}
    assert "N106" not in {one.rule.code for one in noarkit.validate(package).outcomes}


def test_documents_have_a_type_and_are_called_by_what_customer_and_day(structure: Element) -> None:
    assert "Ikke angitt" not in texts(structure, ".//dokumentbeskrivelse/dokumenttype")
    assert {"Brev", "Notat", "Faktura", "Annet"} <= set(texts(structure, ".//dokumentbeskrivelse/dokumenttype"))
    for record in found(structure, ".//registrering"):
        customers = [
            str(party.findtext("n:partNavn", namespaces=SPACE))
            for party in found(record.getparent(), "part")  # type: ignore[arg-type]  # a record lies in a folder
            if party.findtext("n:partRolle", namespaces=SPACE) == "Kunde"
        ]
        main = texts(record, "dokumentbeskrivelse/tittel")[0]
        assert all(customer in main for customer in customers), main
        assert re.search(r"20\d\d-\d\d-\d\d", main), main


def test_every_record_has_the_date_of_what_it_holds_and_none_that_of_the_load(structure: Element) -> None:
    records = list(found(structure, ".//registrering"))
    dates = [record.findtext("n:dokumentetsDato", namespaces=SPACE) for record in records]
    assert all(dates)
    assert {str(date)[:4] for date in dates} <= {"2023", "2024", "2025"}


def test_customers_and_contact_persons_are_parties_by_name(structure: Element) -> None:
    roles = {
        (str(part.findtext("n:partRolle", namespaces=SPACE)), str(part.findtext("n:partNavn", namespaces=SPACE)))
        for part in found(structure, ".//mappe/part")
    }
    assert {role for role, _ in roles} == {"Kunde", "Kontaktperson"}
    assert not [name for _, name in roles if re.search(r"\d{6}|[{}]", name)]
    assert not [name for name in texts(structure, ".//mappe/saksansvarlig") if re.search(r"\d{6}|[{}]", name)]


def test_what_hangs_on_a_deal_lies_under_it_and_each_record_has_a_page_to_read(structure: Element) -> None:
    titles = texts(structure, ".//registrering/tittel")
    for begin in (
        "Tilbud: ",
        "Faktura: ",
        "Salgsordre: ",
        "Oppgave: ",
        "Samtale: ",
        "Opplysninger fra kundesystemet: ",
    ):
        assert [title for title in titles if title.startswith(begin)], begin
    for record in found(structure, ".//registrering"):
        if "maskinlesbar" in (texts(record, "dokumentbeskrivelse/tittel")[-1]):
            assert texts(record, "dokumentbeskrivelse/dokumentobjekt/format") == ["txt", "json"]

"""What an archivist reads in the extract of a spend, security or feature service, archived by its default recipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
SPACE = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}
NO_TITLE = re.compile(r"[0-9a-f]{30}|\.(json|eml|txt|pdf|xml|csv|png|docx)$|[{}]", re.IGNORECASE)
WISHES = {
    "spend": StandinSpec(20),
    "appsec": StandinSpec(20, options={"decided": "50"}),
    "features": StandinSpec(12, limits=(), options={"audit": "12"}),
}


@dataclass(frozen=True)
class Extracted:
    """What was loaded of a service, and the extract of it."""

    service: str
    archived: int
    package: Path
    structure: etree._Element

    def all(self, path: str) -> list[etree._Element]:
        """The elements of a name, or of a path of names, wherever they stand."""
        return self.structure.findall(".//" + "/".join(f"n:{step}" for step in path.split("/")), SPACE)

    def texts(self, path: str) -> list[str]:
        """Their texts."""
        return [str(one.text) for one in self.all(path)]


@pytest.fixture(scope="module", params=sorted(WISHES))
def extracted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Extracted]:
    """A service that was planned, loaded, verified, closed and extracted."""
    service = str(request.param)
    folder = tmp_path_factory.mktemp(service)
    archive = f"embedded:{folder / 'archive'}"
    with standing(service, folder, WISHES[service]) as held:
        site = held.site(archive)
        noarkit.plan(f"{service}:standin", folder / "run", archive=archive, settings=site)
        loaded = noarkit.ingest(folder / "run", archive=archive, workers=1, settings=site)
        assert noarkit.verify(folder / "run", depth="bytes", settings=site).good
    noarkit.close(folder / "run", archive=archive)
    noarkit.extract(folder / "package", archive=archive)
    structure = etree.parse(folder / "package" / "arkivstruktur.xml").getroot()
    yield Extracted(service, loaded.numbers.archived, folder / "package", structure)


def test_all_that_was_archived_is_in_a_valid_extract(extracted: Extracted) -> None:
    records, folders = len(extracted.all("registrering")), len(extracted.all("mappe"))
    assert 10 < records <= extracted.archived <= records + folders  # a project is a folder that is archived by its key
    report = noarkit.validate(extracted.package)
    assert [one.rule.code for one in report.outcomes if one.rule.level == "error"] == []
    assert not {"N106", "N407"} & report.codes  # records of a type that its folder may hold, none without a document


def test_titles_are_for_people(extracted: Extracted) -> None:
    assert [title for title in extracted.texts("tittel") if NO_TITLE.search(title)] == []
    for one in extracted.all("klasse"):
        assert one.findtext("n:tittel", namespaces=SPACE) != one.findtext("n:klasseID", namespaces=SPACE)


def test_documents_have_a_type_and_records_a_date_of_their_own(extracted: Extracted) -> None:
    today = date.today().isoformat()
    kinds = extracted.texts("dokumentbeskrivelse/dokumenttype")
    assert kinds
    assert "Ikke angitt" not in kinds
    for record in extracted.all("registrering"):
        if record.get(TYPE):  # a plain record has no element for it
            day = record.findtext("n:dokumentetsDato", namespaces=SPACE) or ""
            assert "2023" <= day < today, record.findtext("n:tittel", namespaces=SPACE)


def test_what_a_person_reads_stands_before_the_data(extracted: Extracted) -> None:
    assert list(extracted.all("registrering"))
    for record in extracted.all("registrering"):
        formats = [str(one.text) for one in record.iterfind(".//n:dokumentobjekt/n:format", SPACE)]
        assert formats[0] != "json", record.findtext("n:tittel", namespaces=SPACE)


def test_versions_of_a_definition_stand_oldest_first(extracted: Extracted) -> None:
    assert list(extracted.all("mappe"))
    for folder in extracted.all("mappe"):
        titles = [str(one.text) for one in folder.iterfind("n:registrering/n:tittel", SPACE)]
        numbers = [int(found[1]) for title in titles if (found := re.search(r", versjon (\d+)$", title))]
        assert numbers == sorted(numbers), titles


def test_each_record_can_be_read_without_the_service(extracted: Extracted) -> None:
    assert list(extracted.all("registrering"))
    for record in extracted.all("registrering"):
        formats = {str(one.text) for one in record.iterfind(".//n:dokumentobjekt/n:format", SPACE)}
        assert formats - {"json"}, record.findtext("n:tittel", namespaces=SPACE)

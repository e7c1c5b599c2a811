"""A whole archive as a package: every kind of thing, held against the schemas."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import etree

from noarkit.extraction.run import ExtractResult, ExtractSettings, extract, work_folder
from tests.extraction.rich import fill
from tests.extraction.world import World, world

NS = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}


@dataclass(frozen=True)
class Made:
    """The rich archive and a package of it."""

    world: World
    package: Path
    extracted: ExtractResult

    def tree(self, name: str = "arkivstruktur") -> etree._ElementTree:
        """One of its documents."""
        return etree.parse(self.package / f"{name}.xml")

    def texts(self, path: str) -> list[str]:
        """The texts that a path finds in arkivstruktur."""
        return [str(one.text) for one in self.tree().iterfind(f".//{path}", NS)]

    def report(self) -> dict[str, object]:
        """The report beside the package."""
        found: dict[str, object] = json.loads(self.extracted.report.read_text("utf-8"))
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Made once for all tests of this module."""
    root = tmp_path_factory.mktemp("extract")
    with world(root / "archive") as live:
        fill(live.archive)
        package = root / "package"
        yield Made(live, package, extract(live.archive, package, ExtractSettings()))


def judged(package: Path, schemas: Path, document: str) -> list[str]:
    """What a schema says against a document of a package."""
    name = "addml" if document == "arkivuttrekk" else document
    schema = etree.XMLSchema(etree.parse(schemas / f"{name}.xsd"))
    schema.validate(etree.parse(package / f"{document}.xml"))
    return str(schema.error_log).splitlines()


DOCUMENTS = ("arkivuttrekk", "arkivstruktur", "endringslogg", "loependeJournal", "offentligJournal")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_is_valid_under_the_schemas_packed_with_it(made: Made, document: str) -> None:
    assert judged(made.package, made.package, document) == []


@pytest.mark.parametrize("edition", ["5.0", "5.0-latest-lf", "5.0-pre2023-as-bundled-in-arkade-2.12.4"])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_is_valid_under_the_official_schemas(
    made: Made, reference: Path, edition: str, document: str
) -> None:
    assert judged(made.package, reference / "xsd" / "noark5" / edition, document) == []


def test_everything_of_the_archive_is_there(made: Made) -> None:
    assert sorted(made.texts("n:registrering/n:tittel")) == sorted(
        ["Brev p1", "Brev p2", "Brev p3", "Protokoll", "Notat", "Løst ark"]
    )
    assert "Skilleark" in made.texts("n:mappe/n:mappe/n:tittel")
    assert made.texts("n:noekkelord") == ["avløp", "vann"]
    assert made.texts("n:part/n:postadresse") == ["Vei 1", "Inngang B"]
    assert made.texts("n:part/n:telefonnummer") == ["1", "2"]
    assert made.texts("n:forfatter") == ["Kari", "Ola"]
    assert made.texts("n:moetedeltaker/n:moetedeltakerNavn") == ["Kari"]
    assert made.texts("n:presedens/n:tittel") == ["Prinsipp", "Prinsipp"]
    assert made.texts("n:dokumentflyt/n:flytStatus") == ["Godkjent"]
    assert sorted(made.texts("n:merknad/n:merknadstekst")) == ["Se også", "Til dokumentet"]


def test_references_bear_the_uuid_of_what_they_lead_to(made: Made) -> None:
    ending = {text[-3:] for text in made.texts("n:kryssreferanse/n:referanseTilRegistrering")}
    assert ending == {"022"}
    assert [text[-3:] for text in made.texts("n:referanseTilMappe")] == ["011"]
    assert [text[-3:] for text in made.texts("n:referanseSekundaerKlassifikasjon")] == ["006"]
    assert [text[-3:] for text in made.texts("n:referanseAvskrivesAvJournalpost")] == ["021"]
    assert [text[-3:] for text in made.texts("n:referanseForloeper")] == ["002"]
    assert [text[-3:] for text in made.texts("n:referanseArvtaker")] == ["060"]


def test_folders_stand_under_their_class_and_the_fields_of_their_kind_after_what_is_in_them(made: Made) -> None:
    (case,) = made.tree().iterfind(".//n:klasse[n:klasseID='21']/n:mappe[n:tittel='Sak c1']", NS)
    names = [etree.QName(one).localname for one in case]
    assert names.index("registrering") < names.index("saksaar") < names.index("presedens")


def test_texts_are_what_they_were(made: Made) -> None:
    fonds = made.tree().getroot()
    assert fonds.findtext("n:tittel", namespaces=NS) == "Arkiv <1>"
    assert fonds.findtext("n:beskrivelse", namespaces=NS) == "linje 1\r\nlinje 2"
    assert 'Tab\tog \\r og "hermetegn"' in made.texts("n:mappe/n:beskrivelse")


def test_screening_and_disposal_are_told_with_names_ground_and_date(made: Made) -> None:
    (case,) = made.tree().iterfind(".//n:mappe[n:tittel='Sak c2']", NS)
    assert case.findtext("n:skjerming/n:tilgangsrestriksjon", namespaces=NS) == "Taushetsplikt"
    assert case.findtext("n:skjerming/n:skjermingshjemmel", namespaces=NS) == "Offentleglova § 13"
    assert case.findtext("n:kassasjon/n:kassasjonsvedtak", namespaces=NS) == "Kasseres"
    closed = case.findtext("n:avsluttetDato", namespaces=NS) or ""
    assert case.findtext("n:kassasjon/n:kassasjonsdato", namespaces=NS) == f"{int(closed[:4]) + 5}{closed[4:10]}"


def test_each_file_is_there_with_its_checksum_and_no_other(made: Made) -> None:
    listed = dict(zip(made.texts("n:referanseDokumentfil"), made.texts("n:sjekksum"), strict=True))
    there = {
        path.relative_to(made.package).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (made.package / "dokumenter").rglob("*")
        if path.is_file()
    }
    assert listed == there
    assert len(there) == 4


def test_the_description_counts_and_hashes_what_is_there(made: Made) -> None:
    text = (made.package / "arkivuttrekk.xml").read_text("utf-8")
    for name in ("arkivstruktur.xml", "arkivstruktur.xsd", "loependeJournal.xml", "metadatakatalog.xsd"):
        assert hashlib.sha256((made.package / name).read_bytes()).hexdigest() in text, name
    described = {
        str(one.findtext("{*}value")): str(one.findtext("{*}properties/{*}property[@name='value']/{*}value"))
        for one in made.tree("arkivuttrekk").iterfind(".//{*}property[@name='numberOfOccurrences']")
    }
    tree = made.tree()
    assert described["mappe"] == str(len(list(tree.iter("{*}mappe"))))
    assert described["registrering"] == str(len(list(tree.iter("{*}registrering"))))
    assert described["journalregistrering"] == "3"
    assert "<value>2020-01-01</value>" in text
    assert text.index('name="type"') < text.index('name="additionalInfo"')


def test_the_public_journal_hides_what_is_screened_and_what_is_in_it(made: Made) -> None:
    running = (made.package / "loependeJournal.xml").read_text("utf-8")
    public = (made.package / "offentligJournal.xml").read_text("utf-8")
    for hidden in ("Sak c2", "Brev p2", "Brev p3", "Fra p2", "Fra p3"):
        assert hidden in running
        assert hidden not in public
    assert "Brev p1" in public
    assert "*****" in public


def test_changes_are_told_with_names_of_elements_and_codes_and_others_are_counted(made: Made) -> None:
    changes = {
        (
            str(one.findtext("{*}referanseArkivenhet"))[-3:],
            one.findtext("{*}referanseMetadata"),
            one.findtext("{*}tidligereVerdi"),
            one.findtext("{*}nyVerdi"),
        )
        for one in made.tree("endringslogg").iterfind("{*}endring")
    }
    assert ("010", "saksansvarlig", "Kari", "Ola & Per") in changes
    assert ("020", "korrespondansepartNavn", "Fra p1", "Fra p1, rettet") in changes, "a part's stands under its record"
    ground = ("Dokument utarbeidet for egen saksforberedelse", "Dokument innhentet utenfra for intern saksforberedelse")
    assert ("021", "tilgangsrestriksjon", *ground) in changes
    assert made.extracted.changes == len(changes)


def test_business_metadata_is_told_in_a_schema_of_its_own(made: Made) -> None:
    schema = etree.XMLSchema(etree.parse(made.package / "virksomhetsspesifikkeMetadata.xsd"))
    held = made.tree().find(".//n:mappe[n:systemID='00000000-0000-4000-8000-000000000010']", NS)
    assert held is not None
    for group in held.iterfind("n:virksomhetsspesifikkeMetadata/{urn:noarkit:virksomhetsspesifikkeMetadata}*", NS):
        assert schema.validate(etree.ElementTree(group)), schema.error_log
    assert [one.text for one in held.iter("{*}gate")] == ["Storgata & co", "Lillegata"]


def test_what_the_form_cannot_tell_stands_in_the_report(made: Made) -> None:
    report = made.report()
    entities = report["entities"]
    assert isinstance(entities, dict)
    assert entities["Eiendom.gnr"] == 1
    assert entities["Sakspart.organisasjonsnummer"] == 1
    assert entities["Mappe.mappetype"] == 1
    assert entities["EksternId.eksternID"] == 1, "anchors of our own loads are nobody's"
    table = made.extracted.report.with_suffix(".csv").read_text("utf-8")
    assert "EksternId" in table
    assert "abc/1" not in table
    assert report["placed_by_rule"] == {
        "made_classes": 0,
        "made_folders": 1,
        "repeated_systems": 0,
        "systems_left_out": [],
    }


def test_our_own_schemas_make_no_depositable_package_and_the_report_says_so(made: Made) -> None:
    assert not made.extracted.depositable
    assert "own-schemas" in made.extracted.flaws
    assert made.report()["depositable"] is False


def test_a_second_extract_has_the_same_bytes(made: Made, tmp_path: Path) -> None:
    again = extract(made.world.archive, tmp_path / "again", ExtractSettings())
    assert contents(again.package) == contents(made.package)
    assert not work_folder(again.package).exists()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a package."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

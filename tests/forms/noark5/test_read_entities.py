"""Units of an extract as entities: fields, places, parties, documents, and what is told where they do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.graph.checks import EntityChecks
from noarkit.model import metamodel
from tests.sources.package.made import (
    CASE,
    CONTENT,
    classified,
    document,
    entities,
    folder,
    fonds,
    package,
    record,
    records,
    series,
    set_aside,
    uuid,
    version,
)


def test_ids_dates_authors_and_numbers_are_kept(tmp_path: Path) -> None:
    closed = "<avsluttetDato>2021-07-01T12:00:00</avsluttetDato><avsluttetAv>Ola</avsluttetAv>"
    case = folder(10, kind="saksmappe", before=closed, after=CASE)
    found = entities(package(tmp_path, fonds(series(classified(case)))))[uuid(10)]
    assert found.type == "Saksmappe"
    assert {
        "uuid": uuid(10),
        "opprettetDato": "2020-01-02T02:04:05.000Z",
        "opprettetAv": "Kari",
        "avsluttetDato": "2021-07-01T10:00:00.000Z",
        "avsluttetAv": "Ola",
        "mappeIdent": "2020/10",
        "saksaar": 2020,
        "sakssekvensnummer": 7,
        "saksdato": "2020-01-02",
        "saksstatus": "A",
    }.items() <= found.fields.items()
    assert ("refPrimaerKlasse", uuid(4)) in found.links
    assert (found.parent, found.parent_link) == (uuid(2), "refArkivdel")


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("2020-06-01T12:00:00", "2020-06-01T10:00:00.000Z"),
        ("2020-06-01T12:00:00.120", "2020-06-01T10:00:00.120Z"),
        ("2020-06-01T12:00:00Z", "2020-06-01T12:00:00.000Z"),
        ("2020-06-01T12:00:00+05:00", "2020-06-01T07:00:00.000Z"),
        (" 2020-06-01 ", "2020-05-31T22:00:00.000Z"),
        ("2020-06-01T24:00:00", "2020-06-01T22:00:00.000Z"),
        ("2020-12-31T24:00:00.000Z", "2021-01-01T00:00:00.000Z"),
        ("2020-06-01T24:00:00-05:00", "2020-06-02T05:00:00.000Z"),
        ("2020-06-01Z", "2020-06-01T00:00:00.000Z"),
        ("2020-06-01+05:00", "2020-05-31T19:00:00.000Z"),
        ("2020-06-01T12:00:00.1234567Z", "2020-06-01T12:00:00.123Z"),
        ("2020-06-01T12:00:00+14:00", "2020-05-31T22:00:00.000Z"),
    ],
)
def test_times_are_read_with_or_without_offset(tmp_path: Path, told: str, kept: str) -> None:
    source = package(tmp_path, fonds(series(folder(10, before=f"<avsluttetDato>{told}</avsluttetDato>"))))
    assert entities(source)[uuid(10)].fields["avsluttetDato"] == kept


def test_every_entity_of_a_sound_extract_passes_the_checks_of_a_plan(tmp_path: Path) -> None:
    inside = record(11, document(12, version(13, "dokumenter/a.pdf")), kind="journalpost")
    structure = fonds(series(classified(folder(10, inside, kind="saksmappe", after=CASE))))
    source = package(tmp_path, structure, ["dokumenter/a.pdf"])
    checks = EntityChecks(None, source.mapper().new_codes)
    found = entities(source)
    assert [checks(one) for one in found.values()] == [None] * len(found)


def test_a_document_is_found_behind_backslashes_in_folders_and_without_its_folder(tmp_path: Path) -> None:
    names = {13: r"dokumenter\a.pdf", 15: "dokumenter/under/b.pdf", 17: "c.pdf"}
    inside = record(11, *[document(n - 1, version(n, name)) for n, name in names.items()])
    files = ["dokumenter/a.pdf", "dokumenter/under/b.pdf", "DOKUMENT/c.pdf"]
    source = package(tmp_path, fonds(series(folder(10, inside))), files)
    contents = records(source)[uuid(11)].contents
    assert [content.name for content in contents] == ["a.pdf", "b.pdf", "c.pdf"]
    for content in contents:
        with source.open(content) as stream:
            assert stream.read() == CONTENT
            assert stream.still_the_same()


def test_a_record_whose_file_is_missing_is_set_aside_with_its_path(tmp_path: Path) -> None:
    inside = record(11, document(12, version(13, "dokumenter/borte.pdf")))
    source = package(tmp_path, fonds(series(folder(10, inside, record(20)))))
    (one,) = set_aside(source).values()
    assert (one.record_key, one.code, one.data["key"]) == (uuid(11), "F202", "dokumenter/borte.pdf")
    assert sorted(records(source)) == [uuid(10), uuid(20)]


def test_a_path_that_leads_out_is_set_aside(tmp_path: Path) -> None:
    inside = record(11, document(12, version(13, "../../etc/passwd")))
    assert set_aside(package(tmp_path, fonds(series(folder(10, inside)))))[uuid(11)].code == "F601"


def test_a_value_that_cannot_be_read_sets_its_record_aside(tmp_path: Path) -> None:
    wrong = record(11).replace("2020-01-02T03:04:05", "i fjor")
    one = set_aside(package(tmp_path, fonds(series(folder(10, wrong)))))[uuid(11)]
    assert (one.code, one.data["field"], one.data["kind"]) == ("F206", "opprettetDato", "timestamp")


def test_a_size_in_words_is_no_matter_and_an_old_checksum_is_checked_on_the_way(tmp_path: Path) -> None:
    import hashlib

    right, wrong = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest(), "0" * 32
    inside = record(
        11,
        document(12, version(13, "dokumenter/a.pdf", right, "MD5", "87 kB")),
        document(14, version(15, "dokumenter/b.pdf", wrong, "md5")),
    )
    source = package(tmp_path, fonds(series(folder(10, inside))), ["dokumenter/a.pdf", "dokumenter/b.pdf"])
    good, bad = records(source)[uuid(11)].contents
    assert good.sha256 is None
    answers = []
    for content in (good, bad):
        with source.open(content) as stream:
            stream.read()
            answers.append(stream.still_the_same())
    assert answers == [True, False]


def test_versions_of_old_extracts_stand_right_below_the_record_without_id(tmp_path: Path) -> None:
    source = package(
        tmp_path, fonds(series(folder(10, record(11, version(0, "dokumenter/a.pdf"))))), ["dokumenter/a.pdf"]
    )
    found = entities(source)
    assert found[f"{uuid(11)}#d1"].fields["tittel"] == "Brev"
    assert "uuid" not in found[f"{uuid(11)}#d1v1"].fields


def test_kinds_and_parties_of_old_versions_are_known(tmp_path: Path) -> None:
    party = (
        "<sakspart><sakspartID>1</sakspartID><sakspartNavn>Eva</sakspartNavn><sakspartRolle>Søker</sakspartRolle>"
        "</sakspart>"
    )
    inside = record(11, kind="basisregistrering")
    source = package(tmp_path, fonds(series(classified(folder(10, inside, kind="saksmappe", after=CASE + party)))))
    found = entities(source)
    assert found[uuid(11)].type == "Basisregistrering"
    assert found[f"{uuid(10)}#p1"].fields == {"sakspartIdent": "1", "sakspartNavn": "Eva", "sakspartRolle": "Søker"}


def test_a_record_without_title_is_named_by_its_first_document_and_that_is_told(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10, record(11, document(12), title=""), record(13, title="")))))
    found = entities(source)
    assert found[uuid(11)].fields["tittel"] == "Dokument"
    assert found[uuid(13)].fields["tittel"] == "Ikke angitt"
    notes = {note.code: note.data for note in records(source)[uuid(11)].notes}
    assert notes["W232"]["field"] == "Basisregistrering.tittel, registrering.arkivertDato"


def test_codes_become_codes_and_new_texts_become_codes_of_their_own(tmp_path: Path) -> None:
    screened = (
        "<skjerming><tilgangsrestriksjon>Unntatt</tilgangsrestriksjon><skjermingshjemmel>§ 13</skjermingshjemmel>"
        "<skjermingMetadata>Skjerming tittel mappe</skjermingMetadata></skjerming>"
    )
    source = package(tmp_path, fonds(series(classified(folder(10, kind="saksmappe", before=screened, after=CASE)))))
    found = entities(source)[uuid(10)].fields
    assert (found["saksstatus"], found["administrativEnhet"], found["skjerming"]) == ("A", "Avdelingen", "Unntatt")
    needs = source.needs()
    assert needs["codes"] == {
        "skjerming": {"Unntatt": ["Unntatt", "§ 13"]},
        "administrativEnhet": {"Avdelingen": ["Avdelingen", None]},
    }


def test_what_is_not_screened_says_so(tmp_path: Path) -> None:
    found = entities(package(tmp_path, fonds(series(folder(10, record(11, document(12)))))))
    for key in (uuid(10), uuid(11), f"{uuid(11)}#d1"):
        assert found[key].fields["skjerming"] is None


def test_what_the_archive_has_no_place_for_is_told_with_its_record(tmp_path: Path) -> None:
    lost = "<oppbevaringssted>Kjeller</oppbevaringssted><gradering><grad>Hemmelig</grad></gradering>"
    source = package(tmp_path, fonds(series(folder(10, before=lost))))
    left, carried = (note for note in records(source)[uuid(10)].notes if note.code != "W232")
    assert (left.code, left.data["field"]) == ("W231", "1: mappe/gradering/grad")  # nobody accepted that
    assert left.data["losses"] == [(uuid(10), "mappe/gradering/grad", "Hemmelig", 2)]
    assert (carried.code, carried.data["field"]) == ("W237", "1: mappe/oppbevaringssted")
    assert carried.data["carried"] == [(uuid(10), "mappe/oppbevaringssted", "Kjeller", 2)]
    assert "losses" not in carried.data


def test_a_case_file_without_class_gets_one_of_our_own(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10, kind="saksmappe", after=CASE))))
    found = entities(source)
    own = dict(found[uuid(10)].links)["refPrimaerKlasse"]
    made_up = {"klasseIdent": "0", "tittel": "Uten klasse"}
    assert found[own].fields == {**made_up, "opprettetDato": "2020-01-02T02:04:05.000Z", "opprettetAv": "Kari"}
    assert ("refArkivdelSomPrimaer", uuid(2)) in found[found[own].parent or ""].links


def test_a_post_outside_a_case_file_stands_in_the_series_and_refers_to_its_folder(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10, record(11, kind="journalpost")))))
    post = entities(source)[uuid(11)]
    assert (post.parent, post.parent_link) == (uuid(2), "refArkivdel")
    assert ("refKryssreferanseTilMappe", uuid(10)) in post.links
    assert "W233" in [note.code for note in records(source)[uuid(11)].notes]


def test_a_meeting_without_participants_is_set_aside(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10, kind="moetemappe"))))
    assert set_aside(source)[uuid(10)].data["why"] == "no-participant"


def test_references_become_links_and_one_to_itself_is_none(tmp_path: Path) -> None:
    refers = (
        f"<kryssreferanse><referanseTilMappe>{uuid(20)}</referanseTilMappe></kryssreferanse>"
        f"<kryssreferanse><referanseTilRegistrering>{uuid(11)}</referanseTilRegistrering></kryssreferanse>"
    )
    found = entities(package(tmp_path, fonds(series(folder(10, record(11, refers)), folder(20)))))
    assert found[uuid(11)].links == (("refKryssreferanseTilMappe", uuid(20)),)


def test_an_id_that_two_documents_have_is_kept_once(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10, record(11, document(12)), record(13, document(12))))))
    found = entities(source)
    assert found[f"{uuid(11)}#d1"].fields["uuid"] == uuid(12)
    assert "uuid" not in found[f"{uuid(13)}#d1"].fields
    assert [note.code for note in records(source)[uuid(13)].notes] == ["W235", "W232"]


def test_business_fields_become_groups_and_are_asked_of_the_archive(tmp_path: Path) -> None:
    own = (
        '<virksomhetsspesifikkeMetadata><v:Eiendom xmlns:v="urn:v"><v:gnr>12</v:gnr><v:gnr>13</v:gnr></v:Eiendom>'
        "</virksomhetsspesifikkeMetadata>"
    )
    source = package(tmp_path, fonds(series(folder(10, before=own))))
    found = entities(source)[uuid(10)].fields["virksomhetsspesifikkeMetadata"]
    assert found == {"eiendom": {"gnr": {"values": ["12", "13"]}}}
    assert source.needs()["groups"] == {"eiendom": {"gnr": "string"}}


def test_every_field_that_is_made_is_one_of_its_type(tmp_path: Path) -> None:
    inside = record(11, document(12, version(13, "dokumenter/a.pdf")), kind="journalpost")
    structure = fonds(series(classified(folder(10, inside, kind="saksmappe", after=CASE))))
    found = entities(package(tmp_path, structure, ["dokumenter/a.pdf"]))
    assert len(found) > 5
    for one in found.values():
        assert set(one.fields) <= set(metamodel().types[one.type].fields)

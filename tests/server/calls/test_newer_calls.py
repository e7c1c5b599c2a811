"""The three calls that only newer clients make: expand/folder, expand/record and info/me."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import READER, WRITER, Body, Scene
from tests.server.calls.shapes import answered, members, refused
from tests.server.wire import link, save

FOLDER, RECORD = ("POST", "expand/folder"), ("POST", "expand/record")
PARTY: Body = {"korrespondansepartNavn": "Kari Nordmann", "korrespondanseparttype": "EA"}


def a_folder(scene: Scene) -> str:
    """A plain folder that has what a case file needs besides: a primary class."""
    folder = scene.folder()
    scene.wire.saved(link("Mappe", folder, "refPrimaerKlasse", scene.ids["class"]), save("Mappe", folder))
    return folder


def a_record(scene: Scene) -> str:
    return scene.record(scene.case())


def test_a_folder_becomes_a_case_file(scene: Scene) -> None:
    folder = a_folder(scene)
    ident = scene.fields("Mappe", folder)["mappeIdent"]
    given: Body = {"id": folder, "saksmappe": {"administrativEnhet": "ADM", "saksdato": "2021-12-07"}}
    assert scene.wire.call(*FOLDER, given).status == 200
    assert scene.get("Mappe", folder) is None
    fields = scene.fields("Saksmappe", folder)
    assert (fields["tittel"], fields["mappeIdent"]) == ("En mappe", ident)
    assert (fields["administrativEnhet"], fields["saksdato"], fields["saksstatus"]) == ("ADM", "2021-12-07", "B")


def test_every_field_of_the_new_case_file_can_be_given(scene: Scene) -> None:
    folder = a_folder(scene)
    given: Body = {
        "mappeIdent": "1999/930001",
        "saksaar": 1999,
        "sakssekvensnummer": 930001,
        "saksansvarlig": "Ola",
        "saksansvarligBrukerIdent": "ola",
        "saksdato": "1999-12-07",
        "administrativEnhet": "ADM",
        "saksstatus": "R",
    }
    assert scene.wire.call(*FOLDER, {"id": folder, "saksmappe": given}).status == 200
    fields = scene.fields("Saksmappe", folder)
    assert {name: fields[name] for name in given} == given


def test_a_record_becomes_a_registry_entry_with_parties(scene: Scene) -> None:
    record = a_record(scene)
    given: Body = {"id": record, "journalpost": {"journalposttype": "I"}, "korrespondansepart": [PARTY]}
    assert scene.wire.call(*RECORD, given).status == 200
    fields = scene.fields("Journalpost", record)
    assert (fields["tittel"], fields["journalposttype"], fields["journalpostnummer"]) == ("En post", "I", 1)
    asked = {"type": "Korrespondansepart", "limit": 2, "publicUse": False, "query": "refRegistrering.id = @r"}
    told = members(answered(scene.wire.call("POST", "query", {**asked, "parameters": {"@r": record}})))
    results = told["results"]
    assert isinstance(results, list)
    assert [members(each["fields"])["korrespondansepartNavn"] for each in results] == ["Kari Nordmann"]


def test_every_field_of_the_new_registry_entry_can_be_given(scene: Scene) -> None:
    record = a_record(scene)
    given: Body = {
        "journalaar": 1999,
        "journalsekvensnummer": 930002,
        "journalpostnummer": 7,
        "journalansvarlig": "Ola",
        "journalansvarligBrukerIdent": "ola",
        "journalposttype": "U",
        "journalstatus": "F",
    }
    body = {"id": record, "journalpost": given, "korrespondansepart": [PARTY]}
    assert scene.wire.call(*RECORD, body).status == 200
    fields = scene.fields("Journalpost", record)
    assert {name: fields[name] for name in given} == given


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "id"),
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"id": "@new"}, "id"),
        ({"id": "FOLDER", "saksmappe": []}, "saksmappe"),
        ({"id": "FOLDER", "saksmappe": {"nope": 1}}, "A field with name nope was not found in saksmappe"),
        ({"id": "FOLDER", "saksmappe": {"tittel": "T"}}, "tittel"),
        ({"id": "FOLDER", "saksmappe": {}}, "administrativEnhet"),
        ({"id": "FOLDER", "saksmappe": {"administrativEnhet": "NOPE"}}, "administrativEnhet"),
        ({"id": "FOLDER", "saksmappe": {"administrativEnhet": "ADM", "saksaar": "x"}}, "saksaar"),
    ],
)
def test_a_folder_that_cannot_be_expanded_is_400(scene: Scene, body: Body, word: str) -> None:
    given = body | ({"id": a_folder(scene)} if body.get("id") == "FOLDER" else {})
    refused(scene.wire, FOLDER, given, 400, word)


def test_a_folder_without_a_class_stays_one(scene: Scene) -> None:
    given = {"id": scene.folder(), "saksmappe": {"administrativEnhet": "ADM"}}
    refused(scene.wire, FOLDER, given, 400, "refPrimaerKlasse")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "id"),
        ({"id": "@new"}, "id"),
        ({"id": "RECORD", "journalpost": []}, "journalpost"),
        ({"id": "RECORD", "journalpost": {"nope": 1}}, "A field with name nope was not found in journalpost"),
        ({"id": "RECORD", "journalpost": {}, "korrespondansepart": [PARTY]}, "journalposttype"),
        ({"id": "RECORD", "journalpost": {"journalposttype": "?"}}, "journalposttype"),
        ({"id": "RECORD", "journalpost": {"journalposttype": "I"}}, "refKorrespondansepart"),
        ({"id": "RECORD", "journalpost": {"journalposttype": "I"}, "korrespondansepart": {}}, "korrespondansepart"),
        ({"id": "RECORD", "journalpost": {"journalposttype": "I"}, "korrespondansepart": [7]}, "korrespondansepart"),
        ({"id": "RECORD", "journalpost": {"journalposttype": "I"}, "korrespondansepart": [{}]}, "korrespondansepart"),
    ],
)
def test_a_record_that_cannot_be_expanded_is_400(scene: Scene, body: Body, word: str) -> None:
    given = body | ({"id": a_record(scene)} if body.get("id") == "RECORD" else {})
    refused(scene.wire, RECORD, given, 400, word)


def test_a_record_in_a_plain_folder_stays_one(scene: Scene) -> None:
    record = scene.record(scene.folder())
    given = {"id": record, "journalpost": {"journalposttype": "I"}, "korrespondansepart": [PARTY]}
    refused(scene.wire, RECORD, given, 400, "refMappe", "Mappe")


def test_what_is_not_there_or_something_else_is_404(scene: Scene) -> None:
    for call, other in ((FOLDER, scene.ids["case"]), (RECORD, scene.ids["entry"])):
        for object_id in ("999999999", other, scene.ids["document"]):
            refused(scene.wire, call, {"id": object_id}, 404, object_id)
    blind = scene.account((), ("Update",))
    refused(blind, FOLDER, {"id": scene.ids["folder"]}, 404, scene.ids["folder"])
    refused(blind, RECORD, {"id": scene.ids["record"]}, 404, scene.ids["record"])


def test_expanding_needs_update(scene: Scene) -> None:
    reader, writer = scene.account((), READER), scene.account((), (*WRITER, "UpdateSystemManaged"))
    folder: Body = {"id": a_folder(scene), "saksmappe": {"administrativEnhet": "ADM"}}
    fields = {"journalposttype": "I", "journalstatus": "F"}
    record: Body = {"id": a_record(scene), "journalpost": fields, "korrespondansepart": [PARTY]}
    refused(reader, FOLDER, folder, 403, "Update")
    refused(reader, RECORD, record, 403)
    assert writer.call(*FOLDER, folder).status == 200
    assert writer.call(*RECORD, record).status == 200


def test_me_is_the_id_of_the_account(scene: Scene) -> None:
    assert answered(scene.wire.call("GET", "info/me")) == {"userId": "admin"}
    assert answered(scene.archive.wire_as("integration").call("GET", "info/me")) == {"userId": "integration"}

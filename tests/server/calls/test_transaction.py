"""POST transaction: what is saved and how it is told."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.server.calls.scene import Scene, entry_actions, version_actions
from tests.server.calls.shapes import (
    DAY,
    DIGITS,
    JSON_ERRORS,
    NUMBER,
    STAMP,
    answered,
    created,
    items,
    members,
    refused,
)

CALL = ("POST", "transaction")
JSON = {"Content-Type": "application/json; charset=UTF-8", **JSON_ERRORS}
FONDS = b"""{"actions":[
 {"action":"save","type":"Arkiv","id":"@arkiv","fields":{"tittel":"Arkiv for Byr\xc3\xa5det"}},
 {"action":"save","type":"Arkivskaper","id":"@skaper","fields":{"arkivskaperIdent":"974760673","arkivskaperNavn":"X"}},
 {"action":"link","type":"Arkiv","id":"@arkiv","ref":"refArkivskaper","linkToId":["@skaper"]}]}"""


def test_what_was_saved_is_told_by_the_id_of_the_request(scene: Scene) -> None:
    told = answered(scene.wire.call(*CALL, FONDS, headers=JSON))
    fonds = members(members(members(told)["saved"])["@arkiv"])["id"]
    assert told == {
        "saved": {
            "@arkiv": {
                "type": "Arkiv",
                "id": DIGITS,
                "version": DIGITS,
                "fields": {
                    **created(),
                    "tittel": "Arkiv for Byrådet",
                    "arkivstatus": "O",
                    "dokumentmedium": "E",
                },
                "links": {},
            },
            "@skaper": {
                "type": "Arkivskaper",
                "id": DIGITS,
                "version": DIGITS,
                "fields": {**created(), "arkivskaperIdent": "974760673", "arkivskaperNavn": "X"},
                "links": {"refArkiv": int(str(fonds))},
            },
        }
    }


def whole_case(scene: Scene, file: str) -> tuple[Mapping[str, object], dict[str, int]]:
    """What a transaction saved that makes a case file with an entry, its party, a document and a version of the file.

    With the number of each.
    """
    document = {"tittel": "Søknad", "tilknyttetRegistreringSom": "H", "dokumenttype": "B"}
    actions = [
        *scene.case_actions(tittel="Byggesak Storgata 1", saksdato="2021-12-07"),
        *entry_actions("@s", tittel="Søknad om tillatelse", dokumentetsDato="2021-12-06"),
        {"action": "save", "type": "Dokument", "id": "@d", "fields": document},
        {"action": "link", "type": "Dokument", "id": "@d", "ref": "refRegistrering", "linkToId": ["@j"]},
        *version_actions("@d", file),
    ]
    saved = members(members(answered(scene.wire.call(*CALL, {"actions": actions})))["saved"])
    assert list(saved) == ["@s", "@j", "@k", "@d", "@v"]
    return saved, {name: int(str(members(each)["id"])) for name, each in saved.items()}


def test_a_case_file_gets_its_year_number_and_owner(scene: Scene) -> None:
    saved, number = whole_case(scene, scene.file)
    fields = members(members(saved["@s"])["fields"])
    assert saved["@s"] == {
        "type": "Saksmappe",
        "id": str(number["@s"]),
        "version": DIGITS,
        "fields": {
            **created(),
            "tittel": "Byggesak Storgata 1",
            "mappeIdent": f"{fields['saksaar']}/{fields['sakssekvensnummer']}",
            "dokumentmedium": "E",
            "saksaar": NUMBER,
            "sakssekvensnummer": NUMBER,
            "saksdato": "2021-12-07",
            "saksstatus": "B",
            "administrativEnhet": "ADM",
            "saksansvarlig": "admin",
            "saksansvarligBrukerIdent": "admin",
        },
        "links": {"refArkivdel": int(scene.ids["series"]), "refPrimaerKlasse": int(scene.ids["class"])},
    }


def test_a_registry_entry_gets_its_year_numbers_and_owner(scene: Scene) -> None:
    saved, number = whole_case(scene, scene.file)
    entry = members(saved["@j"])
    fields = members(entry["fields"])
    assert entry["links"] == {"refMappe": number["@s"]}
    assert fields == {
        **created(),
        "tittel": "Søknad om tillatelse",
        "registreringsIdent": f"{fields['journalaar']}/{fields['journalsekvensnummer']}",
        "publiseringsstatus": "NOT_PUBLISHED",
        "eInnsynStatus": "NOT_PUBLISHED",
        "dokumentmedium": "E",
        "journalaar": NUMBER,
        "journalsekvensnummer": NUMBER,
        "journalpostnummer": 1,
        "journalposttype": "I",
        "journalstatus": "J",
        "journalansvarlig": "admin",
        "journalansvarligBrukerIdent": "admin",
        "registreringsDato": DAY,
        "dokumentetsDato": "2021-12-06",
        "skjermKorrespondanseParterEInnsyn": False,
    }


def test_a_document_and_its_version_get_their_numbers_and_the_facts_of_the_file(scene: Scene) -> None:
    file = scene.uploaded(b"%PDF-1.7", "soknad.pdf")
    saved, number = whole_case(scene, file)
    assert members(saved["@k"])["links"] == {"refRegistrering": number["@j"]}
    assert members(saved["@d"]) == {
        "type": "Dokument",
        "id": str(number["@d"]),
        "version": DIGITS,
        "fields": {
            **created(),
            "tittel": "Søknad",
            "dokumentstatus": "B",
            "dokumentmedium": "E",
            "dokumenttype": "B",
            "tilknyttetRegistreringSom": "H",
            "dokumentnummer": 1,
        },
        "links": {"refRegistrering": number["@j"]},
    }
    assert members(saved["@v"]) == {
        "type": "Dokumentversjon",
        "id": str(number["@v"]),
        "version": DIGITS,
        "fields": {
            **created(),
            "versjonsnummer": 1,
            "variantformat": "P",
            "format": "pdf",
            "sjekksum": "86edbaa24831badfa0a8b04bb410141e2ee4182b6d0014493fe262a7a331c20b",
            "sjekksumAlgoritme": "SHA-256",
            "filstoerrelse": 8,
            "filnavn": "soknad.pdf",
            "innholdstype": "application/pdf",
            "kryptertDokument": False,
            "referanseDokumentfil": file,
        },
        "links": {"refDokument": number["@d"]},
    }


def test_nothing_saved_is_an_empty_object(scene: Scene) -> None:
    for body in (b'{"actions":[]}', b'{"actions": [ ] , "more": null}'):
        reply = scene.wire.call(*CALL, body, headers=JSON)
        assert (reply.status, reply.body) == (200, b'{"saved":{}}')


def test_an_update_is_told_by_its_permanent_id_with_a_higher_version(scene: Scene) -> None:
    folder = scene.folder()
    before = scene.get("Mappe", folder)
    assert before is not None
    version = str(before["version"])
    action = {"action": "save", "type": "Mappe", "id": folder, "version": version, "fields": {"tittel": "Nytt navn"}}
    saved = members(members(answered(scene.wire.call(*CALL, {"actions": [action]})))["saved"])
    assert list(saved) == [folder]
    told = members(saved[folder])
    assert members(told["fields"])["tittel"] == "Nytt navn"
    assert int(str(told["version"])) > int(version)
    assert told == scene.get("Mappe", folder)


def test_links_and_unlinks_are_told_where_the_object_was_saved_too(scene: Scene) -> None:
    one, other, record = scene.folder(), scene.folder(), {"type": "Basisregistrering"}
    moved = scene.record(one)
    actions = [
        {"action": "save", **record, "id": moved},
        {"action": "unlink", **record, "id": moved, "ref": "refMappe", "unlinkFromId": [one]},
        {"action": "link", **record, "id": moved, "ref": "refMappe", "linkToId": [other]},
    ]
    saved = members(members(answered(scene.wire.call(*CALL, {"actions": actions})))["saved"])
    assert members(saved[moved])["links"] == {"refMappe": int(other)}
    assert members(answered(scene.wire.call(*CALL, {"actions": actions[1:][:0]}))) == {"saved": {}}
    back = [
        {"action": "unlink", **record, "id": moved, "ref": "refMappe", "unlinkFromId": other},
        {"action": "link", "type": "Mappe", "id": one, "ref": "refRegistrering", "linkToId": moved},
    ]
    assert answered(scene.wire.call(*CALL, {"actions": back})) == {"saved": {}}
    told = scene.get("Basisregistrering", moved)
    assert told is not None
    assert told["links"] == {"refMappe": int(one)}


def test_a_delete_takes_all_that_is_below(scene: Scene) -> None:
    folder = scene.folder()
    record = scene.record(folder)
    document = scene.document(record)
    file = scene.uploaded()
    version = scene.version(document, file)
    told = scene.get("Mappe", folder)
    assert told is not None
    action = {"action": "delete", "type": "Mappe", "id": folder, "version": told["version"]}
    assert answered(scene.wire.call(*CALL, {"actions": [action]})) == {"saved": {}}
    gone = {"Mappe": folder, "Basisregistrering": record, "Dokument": document, "Dokumentversjon": version}
    assert [scene.get(type_name, object_id) for type_name, object_id in gone.items()] == [None] * 4
    assert scene.wire.call("GET", f"download?id={file}").status == 404


def test_all_is_undone_where_one_action_is_refused(scene: Scene) -> None:
    folder = scene.folder()
    actions = [
        {"action": "save", "type": "Mappe", "id": folder, "fields": {"tittel": "Skal ikke bli stående"}},
        {"action": "save", "type": "Mappe", "id": "@new", "fields": {"tittel": "Heller ikke denne"}},
    ]
    refused(scene.wire, CALL, {"actions": actions}, 400, "actions[1]", "refArkivdel")
    assert scene.fields("Mappe", folder)["tittel"] == "En mappe"
    asked = {"type": "Mappe", "limit": 1, "query": "tittel = @t", "parameters": {"@t": "Heller ikke denne"}}
    assert members(answered(scene.wire.call("POST", "query", asked | {"publicUse": False})))["results"] == []


@pytest.mark.parametrize("name", ["@jp", "journalpost-temp-id-1", "5fae0c1e2b9d1", "1f0c6f2e-93c3-4b5d-9f0e-1b1d1a"])
def test_every_non_numeric_string_is_a_temporary_id(scene: Scene, name: str) -> None:
    actions = [
        {"action": "save", "type": "Mappe", "id": name, "fields": {"tittel": "En mappe"}},
        {"action": "link", "type": "Mappe", "id": name, "ref": "refArkivdel", "linkToId": scene.ids["series"]},
        {"action": "save", "type": "Mappe", "id": name, "fields": {"beskrivelse": "lagret igjen"}},
    ]
    saved = members(members(answered(scene.wire.call(*CALL, {"actions": actions})))["saved"])
    assert list(saved) == [name]
    fields = members(members(saved[name])["fields"])
    assert (fields["tittel"], fields["beskrivelse"]) == ("En mappe", "lagret igjen")


def test_a_save_needs_no_fields(scene: Scene) -> None:
    folder = scene.folder()
    before = scene.get("Mappe", folder)
    for action in (
        {"action": "save", "type": "Mappe", "id": folder},
        {"action": "save", "type": "Mappe", "id": folder, "fields": {}},
    ):
        assert answered(scene.wire.call(*CALL, {"actions": [action]})) == {"saved": {folder: before}}


def test_an_explicit_null_clears_a_field_and_what_is_absent_stays(scene: Scene) -> None:
    folder = scene.folder(beskrivelse="Om mappen", offentligTittel="Mappe")
    action = {"action": "save", "type": "Mappe", "id": folder, "fields": {"beskrivelse": None}}
    assert answered(scene.wire.call(*CALL, {"actions": [action]}))
    fields = scene.fields("Mappe", folder)
    assert "beskrivelse" not in fields
    assert fields["offentligTittel"] == "Mappe"


def test_screening_is_inherited_once_from_what_comes_first(scene: Scene) -> None:
    folder = scene.folder(skjerming="UO14")
    record = scene.record(folder)
    assert scene.fields("Basisregistrering", record)["skjerming"] == "UO14"
    assert scene.fields("Dokument", scene.document(record))["skjerming"] == "UO14"
    assert scene.fields("Dokument", scene.document(record, skjerming="UO15"))["skjerming"] == "UO15"
    assert "skjerming" not in scene.fields("Dokument", scene.document(record, skjerming=None))
    scene.wire.saved({"action": "save", "type": "Mappe", "id": folder, "fields": {"skjerming": None}})
    assert scene.fields("Basisregistrering", record)["skjerming"] == "UO14"


def test_business_specific_metadata_states_the_whole_desired_state(scene: Scene) -> None:
    assert scene.wire.call("PUT", "bsm-registry/group/call-tx", {"groupName": "Transaksjon"}).status == 200
    for field, kind in (("tx-text", "string"), ("tx-count", "long"), ("tx-when", "timestamp"), ("tx-ratio", "double")):
        body = {"fieldName": field, "fieldType": kind}
        assert scene.wire.call("PUT", f"bsm-registry/group/call-tx/field/{field}", body).status == 200
    given = {
        "tx-text": {"values": ["a", "b"]},
        "tx-count": {"values": [3]},
        "tx-when": {"values": ["2024-01-02T03:04:05.678+0100"]},
        "tx-ratio": {"values": [0.5]},
    }
    folder = scene.folder(virksomhetsspesifikkeMetadata={"call-tx": given})
    assert scene.fields("Mappe", folder)["virksomhetsspesifikkeMetadata"] == {
        "call-tx": {
            "tx-text": {"type": "string", "values": ["a", "b"]},
            "tx-count": {"type": "long", "values": [3]},
            "tx-when": {"type": "timestamp", "values": ["2024-01-02T02:04:05.678Z"]},
            "tx-ratio": {"type": "double", "values": [0.5]},
        }
    }

    def saves(**fields: object) -> object:
        action = {"action": "save", "type": "Mappe", "id": folder, "fields": fields}
        answered(scene.wire.call(*CALL, {"actions": [action]}))
        return scene.fields("Mappe", folder).get("virksomhetsspesifikkeMetadata")

    less = {"call-tx": {"tx-text": {"values": ["c"]}, "tx-count": {"values": []}}}
    only = {"call-tx": {"tx-text": {"type": "string", "values": ["c"]}}}
    assert saves(virksomhetsspesifikkeMetadata=less) == only
    assert saves(tittel="Uten medlemmet") == only
    assert saves(virksomhetsspesifikkeMetadata={}) is None


def test_two_registry_entries_that_meet_in_a_case_file_are_numbered_one_after_the_other(scene: Scene) -> None:
    case = scene.case()
    numbers = [scene.fields("Journalpost", scene.entry(case))["journalpostnummer"] for _ in range(3)]
    assert numbers == [1, 2, 3]


def test_a_deleted_object_is_not_told_though_it_was_saved(scene: Scene) -> None:
    folder = scene.folder()
    actions = [
        {"action": "save", "type": "Mappe", "id": folder, "fields": {"tittel": "Farvel"}},
        {"action": "delete", "type": "Mappe", "id": folder},
    ]
    assert answered(scene.wire.call(*CALL, {"actions": actions})) == {"saved": {}}


def test_the_change_log_tells_what_a_transaction_did(scene: Scene) -> None:
    folder = scene.folder()
    scene.wire.saved({"action": "save", "type": "Mappe", "id": folder, "fields": {"tittel": "Nytt"}})
    told = members(answered(scene.wire.call("POST", "logs/change-log", {"id": folder})))
    assert [each["revisionType"] for each in items(told["results"])] == ["CREATE", "UPDATE"]
    assert json.dumps(told)
    assert items(told["results"])[0]["modifiedDate"] == STAMP

"""POST transaction: what is no transaction, or speaks of what is not there, and the words that tell where."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import Body, Scene, refuses, unlink
from tests.server.calls.shapes import answered
from tests.server.wire import delete, link, save

CALL = ("POST", "transaction")
NOWHERE = "999999999"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b'{"actions":[}', "JSON"),
        (b'\xff\xfe{"actions":[]}', "JSON"),
        (b"[]", "object"),
        (b'"actions"', "object"),
        (b"{}", "actions"),
        (b'{"actions":null}', "actions"),
        (b'{"actions":{}}', "actions"),
        (b'{"actions":[1]}', "actions[0]"),
        (b'{"actions":[null]}', "actions[0]"),
        (b'{"actions":[{}]}', "actions[0]: action"),
        (b'{"actions":[{"action":"SAVE","type":"Mappe","id":"x"}]}', "actions[0]: action"),
        (b'{"actions":[{"action":"move","type":"Mappe","id":"x"}]}', "actions[0]: action"),
        (b'{"actions":[{"action":["save"],"type":"Mappe","id":"x"}]}', "actions[0]: action"),
        (b'{"actions":[{"action":"save","id":"x"}]}', "actions[0] (save): type"),
        (b'{"actions":[{"action":"save","type":7,"id":"x"}]}', "actions[0] (save): type"),
        (b'{"actions":[{"action":"save","type":"Mappe"}]}', "actions[0] (save Mappe): id"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":""}]}', "actions[0] (save Mappe): id"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":null}]}', "actions[0] (save Mappe): id"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":-1}]}', "actions[0] (save Mappe): id"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":true}]}', "actions[0] (save Mappe): id"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":"x","fields":[]}]}', "actions[0] (save Mappe): fields"),
        (b'{"actions":[{"action":"save","type":"Mappe","id":"x","version":"v2"}]}', "version"),
        (b'{"actions":[{"action":"link","type":"Mappe","id":"x","linkToId":["1"]}]}', "actions[0] (link Mappe): ref"),
        (b'{"actions":[{"action":"link","type":"Mappe","id":"x","ref":"refArkivdel"}]}', "linkToId"),
        (b'{"actions":[{"action":"link","type":"Mappe","id":"x","ref":"refArkivdel","linkToId":[]}]}', "linkToId"),
        (b'{"actions":[{"action":"link","type":"Mappe","id":"x","ref":"refArkivdel","linkToId":{}}]}', "linkToId"),
        (
            b'{"actions":[{"action":"link","type":"Mappe","id":"x","ref":"refArkivdel","linkToId":["1","2"]}]}',
            "linkToId",
        ),
        (
            b'{"actions":[{"action":"unlink","type":"Mappe","id":"1","ref":"refArkivdel","linkToId":["1"]}]}',
            "unlinkFromId",
        ),
        (b'{"actions":[{"action":"delete","type":"Mappe"}]}', "actions[0] (delete Mappe): id"),
        (b'{"actions":[{"action":"delete","type":"Mappe","id":"@new"}]}', "actions[0] (delete Mappe)"),
    ],
)
def test_a_malformed_body_is_400(scene: Scene, body: bytes, word: str) -> None:
    headers = {"Content-Type": "application/json"}
    plain = scene.wire.call(*CALL, body, headers=headers)
    told = scene.wire.call(*CALL, body, headers=headers | {"X-Vendor-Error-Response-Type": "application/json"})
    assert (plain.status, plain.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert word in plain.body.decode()
    assert (told.status, told.json()["status"]) == (400, 400)
    assert told.json()["description"] == plain.body.decode()


def test_the_index_is_that_of_the_action(scene: Scene) -> None:
    good = {"action": "save", "type": "Mappe", "id": scene.folder()}
    for index in (0, 1, 7):
        refuses(scene, 400, (f"actions[{index}]",), *[good] * index, save("Mappe", "@x", nonsense=1))


def test_an_unknown_field_is_400_in_the_documented_words(scene: Scene) -> None:
    sentence = "A field with name nonsense was not found in Mappe or its hierarchy."
    refuses(scene, 400, ("actions[0]", sentence), save("Mappe", "@x", nonsense=1))
    refuses(scene, 400, ("actions[0]", sentence), save("Mappe", scene.ids["folder"], nonsense=None))
    words = ("actions[0]", "A field with name saksaar was not found in Mappe or its hierarchy.")
    refuses(scene, 400, words, save("Mappe", "@x", saksaar=2021))


def test_a_reference_among_the_fields_is_an_unknown_field(scene: Scene) -> None:
    sentence = "A field with name refArkivdel was not found in Mappe or its hierarchy."
    refuses(scene, 400, ("actions[0]", sentence), save("Mappe", "@x", tittel="T", refArkivdel=scene.ids["series"]))


@pytest.mark.parametrize(
    "name", ["Nope", "mappe", "AbstraktMappe", "AbstraktRegistrering", "NasjonalIdentifikator", ""]
)
@pytest.mark.parametrize("verb", ["save", "delete"])
def test_an_unknown_or_abstract_type_is_400(scene: Scene, name: str, verb: str) -> None:
    refuses(scene, 400, (f"actions[0] ({verb})", "type"), {"action": verb, "type": name, "id": scene.ids["folder"]})


@pytest.mark.parametrize(
    ("type_name", "fields", "word"),
    [
        ("Mappe", {"tittel": 7}, "tittel"),
        ("Mappe", {"tittel": ["a"]}, "tittel"),
        ("Mappe", {"tittel": "a\x00b"}, "tittel"),
        ("Mappe", {"opprettetDato": "yesterday"}, "opprettetDato"),
        ("Mappe", {"opprettetDato": "2024-13-01T00:00:00Z"}, "opprettetDato"),
        ("Mappe", {"opprettetDato": 1704164645678}, "opprettetDato"),
        ("Saksmappe", {"saksdato": "2021-02-30"}, "saksdato"),
        ("Saksmappe", {"saksdato": 20210102}, "saksdato"),
        ("Saksmappe", {"saksaar": "MMXXI"}, "saksaar"),
        ("Saksmappe", {"saksaar": 2021.5}, "saksaar"),
        ("Saksmappe", {"saksaar": True}, "saksaar"),
        ("Saksmappe", {"saksaar": 2**64}, "saksaar"),
        ("Journalpost", {"skjermKorrespondanseParterEInnsyn": "ja"}, "skjermKorrespondanseParterEInnsyn"),
        ("Journalpost", {"skjermKorrespondanseParterEInnsyn": 1}, "skjermKorrespondanseParterEInnsyn"),
        ("Journalpost", {"publiseringsstatus": "SECRET"}, "publiseringsstatus"),
        ("Journalpost", {"eInnsynStatus": "SECRET"}, "eInnsynStatus"),
        ("Arkivnotat", {"publiseringsstatus": "PUBLISHED_METADATA"}, "publiseringsstatus"),
        ("Mappe", {"virksomhetsspesifikkeMetadata": "x"}, "virksomhetsspesifikkeMetadata"),
        ("Mappe", {"virksomhetsspesifikkeMetadata": {"g": []}}, "virksomhetsspesifikkeMetadata"),
    ],
)
def test_a_value_of_the_wrong_kind_is_400(scene: Scene, type_name: str, fields: Body, word: str) -> None:
    refuses(scene, 400, (f"actions[0] (save {type_name})", word), save(type_name, "@x", **fields))


@pytest.mark.parametrize(
    ("type_name", "ref", "word"),
    [
        ("Mappe", "refNonsense", "refNonsense"),
        ("Mappe", "tittel", "tittel"),
        ("Mappe", "refPresedens", "refPresedens"),
        ("Arkiv", "refMappe", "refMappe"),
    ],
)
def test_an_unknown_reference_is_400(scene: Scene, type_name: str, ref: str, word: str) -> None:
    target = scene.ids["folder"]
    refuses(scene, 400, ("actions[0]", word), link(type_name, target, ref, target))
    refuses(scene, 400, ("actions[0]", word), unlink(type_name, target, ref, target))


def test_what_is_not_there_is_404(scene: Scene) -> None:
    folder, series = scene.ids["folder"], scene.ids["series"]
    for action in (
        save("Mappe", NOWHERE, tittel="T"),
        link("Mappe", NOWHERE, "refArkivdel", series),
        link("Mappe", folder, "refKryssreferanseTilMappe", NOWHERE),
        unlink("Mappe", NOWHERE, "refArkivdel", series),
        unlink("Mappe", folder, "refArkivdel", NOWHERE),
        delete("Mappe", NOWHERE),
        save("Mappe", "9" * 40, tittel="T"),
        save("Saksmappe", folder, tittel="T"),
        delete("Saksmappe", folder),
    ):
        refuses(scene, 404, ("actions[0]", "there is no"), action)


def test_what_may_not_be_read_looks_absent_to_a_write(scene: Scene) -> None:
    folder, series = scene.folder(), scene.ids["series"]
    blind = scene.account((), ("Create", "Update", "Delete", "Move"))
    for action in (
        save("Mappe", folder, tittel="T"),
        link("Mappe", folder, "refArkivdel", series),
        unlink("Mappe", folder, "refArkivdel", series),
        delete("Mappe", folder),
    ):
        refuses(scene, 404, ("actions[0]", "there is no"), action, by=blind)
    new = [save("Mappe", "@x", tittel="T"), link("Mappe", "@x", "refArkivdel", series)]
    refuses(scene, 404, ("actions[1]",), *new, by=blind)


def test_a_temporary_id_must_be_saved_before_it_is_used(scene: Scene) -> None:
    series = scene.ids["series"]
    made = save("Mappe", "@x", tittel="T")
    refuses(scene, 400, ("actions[0]", "@x"), link("Mappe", "@x", "refArkivdel", series), made)
    refuses(scene, 400, ("actions[0]", "@y"), link("Mappe", scene.folder(), "refKryssreferanseTilMappe", "@y"))
    answered(scene.wire.transaction(made, link("Mappe", "@x", "refArkivdel", series)))
    refuses(scene, 400, ("actions[0]", "@x"), link("Mappe", "@x", "refArkivdel", series))


def test_a_temporary_id_stands_for_one_object_of_one_type(scene: Scene) -> None:
    up = link("Mappe", "@x", "refArkivdel", scene.ids["series"])
    refuses(scene, 400, ("actions[2]", "@x"), save("Mappe", "@x", tittel="T"), up, save("Saksmappe", "@x", tittel="T"))


@pytest.mark.parametrize(
    ("type_name", "field"),
    [("Saksmappe", "administrativEnhet"), ("Saksmappe", "saksstatus"), ("Mappe", "skjerming"), ("Mappe", "mappetype")],
)
def test_a_code_that_is_not_in_its_list_is_400(scene: Scene, type_name: str, field: str) -> None:
    refuses(scene, 400, (f"actions[0] (save {type_name})", field, "NOSUCH"), save(type_name, "@x", **{field: "NOSUCH"}))
    known = scene.ids["case" if type_name == "Saksmappe" else "folder"]
    refuses(scene, 400, (f"actions[0] (save {type_name})", field), save(type_name, known, **{field: "nosuch"}))


def test_business_specific_metadata_must_be_in_the_registry(scene: Scene) -> None:
    scene.wire.call("PUT", "bsm-registry/group/call-no", {"groupName": "G"})
    closed = {"fieldName": "F", "fieldType": "string", "fieldValues": ["ja", "nei"]}
    answered(scene.wire.call("PUT", "bsm-registry/group/call-no/field/no-closed", closed))
    for kind in ("long", "double", "timestamp", "boolean"):
        body = {"fieldName": kind, "fieldType": kind}
        answered(scene.wire.call("PUT", f"bsm-registry/group/call-no/field/no-{kind}", body))
    for group, field, value in (
        ("nowhere", "no-closed", "ja"),
        ("call-no", "nowhere", "ja"),
        ("call-no", "no-closed", "kanskje"),
        ("call-no", "no-closed", 1),
        ("call-no", "no-long", "x"),
        ("call-no", "no-long", 1.5),
        ("call-no", "no-double", "x"),
        ("call-no", "no-timestamp", "i går"),
        ("call-no", "no-boolean", "kanskje"),
    ):
        told = {group: {field: {"values": [value]}}}
        words = ("actions[0] (save Mappe)", "virksomhetsspesifikkeMetadata", f"{group}.{field}")
        action = save("Mappe", scene.ids["folder"], virksomhetsspesifikkeMetadata=told)
        refuses(scene, 400, words, action)
    where = save("Noekkelord", "@x", verdi="V", virksomhetsspesifikkeMetadata={})
    refuses(scene, 400, ("virksomhetsspesifikkeMetadata was not found in Noekkelord",), where)

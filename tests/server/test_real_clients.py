"""What the client library that most integrations use sends and expects, statement by statement.

It is never at hand here, so its requests are typed as it makes them, byte for byte where bytes matter.

reaching   01 any prefix of the address · 02 a double slash · 03 JSON errors are a choice · 04 every call it makes
requests   05 save · 06 link · 07 unlink · 08 delete · 09 its headers · 10 null among a new object's fields · 11 null
           clears · 12 an update echoes what was read · 13 with the times of another zone · 14 file facts and disposal
           too · 15 empty business-specific metadata · 16 full text without publicUse · 17 bulk delete · 18 every member
           of a query · 19 null parameters · 20 dates · 21 a connection a call, left open · 22 until it is idle too long
           23 one connection for other calls
responses  24 objects · 25 closed sets of values · 26 members that must be there · 27 times · 28 the id of an upload
           29 bodies where it reads one · 30 lists by type and field · 31 unknown members are ours to add
statuses   32 400 · 33 401 · 34 403 · 35 404 · 36 409 · 37 415 · 38 500 and 503 · 39 others · 40 always the error object
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.server.calls.scene import WRITER, Body, Scene, entry_actions
from tests.server.calls.shapes import DIGITS, answered, empty, items, members
from tests.server.conftest import Archive, serving
from tests.server.library import Client
from tests.server.wire import BASE, Reply, Wire, link, save
from tests.waiting import PATIENCE_S, came

STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
BULKY: Body = {"virksomhetsspesifikkeMetadata": {}}


def new_id() -> str:
    return str(uuid.uuid4())


def test_01_any_prefix_of_the_address_is_kept(scene: Scene) -> None:
    for prefix in ("/rms/api/public/noark5/v1", "/noark5/v1"):
        assert Client(scene.wire, prefix).query("Mappe", "id=@id", {"@id": scene.ids["folder"]})


def test_02_a_double_slash_before_the_path_counts_as_one(scene: Scene) -> None:
    for prefix in ("//rms/api/public/noark5/v1", "///noark5/v1", "/rms/api/public//noark5/v1/"):
        assert Client(scene.wire, prefix).query("Mappe", "id=@id", {"@id": scene.ids["folder"]})


def test_03_json_errors_are_a_choice_never_a_must(scene: Scene) -> None:
    plain = scene.wire.call("POST", "query", {"type": "Mappe", "limit": 1, "publicUse": False})
    assert plain.status == 200
    assert scene.wire.call("POST", "query", {"limit": 1}).headers["content-type"].startswith("text/plain")


MADE = {
    "POST": "transaction query upload full-text/search bulk/delete logs/change-log logs/access-log expand/folder"
    " expand/record",
    "GET": "download code-lists bsm-registry info/me",
    "PUT": "code-lists/skjerming/A bsm-registry/group/g bsm-registry/group/g/field/f",
    "DELETE": "code-lists/skjerming/A bsm-registry/group/g bsm-registry/group/g/field/f",
}


@pytest.mark.parametrize("method", MADE)
def test_04_every_call_it_makes_is_there(scene: Scene, method: str) -> None:
    assert MADE[method].split()
    for path in MADE[method].split():
        assert scene.wire.call(method, path, token="0" * 40).status == 401, path


def test_05_a_save_names_a_new_object_by_a_uuid_and_sends_no_version(scene: Scene) -> None:
    name = new_id()
    fields = {"tittel": "En mappe", **BULKY}
    saved = Client(scene.wire).transaction(
        {"id": name, "type": "Mappe", "action": "save", "fields": fields},
        {"type": "Mappe", "id": name, "ref": "refArkivdel", "action": "link", "linkToId": [scene.ids["series"]]},
    )
    told = members(saved[name])
    assert (told["type"], told["id"], told["version"]) == ("Mappe", DIGITS, DIGITS)


def test_06_a_link_goes_from_either_side_to_a_list_of_ids(scene: Scene) -> None:
    folder, record = scene.folder(), new_id()
    saved = Client(scene.wire).transaction(
        {"id": record, "type": "Basisregistrering", "action": "save", "fields": {"tittel": "T", **BULKY}},
        {"type": "Mappe", "id": folder, "ref": "refRegistrering", "action": "link", "linkToId": [record]},
    )
    assert members(saved[record])["links"] == {"refMappe": int(folder)}


def test_07_an_unlink_goes_to_a_list_of_ids(scene: Scene) -> None:
    one, other = scene.folder(), scene.folder()
    ref = "refKryssreferanseTilMappe"
    both = {"type": "Mappe", "id": one, "ref": ref}
    Client(scene.wire).transaction({**both, "action": "link", "linkToId": [other]})
    assert Client(scene.wire).query("Mappe", f"id=@a && {ref}.id=@b", {"@a": one, "@b": other})
    Client(scene.wire).transaction(
        {"type": "Mappe", "id": one, "ref": ref, "action": "unlink", "unlinkFromId": [other]}
    )
    assert Client(scene.wire).query("Mappe", f"id=@a && {ref}.id=@b", {"@a": one, "@b": other}) == []


def test_08_a_delete_carries_the_version_as_a_string(scene: Scene) -> None:
    folder = scene.folder()
    (told,) = Client(scene.wire).query("Mappe", "id=@id", {"@id": folder})
    action = {"type": "Mappe", "id": folder, "version": told["version"], "action": "delete"}
    assert Client(scene.wire).transaction(action) == {}
    assert Client(scene.wire).query("Mappe", "id=@id", {"@id": folder}) == []


def test_09_its_headers_are_taken_and_the_answer_is_plain(scene: Scene) -> None:
    client = Client(scene.wire)
    reply = client.send("POST", "query", b'{"type":"Arkiv","limit":1}')
    client.connection.close()
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert "content-encoding" not in reply.headers
    assert int(reply.headers["content-length"]) == len(reply.body)


def test_10_a_new_object_may_say_null_of_every_optional_field(scene: Scene) -> None:
    nothing = ("beskrivelse", "offentligTittel", "mappetype", "avsluttetDato", "avsluttetAv", "kassasjonsvedtak")
    fields: Body = {"tittel": "T", **dict.fromkeys((*nothing, "skjerming", "virksomhetsspesifikkeMetadata"))}
    name = new_id()
    up = {"type": "Mappe", "id": name, "ref": "refArkivdel", "action": "link", "linkToId": [scene.ids["series"]]}
    action = {"id": name, "type": "Mappe", "action": "save", "fields": fields}
    told = members(members(Client(scene.wire).transaction(action, up)[name])["fields"])
    assert not set(told) & set(nothing)
    document = {"tittel": "T", "tilknyttetRegistreringSom": "H", "kassertDato": None, "kassertAv": None}
    assert scene.document(scene.ids["record"], **document)


def test_11_null_clears_a_field_that_was_set(scene: Scene) -> None:
    folder = scene.folder(beskrivelse="B", skjerming="UO13")
    fields = {"beskrivelse": None, "skjerming": None, **BULKY}
    saved = Client(scene.wire).transaction({"id": folder, "type": "Mappe", "action": "save", "fields": fields})
    assert not {"beskrivelse", "skjerming"} & set(members(members(saved[folder])["fields"]))


def a_file(scene: Scene) -> dict[str, str]:
    """Objects of many types, by type."""
    case = scene.case(saksaar=2019, sakssekvensnummer=int(scene.folder()) + 940000)
    made = scene.made(*entry_actions(case, dokumentetsDato="2019-05-06", mottattDato="2019-05-07T08:09:10.111Z"))
    record = scene.record(scene.folder(), opprettetDato="2003-04-05T06:07:08.009Z")
    document = scene.document(made["@j"])
    rest = {"Basisregistrering": record, "Dokumentversjon": scene.version(document, scene.uploaded())}
    made |= scene.made(
        save("Noekkelord", "Noekkelord", verdi="V"),
        link("Noekkelord", "Noekkelord", "refMappe", case),
        save("Merknad", "Merknad", tekst="T", merknadstype="MER"),
        link("Merknad", "Merknad", "refMappe", case),
        save("EksternId", "EksternId", eksterntSystem="S", eksternID=case),
        link("EksternId", "EksternId", "refMappe", case),
        save("Sakspart", "Sakspart", sakspartNavn="N", sakspartRolle="KLI"),
        link("Sakspart", "Sakspart", "refMappe", case),
        save("Arkiv", "Arkiv", tittel="A"),
        save("Arkivskaper", "Arkivskaper", arkivskaperIdent="1", arkivskaperNavn="N"),
        link("Arkivskaper", "Arkivskaper", "refArkiv", "Arkiv"),
        save("Arkivdel", "Arkivdel", tittel="D"),
        link("Arkivdel", "Arkivdel", "refArkiv", "Arkiv"),
        save("Klassifikasjonssystem", "Klassifikasjonssystem", tittel="S"),
        save("Klasse", "Klasse", klasseIdent="1", tittel="K"),
        link("Klasse", "Klasse", "refKlassifikasjonssystem", "Klassifikasjonssystem"),
    )
    large = {"Saksmappe": case, "Journalpost": made.pop("@j"), "Korrespondansepart": made.pop("@k")}
    return {**large, "Dokument": document, **rest, **made}


CHANGED = {
    "Arkivskaper": "arkivskaperNavn",
    "Korrespondansepart": "korrespondansepartNavn",
    "Sakspart": "sakspartNavn",
    "Noekkelord": "verdi",
    "Merknad": "tekst",
    "EksternId": "eksternID",
    "Dokumentversjon": "formatDetaljer",
}


def shifted(fields: Body, hours: int) -> Body:
    """The fields with every time written in another zone, as the library's machine would."""
    zone = timezone(timedelta(hours=hours))
    told: Body = {}
    for name, value in fields.items():
        if isinstance(value, str) and STAMP.fullmatch(value):
            moment = datetime.fromisoformat(value).astimezone(zone)
            value = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}" + moment.strftime("%z")
        told[name] = value
    return told


def test_12_an_update_echoes_what_was_read(scene: Scene) -> None:
    echoes(scene, 0)


@pytest.mark.parametrize("hours", [1, 2, -7])
def test_13_with_times_as_another_zone_writes_them(scene: Scene, hours: int) -> None:
    echoes(scene, hours)


def echoes(scene: Scene, hours: int) -> None:
    """Reads an object of each type and sends all its fields back with one text changed, by one who may do just that."""
    writer = scene.account(("Journal", "Edit journaled", "Store documents"), WRITER)
    for type_name, object_id in a_file(scene).items():
        (read,) = Client(writer).query(type_name, "id=@id", {"@id": object_id})
        before = read["fields"]
        assert isinstance(before, dict)
        changed = CHANGED.get(type_name, "tittel")
        fields = shifted({**before, changed: f"Endret {hours}"}, hours)
        echo = {"type": type_name, "id": object_id, "version": read["version"], "action": "save", "fields": fields}
        told = members(Client(writer).transaction(echo)[object_id])
        assert told["fields"] == {**before, changed: f"Endret {hours}"}, type_name


def test_14_file_facts_and_disposal_are_echoed_too(scene: Scene) -> None:
    writer = scene.account(("Edit journaled",), WRITER)
    (version,) = Client(writer).query("Dokumentversjon", "id=@id", {"@id": scene.ids["version"]})
    facts = {"filnavn", "innholdstype", "filstoerrelse", "sjekksum", "sjekksumAlgoritme", "versjonsnummer"}
    fields = members(version["fields"])
    assert facts <= set(fields)
    echo: Body = {"type": "Dokumentversjon", "id": scene.ids["version"], "action": "save"}
    Client(writer).transaction({**echo, "fields": {name: fields[name] for name in facts}})
    nothing = dict.fromkeys(("kassertDato", "kassertAv", "kassertAvBrukerIdent", "forventetKassasjonsDato"))
    echo = {"type": "Dokument", "id": scene.ids["document"], "action": "save", "fields": {**nothing, **BULKY}}
    Client(writer).transaction(echo)


def test_15_empty_metadata_wipes_unless_the_object_was_read_with_it(scene: Scene) -> None:
    for path, body in (("", {"groupName": "G"}), ("/field/klient-felt", {"fieldName": "F", "fieldType": "string"})):
        assert scene.wire.call("PUT", f"bsm-registry/group/klient{path}", body).status == 200
    folder = scene.folder(virksomhetsspesifikkeMetadata={"klient": {"klient-felt": {"values": ["x"]}}})
    (read,) = Client(scene.wire).query("Mappe", "id=@id", {"@id": folder})
    known = members(members(read["fields"])["virksomhetsspesifikkeMetadata"])
    assert known == {"klient": {"klient-felt": {"type": "string", "values": ["x"]}}}
    action = {"type": "Mappe", "id": folder, "action": "save"}
    echoed = Client(scene.wire).transaction({**action, "fields": {"virksomhetsspesifikkeMetadata": known}})
    assert members(members(echoed[folder])["fields"])["virksomhetsspesifikkeMetadata"] == known
    wiped = Client(scene.wire).transaction({**action, "fields": {"tittel": "T", **BULKY}})
    assert "virksomhetsspesifikkeMetadata" not in members(members(wiped[folder])["fields"])


def test_16_a_search_never_says_public_use(scene: Scene) -> None:
    body = b'{"doctype":"Mappe","query":"Mappen","filters":{},"expand":[],"offset":0,"limit":10}'
    client = Client(scene.wire)
    told = members(answered(client.send("POST", "full-text/search", body)))
    client.connection.close()
    found = [members(each["ids"])["AbstraktMappe.id"] for each in items(told["results"])]
    assert [scene.ids["folder"]] in found
    assert all(isinstance(each["expand"], dict) for each in items(told["results"]))


def test_17_a_bulk_delete_has_its_version_as_a_string_and_never_speaks_of_precedents(scene: Scene) -> None:
    folder = scene.folder()
    (told,) = Client(scene.wire).query("Mappe", "id=@id", {"@id": folder})
    client = Client(scene.wire)
    assert isinstance(told["version"], str)
    body = json.dumps({"type": "Mappe", "id": folder, "version": told["version"]}).encode()
    empty(client.send("POST", "bulk/delete", body), 202)
    client.connection.close()
    assert came(lambda: scene.get("Mappe", folder) is None)


def test_18_a_query_has_every_member_empty_ones_too(scene: Scene) -> None:
    body = (
        b'{"limit":10,"type":"Arkiv","offset":0,"publicUse":true,"sortOrder":[],"parameters":{},"joins":{}}',
        b'{"limit":10,"type":"Arkiv","offset":0,"publicUse":true,"sortOrder":[],"parameters":{},"joins":{},"query":""}',
        b'{"limit":10,"type":"Arkiv","query":null,"sortOrder":null,"parameters":null,"joins":null}',
    )
    client = Client(scene.wire)
    first, *others = [answered(client.send("POST", "query", each)) for each in body]
    client.connection.close()
    assert items(members(first)["results"])
    assert others == [first, first]


def test_19_a_parameter_may_be_null(scene: Scene) -> None:
    folder = scene.folder()
    for query in ("id=@id && refEksternId=@n", "id=@id && beskrivelse=@n", "id=@id && avsluttetDato=@n"):
        assert Client(scene.wire).query("Mappe", query, {"@id": folder, "@n": None, "@unused": None})


def test_20_a_date_comes_as_a_moment_in_utc(scene: Scene) -> None:
    case = scene.case(saksdato="2021-12-07")
    query = "id=@id && saksdato=[@from:@to] && opprettetDato=[@epoch:@open]"
    given: Body = {"@id": case, "@from": "2021-12-06T23:00:00.000Z", "@to": "2021-12-07T10:00:00.000Z"}
    epoch: Body = {"@epoch": "1970-01-01T00:00:00.000Z", "@open": "*"}
    assert Client(scene.wire).query("Saksmappe", query, given | epoch)
    entry = scene.entry(case, dokumentetsDato="2021-12-07T00:00:00.000+0100", sendtDato="1970-01-01T00:00:00.000Z")
    fields = scene.fields("Journalpost", entry)
    assert (fields["dokumentetsDato"], fields["sendtDato"]) == ("2021-12-07", "1970-01-01T00:00:00.000Z")


def test_21_connections_that_stay_open_cost_no_thread_and_hold_nobody_up(scene: Scene) -> None:
    before = threading.active_count()
    with ExitStack() as left_open:
        clients = [Client(scene.wire) for _ in range(150)]
        for client in clients:
            left_open.callback(client.connection.close)
            assert client.send("POST", "query", b'{"type":"Arkiv","limit":1}').status == 200
        assert threading.active_count() - before <= 16
        assert Client(scene.wire).query("Mappe", "id=@id", {"@id": scene.ids["folder"]})
        assert clients[0].send("GET", "info/me").status == 200


def test_22_a_connection_that_is_idle_too_long_is_closed(archive_with: Callable[..., Archive]) -> None:
    client = Client(archive_with(connection_idle_timeout_s=0.3).wire)
    assert client.send("GET", "info/me").status == 200
    client.connection.sock.settimeout(PATIENCE_S)
    assert client.connection.sock.recv(1) == b""
    client.connection.close()


def test_23_other_calls_share_one_connection(scene: Scene) -> None:
    client = Client(scene.wire)
    assert client.send("GET", "info/me").status == 200
    kept = client.connection.sock
    for method, path, body in (
        ("GET", "code-lists?type=Arkiv", None),
        ("GET", f"download?id={scene.file}", None),
        ("PUT", "code-lists/mappetype/KLIENT", b'{"name":"Klient"}'),
        ("PUT", "code-lists/mappetype/KLIENT", b'{"name":""}'),
        ("DELETE", "code-lists/mappetype/KLIENT", None),
        ("GET", "bsm-registry", None),
        ("POST", "logs/change-log", json.dumps({"id": scene.ids["folder"]}).encode()),
        ("GET", "nowhere", None),
        ("GET", "info/me", None),
    ):
        assert client.send(method, path, body).status in (200, 204, 400, 404)
        assert client.connection.sock is kept
    client.connection.close()


def test_24_an_object_has_type_id_and_version_as_strings_and_both_objects(scene: Scene) -> None:
    told: list[Body] = []
    for type_name, name in (("Arkiv", "fonds"), ("Mappe", "folder"), ("Klassifikasjonssystem", "system")):
        told += Client(scene.wire).query(type_name, "id=@id", {"@id": scene.ids[name]})
        action = {"type": type_name, "id": scene.ids[name], "action": "save"}
        told += [dict(members(each)) for each in Client(scene.wire).transaction(action).values()]
    asked = {"doctype": "Mappe", "query": "Mappen", "expand": ["AbstraktMappe", "Arkivdel"], "publicUse": False}
    found = items(members(answered(scene.wire.call("POST", "full-text/search", asked)))["results"])
    told += [dict(each) for find in found for group in members(find["expand"]).values() for each in items(group)]
    assert len(told) >= 8
    for each in told:
        assert (each["id"], each["version"]) == (DIGITS, DIGITS)
        assert each["type"] in ("Arkiv", "Arkivdel", "Klassifikasjonssystem", "Mappe", "Saksmappe")
        assert isinstance(each["fields"], dict)
        assert isinstance(each["links"], dict)
        assert None not in each["fields"].values()


def test_25_no_value_leaves_the_sets_that_it_knows(scene: Scene) -> None:
    for field, value in (("publiseringsstatus", "X"), ("eInnsynStatus", "X")):
        reply = scene.wire.transaction(save("Journalpost", scene.ids["entry"], **{field: value}))
        assert (reply.status, field in reply.body.decode()) == (400, True)
    assert scene.wire.call("PUT", "bsm-registry/group/klient-x", {"groupName": "G"}).status == 200
    for kind in ("date", "integer", "object", ""):
        body = {"fieldName": "F", "fieldType": kind}
        assert scene.wire.call("PUT", "bsm-registry/group/klient-x/field/klient-x", body).status == 400


def test_26_the_members_it_needs_are_there_though_empty(scene: Scene) -> None:
    def told(method: str, path: str, body: object = None) -> Body:
        return dict(members(answered(scene.wire.call(method, path, body))))

    assert told("POST", "transaction", {"actions": []}) == {"saved": {}}
    assert told("POST", "query", {"type": "Plan", "limit": 1, "offset": 9999}) == {"hasMore": False, "results": []}
    assert told("GET", "code-lists?field=nothing") == {"results": []}
    assert told("GET", "bsm-registry?groupId=nothing") == {"results": []}
    assert told("POST", "full-text/search", {"doctype": "Mappe", "query": "finnesikke"})["results"] == []
    assert told("POST", "logs/change-log", {"id": scene.ids["folder"], "offset": 999})["results"] == []
    assert told("POST", "logs/access-log", {"userName": "nobody"}) == {"results": [], "hasMore": False}


def test_27_times_are_utc_with_three_digits_everywhere(scene: Scene) -> None:
    scene.get("Mappe", scene.ids["folder"])
    paths: tuple[tuple[str, Body], ...] = (
        ("query", {"type": "Mappe", "limit": 10, "publicUse": False}),
        ("transaction", {"actions": [{"action": "save", "type": "Mappe", "id": scene.ids["folder"]}]}),
        ("logs/change-log", {"id": scene.ids["fonds"], "limit": 100}),
        ("logs/access-log", {"limit": 100}),
        ("logs/download-log", {"limit": 100}),
    )
    for path, body in paths:
        text = scene.wire.call("POST", path, body).body.decode()
        found = re.findall(r'"(?:opprettetDato|modifiedDate|createdDate)":"([^"]*)"', text)
        assert all(STAMP.fullmatch(each) for each in found), path
        assert found or path.startswith("logs/")


def test_28_an_upload_answers_with_its_id(scene: Scene) -> None:
    client = Client(scene.wire)
    about = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename*=utf-8''a.txt"}
    assert answered(client.send("POST", "upload", b"text", **about)) == {"id": DIGITS}
    client.connection.close()


def test_29_what_it_reads_has_a_body_and_the_rest_needs_none(scene: Scene) -> None:
    value = answered(scene.wire.call("PUT", "code-lists/mappetype/KROPP", {"name": "Kropp"}))
    assert value == {"code": "KROPP", "name": "Kropp"}
    empty(scene.wire.call("DELETE", "code-lists/mappetype/KROPP"), 204)
    assert answered(scene.wire.call("PUT", "bsm-registry/group/kropp", {"groupName": "K"}))
    field = {"fieldName": "F", "fieldType": "uri"}
    assert answered(scene.wire.call("PUT", "bsm-registry/group/kropp/field/kropp-f", field))
    empty(scene.wire.call("DELETE", "bsm-registry/group/kropp/field/kropp-f"), 204)
    empty(scene.wire.call("DELETE", "bsm-registry/group/kropp"), 204)


def test_30_a_list_is_found_first_by_its_type_and_field(scene: Scene) -> None:
    for type_name, field in (("Saksmappe", "administrativEnhet"), ("Mappe", "mappestatus"), ("Plan", "planstatus")):
        told = members(answered(scene.wire.call("GET", f"code-lists?type={type_name}&field={field}")))
        first = items(told["results"])[0]
        assert (first["type"], first["field"], isinstance(first["values"], list)) == (type_name, field, True)


def test_31_newer_fields_are_told_only_where_they_are_set(scene: Scene) -> None:
    newer = {"sakspartRolleBeskrivelse", "erSkjermet", "eksternReferanse", "publisereSkjermedeOffentligeDokumenter"}
    objects = a_file(scene)
    assert len(objects) > 3
    for type_name, object_id in objects.items():
        assert not newer & set(scene.fields(type_name, object_id)), type_name


def error_of(reply: Reply, status: int) -> str:
    """The description of an error object, which is the whole body."""
    assert (reply.status, reply.headers["content-type"]) == (status, "application/json"), reply
    told = reply.json()
    assert sorted(told) == ["description", "errorId", "status"]
    assert told["status"] == status
    assert uuid.UUID(str(told["errorId"]))
    return str(told["description"])


def description(by: Wire, body: object, status: int, **headers: str) -> str:
    """Why a transaction was refused with that status."""
    client = Client(by)
    with closing(client.connection):
        return error_of(client.send("POST", "transaction", json.dumps(body).encode(), **headers), status)


def renaming(object_id: str, **more: object) -> Body:
    return {"actions": [{**save("Mappe", object_id, tittel="T"), **more}]}


def test_32_a_bad_request_is_described(scene: Scene) -> None:
    assert "actions" in description(scene.wire, {}, 400)


def test_33_a_missing_token_is_described(scene: Scene) -> None:
    assert "token" in description(scene.wire.bearing("0" * 40), {"actions": []}, 401)


def test_34_a_missing_privilege_is_described(scene: Scene) -> None:
    assert "Update" in description(scene.account((), ("ReadThis", "Read")), renaming(scene.ids["folder"]), 403)


def test_35_what_is_not_there_is_described(scene: Scene) -> None:
    assert "999999999" in description(scene.wire, renaming("999999999"), 404)


def test_36_a_conflict_is_described(scene: Scene) -> None:
    assert "version" in description(scene.wire, renaming(scene.ids["folder"], version="0"), 409)


def test_37_a_wrong_media_type_is_described(scene: Scene) -> None:
    assert "text/plain" in description(scene.wire, {"actions": []}, 415, **{"Content-Type": "text/plain"})


@pytest.mark.parametrize("statuses", [(500, 503), (422, 429, 502)], ids=["38", "39"])
def test_38_39_faults_and_other_statuses_are_described(tmp_path: Path, statuses: tuple[int, ...]) -> None:
    script = tmp_path / "faults.toml"
    rules = [
        f'[[rule]]\ncall = "GET info/me"\nkind = "refuse"\nnth = {number}\nstatus = {status}\n'
        for number, status in enumerate(statuses, 1)
    ]
    script.write_text("\n".join(rules), "utf-8")
    with serving(tmp_path / "archive", faults=script) as archive:
        client = Client(archive.wire)
        for status in statuses:
            assert error_of(client.send("GET", "info/me"), status)
        assert client.send("GET", "info/me").status == 200
        client.connection.close()


def test_40_with_the_header_every_error_is_the_object(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(max_json_bytes=1000, body_idle_timeout_s=0.3).wire
    for method, path, body, status in (
        ("GET", "nowhere", None, 404),
        ("GET", "transaction", None, 405),
        ("POST", "query", b'{"query":"' + b"x" * 2000 + b'"}', 413),
        ("POST", "query", b"[" * 500 + b"]" * 500, 400),
        ("POST", "upload", b"x", 400),
        ("GET", "download?id=999999999", None, 404),
    ):
        client = Client(wire)
        assert error_of(client.send(method, path, body), status)
        client.connection.close()
    client = Client(wire)
    assert error_of(client.send("POST", "query", b"{", **{"Content-Length": "100"}), 408)
    client.connection.close()
    assert wire.call("GET", f"{BASE}/info/me").status == 200

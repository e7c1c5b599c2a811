"""The calls of the engine over real sockets, with bytes typed from the wire format."""

from __future__ import annotations

import json
import re

import pytest

from tests.server.conftest import Archive
from tests.server.wire import document, link, save, small_archive

JSON = {"Content-Type": "application/json; charset=UTF-8", "X-Documaster-Error-Response-Type": "application/json"}
CREATE = b"""{"actions":[
 {"action":"save","type":"Arkiv","id":"temporary","fields":{"tittel":"Fonds"}},
 {"action":"save","type":"Arkivskaper","id":"0c6b0ad2","fields":{"arkivskaperIdent":"A","arkivskaperNavn":"B"}},
 {"type":"Arkivskaper","id":"0c6b0ad2","ref":"refArkiv","action":"link","linkToId":["temporary"]}]}"""


def test_a_transaction_answers_in_the_form_that_clients_parse(archive: Archive) -> None:
    reply = archive.wire.call("POST", "transaction", CREATE, headers=JSON)
    assert reply.status == 200
    saved = json.loads(reply.body)["saved"]
    assert list(saved) == ["temporary", "0c6b0ad2"]
    fonds, creator = saved.values()
    assert re.fullmatch("[0-9]+", fonds["id"])
    assert re.fullmatch("[0-9]+", fonds["version"])
    assert fonds["links"] == {}
    assert creator["links"] == {"refArkiv": int(fonds["id"])}
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z", fonds["fields"]["opprettetDato"])


def test_nothing_saved_is_an_empty_object(archive: Archive) -> None:
    assert archive.wire.call("POST", "transaction", b'{"actions":[]}', headers=JSON).body == b'{"saved":{}}'


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 400, ""),
        (b"[]", 400, ""),
        (b"{}", 400, "actions"),
        (b'{"actions":[{"action":"sing","type":"Arkiv","id":"1"}]}', 400, "actions[0]"),
        (b'{"actions":[{"action":"save","type":"AbstraktMappe","id":"x"}]}', 400, "actions[0]"),
        (
            b'{"actions":[{"action":"save","type":"Arkiv","id":"x","fields":{"nonsense":1}}]}',
            400,
            "A field with name nonsense was not found in Arkiv or its hierarchy.",
        ),
        (b'{"actions":[{"action":"save","type":"Arkiv","id":"x","fields":{"tittel":"\\u0000"}}]}', 400, "tittel"),
        (b'{"actions":[{"action":"save","type":"Arkiv","id":"x","fields":{"tittel":"\\ud83d"}}]}', 400, ""),
        (b'{"actions":[{"action":"save","type":"Arkiv","id":"99999999"}]}', 404, "99999999"),
        (b'{"actions":[{"action":"delete","type":"Arkiv","id":"99999999"}]}', 404, "99999999"),
    ],
)
def test_a_refusal_says_why_in_both_formats(archive: Archive, body: bytes, status: int, sentence: str) -> None:
    told = archive.wire.call("POST", "transaction", body, headers=JSON)
    assert told.status == status
    error = told.json()
    assert set(error) == {"errorId", "description", "status"}
    assert (error["status"], sentence in str(error["description"])) == (status, True)
    plain = archive.wire.call("POST", "transaction", body, headers={"Content-Type": "application/json"})
    assert plain.status == status
    assert sentence.encode() in plain.body


def test_the_media_type_and_the_token_are_judged_first(archive: Archive) -> None:
    for path in ("transaction", "expand/folder", "expand/record"):
        assert archive.wire.call("POST", path, b"{}", headers={"Content-Type": "text/xml"}).status == 415
        assert archive.wire.call("POST", path, b"{}", headers=JSON, token="").status == 401


def test_a_stale_version_is_a_conflict(archive: Archive) -> None:
    wire = archive.wire
    key = str(wire.saved(save("Klassifikasjonssystem", "x", tittel="x"))["x"]["id"])
    change = {**save("Klassifikasjonssystem", key, tittel="y"), "version": "1"}
    assert wire.transaction(change).status == 200
    assert wire.transaction(change).status == 409


def test_what_was_saved_is_what_a_query_finds(archive: Archive) -> None:
    wire = archive.wire
    file_id = str(wire.upload(b"content").json()["id"])
    ids = small_archive(wire, file_id)
    label = [
        save("EksternId", "e", eksterntSystem="s", eksternID="1"),
        link("EksternId", "e", "refRegistrering", ids["@record"]),
    ]
    saved = wire.saved(
        save("Mappe", ids["@folder"], tittel="t", beskrivelse=""),
        *document("d", "v", ids["@record"], file_id),
        *label,
        save("Basisregistrering", ids["@record"], mottattDato="2024-01-02"),
    )
    assert len(saved) == 5
    for told in saved.values():
        query = {
            "type": told["type"],
            "limit": 1,
            "query": "id=@id",
            "parameters": {"@id": told["id"]},
            "publicUse": False,
        }
        assert wire.call("POST", "query", query).json()["results"] == [told]


def test_an_update_that_echoes_all_that_was_read_passes(archive: Archive) -> None:
    """As clients send it that write back what they read, with times in their own zone."""
    wire = archive.wire_as("integration")
    told = archive.wire.saved(save("Klassifikasjonssystem", "x", tittel="x"))["x"]
    fields = told["fields"]
    assert isinstance(fields, dict)
    moment = str(fields["opprettetDato"])
    echoed = {**fields, "opprettetDato": moment.replace("Z", "+0000"), "beskrivelse": None}
    update = {
        "id": told["id"],
        "type": "Klassifikasjonssystem",
        "version": told["version"],
        "action": "save",
        "fields": echoed,
    }
    assert wire.transaction(update).status == 200


def test_the_expand_calls_are_served(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    reply = archive.wire.call("POST", "expand/folder", {"id": ids["@folder"], "saksmappe": {}}, headers=JSON)
    assert (reply.status, reply.json()["status"]) == (400, 400)
    party = {"korrespondansepartNavn": "n", "korrespondanseparttype": "EA"}
    body = {"id": ids["@record"], "journalpost": {"journalposttype": "I"}, "korrespondansepart": [party]}
    assert archive.wire.call("POST", "expand/record", body, headers=JSON).status == 400
    actions = [
        save("Arkivdel", ids["@series"], tittel="s"),
        save("Basisregistrering", "r", tittel="r"),
        link("Basisregistrering", "r", "refArkivdel", ids["@series"]),
    ]
    record = str(archive.wire.saved(*actions)["r"]["id"])
    expanded = archive.wire.call("POST", "expand/record", {**body, "id": record}, headers=JSON)
    assert expanded.status == 200

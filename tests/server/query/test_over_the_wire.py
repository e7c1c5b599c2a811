"""Queries and searches on a real socket, with values as clients send them."""

from __future__ import annotations

from tests.server.conftest import Archive
from tests.server.wire import link, save


def make_series(archive: Archive, title: str) -> str:
    """A fonds with one series of that title; its id."""
    saved = archive.wire.saved(
        save("Arkivskaper", "c", arkivskaperIdent="1", arkivskaperNavn="Creator"),
        save("Arkiv", "f", tittel="Fonds"),
        link("Arkiv", "f", "refArkivskaper", "c"),
        save("Arkivdel", "s", tittel=title),
        link("Arkivdel", "s", "refArkiv", "f"),
    )
    return str(saved["s"]["id"])


def test_a_query_as_the_java_client_sends_it(archive: Archive) -> None:
    series = make_series(archive, "Queried series")
    body = {
        "limit": 1,
        "type": "Arkivdel",
        "offset": 0,
        "publicUse": False,
        "sortOrder": [],
        "parameters": {"@title": "Queried series", "@from": "1970-01-01T00:00:00.000Z", "@unused": None, "@open": "*"},
        "joins": {},
        "query": "tittel = @title && opprettetDato=[@from:@open]",
    }
    reply = archive.wire.call("POST", "query", body)
    assert reply.status == 200
    told = reply.json()
    assert told["hasMore"] is False
    assert isinstance(told["results"], list)
    (found,) = told["results"]
    assert (found["id"], found["type"], found["fields"]["tittel"]) == (series, "Arkivdel", "Queried series")
    assert isinstance(found["version"], str)
    assert isinstance(found["links"]["refArkiv"], int)


def test_a_query_and_a_save_tell_the_same_object(archive: Archive) -> None:
    saved = archive.wire.saved(save("Klassifikasjonssystem", "k", tittel="System", beskrivelse="Why"))["k"]
    body = {"type": "Klassifikasjonssystem", "limit": 1, "query": "id=@id", "parameters": {"@id": saved["id"]}}
    assert archive.wire.call("POST", "query", body | {"publicUse": False}).json()["results"] == [saved]


def test_an_unknown_field_is_named_in_the_documented_sentence(archive: Archive) -> None:
    body = {"type": "Arkivdel", "limit": 1, "query": "farge=@f", "parameters": {"@f": "red"}}
    reply = archive.wire.call("POST", "query", body, headers={"X-Any-Error-Response-Type": "application/json"})
    assert reply.status == 400
    assert reply.json()["description"] == "A field with name farge was not found in Arkivdel or its hierarchy."


def test_a_search_finds_what_was_committed_just_before(archive: Archive) -> None:
    series = make_series(archive, "Xylofonsaker")
    reply = archive.wire.call("POST", "full-text/search", {"doctype": "Arkivdel", "query": "xylofonsaker"})
    assert reply.status == 200
    told = reply.json()
    assert told["total"] == 1
    assert told["results"] == [
        {
            "ids": {"Arkivdel.id": [series]},
            "highlights": {"Arkivdel.tittel": ["|=hlstart=|Xylofonsaker|=hlstop=|"]},
            "expand": {},
        }
    ]
    assert told["facets"] == [{"field": "Arkivdel.tittel", "values": {"Xylofonsaker": 1}}]


def test_a_client_without_rights_finds_nothing(archive: Archive) -> None:
    series = make_series(archive, "Marimbasaker")
    nobody = archive.add_client("nobody-who-asks")
    by_id = {"type": "Arkivdel", "limit": 1, "query": "id=@id", "parameters": {"@id": series}}
    reply = nobody.call("POST", "query", by_id)
    assert (reply.status, reply.json()) == (200, {"hasMore": False, "results": []})
    reply = nobody.call("POST", "full-text/search", {"doctype": "Arkivdel", "query": "marimbasaker"})
    assert (reply.status, reply.json()["total"], reply.json()["results"]) == (200, 0, [])
    reply = nobody.call("POST", "full-text/set", {"dokumentversjonId": "1", "tekst": "x"})
    assert reply.status == 404

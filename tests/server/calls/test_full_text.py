"""POST full-text/search and full-text/set."""

from __future__ import annotations

import itertools

import pytest

from tests.server.calls.scene import READER, WRITER, Body, Scene
from tests.server.calls.shapes import answered, empty, items, members, refused

SEARCH = ("POST", "full-text/search")
SET = ("POST", "full-text/set")
_WORDS = itertools.count(1)


def word() -> str:
    """A word that nothing holds yet."""
    return f"ordet{next(_WORDS)}"


def search(scene: Scene, doctype: str, query: str, **more: object) -> Body:
    asked = {"doctype": doctype, "query": query, "publicUse": False, **more}
    told = answered(scene.wire.call(*SEARCH, asked))
    assert isinstance(told, dict)
    return told


def test_a_search_tells_ids_highlights_and_facets(scene: Scene) -> None:
    name = word()
    case = scene.case(tittel=f"Saken om {name}", saksaar=2021, sakssekvensnummer=910001)
    ids = scene.ids
    assert search(scene, "Mappe", name) == {
        "total": 1,
        "results": [
            {
                "ids": {"Klasse.id": [ids["class"]], "AbstraktMappe.id": [case], "Arkivdel.id": [ids["series"]]},
                "highlights": {"AbstraktMappe.tittel": [f"Saken om |=hlstart=|{name}|=hlstop=|"]},
                "expand": {},
            }
        ],
        "facets": [
            {"field": "Arkivdel.tittel", "values": {"Sakarkivet": 1}},
            {"field": "Klasse.klasseIdent_tittel", "values": {"614_Byggesaker": 1}},
            {"field": "AbstraktMappe.mappeIdent_tittel", "values": {f"2021/910001_Saken om {name}": 1}},
            {"field": "AbstraktMappe.saksaar", "values": {"2021": 1}},
            {"field": "AbstraktMappe.saksansvarlig", "values": {"admin": 1}},
            {"field": "Noekkelord.verdi", "values": {}},
        ],
    }


def test_nothing_found_is_an_empty_list(scene: Scene) -> None:
    told = search(scene, "Tekst", word())
    assert (told["total"], told["results"]) == (0, [])
    assert sorted(told) == ["facets", "results", "total"]


def test_each_doctype_finds_its_own(scene: Scene) -> None:
    name = word()
    case = scene.case(tittel=name)
    entry = scene.entry(case, tittel=name)
    document = scene.document(entry, tittel=name)
    party = {"korrespondanseparttype": "EM", "korrespondansepartNavn": name}
    made = scene.made(
        {"action": "save", "type": "Korrespondansepart", "id": "@k", "fields": party},
        {"action": "link", "type": "Korrespondansepart", "id": "@k", "ref": "refRegistrering", "linkToId": [entry]},
    )
    found = {
        "Tekst": ("Dokument.id", document),
        "Korrespondansepart": ("Korrespondansepart.id", made["@k"]),
        "Registrering": ("AbstraktRegistrering.id", entry),
        "Mappe": ("AbstraktMappe.id", case),
    }
    for doctype, (key, object_id) in found.items():
        results = items(search(scene, doctype, name)["results"])
        assert [members(each["ids"])[key] for each in results] == [[object_id]], doctype
    assert members(items(search(scene, "Arkivdel", "Sakarkivet")["results"])[0]["ids"])["Arkivdel.id"]


def test_finds_are_expanded_where_asked_for(scene: Scene) -> None:
    name = word()
    case = scene.case(tittel=name)
    told = items(search(scene, "Mappe", name, expand=["AbstraktMappe", "Klasse", "Dokument"])["results"])[0]
    assert told["expand"] == {
        "AbstraktMappe": [scene.get("Saksmappe", case)],
        "Klasse": [scene.get("Klasse", scene.ids["class"])],
        "Dokument": [],
    }


def test_filters_are_ored_inside_and_anded_among_one_another(scene: Scene) -> None:
    name = word()
    cases = {year: scene.case(tittel=name, saksaar=year, sakssekvensnummer=920000 + year) for year in (2019, 2020)}

    def found(**filters: list[str]) -> int:
        named = {key.replace("__", "."): values for key, values in filters.items()}
        return int(str(search(scene, "Mappe", name, filters=named)["total"]))

    assert len(cases) == 2
    assert found(AbstraktMappe__saksaar=["2019"]) == 1
    assert found(AbstraktMappe__saksaar=["2019", "2020"]) == 2
    assert found(AbstraktMappe__saksaar=["2019"], AbstraktMappe__saksansvarlig=["somebody"]) == 0


def test_pages_of_a_search(scene: Scene) -> None:
    name = word()
    folders = [scene.folder(tittel=name) for _ in range(12)]
    first = search(scene, "Mappe", name)
    assert (first["total"], len(items(first["results"]))) == (12, 10)
    rest = search(scene, "Mappe", name, offset="10", limit="5")
    assert (rest["total"], len(items(rest["results"]))) == (12, 2)
    every = [*items(first["results"]), *items(rest["results"])]
    assert sorted(str(members(each["ids"])["AbstraktMappe.id"]) for each in every) == sorted(str([f]) for f in folders)


def test_public_use_is_the_default_and_hides_screened_words(scene: Scene) -> None:
    name = word()
    scene.folder(tittel=name, skjerming="UO13")
    asked = {"doctype": "Mappe", "query": name}
    assert members(answered(scene.wire.call(*SEARCH, asked)))["total"] == 0
    assert members(answered(scene.wire.call(*SEARCH, asked | {"publicUse": "false"})))["total"] == 1


def test_what_may_not_be_read_is_not_found(scene: Scene) -> None:
    name = word()
    scene.folder(tittel=name)
    asked = {"doctype": "Mappe", "query": name, "publicUse": False}
    assert members(answered(scene.account((), ()).call(*SEARCH, asked)))["total"] == 0
    assert members(answered(scene.account((), READER).call(*SEARCH, asked)))["total"] == 1


@pytest.mark.parametrize(
    ("asked", "member"),
    [
        ({"query": "x"}, "doctype"),
        ({"doctype": "Sak", "query": "x"}, "doctype"),
        ({"doctype": 1, "query": "x"}, "doctype"),
        ({"doctype": "Mappe"}, "query"),
        ({"doctype": "Mappe", "query": None}, "query"),
        ({"doctype": "Mappe", "query": 7}, "query"),
        ({"doctype": "Mappe", "query": "x", "limit": -1}, "limit"),
        ({"doctype": "Mappe", "query": "x", "limit": 501}, "limit"),
        ({"doctype": "Mappe", "query": "x", "offset": -1}, "offset"),
        ({"doctype": "Mappe", "query": "x", "offset": "x"}, "offset"),
        ({"doctype": "Mappe", "query": "x", "publicUse": "perhaps"}, "publicUse"),
        ({"doctype": "Mappe", "query": "x", "expand": "Klasse"}, "expand"),
        ({"doctype": "Mappe", "query": "x", "expand": ["Merknad"]}, "expand"),
        ({"doctype": "Mappe", "query": "x", "filters": []}, "filters"),
        ({"doctype": "Mappe", "query": "x", "filters": {"AbstraktMappe.saksaar": "2020"}}, "AbstraktMappe.saksaar"),
        ({"doctype": "Mappe", "query": "x", "filters": {"AbstraktMappe.nope": ["1"]}}, "AbstraktMappe.nope"),
        ({"doctype": "Mappe", "query": "x", "filters": {"Dokument.tittel": ["1"]}}, "Dokument.tittel"),
    ],
)
def test_a_search_that_makes_no_sense_is_400(scene: Scene, asked: Body, member: str) -> None:
    refused(scene.wire, SEARCH, asked, 400, member)


def test_the_text_of_a_version_is_set_found_and_taken_away(scene: Scene) -> None:
    name = word()
    document = scene.document(scene.record(scene.folder()))
    version = scene.version(document, scene.uploaded())
    empty(scene.wire.call(*SET, {"dokumentversjonId": version, "tekst": f"her står {name} skrevet"}), 200)
    told = items(search(scene, "Tekst", name)["results"])[0]
    assert members(told["ids"])["Dokumentversjon.id"] == [version]
    assert members(told["highlights"])["Dokumentversjon.tekst"] == [f"her står |=hlstart=|{name}|=hlstop=| skrevet"]
    empty(scene.wire.call(*SET, {"dokumentversjonId": version}), 200)
    assert search(scene, "Tekst", name)["total"] == 0
    empty(scene.wire.call(*SET, {"dokumentversjonId": version, "tekst": name}), 200)
    empty(scene.wire.call(*SET, {"dokumentversjonId": version, "tekst": None}), 200)
    assert search(scene, "Tekst", name)["total"] == 0


@pytest.mark.parametrize(
    ("given", "member"),
    [
        ({}, "dokumentversjonId"),
        ({"dokumentversjonId": None}, "dokumentversjonId"),
        ({"dokumentversjonId": "x"}, "dokumentversjonId"),
        ({"dokumentversjonId": []}, "dokumentversjonId"),
        ({"dokumentversjonId": "1", "tekst": 7}, "tekst"),
    ],
)
def test_a_text_that_makes_no_sense_is_400(scene: Scene, given: Body, member: str) -> None:
    refused(scene.wire, SET, given, 400, member)


def test_the_text_of_what_is_not_there_is_404(scene: Scene) -> None:
    for version in ("999999999", scene.ids["document"], scene.file if scene.file != scene.ids["version"] else "0"):
        refused(scene.wire, SET, {"dokumentversjonId": version, "tekst": "x"}, 404, version)
    unseen = scene.account((), ("Update",))
    refused(unseen, SET, {"dokumentversjonId": scene.ids["version"], "tekst": "x"}, 404, scene.ids["version"])


def test_setting_a_text_needs_update(scene: Scene) -> None:
    given = {"dokumentversjonId": scene.ids["version"], "tekst": "x"}
    refused(scene.account((), READER), SET, given, 403, "Update")
    empty(scene.account((), WRITER).call(*SET, given), 200)

"""GET code-lists, PUT and DELETE code-lists/{list}/{code}."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import READER, WRITER, Body, Scene, make_scene
from tests.server.calls.shapes import answered, empty, items, members, refused
from tests.server.conftest import Archive


def entries(scene: Scene, query: str) -> list[object]:
    told = members(answered(scene.wire.call("GET", f"code-lists{query}")))
    assert list(told) == ["results"]
    results = told["results"]
    assert isinstance(results, list)
    return results


def put(scene: Scene, path: str, body: Body) -> object:
    return answered(scene.wire.call("PUT", f"code-lists/{path}", body))


def test_one_list_of_one_type(scene: Scene) -> None:
    assert entries(scene, "?type=Arkiv&field=arkivstatus") == [
        {
            "type": "Arkiv",
            "field": "arkivstatus",
            "defaultValue": {"code": "O", "name": "Opprettet"},
            "values": [{"code": "O", "name": "Opprettet"}, {"code": "A", "name": "Avsluttet"}],
        }
    ]


def test_the_lists_of_one_type(scene: Scene) -> None:
    told = [each for each in entries(scene, "?type=Saksmappe") if isinstance(each, dict)]
    assert {str(each["type"]) for each in told} == {"Saksmappe"}
    assert {"saksstatus", "administrativEnhet", "skjerming", "dokumentmedium"} <= {str(each["field"]) for each in told}


def test_a_field_is_told_once_for_each_type_that_has_it(scene: Scene) -> None:
    told = [each for each in entries(scene, "?field=skjerming") if isinstance(each, dict)]
    assert [each["field"] for each in told] == ["skjerming"] * 10
    assert sorted(str(each["type"]) for each in told) == [
        "Arkivdel",
        "Arkivnotat",
        "Basisregistrering",
        "Dokument",
        "Journalpost",
        "Klasse",
        "Mappe",
        "Moetemappe",
        "Moeteregistrering",
        "Saksmappe",
    ]
    first = {"code": "UO13", "name": "Taushetsplikt", "authority": "Offentleglova § 13"}
    assert all(first in each["values"] for each in told)


def test_all_lists_are_told_at_once_empty_ones_too(scene: Scene) -> None:
    every = [each for each in entries(scene, "") if isinstance(each, dict)]
    assert len({str(each["field"]) for each in every}) == 30
    assert all(isinstance(each["values"], list) for each in every)
    assert len({(str(each["type"]), str(each["field"])) for each in every}) == len(every)


def test_an_empty_list_is_still_an_entry(fresh_archive: Archive) -> None:
    scene = make_scene(fresh_archive)  # of its own: what others made may use the values that go here
    (told,) = entries(scene, "?type=Mappe&field=mappestatus")
    codes = [str(value["code"]) for value in items(members(told)["values"])]
    for code in codes:
        empty(scene.wire.call("DELETE", f"code-lists/mappestatus/{code}"), 204)
    assert entries(scene, "?field=mappestatus") == [{"type": "Mappe", "field": "mappestatus", "values": []}]
    for value in items(members(told)["values"]):
        put(scene, f"mappestatus/{value['code']}", {"name": value["name"]})
    assert entries(scene, "?field=mappestatus") == [told]


def test_a_field_without_a_list_has_no_entry(scene: Scene) -> None:
    for query in ("?field=tittel", "?field=nope", "?type=Arkiv&field=saksstatus"):
        assert entries(scene, query) == []


def test_an_unknown_type_is_400(scene: Scene) -> None:
    for name in ("Nope", ""):
        refused(scene.wire, ("GET", f"code-lists?type={name}"), None, 400, "type")


def test_one_who_may_not_read_lists_sees_them_empty(scene: Scene) -> None:
    told = answered(scene.account((), ()).call("GET", "code-lists?type=Arkiv&field=arkivstatus"))
    assert told == {"results": [{"type": "Arkiv", "field": "arkivstatus", "values": []}]}


def test_a_value_is_made_replaced_and_used_at_once(scene: Scene) -> None:
    given: Body = {"name": "Kartlag", "description": "Om kart"}
    assert put(scene, "dokumenttype/KART", given) == {"code": "KART", "name": "Kartlag", "description": "Om kart"}
    assert put(scene, "dokumenttype/KART", {"name": "Kart"}) == {"code": "KART", "name": "Kart"}
    (told,) = entries(scene, "?type=Dokument&field=dokumenttype")
    assert {"code": "KART", "name": "Kart"} in items(members(told)["values"])
    document = scene.document(scene.record(scene.folder()), dokumenttype="KART")
    assert scene.fields("Dokument", document)["dokumenttype"] == "KART"


def test_a_screening_carries_its_authority(scene: Scene) -> None:
    given: Body = {"name": "Prøveskjerming", "authority": "Offentleglova § 99"}
    whole = {"code": "UO99", "name": "Prøveskjerming", "authority": "Offentleglova § 99"}
    assert put(scene, "skjerming/UO99", given) == whole
    (told,) = entries(scene, "?type=Mappe&field=skjerming")
    assert whole in items(members(told)["values"])
    empty(scene.wire.call("DELETE", "code-lists/skjerming/UO99"), 204)


def test_path_parts_are_form_encoded(scene: Scene) -> None:
    told = put(scene, "mappetype/A+B%2FC%26%C3%86", {"name": "Sammensatt"})
    assert told == {"code": "A B/C&Æ", "name": "Sammensatt"}
    empty(scene.wire.call("DELETE", "code-lists/mappetype/A%20B%2FC%26%C3%86"), 204)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"name": "N", "description": 7}, "description"),
        ({"name": "N", "authority": "A"}, "authority"),
        ({"name": "N", "code": "OTHER"}, "code"),
    ],
)
def test_a_value_that_makes_no_sense_is_400(scene: Scene, body: Body, word: str) -> None:
    refused(scene.wire, ("PUT", "code-lists/mappetype/NEI"), body, 400, word)


def test_a_code_of_blanks_or_control_characters_is_400(scene: Scene) -> None:
    for code in ("%20", "%00", "a%0Ab"):
        refused(scene.wire, ("PUT", f"code-lists/mappetype/{code}"), {"name": "Navn"}, 400, "code")


def test_a_name_that_another_code_has_is_400(scene: Scene) -> None:
    put(scene, "mappetype/EN", {"name": "Enerådende"})
    refused(scene.wire, ("PUT", "code-lists/mappetype/TO"), {"name": "Enerådende"}, 400, "Enerådende", "EN")


def test_a_list_or_value_that_is_not_there_is_404(scene: Scene) -> None:
    refused(scene.wire, ("PUT", "code-lists/nope/A"), {"name": "N"}, 404, "nope")
    refused(scene.wire, ("DELETE", "code-lists/nope/A"), None, 404, "nope")
    refused(scene.wire, ("DELETE", "code-lists/mappetype/NOPE"), None, 404, "NOPE")


def test_a_value_in_use_stays(scene: Scene) -> None:
    put(scene, "mappetype/BRUK", {"name": "I bruk"})
    folder = scene.folder(mappetype="BRUK")
    refused(scene.wire, ("DELETE", "code-lists/mappetype/BRUK"), None, 409, "BRUK", "in use", "Mappe")
    scene.wire.saved({"action": "save", "type": "Mappe", "id": folder, "fields": {"mappetype": None}})
    empty(scene.wire.call("DELETE", "code-lists/mappetype/BRUK"), 204)


def test_editing_needs_its_permission(scene: Scene) -> None:
    writer, editor = scene.account((), WRITER), scene.account(("Edit list values",), READER)
    refused(writer, ("PUT", "code-lists/mappetype/RETT"), {"name": "Rett"}, 403, "Edit list values")
    refused(writer, ("DELETE", "code-lists/mappetype/RETT"), None, 403, "Edit list values")
    assert answered(editor.call("PUT", "code-lists/mappetype/RETT", {"name": "Rett"}))
    empty(editor.call("DELETE", "code-lists/mappetype/RETT"), 204)

"""Code lists over HTTP: read, made, replaced, taken away, and refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.server.conftest import Archive
from tests.server.wire import Reply
from tests.waiting import PATIENCE_S

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}


def entries(reply: Reply) -> list[dict[str, object]]:
    """The entries of an answer."""
    assert reply.status == 200, reply
    results = reply.json()["results"]
    assert isinstance(results, list)
    return results


def values(archive: Archive, field: str) -> list[dict[str, str]]:
    """The values of the first entry of a field."""
    listed = entries(archive.wire.call("GET", f"code-lists?field={field}"))[0]["values"]
    assert isinstance(listed, list)
    return listed


def test_a_list_is_told_with_its_default_value(fresh_archive: Archive) -> None:
    assert entries(fresh_archive.wire.call("GET", "code-lists?type=Arkiv&field=arkivstatus")) == [
        {
            "type": "Arkiv",
            "field": "arkivstatus",
            "defaultValue": {"code": "O", "name": "Opprettet"},
            "values": [{"code": "O", "name": "Opprettet"}, {"code": "A", "name": "Avsluttet"}],
        }
    ]


def test_a_field_is_told_once_for_each_type_that_has_it(fresh_archive: Archive) -> None:
    told = entries(fresh_archive.wire.call("GET", "code-lists?field=skjerming"))
    assert [entry["type"] for entry in told] == [
        "Arkivdel",
        "Klasse",
        "Mappe",
        "Saksmappe",
        "Moetemappe",
        "Basisregistrering",
        "Moeteregistrering",
        "Arkivnotat",
        "Journalpost",
        "Dokument",
    ]
    first = told[0]["values"]
    assert isinstance(first, list)
    assert {"code": "UO13", "name": "Taushetsplikt", "authority": "Offentleglova § 13"} in first


def test_a_type_alone_gives_all_its_lists(fresh_archive: Archive) -> None:
    told = entries(fresh_archive.wire.call("GET", "code-lists?type=Dokument"))
    assert {entry["field"] for entry in told} == {
        "dokumentstatus",
        "dokumentmedium",
        "dokumenttype",
        "tilknyttetRegistreringSom",
        "skjerming",
        "kassasjonsvedtak",
        "kassasjonshjemmel",
    }


def test_an_abstract_type_gives_the_lists_of_its_kinds(fresh_archive: Archive) -> None:
    told = entries(fresh_archive.wire.call("GET", "code-lists?type=AbstraktMappe&field=mappetype"))
    assert [entry["type"] for entry in told] == ["Mappe", "Moetemappe", "Saksmappe"]


def test_all_lists_are_told_where_nothing_is_asked_for(fresh_archive: Archive) -> None:
    told = entries(fresh_archive.wire.call("GET", "code-lists"))
    assert len({entry["field"] for entry in told}) == 30
    assert all(entry["values"] for entry in told)


def test_a_list_without_values_is_told_too(fresh_archive: Archive) -> None:
    for code in ("POST", "EPOST", "DIGITAL", "UTLEVERT"):
        assert fresh_archive.wire.call("DELETE", f"code-lists/ekspederingskanal/{code}").status == 204
    assert entries(fresh_archive.wire.call("GET", "code-lists?field=ekspederingskanal")) == [
        {"type": "Korrespondansepart", "field": "ekspederingskanal", "values": []}
    ]


def test_an_unknown_type_is_refused_and_an_unknown_field_has_no_lists(fresh_archive: Archive) -> None:
    assert fresh_archive.wire.call("GET", "code-lists?type=Nothing").status == 400
    assert entries(fresh_archive.wire.call("GET", "code-lists?field=nothing")) == []


def test_a_value_is_made_and_then_replaced_as_a_whole(fresh_archive: Archive) -> None:
    path = "code-lists/administrativEnhet/HR"
    made = fresh_archive.wire.call("PUT", path, {"name": "Personal", "description": "Personalavdelingen"})
    assert (made.status, made.json()) == (
        200,
        {"code": "HR", "name": "Personal", "description": "Personalavdelingen"},
    )
    assert made.json() in values(fresh_archive, "administrativEnhet")
    replaced = fresh_archive.wire.call("PUT", path, {"name": "HR", "description": None})
    assert (replaced.status, replaced.json()) == (200, {"code": "HR", "name": "HR"})
    assert values(fresh_archive, "administrativEnhet")[-1] == {"code": "HR", "name": "HR"}


def test_a_path_part_is_form_encoded(fresh_archive: Archive) -> None:
    made = fresh_archive.wire.call("PUT", "code-lists/administrativEnhet/A%2FB+C%C3%A5%2B", {"name": "N"})
    assert made.json() == {"code": "A/B Cå+", "name": "N"}
    assert fresh_archive.wire.call("DELETE", "code-lists/administrativEnhet/A%2FB%20C%C3%A5%2B").status == 204


def test_screening_alone_has_an_authority(fresh_archive: Archive) -> None:
    made = fresh_archive.wire.call("PUT", "code-lists/skjerming/P", {"name": "Personal", "authority": "§ 1"})
    assert made.json() == {"code": "P", "name": "Personal", "authority": "§ 1"}
    refused = fresh_archive.wire.call(
        "PUT", "code-lists/mappetype/P", {"name": "Personal", "authority": "§ 1"}, headers=JSON_ERRORS
    )
    assert refused.status == 400
    assert "authority" in str(refused.json()["description"])
    assert fresh_archive.wire.call("PUT", "code-lists/mappetype/P", {"name": "P", "authority": None}).status == 200


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "  "}, {"name": None}, {"name": 1}, {"name": "N", "description": []}]
)
def test_a_value_needs_a_name(archive: Archive, body: dict[str, object]) -> None:
    assert archive.wire.call("PUT", "code-lists/administrativEnhet/NEW", body).status == 400


def test_a_name_stands_in_a_list_once(fresh_archive: Archive) -> None:
    path = "code-lists/administrativEnhet"
    refused = fresh_archive.wire.call("PUT", f"{path}/X", {"name": "Administrasjonen"}, headers=JSON_ERRORS)
    assert refused.status == 400
    assert "ADM" in str(refused.json()["description"])
    assert fresh_archive.wire.call("PUT", f"{path}/ADM", {"name": "Administrasjonen"}).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_an_unknown_list_is_not_there(archive: Archive, method: str) -> None:
    body = {"name": "N"} if method == "PUT" else None
    assert archive.wire.call(method, "code-lists/tittel/X", body).status == 404


def test_a_code_is_printable(archive: Archive) -> None:
    assert archive.wire.call("PUT", "code-lists/mappetype/%00", {"name": "N"}).status == 400
    assert archive.wire.call("PUT", "code-lists/mappetype/+", {"name": "N"}).status == 400
    assert archive.wire.call("PUT", "code-lists/mappetype/A", {"name": "N", "code": "B"}).status == 400


def test_an_unknown_value_cannot_be_taken_away(archive: Archive) -> None:
    assert archive.wire.call("DELETE", "code-lists/mappetype/NOTHING").status == 404


def test_a_value_in_use_stays(fresh_archive: Archive) -> None:
    with closing(sqlite3.connect(fresh_archive.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        db.execute("INSERT INTO o_dokument (id, type, version, dokumenttype) VALUES (1, 'Dokument', 1, 'B')")
    refused = fresh_archive.wire.call("DELETE", "code-lists/dokumenttype/B", headers=JSON_ERRORS)
    assert refused.status == 409
    assert "dokumenttype of Dokument" in str(refused.json()["description"])
    assert fresh_archive.wire.call("DELETE", "code-lists/dokumenttype/R").status == 204
    assert {"B"} == {value["code"] for value in values(fresh_archive, "dokumenttype")} & {"B", "R"}


def test_editing_needs_its_service_permission(fresh_archive: Archive) -> None:
    reader = fresh_archive.add_client("reader", "readers")
    group = {
        "name": "R",
        "claims": ["readers"],
        "globalPermissions": ["ReadThis", "Read"],
        "servicePermissions": ["Store documents"],
    }
    made = fresh_archive.wire.call("POST", "access-group", group).json()
    put = ("PUT", "code-lists/administrativEnhet/HR", {"name": "HR"})
    assert reader.call(*put).status == 403
    assert reader.call("DELETE", "code-lists/administrativEnhet/ADM").status == 403
    fresh_archive.wire.call("PUT", f"access-group/{made['id']}", {"servicePermissions": ["Edit list values"]})
    assert reader.call(*put).status == 200
    assert reader.call("DELETE", "code-lists/administrativEnhet/ADM").status == 204


def test_values_are_told_to_those_who_may_read_the_lists(fresh_archive: Archive) -> None:
    reader = fresh_archive.add_client("reader", "readers")
    path = "code-lists?type=Arkiv&field=arkivstatus"
    assert entries(reader.call("GET", path)) == [{"type": "Arkiv", "field": "arkivstatus", "values": []}]
    group = {"name": "R", "claims": ["readers"], "globalPermissions": ["ReadThis"]}
    made = fresh_archive.wire.call("POST", "access-group", group).json()
    granted = {"accessGroupId": made["id"], "listType": "all", "explicitPermissions": ["ReadThis", "Read"]}
    assert fresh_archive.wire.call("POST", "permission/code-list", granted).status == 201
    assert len(entries(reader.call("GET", path))[0]["values"]) == 2  # type: ignore[arg-type]  # a list, or it fails


def test_the_screening_of_the_settings_is_the_default(archive_with: object) -> None:
    assert callable(archive_with)
    live = archive_with(default_screening="UO13")
    told = entries(live.wire.call("GET", "code-lists?type=Mappe&field=skjerming"))[0]["defaultValue"]
    assert told == {"code": "UO13", "name": "Taushetsplikt", "authority": "Offentleglova § 13"}

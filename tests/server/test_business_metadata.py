"""The registry of business-specific metadata over HTTP."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.server.conftest import Archive
from tests.waiting import PATIENCE_S

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}
GROUP = "bsm-registry/group/staff"
FIELD = f"{GROUP}/field/title"
TITLE = {"fieldName": "Title", "fieldType": "string"}


@pytest.fixture
def staff(fresh_archive: Archive) -> Archive:
    """An archive with the group `staff` and its field `title`."""
    assert fresh_archive.wire.call("PUT", GROUP, {"groupName": "Staff"}).status == 200
    assert fresh_archive.wire.call("PUT", FIELD, TITLE).status == 200
    return fresh_archive


def test_a_group_and_a_field_are_made_and_told(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    group = wire.call("PUT", GROUP, {"groupName": "Staff", "groupDescription": "About people"})
    told_group = {"groupId": "staff", "groupName": "Staff", "groupDescription": "About people"}
    assert (group.status, group.json()) == (200, told_group)
    about = {"fieldName": "Grade", "fieldDescription": "G", "fieldType": "long", "fieldValues": [3, 1, 2, 1]}
    field = wire.call("PUT", f"{GROUP}/field/grade-1", about)
    told_field = {**about, "fieldId": "grade-1", "fieldValues": [3, 1, 2]}
    assert (field.status, field.json()) == (200, told_field)
    assert wire.call("GET", "bsm-registry").json() == {"results": [{**told_group, "fields": [told_field]}]}


def test_an_empty_registry_has_no_groups(fresh_archive: Archive) -> None:
    assert fresh_archive.wire.call("GET", "bsm-registry").json() == {"results": []}


def test_the_registry_is_told_in_part(staff: Archive) -> None:
    staff.wire.call("PUT", f"{GROUP}/field/phone", {"fieldName": "Phone", "fieldType": "string"})
    staff.wire.call("PUT", "bsm-registry/group/empty", {"groupName": "Empty"})
    phone = {"fieldId": "phone", "fieldName": "Phone", "fieldType": "string"}
    empty = {"groupId": "empty", "groupName": "Empty", "fields": []}
    alone = [{"groupId": "staff", "groupName": "Staff", "fields": [phone]}]
    assert staff.wire.call("GET", "bsm-registry?groupId=empty").json() == {"results": [empty]}
    assert staff.wire.call("GET", "bsm-registry?fieldId=phone").json() == {"results": alone}
    assert staff.wire.call("GET", "bsm-registry?groupId=staff&fieldId=phone").json() == {"results": alone}
    assert staff.wire.call("GET", "bsm-registry?groupId=empty&fieldId=phone").json() == {"results": []}
    assert staff.wire.call("GET", "bsm-registry?groupId=NotAnId").status == 400


@pytest.mark.parametrize("name", ["a", "a1", "a-b", "a--b2", "z9-x"])
def test_an_id_is_letters_digits_and_dashes(archive: Archive, name: str) -> None:
    assert archive.wire.call("PUT", f"bsm-registry/group/{name}", {"groupName": "N"}).status == 200


@pytest.mark.parametrize("name", ["A", "1a", "-a", "a-", "a_b", "%C3%A5", "a.b", "a%0A", "a%20b"])
def test_anything_else_is_no_id(archive: Archive, name: str) -> None:
    assert archive.wire.call("PUT", f"bsm-registry/group/{name}", {"groupName": "N"}).status == 400
    assert archive.wire.call("PUT", f"bsm-registry/group/a/field/{name}", TITLE).status == 400
    assert archive.wire.call("DELETE", f"bsm-registry/group/{name}").status == 400


@pytest.mark.parametrize("kind", ["string", "long", "double", "timestamp", "encrypted", "uri", "boolean"])
def test_every_kind_of_field_is_known(fresh_archive: Archive, kind: str) -> None:
    fresh_archive.wire.call("PUT", GROUP, {"groupName": "Staff"})
    made = fresh_archive.wire.call("PUT", FIELD, {"fieldName": "T", "fieldType": kind})
    assert made.json() == {"fieldId": "title", "fieldName": "T", "fieldType": kind}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fieldName": "", "fieldType": "string"},
        {"fieldName": "T"},
        {"fieldName": "T", "fieldType": "text"},
        {"fieldName": "T", "fieldType": ["string"]},
        {"fieldName": "T", "fieldType": "string", "fieldDescription": 1},
        {"fieldName": "T", "fieldType": "string", "fieldValues": "a"},
        {"fieldName": "T", "fieldType": "string", "fieldValues": ["a", 1]},
        {"fieldName": "T", "fieldType": "long", "fieldValues": [1.5]},
        {"fieldName": "T", "fieldType": "long", "fieldValues": [True]},
        {"fieldName": "T", "fieldType": "long", "fieldValues": [9223372036854775808]},
        {"fieldName": "T", "fieldType": "double", "fieldValues": ["1"]},
        {"fieldName": "T", "fieldType": "timestamp", "fieldValues": ["yesterday"]},
        {"fieldName": "T", "fieldType": "boolean", "fieldValues": [0]},
        {"fieldName": "T", "fieldType": "encrypted", "fieldValues": ["a"]},
    ],
)
def test_a_field_that_is_no_field_is_refused(archive: Archive, body: dict[str, object]) -> None:
    archive.wire.call("PUT", "bsm-registry/group/refusing", {"groupName": "N"})
    assert archive.wire.call("PUT", "bsm-registry/group/refusing/field/refused", body).status == 400
    assert archive.wire.call("GET", "bsm-registry?fieldId=refused").json() == {"results": []}


@pytest.mark.parametrize("body", [{}, {"groupName": " "}, {"groupName": 1}, {"groupName": "N", "groupDescription": 1}])
def test_a_group_that_is_no_group_is_refused(archive: Archive, body: dict[str, object]) -> None:
    assert archive.wire.call("PUT", "bsm-registry/group/refused", body).status == 400


def test_a_field_keeps_its_kind_and_changes_all_else(staff: Archive) -> None:
    refused = staff.wire.call("PUT", FIELD, {"fieldName": "T", "fieldType": "long"}, headers=JSON_ERRORS)
    assert refused.status == 400
    assert "string" in str(refused.json()["description"])
    closed = {"fieldName": "T", "fieldDescription": "D", "fieldType": "string", "fieldValues": ["a"]}
    assert staff.wire.call("PUT", FIELD, closed).json() == {**closed, "fieldId": "title"}
    assert staff.wire.call("PUT", FIELD, TITLE).json() == {**TITLE, "fieldId": "title"}


def test_a_field_stands_in_one_group(staff: Archive) -> None:
    staff.wire.call("PUT", "bsm-registry/group/other", {"groupName": "Other"})
    refused = staff.wire.call("PUT", "bsm-registry/group/other/field/title", TITLE, headers=JSON_ERRORS)
    assert refused.status == 400
    assert "staff" in str(refused.json()["description"])


def test_what_is_not_there_is_not_found(staff: Archive) -> None:
    assert staff.wire.call("PUT", "bsm-registry/group/none/field/other", TITLE).status == 404
    assert staff.wire.call("DELETE", "bsm-registry/group/none").status == 404
    assert staff.wire.call("DELETE", f"{GROUP}/field/none").status == 404
    assert staff.wire.call("DELETE", "bsm-registry/group/none/field/title").status == 404


def test_a_group_goes_with_its_fields(staff: Archive) -> None:
    assert staff.wire.call("DELETE", GROUP).status == 204
    assert staff.wire.call("GET", "bsm-registry").json() == {"results": []}
    staff.wire.call("PUT", GROUP, {"groupName": "Staff"})
    assert staff.wire.call("PUT", FIELD, {"fieldName": "T", "fieldType": "long"}).status == 200


def test_a_field_goes_alone(staff: Archive) -> None:
    assert staff.wire.call("DELETE", FIELD).status == 204
    results = staff.wire.call("GET", "bsm-registry").json()["results"]
    assert results == [{"groupId": "staff", "groupName": "Staff", "fields": []}]


def test_what_is_in_use_stays(staff: Archive) -> None:
    staff.wire.call("PUT", f"{GROUP}/field/phone", {"fieldName": "Phone", "fieldType": "string"})
    with closing(sqlite3.connect(staff.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        db.execute(
            "INSERT INTO o_sakspart (id, type, version, virksomhetsspesifikkeMetadata) VALUES (1, 'Sakspart', 1, ?)",
            ('{"staff":{"title":{"values":["Boss"]}}}',),
        )
    assert staff.wire.call("DELETE", FIELD).status == 409
    assert staff.wire.call("DELETE", GROUP).status == 409
    assert staff.wire.call("DELETE", f"{GROUP}/field/phone").status == 204


def test_each_call_needs_its_permission_on_the_registry(staff: Archive) -> None:
    other = staff.add_client("other", "others")
    made = staff.wire.call(
        "POST", "access-group", {"name": "O", "claims": ["others"], "globalPermissions": ["ReadThis"]}
    )
    granted: dict[str, object] = {"accessGroupId": made.json()["id"], "explicitPermissions": ["ReadThis"]}
    assert staff.wire.call("POST", "permission/bsm-registry", granted).status == 201

    def grant(*words: str) -> None:
        reply = staff.wire.call("PUT", "permission/bsm-registry", {**granted, "explicitPermissions": list(words)})
        assert reply.status == 200

    new = ("PUT", "bsm-registry/group/new", {"groupName": "New"})
    again = ("PUT", GROUP, {"groupName": "Staff again"})
    assert other.call("GET", "bsm-registry").json() == {"results": []}
    grant("ReadThis", "Read")
    assert len(other.call("GET", "bsm-registry").json()["results"]) == 1  # type: ignore[arg-type]  # a list, or it fails
    assert [other.call(*new).status, other.call(*again).status, other.call("DELETE", GROUP).status] == [403, 403, 403]
    assert [other.call("PUT", FIELD, TITLE).status, other.call("DELETE", FIELD).status] == [403, 403]
    grant("ReadThis", "Update")
    assert [other.call(*new).status, other.call(*again).status, other.call("DELETE", GROUP).status] == [403, 200, 403]
    grant("ReadThis", "Create")
    assert [other.call(*new).status, other.call(*again).status, other.call("DELETE", GROUP).status] == [200, 403, 403]
    grant("ReadThis", "Delete")
    assert [other.call("DELETE", FIELD).status, other.call("DELETE", GROUP).status] == [204, 204]

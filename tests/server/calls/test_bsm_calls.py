"""The five calls of the registry of business-specific metadata."""

from __future__ import annotations

import itertools

import pytest

from tests.server.calls.scene import READER, Body, Scene
from tests.server.calls.shapes import answered, empty, refused

REGISTRY = "bsm-registry"
_NUMBERS = itertools.count(1)
GROUP: Body = {"groupName": "Gruppen", "groupDescription": "Om gruppen"}


def a_group(scene: Scene) -> str:
    """A new group with one field `FIELD` of strings."""
    number = next(_NUMBERS)
    group = f"gruppe-{number}"
    answered(scene.wire.call("PUT", f"{REGISTRY}/group/{group}", GROUP))
    field = {"fieldName": "Felt", "fieldType": "string"}
    answered(scene.wire.call("PUT", f"{REGISTRY}/group/{group}/field/felt-{number}", field))
    return group


def field_of(group: str) -> str:
    return group.replace("gruppe", "felt")


def test_the_registry_tells_groups_with_their_fields(scene: Scene) -> None:
    group = a_group(scene)
    field = {"fieldId": field_of(group), "fieldName": "Felt", "fieldType": "string"}
    whole = {"groupId": group, "groupName": "Gruppen", "groupDescription": "Om gruppen", "fields": [field]}
    assert answered(scene.wire.call("GET", f"{REGISTRY}?groupId={group}")) == {"results": [whole]}
    assert answered(scene.wire.call("GET", f"{REGISTRY}?fieldId={field_of(group)}")) == {"results": [whole]}
    asked = f"{REGISTRY}?groupId={group}&fieldId={field_of(group)}"
    assert answered(scene.wire.call("GET", asked)) == {"results": [whole]}
    every = answered(scene.wire.call("GET", REGISTRY))
    assert isinstance(every, dict)
    assert whole in every["results"]


def test_nothing_that_fits_is_an_empty_list(scene: Scene) -> None:
    for query in ("?groupId=nowhere", "?fieldId=nowhere", "?groupId=nowhere&fieldId=nowhere"):
        assert answered(scene.wire.call("GET", REGISTRY + query)) == {"results": []}


def test_one_who_may_not_read_the_registry_sees_it_empty(scene: Scene) -> None:
    a_group(scene)
    assert answered(scene.account((), ()).call("GET", REGISTRY)) == {"results": []}


def test_ids_asked_for_must_be_ids(scene: Scene) -> None:
    refused(scene.wire, ("GET", f"{REGISTRY}?groupId=Stor"), None, 400, "groupId")
    refused(scene.wire, ("GET", f"{REGISTRY}?fieldId="), None, 400, "fieldId")


def test_a_group_is_made_and_replaced(scene: Scene) -> None:
    group = a_group(scene)
    call = ("PUT", f"{REGISTRY}/group/{group}")
    told = {"groupId": group, "groupName": "Gruppen", "groupDescription": "Om gruppen"}
    assert answered(scene.wire.call(*call, GROUP)) == told
    assert answered(scene.wire.call(*call, {"groupName": "Ny"})) == {"groupId": group, "groupName": "Ny"}


@pytest.mark.parametrize("name", ["Stor", "1a", "-a", "a-", "a_b", "a.b", "%C3%A6", "a%20b"])
def test_ids_are_lower_case_letters_digits_and_dashes(scene: Scene, name: str) -> None:
    group, field = f"{REGISTRY}/group/{name}", f"{REGISTRY}/group/gruppe-x/field/{name}"
    refused(scene.wire, ("PUT", group), GROUP, 400, "groupId")
    refused(scene.wire, ("DELETE", group), None, 400, "groupId")
    refused(scene.wire, ("PUT", field), {"fieldName": "F", "fieldType": "string"}, 400, "fieldId")
    refused(scene.wire, ("DELETE", field), None, 400, "fieldId")


@pytest.mark.parametrize("name", ["a", "a1", "a-b", "a--b"])
def test_ids_may_be_short(scene: Scene, name: str) -> None:
    assert answered(scene.wire.call("PUT", f"{REGISTRY}/group/{name}", {"groupName": "Kort"}))
    empty(scene.wire.call("DELETE", f"{REGISTRY}/group/{name}"), 204)


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({}, "groupName"),
        ({"groupName": ""}, "groupName"),
        ({"groupName": 7}, "groupName"),
        ({"groupName": "G", "groupDescription": 7}, "groupDescription"),
    ],
)
def test_a_group_that_makes_no_sense_is_400(scene: Scene, body: Body, member: str) -> None:
    refused(scene.wire, ("PUT", f"{REGISTRY}/group/gruppe-nei"), body, 400, member)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["ja", "nei"]),
        ("long", [1, 2]),
        ("double", [0.5]),
        ("timestamp", ["2024-01-02T03:04:05.678Z"]),
        ("encrypted", None),
        ("uri", ["https://example.org"]),
        ("boolean", [True]),
    ],
)
def test_a_field_is_made_with_or_without_fixed_values(scene: Scene, kind: str, values: list[object] | None) -> None:
    group = a_group(scene)
    field = f"felt-{kind}-{group.rpartition('-')[2]}"
    call = ("PUT", f"{REGISTRY}/group/{group}/field/{field}")
    plain: Body = {"fieldName": "F", "fieldDescription": "Om F", "fieldType": kind}
    assert answered(scene.wire.call(*call, plain)) == {"fieldId": field, **plain}
    if values is not None:
        closed = {"fieldName": "F", "fieldType": kind, "fieldValues": values}
        assert answered(scene.wire.call(*call, closed)) == {"fieldId": field, **closed}


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"fieldType": "string"}, "fieldName"),
        ({"fieldName": "", "fieldType": "string"}, "fieldName"),
        ({"fieldName": "F"}, "fieldType"),
        ({"fieldName": "F", "fieldType": "integer"}, "fieldType"),
        ({"fieldName": "F", "fieldType": "String"}, "fieldType"),
        ({"fieldName": "F", "fieldType": "string", "fieldDescription": 7}, "fieldDescription"),
        ({"fieldName": "F", "fieldType": "string", "fieldValues": "ja"}, "fieldValues"),
        ({"fieldName": "F", "fieldType": "string", "fieldValues": [1]}, "fieldValues"),
        ({"fieldName": "F", "fieldType": "long", "fieldValues": ["1"]}, "fieldValues"),
        ({"fieldName": "F", "fieldType": "timestamp", "fieldValues": ["i går"]}, "fieldValues"),
        ({"fieldName": "F", "fieldType": "encrypted", "fieldValues": ["x"]}, "fieldValues"),
    ],
)
def test_a_field_that_makes_no_sense_is_400(scene: Scene, body: Body, member: str) -> None:
    refused(scene.wire, ("PUT", f"{REGISTRY}/group/{a_group(scene)}/field/felt-nei"), body, 400, member)


def test_the_type_of_a_field_never_changes(scene: Scene) -> None:
    group = a_group(scene)
    call = ("PUT", f"{REGISTRY}/group/{group}/field/{field_of(group)}")
    refused(scene.wire, call, {"fieldName": "F", "fieldType": "long"}, 400, "fieldType", "string")


def test_a_field_id_is_taken_once_in_an_archive(scene: Scene) -> None:
    one, other = a_group(scene), a_group(scene)
    call = ("PUT", f"{REGISTRY}/group/{other}/field/{field_of(one)}")
    refused(scene.wire, call, {"fieldName": "F", "fieldType": "string"}, 400, "fieldId", one)


def test_a_field_of_no_group_is_404(scene: Scene) -> None:
    call = ("PUT", f"{REGISTRY}/group/nowhere/field/felt-nei")
    refused(scene.wire, call, {"fieldName": "F", "fieldType": "string"}, 404, "nowhere")


def test_fields_and_groups_are_taken_away(scene: Scene) -> None:
    group = a_group(scene)
    empty(scene.wire.call("DELETE", f"{REGISTRY}/group/{group}/field/{field_of(group)}"), 204)
    told = {"groupId": group, "groupName": "Gruppen", "groupDescription": "Om gruppen", "fields": []}
    assert answered(scene.wire.call("GET", f"{REGISTRY}?groupId={group}")) == {"results": [told]}
    empty(scene.wire.call("DELETE", f"{REGISTRY}/group/{group}"), 204)
    assert answered(scene.wire.call("GET", f"{REGISTRY}?groupId={group}")) == {"results": []}


def test_what_is_not_there_cannot_be_taken_away(scene: Scene) -> None:
    refused(scene.wire, ("DELETE", f"{REGISTRY}/group/nowhere"), None, 404, "nowhere")
    refused(scene.wire, ("DELETE", f"{REGISTRY}/group/nowhere/field/felt-nei"), None, 404, "felt-nei")
    refused(scene.wire, ("DELETE", f"{REGISTRY}/group/{a_group(scene)}/field/felt-nei"), None, 404, "felt-nei")


def test_what_is_in_use_stays(scene: Scene) -> None:
    group = a_group(scene)
    folder = scene.folder(virksomhetsspesifikkeMetadata={group: {field_of(group): {"values": ["x"]}}})
    refused(scene.wire, ("DELETE", f"{REGISTRY}/group/{group}"), None, 409, group, "in use")
    field = ("DELETE", f"{REGISTRY}/group/{group}/field/{field_of(group)}")
    refused(scene.wire, field, None, 409, field_of(group), "in use")
    fields: Body = {"virksomhetsspesifikkeMetadata": {}}
    scene.wire.saved({"action": "save", "type": "Mappe", "id": folder, "fields": fields})
    empty(scene.wire.call(*field), 204)


def test_the_registry_needs_permissions_of_its_own(scene: Scene) -> None:
    group = a_group(scene)
    path = f"{REGISTRY}/group/{group}"
    plain: Body = {"fieldName": "F", "fieldType": "string"}
    reader = scene.account((), READER)
    refused(reader, ("PUT", f"{REGISTRY}/group/gruppe-ny"), GROUP, 403, "Create")
    refused(reader, ("PUT", path), GROUP, 403, "Update")
    refused(reader, ("DELETE", path), None, 403, "Delete")
    refused(reader, ("PUT", f"{path}/field/felt-ny"), plain, 403, "Create")
    refused(reader, ("PUT", f"{path}/field/{field_of(group)}"), plain, 403, "Update")
    refused(reader, ("DELETE", f"{path}/field/{field_of(group)}"), None, 403, "Delete")
    keeper = scene.account((), (*READER, "Create", "Update", "Delete"))
    assert answered(keeper.call("PUT", path, GROUP))
    empty(keeper.call("DELETE", f"{path}/field/{field_of(group)}"), 204)
    empty(keeper.call("DELETE", path), 204)

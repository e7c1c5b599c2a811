"""The sixteen calls for permissions on objects, code lists and the two registers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

from tests.server.calls.scene import READER, Body, Scene
from tests.server.calls.shapes import answered, empty, items, members, refused

KINDS = ("entity", "code-list", "bsm-registry", "precedent-registry")


@dataclass(frozen=True, slots=True)
class Node:
    """Something to grant on: its address, the members that name it, and what can be granted there."""

    path: str
    named: Body
    grantable: str

    def asked(self, **more: object) -> str:
        """The address with what names the node, as GET and DELETE have it."""
        query = urlencode({**self.named, **more})
        return f"{self.path}?{query}" if query else self.path


def node(scene: Scene, kind: str) -> Node:
    """A node of each kind that nobody else grants on; the registers are shared by all tests."""
    if kind == "entity":
        return Node("permission/entity", {"objectType": "AbstraktMappe", "objectId": int(scene.folder())}, "Read")
    if kind == "code-list":
        code = f"N{scene.folder()}"
        answered(scene.wire.call("PUT", f"code-lists/mappetype/{code}", {"name": code}))
        return Node("permission/code-list", {"listType": "mappetype", "code": code}, "ReadRelated")
    return Node(f"permission/{kind}", {}, "Read")


def a_group(scene: Scene) -> int:
    return scene.new_account()[1]


def grant(where: Node, group: object, *words: str) -> Body:
    return {"accessGroupId": group, **where.named, "explicitPermissions": list(words or (where.grantable,))}


@pytest.mark.parametrize("kind", KINDS)
def test_a_grant_is_made_told_changed_and_taken_away(scene: Scene, kind: str) -> None:
    where, group = node(scene, kind), a_group(scene)
    told = grant(where, group)
    assert answered(scene.wire.call("POST", where.path, told), 201) == told
    asked = ("GET", where.asked(accessGroupId=group))
    assert answered(scene.wire.call(*asked)) == {"permissions": [told], "hasMore": False}
    if kind != "code-list":
        told = grant(where, group, "Create", "Update")
    assert answered(scene.wire.call("PUT", where.path, told)) == told
    assert answered(scene.wire.call(*asked)) == {"permissions": [told], "hasMore": False}
    empty(scene.wire.call("DELETE", where.asked(accessGroupId=group)), 204)
    assert answered(scene.wire.call(*asked)) == {"permissions": [], "hasMore": False}


@pytest.mark.parametrize("kind", KINDS)
def test_grants_come_by_group_page_by_page(scene: Scene, kind: str) -> None:
    where = node(scene, kind)
    groups = [a_group(scene) for _ in range(3)]
    for group in reversed(groups):
        answered(scene.wire.call("POST", where.path, grant(where, group)), 201)
    every = items(members(answered(scene.wire.call("GET", where.asked(limit=200))))["permissions"])
    numbers = [int(str(each["accessGroupId"])) for each in every]
    assert numbers == sorted(numbers)
    assert set(groups) <= set(numbers)
    page = members(answered(scene.wire.call("GET", where.asked(limit=2, offset=len(every) - 3))))
    assert (items(page["permissions"]), page["hasMore"]) == (every[-3:-1], True)
    empty(scene.wire.call("DELETE", where.path + where.asked()[len(where.path) :]), 204)
    assert answered(scene.wire.call("GET", where.asked())) == {"permissions": [], "hasMore": False}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("page", ["limit=0", "limit=201", "limit=x", "offset=-1", "offset="])
def test_a_page_of_grants_has_limits(scene: Scene, kind: str, page: str) -> None:
    where = node(scene, kind)
    asked = where.asked()
    refused(scene.wire, ("GET", f"{asked}{'&' if '?' in asked else '?'}{page}"), None, 400, page.partition("=")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_grant_that_makes_no_sense_is_400(scene: Scene, kind: str) -> None:
    where, group = node(scene, kind), a_group(scene)
    good = grant(where, group)
    for bad, member in (
        ({**good, "explicitPermissions": []}, "explicitPermissions"),
        ({**good, "explicitPermissions": ["Fly"]}, "Fly"),
        ({**good, "explicitPermissions": "Read"}, "explicitPermissions"),
        ({name: value for name, value in good.items() if name != "explicitPermissions"}, "explicitPermissions"),
        ({name: value for name, value in good.items() if name != "accessGroupId"}, "accessGroupId"),
        ({**good, "accessGroupId": "x"}, "accessGroupId"),
        ({**good, "accessGroupId": True}, "accessGroupId"),
        ({**good, "nope": 1}, "nope"),
    ):
        refused(scene.wire, ("POST", where.path), bad, 400, member)
        refused(scene.wire, ("PUT", where.path), bad, 400, member)
    for method in ("GET", "DELETE"):
        refused(scene.wire, (method, where.asked(accessGroupId="x")), None, 400, "accessGroupId")


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_that_is_not_there_gets_nothing(scene: Scene, kind: str) -> None:
    where = node(scene, kind)
    refused(scene.wire, ("POST", where.path), grant(where, 99999), 404, "99999")
    refused(scene.wire, ("PUT", where.path), grant(where, 99999), 404, "99999")
    refused(scene.wire, ("DELETE", where.asked(accessGroupId=99999)), None, 404, "99999")


@pytest.mark.parametrize("kind", KINDS)
def test_a_grant_is_made_once_and_changed_only_where_it_is(scene: Scene, kind: str) -> None:
    where, group = node(scene, kind), a_group(scene)
    refused(scene.wire, ("PUT", where.path), grant(where, group), 404, str(group))
    refused(scene.wire, ("DELETE", where.asked(accessGroupId=group)), None, 404, str(group))
    answered(scene.wire.call("POST", where.path, grant(where, group)), 201)
    refused(scene.wire, ("POST", where.path), grant(where, group), 409, str(group))
    empty(scene.wire.call("DELETE", where.asked(accessGroupId=group)), 204)


@pytest.mark.parametrize("kind", KINDS)
def test_grants_are_for_those_who_may_grant(scene: Scene, kind: str) -> None:
    where, group = node(scene, kind), a_group(scene)
    reader = scene.account((), READER)
    calls: list[tuple[str, str, object, int]] = [
        ("POST", where.path, grant(where, group), 201),
        ("GET", where.asked(accessGroupId=group), None, 200),
        ("PUT", where.path, grant(where, group), 200),
        ("DELETE", where.asked(accessGroupId=group), None, 204),
    ]
    for method, path, body, _ in calls:
        refused(reader, (method, path), body, 403, "Security administrator", "Grant")
    for who in (scene.account(("Security administrator",), READER), scene.account((), (*READER, "Grant"))):
        assert [who.call(method, path, body).status for method, path, body, _ in calls] == [each[3] for each in calls]


@pytest.mark.parametrize(
    ("object_type", "name"),
    [
        ("Arkiv", "fonds"),
        ("Arkivdel", "series"),
        ("AbstraktMappe", "folder"),
        ("Mappe", "folder"),
        ("Saksmappe", "case"),
        ("AbstraktRegistrering", "entry"),
        ("Journalpost", "entry"),
        ("Klassifikasjonssystem", "system"),
        ("Klasse", "class"),
    ],
)
def test_each_kind_of_object_bears_grants(scene: Scene, object_type: str, name: str) -> None:
    group = a_group(scene)
    told = {"objectType": object_type, "objectId": int(scene.ids[name])}
    related = object_type in ("Klassifikasjonssystem", "Klasse")
    given = ["ReadThis", "Read", "Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move"]
    words = [*given, "ReadRelated"] if related else given
    body = {"accessGroupId": group, **told, "explicitPermissions": words}
    assert answered(scene.wire.call("POST", "permission/entity", body), 201) == body
    if not related:
        refused(scene.wire, ("PUT", "permission/entity"), body | {"explicitPermissions": ["ReadRelated"]}, 400)
    empty(scene.wire.call("DELETE", f"permission/entity?{urlencode(told)}&accessGroupId={group}"), 204)


@pytest.mark.parametrize(
    ("named", "status", "word"),
    [
        ({}, 400, "objectType"),
        ({"objectId": "1"}, 400, "objectType"),
        ({"objectType": "Nope", "objectId": "1"}, 400, "objectType"),
        ({"objectType": "Dokument", "objectId": "1"}, 400, "objectType"),
        ({"objectType": "Arkiv"}, 400, "objectId"),
        ({"objectType": "Arkiv", "objectId": "x"}, 400, "objectId"),
        ({"objectType": "Arkiv", "objectId": "999999999"}, 404, "999999999"),
    ],
)
def test_an_object_that_cannot_bear_grants(scene: Scene, named: Body, status: int, word: str) -> None:
    body = {"accessGroupId": 1, **named, "explicitPermissions": ["Read"]}
    refused(scene.wire, ("POST", "permission/entity"), body, status, word)
    refused(scene.wire, ("PUT", "permission/entity"), body, status, word)
    refused(scene.wire, ("GET", f"permission/entity?{urlencode(named)}"), None, status, word)
    refused(scene.wire, ("DELETE", f"permission/entity?{urlencode(named)}"), None, status, word)


def test_an_object_of_another_type_or_unreadable_is_404(scene: Scene) -> None:
    asked = f"permission/entity?objectType=Saksmappe&objectId={scene.ids['folder']}"
    refused(scene.wire, ("GET", asked), None, 404, "Saksmappe")
    blind = scene.account(("Security administrator",), ())
    asked = f"permission/entity?objectType=Mappe&objectId={scene.ids['folder']}"
    refused(blind, ("GET", asked), None, 404, "Mappe")
    refused(blind, ("DELETE", asked), None, 404, "Mappe")


@pytest.mark.parametrize("name", ["all", "mappetype", "dokumenttype", "skjerming", "administrativEnhet"])
def test_lists_bear_grants_and_only_the_register_all_of_them(scene: Scene, name: str) -> None:
    group = a_group(scene)
    body = {"accessGroupId": group, "listType": name, "explicitPermissions": ["ReadRelated"]}
    assert answered(scene.wire.call("POST", "permission/code-list", body), 201) == body
    changed = body | {"explicitPermissions": ["Read", "Update"]}
    if name == "all":
        assert answered(scene.wire.call("PUT", "permission/code-list", changed)) == changed
    else:
        refused(scene.wire, ("PUT", "permission/code-list"), changed, 400, "Read")
    empty(scene.wire.call("DELETE", f"permission/code-list?listType={name}&accessGroupId={group}"), 204)


@pytest.mark.parametrize(
    ("named", "status", "word"),
    [
        ({}, 400, "listType"),
        ({"listType": "saksstatus"}, 400, "listType"),
        ({"listType": "all", "code": "A"}, 400, "code"),
        ({"listType": "skjerming", "code": ""}, 400, "code"),
        ({"listType": "skjerming", "code": "NOPE"}, 404, "NOPE"),
    ],
)
def test_a_list_that_cannot_bear_grants(scene: Scene, named: Body, status: int, word: str) -> None:
    body = {"accessGroupId": 1, **named, "explicitPermissions": ["ReadRelated"]}
    refused(scene.wire, ("POST", "permission/code-list"), body, status, word)
    refused(scene.wire, ("PUT", "permission/code-list"), body, status, word)
    refused(scene.wire, ("GET", f"permission/code-list?{urlencode(named)}"), None, status, word)
    refused(scene.wire, ("DELETE", f"permission/code-list?{urlencode(named)}"), None, status, word)


def test_a_grant_counts_from_the_next_call(scene: Scene) -> None:
    member, group = scene.new_account((), ("ReadThis",))
    record = scene.record(scene.folder())
    assert scene.get("Basisregistrering", record, member) is None
    body = {"accessGroupId": group, "objectType": "Arkiv", "objectId": scene.ids["fonds"]}
    answered(scene.wire.call("POST", "permission/entity", body | {"explicitPermissions": ["ReadThis", "Read"]}), 201)
    assert scene.get("Basisregistrering", record, member) is not None
    gone = f"permission/entity?objectType=Arkiv&objectId={scene.ids['fonds']}&accessGroupId={group}"
    empty(scene.wire.call("DELETE", gone), 204)
    assert scene.get("Basisregistrering", record, member) is None

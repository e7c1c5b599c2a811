"""The seven calls for access groups and the four for access modifiers."""

from __future__ import annotations

import itertools

import pytest

from tests.server.calls.scene import READER, Body, Scene
from tests.server.calls.shapes import NUMBER, answered, empty, items, members, refused
from tests.server.conftest import Archive
from tests.server.wire import link, save

GROUPS = "access-group"
SYSTEMS, LISTS = "access-modifier/klassifikasjons-system", "access-modifier/code-list"
IN_CHARGE = ("Security administrator",)
EXPLICIT = ["ReadThis", "Read", "ReadRelated", "Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move"]
SERVICE = [
    "Edit list values",
    "Write changelog",
    "Store light PDF",
    "Edit journaled",
    "Dispose documents",
    "Edit finalized",
    "Publish documents",
    "View changelog",
    "Journal",
    "Store documents",
    "GUI administrator",
    "Security administrator",
]
_NUMBERS = itertools.count(1)


def a_group(scene: Scene, **more: object) -> Body:
    """A new access group as its making was answered."""
    body = {"name": f"Gruppe {next(_NUMBERS)}", "claims": ["nobody"], **more}
    told = answered(scene.wire.call("POST", GROUPS, body), 201)
    assert isinstance(told, dict)
    return told


def test_what_can_be_granted_is_told_to_everybody(scene: Scene) -> None:
    told = answered(scene.account((), ()).call("GET", f"{GROUPS}/info"))
    assert told == {"servicePermissions": SERVICE, "explicitPermissions": EXPLICIT}


def test_a_group_is_made_told_and_listed(scene: Scene) -> None:
    name = f"Arkivarer {next(_NUMBERS)}"
    body: Body = {
        "name": name,
        "description": "De som arkiverer",
        "claims": ["arkiv", "post"],
        "globalPermissions": ["ReadThis", "Read"],
        "servicePermissions": ["Journal"],
    }
    told = answered(scene.wire.call("POST", GROUPS, body), 201)
    assert told == {"id": NUMBER, **body}
    number = members(told)["id"]
    assert answered(scene.wire.call("GET", f"{GROUPS}/{number}")) == told
    listed = members(answered(scene.wire.call("GET", f"{GROUPS}?limit=100")))
    assert told in items(listed["groups"])
    assert listed["hasMore"] is False


def test_a_group_needs_only_a_name_and_a_claim(scene: Scene) -> None:
    told = a_group(scene)
    assert sorted(told) == ["claims", "globalPermissions", "id", "name", "servicePermissions"]
    assert (told["claims"], told["globalPermissions"], told["servicePermissions"]) == (["nobody"], [], [])


def test_groups_come_page_by_page(scene: Scene) -> None:
    for _ in range(3):
        a_group(scene)
    every = items(members(answered(scene.wire.call("GET", f"{GROUPS}?limit=100")))["groups"])
    page = members(answered(scene.wire.call("GET", f"{GROUPS}?offset=1&limit=2")))
    assert (items(page["groups"]), page["hasMore"]) == (every[1:3], True)
    assert len(items(members(answered(scene.wire.call("GET", GROUPS)))["groups"])) == min(10, len(every))
    beyond = answered(scene.wire.call("GET", f"{GROUPS}?offset=100000"))
    assert beyond == {"groups": [], "hasMore": False}


@pytest.mark.parametrize("page", ["limit=0", "limit=101", "limit=x", "limit=", "offset=-1", "offset=x"])
def test_a_page_of_groups_has_limits(scene: Scene, page: str) -> None:
    name = page.partition("=")[0]
    refused(scene.wire, ("GET", f"{GROUPS}?{page}"), None, 400, name)
    refused(scene.wire, ("GET", f"{GROUPS}/1/permissions?{page}"), None, 400, name)


def test_an_update_replaces_what_it_gives_and_leaves_the_rest(scene: Scene) -> None:
    told = a_group(scene, description="Om den", servicePermissions=["Journal"])
    call = ("PUT", f"{GROUPS}/{told['id']}")
    changed = told | {"claims": ["other"], "globalPermissions": ["Read"]}
    given = {"claims": ["other"], "globalPermissions": ["Read"]}
    assert answered(scene.wire.call(*call, given)) == changed
    assert answered(scene.wire.call(*call, {"servicePermissions": []})) == changed | {"servicePermissions": []}
    assert answered(scene.wire.call(*call, {"name": f"{told['name']} ny"})) == changed | {
        "servicePermissions": [],
        "name": f"{told['name']} ny",
    }
    assert answered(scene.wire.call("GET", f"{GROUPS}/{told['id']}")) == changed | {
        "servicePermissions": [],
        "name": f"{told['name']} ny",
    }


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"claims": ["c"]}, "name"),
        ({"name": "", "claims": ["c"]}, "name"),
        ({"name": " ", "claims": ["c"]}, "name"),
        ({"name": 7, "claims": ["c"]}, "name"),
        ({"name": "N", "claims": ["c"], "description": ""}, "description"),
        ({"name": "N"}, "claims"),
        ({"name": "N", "claims": []}, "claims"),
        ({"name": "N", "claims": [""]}, "claims"),
        ({"name": "N", "claims": "c"}, "claims"),
        ({"name": "N", "claims": ["c"], "globalPermissions": ["Fly"]}, "Fly"),
        ({"name": "N", "claims": ["c"], "globalPermissions": "Read"}, "globalPermissions"),
        ({"name": "N", "claims": ["c"], "servicePermissions": ["journal"]}, "journal"),
        ({"name": "N", "claims": ["c"], "servicePermissions": [7]}, "servicePermissions"),
        ({"id": 1, "name": "N", "claims": ["c"]}, "id"),
        ({"name": "N", "claims": ["c"], "permissions": []}, "permissions"),
    ],
)
def test_a_group_that_makes_no_sense_is_400(scene: Scene, body: Body, member: str) -> None:
    refused(scene.wire, ("POST", GROUPS), body, 400, member)


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({}, "at least one"),
        ({"name": ""}, "name"),
        ({"description": ""}, "description"),
        ({"claims": []}, "claims"),
        ({"globalPermissions": ["Fly"]}, "Fly"),
        ({"servicePermissions": ["Fly"]}, "Fly"),
        ({"id": 0, "name": "N"}, "id"),
        ({"nope": 1}, "nope"),
    ],
)
def test_an_update_that_makes_no_sense_is_400(scene: Scene, body: Body, member: str) -> None:
    refused(scene.wire, ("PUT", f"{GROUPS}/{a_group(scene)['id']}"), body, 400, member)


def test_a_name_is_taken_once(scene: Scene) -> None:
    one, other = a_group(scene), a_group(scene)
    refused(scene.wire, ("POST", GROUPS), {"name": one["name"], "claims": ["c"]}, 409, "name")
    refused(scene.wire, ("PUT", f"{GROUPS}/{other['id']}"), {"name": one["name"]}, 409, "name")


@pytest.mark.parametrize(("name", "status"), [("99999", 404), ("9" * 30, 404), ("x", 400), ("-1", 400), ("1.5", 400)])
def test_a_group_that_is_not_there(scene: Scene, name: str, status: int) -> None:
    for method, path, body in (
        ("GET", f"{GROUPS}/{name}", None),
        ("GET", f"{GROUPS}/{name}/permissions", None),
        ("PUT", f"{GROUPS}/{name}", {"description": "D"}),
        ("DELETE", f"{GROUPS}/{name}", None),
    ):
        refused(scene.wire, (method, path), body, status, "access group")


def test_a_deleted_group_is_gone_soon(scene: Scene) -> None:
    told = a_group(scene)
    empty(scene.wire.call("DELETE", f"{GROUPS}/{told['id']}"), 202)
    refused(scene.wire, ("GET", f"{GROUPS}/{told['id']}"), None, 404)
    refused(scene.wire, ("DELETE", f"{GROUPS}/{told['id']}"), None, 404)


def test_the_last_group_in_charge_stays(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    refused(wire, ("DELETE", f"{GROUPS}/1"), None, 409, "Security administrator")
    given = {"servicePermissions": ["Journal"]}
    refused(wire, ("PUT", f"{GROUPS}/1"), given, 409, "Security administrator")
    other = {"name": "Other", "claims": ["c"], "servicePermissions": ["Security administrator"]}
    answered(wire.call("POST", GROUPS, other), 201)
    empty(wire.call("DELETE", f"{GROUPS}/1"), 202)


def test_all_that_a_group_was_granted_is_told(scene: Scene) -> None:
    number = a_group(scene, globalPermissions=["ReadThis"])["id"]
    folder, read = int(scene.folder()), {"accessGroupId": number, "explicitPermissions": ["Read"]}
    entity = {**read, "objectType": "AbstraktMappe", "objectId": folder}
    answered(scene.wire.call("POST", "permission/entity", entity), 201)
    answered(scene.wire.call("POST", "permission/bsm-registry", read), 201)
    related = {"accessGroupId": number, "explicitPermissions": ["ReadRelated"]}
    code = {**related, "listType": "skjerming", "code": "UO13"}
    answered(scene.wire.call("POST", "permission/code-list", code), 201)
    told = members(answered(scene.wire.call("GET", f"{GROUPS}/{number}/permissions")))
    everything = [
        {"accessGroupId": number, "explicitPermissions": ["ReadThis"], "discriminator": "GlobaleRettigheter"},
        {**read, "discriminator": "AbstraktMappe", "objectId": folder},
        {**read, "discriminator": "VsmRegister"},
        {**related, "discriminator": "skjermingVerdi", "listType": "skjerming", "code": "UO13"},
    ]
    assert told == {"results": everything, "hasMore": False}
    page = answered(scene.wire.call("GET", f"{GROUPS}/{number}/permissions?offset=1&limit=2"))
    assert page == {"results": everything[1:3], "hasMore": True}


def test_groups_are_for_those_in_charge(scene: Scene) -> None:
    number = a_group(scene)["id"]
    others = scene.account(tuple(word for word in SERVICE if word != "Security administrator"), tuple(EXPLICIT))
    for method, path, body in (
        ("GET", GROUPS, None),
        ("POST", GROUPS, {"name": "X", "claims": ["c"]}),
        ("GET", f"{GROUPS}/{number}", None),
        ("PUT", f"{GROUPS}/{number}", {"description": "D"}),
        ("DELETE", f"{GROUPS}/{number}", None),
        ("GET", f"{GROUPS}/{number}/permissions", None),
    ):
        refused(others, (method, path), body, 403, "Security administrator")


@pytest.mark.parametrize("name", ["mappetype", "dokumenttype", "skjerming", "administrativEnhet"])
def test_a_code_list_is_told_to_determine_access(scene: Scene, name: str) -> None:
    asked = ("GET", f"{LISTS}/{name}")
    assert answered(scene.wire.call(*asked)) == {"determinesAccessControl": False}
    for decides in (True, False):
        told = {"determinesAccessControl": decides}
        assert answered(scene.wire.call("POST", LISTS, {"id": name, **told})) == told
        assert answered(scene.wire.call(*asked)) == told


def test_a_classification_system_is_told_to_determine_access(scene: Scene) -> None:
    system = scene.made(save("Klassifikasjonssystem", "@s", tittel="T"))["@s"]
    asked = ("GET", f"{SYSTEMS}/{system}")
    assert answered(scene.wire.call(*asked)) == {"determinesAccessControl": False}
    for given, decides in ((system, True), (int(system), False)):
        told = {"determinesAccessControl": decides}
        assert answered(scene.wire.call("POST", SYSTEMS, {"id": given, **told})) == told
        assert answered(scene.wire.call(*asked)) == told


def test_a_modifier_closes_what_bears_the_class(scene: Scene) -> None:
    made = scene.made(
        save("Klassifikasjonssystem", "@s", tittel="T"),
        save("Klasse", "@k", klasseIdent="1", tittel="K"),
        link("Klasse", "@k", "refKlassifikasjonssystem", "@s"),
        save("Mappe", "@m", tittel="M"),
        link("Mappe", "@m", "refArkivdel", scene.ids["series"]),
        link("Mappe", "@m", "refSekundaerKlasse", "@k"),
    )
    reader = scene.account((), READER)
    assert scene.get("Mappe", made["@m"], reader) is not None
    answered(scene.wire.call("POST", SYSTEMS, {"id": made["@s"], "determinesAccessControl": True}))
    assert scene.get("Mappe", made["@m"], reader) is None
    answered(scene.wire.call("POST", SYSTEMS, {"id": made["@s"], "determinesAccessControl": False}))
    assert scene.get("Mappe", made["@m"], reader) is not None


@pytest.mark.parametrize(
    ("path", "body", "member"),
    [
        (LISTS, {}, "id"),
        (LISTS, {"id": "skjerming"}, "determinesAccessControl"),
        (LISTS, {"id": "skjerming", "determinesAccessControl": 1}, "determinesAccessControl"),
        (LISTS, {"determinesAccessControl": True}, "id"),
        (LISTS, {"id": "saksstatus", "determinesAccessControl": True}, "id"),
        (LISTS, {"id": 7, "determinesAccessControl": True}, "id"),
        (SYSTEMS, {"id": "x", "determinesAccessControl": True}, "id"),
        (SYSTEMS, {"id": None, "determinesAccessControl": True}, "id"),
        (SYSTEMS, {"id": "1", "determinesAccessControl": "perhaps"}, "determinesAccessControl"),
        (SYSTEMS, {"id": "1", "determinesAccessControl": True, "more": 1}, "more"),
    ],
)
def test_a_modifier_that_makes_no_sense_is_400(scene: Scene, path: str, body: Body, member: str) -> None:
    refused(scene.wire, ("POST", path), body, 400, member)


def test_a_modifier_of_what_is_not_there(scene: Scene) -> None:
    refused(scene.wire, ("GET", f"{LISTS}/saksstatus"), None, 404, "saksstatus")
    refused(scene.wire, ("GET", f"{SYSTEMS}/999999999"), None, 404, "999999999")
    refused(scene.wire, ("GET", f"{SYSTEMS}/{scene.ids['class']}"), None, 404)
    refused(scene.wire, ("GET", f"{SYSTEMS}/x"), None, 400, "numeric")
    given = {"id": "999999999", "determinesAccessControl": True}
    refused(scene.wire, ("POST", SYSTEMS), given, 404, "999999999")
    blind = scene.account(IN_CHARGE, ())
    refused(blind, ("GET", f"{SYSTEMS}/{scene.ids['system']}"), None, 404)
    refused(blind, ("POST", SYSTEMS), {"id": scene.ids["system"], "determinesAccessControl": False}, 404)


def test_modifiers_are_for_those_who_may_grant(scene: Scene) -> None:
    reader, system = scene.account((), READER), scene.ids["system"]
    calls: list[tuple[str, str, object]] = [
        ("GET", f"{LISTS}/skjerming", None),
        ("POST", LISTS, {"id": "skjerming", "determinesAccessControl": False}),
        ("GET", f"{SYSTEMS}/{system}", None),
        ("POST", SYSTEMS, {"id": system, "determinesAccessControl": False}),
    ]
    for method, path, body in calls:
        refused(reader, (method, path), body, 403, "Security administrator", "Grant")
        for who in (scene.account(IN_CHARGE, READER), scene.account((), (*READER, "Grant"))):
            assert answered(who.call(method, path, body)) == {"determinesAccessControl": False}

"""Access groups and access modifiers over HTTP: who belongs where, and what determines access control."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from tests.server.conftest import Archive
from tests.server.wire import Wire
from tests.waiting import PATIENCE_S

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}
EXPLICIT = ["ReadThis", "Read", "ReadRelated", "Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move"]
SERVICES = [
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
ARCHIVISTS = {
    "name": "Archivists",
    "description": "Those of the archive",
    "claims": ["archive", "records"],
    "globalPermissions": ["ReadThis", "Read"],
    "servicePermissions": ["Journal"],
}


def put_objects(archive: Archive, *rows: tuple[str, int, str]) -> None:
    """Puts bare objects of (table, id, type) straight into the archive."""
    with closing(sqlite3.connect(archive.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        for table, object_id, type_name in rows:
            db.execute(f"INSERT INTO {table} (id, type, version) VALUES (?, ?, 1)", (object_id, type_name))


def member(archive: Archive, *words: str, everywhere: Sequence[str] = ()) -> tuple[Wire, int]:
    """A client whose only group has these service permissions; and the id of that group."""
    wire = archive.add_client("member", "members")
    group = {
        "name": "Members",
        "claims": ["members"],
        "servicePermissions": list(words),
        "globalPermissions": list(everywhere),
    }
    made = archive.wire.call("POST", "access-group", group)
    assert made.status == 201
    return wire, int(str(made.json()["id"]))


def test_the_permissions_there_are_can_be_asked_for(archive: Archive) -> None:
    reply = archive.wire_as("integration").call("GET", "access-group/info")
    told = reply.json()
    assert reply.status == 200
    assert set(told) == {"servicePermissions", "explicitPermissions"}
    assert sorted(map(str, told["servicePermissions"])) == sorted(SERVICES)  # type: ignore[call-overload]  # a list, or it fails
    assert sorted(map(str, told["explicitPermissions"])) == sorted(EXPLICIT)  # type: ignore[call-overload]  # a list, or it fails


def test_a_new_archive_has_administrators_and_integrations(fresh_archive: Archive) -> None:
    told = fresh_archive.wire.call("GET", "access-group").json()
    assert told == {
        "groups": [
            {
                "id": 1,
                "name": "Administrators",
                "claims": ["admin"],
                "globalPermissions": EXPLICIT,
                "servicePermissions": SERVICES,
            },
            {
                "id": 2,
                "name": "Integrations",
                "claims": ["integration"],
                "globalPermissions": [
                    "ReadThis",
                    "Read",
                    "ReadRelated",
                    "Create",
                    "Update",
                    "UpdateSystemManaged",
                    "Move",
                ],
                "servicePermissions": [
                    "Edit list values",
                    "Write changelog",
                    "Edit journaled",
                    "Edit finalized",
                    "View changelog",
                    "Journal",
                    "Store documents",
                ],
            },
        ],
        "hasMore": False,
    }


def test_a_group_is_made_and_told(fresh_archive: Archive) -> None:
    made = fresh_archive.wire.call("POST", "access-group", ARCHIVISTS)
    assert (made.status, made.json()) == (201, {"id": 3, **ARCHIVISTS})
    assert fresh_archive.wire.call("GET", "access-group/3").json() == made.json()


def test_a_group_needs_only_a_name_and_a_claim(fresh_archive: Archive) -> None:
    made = fresh_archive.wire.call("POST", "access-group", {"name": "N", "claims": ["c"]})
    empty: dict[str, object] = {"globalPermissions": [], "servicePermissions": []}
    assert made.json() == {"id": 3, "name": "N", "claims": ["c"], **empty}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"claims": ["c"]}, "name"),
        ({"name": "", "claims": ["c"]}, "name"),
        ({"name": 1, "claims": ["c"]}, "name"),
        ({"name": "N"}, "claims"),
        ({"name": "N", "claims": []}, "claims"),
        ({"name": "N", "claims": [""]}, "claims"),
        ({"name": "N", "claims": [None]}, "claims"),
        ({"name": "N", "claims": "c"}, "claims"),
        ({"name": "N", "claims": ["c"], "description": ""}, "description"),
        ({"name": "N", "claims": ["c"], "globalPermissions": ["Journal"]}, "globalPermissions"),
        ({"name": "N", "claims": ["c"], "globalPermissions": "Read"}, "globalPermissions"),
        ({"name": "N", "claims": ["c"], "servicePermissions": ["Read"]}, "servicePermissions"),
        ({"name": "N", "claims": ["c"], "servicePermissions": ["journal"]}, "servicePermissions"),
        ({"name": "N", "claims": ["c"], "globalPermission": ["Read"]}, "globalPermission"),
        ({"id": 9, "name": "N", "claims": ["c"]}, "id"),
    ],
)
def test_a_group_that_is_no_group_is_refused(archive: Archive, body: dict[str, object], named: str) -> None:
    refused = archive.wire.call("POST", "access-group", body, headers=JSON_ERRORS)
    assert refused.status == 400
    assert named in str(refused.json()["description"])


def test_two_groups_never_share_a_name(fresh_archive: Archive) -> None:
    assert fresh_archive.wire.call("POST", "access-group", ARCHIVISTS).status == 201
    assert fresh_archive.wire.call("POST", "access-group", ARCHIVISTS).status == 409
    assert fresh_archive.wire.call("PUT", "access-group/2", {"name": "Archivists"}).status == 409
    assert fresh_archive.wire.call("PUT", "access-group/3", {"name": "Archivists"}).status == 200


def test_what_is_given_replaces_and_what_is_not_stays(fresh_archive: Archive) -> None:
    fresh_archive.wire.call("POST", "access-group", ARCHIVISTS)
    changed = fresh_archive.wire.call("PUT", "access-group/3", {"claims": ["x"], "servicePermissions": []})
    assert (changed.status, changed.json()) == (200, {"id": 3, **ARCHIVISTS, "claims": ["x"], "servicePermissions": []})
    assert fresh_archive.wire.call("GET", "access-group/3").json() == changed.json()


@pytest.mark.parametrize(
    "body", [{}, {"id": 2}, {"name": ""}, {"claims": []}, {"id": 1, "name": "N"}, {"globalPermissions": ["All"]}]
)
def test_an_update_says_what_to_change(archive: Archive, body: dict[str, object]) -> None:
    assert archive.wire.call("PUT", "access-group/2", body).status == 400


def test_groups_are_told_by_pages(fresh_archive: Archive) -> None:
    for number in range(9):
        fresh_archive.wire.call("POST", "access-group", {"name": f"N{number}", "claims": ["c"]})

    def page(query: str) -> tuple[list[object], object]:
        told = fresh_archive.wire.call("GET", f"access-group{query}").json()
        groups = told["groups"]
        assert isinstance(groups, list)
        return [group["id"] for group in groups], told["hasMore"]

    assert page("") == ([*range(1, 11)], True)
    assert page("?offset=10") == ([11], False)
    assert page("?limit=11") == ([*range(1, 12)], False)
    assert page("?offset=3&limit=2") == ([4, 5], True)
    assert page("?offset=99") == ([], False)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=-1", "limit=x", "offset=-1", "offset=", "limit=1.0"])
def test_a_page_that_is_no_page_is_refused(archive: Archive, query: str) -> None:
    assert archive.wire.call("GET", f"access-group?{query}").status == 400
    assert archive.wire.call("GET", f"access-group/1/permissions?{query}").status == 400


@pytest.mark.parametrize(("name", "status"), [("999", 404), ("99999999999999999999", 404), ("x", 400), ("-1", 400)])
def test_a_group_that_is_not_there_is_not_found(archive: Archive, name: str, status: int) -> None:
    assert archive.wire.call("GET", f"access-group/{name}").status == status
    assert archive.wire.call("GET", f"access-group/{name}/permissions").status == status
    assert archive.wire.call("PUT", f"access-group/{name}", {"name": "N"}).status == status
    assert archive.wire.call("DELETE", f"access-group/{name}").status == status


def test_a_group_that_is_taken_away_takes_its_rights_along(fresh_archive: Archive) -> None:
    wire, group = member(fresh_archive, "Security administrator")
    granted = {"accessGroupId": group, "explicitPermissions": ["Read"]}
    assert fresh_archive.wire.call("POST", "permission/bsm-registry", granted).status == 201
    assert wire.call("GET", "access-group").status == 200
    assert fresh_archive.wire.call("DELETE", f"access-group/{group}").status == 202
    assert wire.call("GET", "access-group").status == 403
    assert fresh_archive.wire.call("GET", f"access-group/{group}").status == 404
    assert fresh_archive.wire.call("GET", "permission/bsm-registry").json() == {"permissions": [], "hasMore": False}


def test_an_archive_keeps_somebody_in_charge(fresh_archive: Archive) -> None:
    assert fresh_archive.wire.call("DELETE", "access-group/1").status == 409
    assert fresh_archive.wire.call("PUT", "access-group/1", {"servicePermissions": ["Journal"]}).status == 409
    assert fresh_archive.wire.call("GET", "access-group/1").json()["servicePermissions"] == SERVICES


def test_groups_are_for_security_administrators(fresh_archive: Archive) -> None:
    calls: list[tuple[str, str, object]] = [
        ("GET", "access-group", None),
        ("GET", "access-group/1", None),
        ("GET", "access-group/999", None),
        ("GET", "access-group/1/permissions", None),
        ("POST", "access-group", {"name": "X", "claims": ["c"]}),
        ("PUT", "access-group/3", {"description": "X"}),
        ("DELETE", "access-group/2", None),
    ]
    wire, group = member(fresh_archive, *SERVICES[:-1], everywhere=EXPLICIT)
    assert group == 3
    assert [wire.call(*call).status for call in calls] == [403] * 7
    fresh_archive.wire.call("PUT", f"access-group/{group}", {"servicePermissions": ["Security administrator"]})
    assert [wire.call(*call).status for call in calls] == [200, 200, 404, 200, 201, 200, 202]


def test_all_that_a_group_has_is_told(fresh_archive: Archive) -> None:
    put_objects(fresh_archive, ("o_arkiv", 5, "Arkiv"), ("o_abstraktmappe", 6, "Saksmappe"), ("o_arkiv", 7, "Arkiv"))
    group = fresh_archive.wire.call("POST", "access-group", ARCHIVISTS).json()["id"]
    read = {"accessGroupId": group, "explicitPermissions": ["Read"]}
    related = {"accessGroupId": group, "explicitPermissions": ["ReadRelated"]}
    for path, body in (
        ("entity", {**read, "objectType": "Arkiv", "objectId": 5}),
        ("entity", {**read, "objectType": "Arkiv", "objectId": 7}),
        ("entity", {**read, "objectType": "Saksmappe", "objectId": 6}),
        ("code-list", {**read, "listType": "all"}),
        ("code-list", {**related, "listType": "skjerming"}),
        ("code-list", {**related, "listType": "dokumenttype", "code": "B"}),
        ("bsm-registry", read),
        ("precedent-registry", read),
    ):
        assert fresh_archive.wire.call("POST", f"permission/{path}", body).status == 201
    with closing(sqlite3.connect(fresh_archive.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        db.execute("DELETE FROM o_arkiv WHERE id = 7")
    reply = fresh_archive.wire.call("GET", f"access-group/{group}/permissions")
    everywhere = {"accessGroupId": group, "explicitPermissions": ["ReadThis", "Read"]}
    assert reply.json() == {
        "results": [
            {**everywhere, "discriminator": "GlobaleRettigheter"},
            {**read, "discriminator": "AbstraktMappe", "objectId": 6},
            {**read, "discriminator": "Arkiv", "objectId": 5},
            {**read, "discriminator": "ListeRegister", "listType": "all"},
            {**read, "discriminator": "PresedensRegister"},
            {**read, "discriminator": "VsmRegister"},
            {**related, "discriminator": "dokumenttypeVerdi", "listType": "dokumenttype", "code": "B"},
            {**related, "discriminator": "skjerming", "listType": "skjerming"},
        ],
        "hasMore": False,
    }
    page = fresh_archive.wire.call("GET", f"access-group/{group}/permissions?offset=1&limit=2").json()
    assert page == {"results": reply.json()["results"][1:3], "hasMore": True}  # type: ignore[index]  # a list, or it fails


@pytest.mark.parametrize("name", ["mappetype", "dokumenttype", "skjerming", "administrativEnhet"])
def test_a_list_can_determine_access_control(fresh_archive: Archive, name: str) -> None:
    path, told = f"access-modifier/code-list/{name}", {"determinesAccessControl": False}
    assert fresh_archive.wire.call("GET", path).json() == told
    for decides in (True, True, False, "true"):
        set_it = fresh_archive.wire.call(
            "POST", "access-modifier/code-list", {"id": name, "determinesAccessControl": decides}
        )
        told = {"determinesAccessControl": bool(decides)}
        assert (set_it.status, set_it.json()) == (200, told)
        assert fresh_archive.wire.call("GET", path).json() == told


def test_a_classification_system_can_determine_access_control(fresh_archive: Archive) -> None:
    put_objects(fresh_archive, ("o_klassifikasjonssystem", 8, "Klassifikasjonssystem"))
    path = "access-modifier/klassifikasjons-system"
    assert fresh_archive.wire.call("GET", f"{path}/8").json() == {"determinesAccessControl": False}
    for given in ("8", 8):
        assert fresh_archive.wire.call("POST", path, {"id": given, "determinesAccessControl": True}).status == 200
    assert fresh_archive.wire.call("GET", f"{path}/8").json() == {"determinesAccessControl": True}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("code-list", {"id": "skjerming"}, 400),
        ("code-list", {"id": "skjerming", "determinesAccessControl": 1}, 400),
        ("code-list", {"id": "skjerming", "determinesAccessControl": None}, 400),
        ("code-list", {"determinesAccessControl": True}, 400),
        ("code-list", {"id": "saksstatus", "determinesAccessControl": True}, 400),
        ("code-list", {"id": "skjerming", "determinesAccessControl": True, "code": "X"}, 400),
        ("klassifikasjons-system", {"id": "x", "determinesAccessControl": True}, 400),
        ("klassifikasjons-system", {"id": True, "determinesAccessControl": True}, 400),
        ("klassifikasjons-system", {"id": "999", "determinesAccessControl": True}, 404),
    ],
)
def test_a_modifier_that_makes_no_sense_is_refused(
    archive: Archive, path: str, body: dict[str, object], status: int
) -> None:
    assert archive.wire.call("POST", f"access-modifier/{path}", body).status == status


def test_a_modifier_that_is_not_there_is_not_found(archive: Archive) -> None:
    assert archive.wire.call("GET", "access-modifier/code-list/saksstatus").status == 404
    assert archive.wire.call("GET", "access-modifier/klassifikasjons-system/999").status == 404
    assert archive.wire.call("GET", "access-modifier/klassifikasjons-system/x").status == 400


@pytest.mark.parametrize(
    ("words", "everywhere", "statuses"),
    [
        ([], ["ReadThis", "Read"], [403, 403, 403, 403]),
        (["Security administrator"], ["ReadThis", "Read"], [200, 200, 200, 200]),
        ([], ["ReadThis", "Read", "Grant"], [200, 200, 200, 200]),
        (["Security administrator"], [], [404, 404, 200, 200]),
        ([], ["Grant"], [404, 404, 403, 403]),
    ],
)
def test_modifiers_are_for_those_who_may_grant(
    fresh_archive: Archive, words: list[str], everywhere: list[str], statuses: list[int]
) -> None:
    put_objects(fresh_archive, ("o_klassifikasjonssystem", 8, "Klassifikasjonssystem"))
    wire, _ = member(fresh_archive, *words, everywhere=everywhere)
    calls: list[tuple[str, str, object]] = [
        ("GET", "access-modifier/klassifikasjons-system/8", None),
        ("POST", "access-modifier/klassifikasjons-system", {"id": "8", "determinesAccessControl": False}),
        ("GET", "access-modifier/code-list/skjerming", None),
        ("POST", "access-modifier/code-list", {"id": "skjerming", "determinesAccessControl": False}),
    ]
    assert [wire.call(*call).status for call in calls] == statuses


def test_a_changed_modifier_counts_from_the_next_call(fresh_archive: Archive) -> None:
    put_objects(fresh_archive, ("o_klassifikasjonssystem", 8, "Klassifikasjonssystem"), ("o_klasse", 9, "Klasse"))
    put_objects(fresh_archive, ("o_abstraktmappe", 10, "Mappe"))
    with closing(sqlite3.connect(fresh_archive.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        db.execute("UPDATE o_klasse SET refKlassifikasjonssystem = 8")
        db.execute("UPDATE o_abstraktmappe SET refPrimaerKlasse = 9")
    wire, group = member(fresh_archive, "Security administrator", everywhere=["ReadThis", "Read"])
    seen = "permission/entity?objectType=Mappe&objectId=10"

    def determine(decides: bool) -> None:
        body = {"id": "8", "determinesAccessControl": decides}
        assert fresh_archive.wire.call("POST", "access-modifier/klassifikasjons-system", body).status == 200

    assert wire.call("GET", seen).status == 200
    determine(True)
    assert wire.call("GET", seen).status == 404
    related = {"accessGroupId": group, "explicitPermissions": ["ReadRelated"]}
    fresh_archive.wire.call("POST", "permission/entity", {**related, "objectType": "Klasse", "objectId": "9"})
    assert wire.call("GET", seen).status == 200
    fresh_archive.wire.call("DELETE", "permission/entity?objectType=Klasse&objectId=9")
    assert wire.call("GET", seen).status == 404
    determine(False)
    assert wire.call("GET", seen).status == 200

"""POST logs/change-log, logs/access-log and logs/download-log."""

from __future__ import annotations

import time

import pytest

from tests.server.calls.scene import READER, Body, Scene
from tests.server.calls.shapes import DIGITS, STAMP, UUID, answered, items, members, refused
from tests.server.wire import delete, link, save
from tests.waiting import came

CHANGES, ACCESSES, DOWNLOADS = (("POST", f"logs/{name}-log") for name in ("change", "access", "download"))
LOGS = (CHANGES, ACCESSES, DOWNLOADS)
VIEW = ("View changelog",)


def changes(scene: Scene, object_id: str, **more: object) -> list[Body]:
    told = members(answered(scene.wire.call(*CHANGES, {"id": object_id, "limit": 100, **more})))
    assert sorted(told) == ["results", "total"]
    results = [dict(each) for each in items(told["results"])]
    assert told["total"] == len(results)
    return results


def about(scene: Scene, object_id: str, kind: str, type_name: str = "Mappe") -> Body:
    return {
        "id": object_id,
        "systemId": scene.fields(type_name, object_id)["uuid"],
        "type": type_name,
        "revisionId": DIGITS,
        "revisionType": kind,
        "modifiedDate": STAMP,
        "modifiedBy": "admin",
        "modifiedByUserId": "admin",
    }


def test_each_change_is_told_with_what_goes_with_it(scene: Scene) -> None:
    one, other = scene.folder(), scene.folder()
    record = scene.record(one, tittel="A")
    first = scene.get("Basisregistrering", record)
    as_created = about(scene, record, "CREATE", "Basisregistrering")
    scene.wire.saved(save("Basisregistrering", record, tittel="B"))
    linked = link("Basisregistrering", record, "refKryssreferanseTilRegistrering", scene.ids["record"])
    scene.wire.saved(linked)
    unlinked = {"action": "unlink", "type": "Basisregistrering", "id": record}
    scene.wire.saved(
        unlinked | {"ref": "refKryssreferanseTilRegistrering", "unlinkFromId": [scene.ids["record"]]},
        unlinked | {"ref": "refMappe", "unlinkFromId": [one]},
        link("Basisregistrering", record, "refMappe", other),
    )
    reference = {"type": "Basisregistrering", "id": scene.ids["record"], "uuid": UUID}
    told = changes(scene, record)
    assert told[:2] == [
        as_created | {"newValue": first},
        as_created
        | {
            "revisionType": "UPDATE",
            "modifiedField": "tittel",
            "modifiedFieldType": "string",
            "newValue": {"tittel": "B"},
            "oldValue": {"tittel": "A"},
        },
    ]
    by_kind = {str(each["revisionType"]): each for each in told}
    assert sorted(by_kind) == ["CREATE", "LINK", "MOVE", "UNLINK", "UPDATE"]
    field = "refKryssreferanseTilRegistrering"
    assert (by_kind["LINK"]["modifiedField"], members(by_kind["LINK"]["newValue"])["id"]) == (field, reference["id"])
    unlink = by_kind["UNLINK"]
    assert (unlink["modifiedField"], members(unlink["removedValue"])["id"]) == (field, reference["id"])
    move = by_kind["MOVE"]
    assert (members(move["previousParent"])["id"], members(move["currentParent"])["id"]) == (one, other)
    assert "modifiedField" not in move
    known = as_created["systemId"]
    scene.wire.saved(delete("Basisregistrering", record))
    gone = changes(scene, str(known))[-1]
    assert (gone["revisionType"], members(members(gone["oldValue"])["fields"])["tittel"]) == ("DELETE", "B")


def test_an_object_is_named_by_id_or_uuid_and_may_be_given_its_type(scene: Scene) -> None:
    folder = scene.folder()
    uuid = str(scene.fields("Mappe", folder)["uuid"])
    one = changes(scene, folder)
    assert one == changes(scene, uuid) == changes(scene, folder, type="Mappe") == changes(scene, uuid, type="Mappe")
    assert one == changes(scene, folder, type="AbstraktMappe")


def test_children_are_told_and_those_below_them_unless_not_wanted(scene: Scene) -> None:
    folder = scene.folder()
    record = scene.record(folder)
    document = scene.document(record)

    def told(**more: object) -> list[object]:
        return [each["id"] for each in changes(scene, folder, **more)]

    assert told() == [folder, record, document]
    assert told(nestChildChanges=False) == [folder, record]
    assert told(includeChildChanges=False) == [folder]
    assert told(includeChildChanges="false", nestChildChanges="true") == [folder]


def test_ten_entries_are_told_unless_more_are_asked_for(scene: Scene) -> None:
    folder = scene.folder()
    for _ in range(11):
        scene.record(folder)
    first = members(answered(scene.wire.call(*CHANGES, {"id": folder})))
    assert (first["total"], len(items(first["results"]))) == (12, 10)
    rest = members(answered(scene.wire.call(*CHANGES, {"id": folder, "offset": "10", "limit": "100"})))
    assert (rest["total"], len(items(rest["results"]))) == (12, 2)
    none = members(answered(scene.wire.call(*CHANGES, {"id": folder, "offset": 99})))
    assert none == {"results": [], "total": 12}


@pytest.mark.parametrize(
    ("more", "member"),
    [
        ({}, "id"),
        ({"id": ""}, "id"),
        ({"id": 7}, "id"),
        ({"id": "1", "type": "Nope"}, "type"),
        ({"id": "1", "type": "Dokumentversjon"}, "type"),
        ({"id": "1", "includeChildChanges": "perhaps"}, "includeChildChanges"),
        ({"id": "1", "nestChildChanges": 1}, "nestChildChanges"),
    ],
)
def test_a_change_log_of_nothing_is_400(scene: Scene, more: Body, member: str) -> None:
    refused(scene.wire, CHANGES, more, 400, member)


@pytest.mark.parametrize("call", LOGS)
@pytest.mark.parametrize(
    ("page", "member"),
    [({"limit": 0}, "limit"), ({"limit": 101}, "limit"), ({"limit": "x"}, "limit"), ({"offset": -1}, "offset")],
)
def test_pages_of_logs_have_limits(scene: Scene, call: tuple[str, str], page: Body, member: str) -> None:
    refused(scene.wire, call, {"id": scene.ids["folder"], **page}, 400, member)


@pytest.mark.parametrize("call", LOGS)
def test_logs_need_their_permission(scene: Scene, call: tuple[str, str]) -> None:
    refused(scene.account((), READER), call, {"id": scene.ids["folder"]}, 403, "View changelog")
    assert answered(scene.account(VIEW, READER).call(*call, {"id": scene.ids["folder"]}))


def test_changes_of_what_is_not_there_or_may_not_be_read_are_404(scene: Scene) -> None:
    refused(scene.wire, CHANGES, {"id": "999999999"}, 404, "999999999")
    refused(scene.wire, CHANGES, {"id": "0b7f4ad0-5fbb-4f0e-9d1a-0d8ad6f3f777"}, 404, "0b7f4ad0")
    refused(scene.wire, CHANGES, {"id": scene.ids["folder"], "type": "Saksmappe"}, 404, "Saksmappe")
    refused(scene.account(VIEW, ()), CHANGES, {"id": scene.ids["folder"]}, 404, scene.ids["folder"])


def test_a_read_is_told_with_who_what_and_when(scene: Scene) -> None:
    reader = scene.new_account((), READER)[0]
    folder = scene.folder()
    told = scene.get("Mappe", folder, reader)
    assert told is not None
    uuid = members(told["fields"])["uuid"]
    asked = {"objectUUIDs": [uuid], "objectType": "Mappe"}
    assert came(lambda: answered(scene.wire.call(*ACCESSES, asked)) != {"results": [], "hasMore": False})
    found = members(answered(scene.wire.call(*ACCESSES, asked)))
    (entry,) = [each for each in items(found["results"]) if each["userId"] != "admin"]
    assert entry == {
        "createdDate": STAMP,
        "userName": entry["userId"],
        "userId": entry["userName"],
        "objectType": "Mappe",
        "objectUUID": uuid,
        "version": int(str(told["version"])),
    }
    assert found["hasMore"] is False
    only = members(answered(scene.wire.call(*ACCESSES, asked | {"userName": entry["userName"]})))
    assert items(only["results"]) == [entry]


def test_a_download_is_told_with_who_what_and_when(scene: Scene) -> None:
    file = scene.uploaded()
    uuid = scene.fields("Dokumentversjon", scene.version(scene.ids["document"], file))["uuid"]
    asked = {"dokumentversjonUUIDs": [uuid]}
    assert answered(scene.wire.call(*DOWNLOADS, asked)) == {"results": [], "hasMore": False}
    assert scene.wire.call("GET", f"download?id={file}").status == 200
    assert came(lambda: answered(scene.wire.call(*DOWNLOADS, asked)) != {"results": [], "hasMore": False})
    entry = {"createdDate": STAMP, "userName": "admin", "userId": "admin", "dokumentversjonUUID": uuid}
    assert answered(scene.wire.call(*DOWNLOADS, asked)) == {"results": [entry], "hasMore": False}
    assert answered(scene.wire.call(*DOWNLOADS, asked | {"userName": "admin"}))
    nobody = {"results": [], "hasMore": False}
    assert answered(scene.wire.call(*DOWNLOADS, asked | {"userName": "somebody"})) == nobody


def test_reads_and_downloads_are_told_within_a_span_and_page_by_page(scene: Scene) -> None:
    file = scene.uploaded()
    uuid = scene.fields("Dokumentversjon", scene.version(scene.ids["document"], file))["uuid"]
    for _ in range(3):
        assert scene.wire.call("GET", f"download?id={file}").status == 200
    asked = {"dokumentversjonUUIDs": [uuid], "limit": 2}

    def count(call: tuple[str, str], body: Body) -> tuple[int, object]:
        told = members(answered(scene.wire.call(*call, body)))
        return len(items(told["results"])), told["hasMore"]

    assert came(lambda: count(DOWNLOADS, asked | {"limit": 3}) == (3, False))
    assert count(DOWNLOADS, dict(asked)) == (2, True)
    assert count(DOWNLOADS, asked | {"offset": 2}) == (1, False)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert count(DOWNLOADS, asked | {"limit": 9, "createdDateFrom": "2001-01-01T00:00:00.000+0100"}) == (3, False)
    assert count(DOWNLOADS, asked | {"limit": 9, "createdDateTo": "2001-01-01"}) == (0, False)
    assert count(DOWNLOADS, asked | {"limit": 9, "createdDateFrom": "2999-01-01"}) == (0, False)
    assert count(ACCESSES, {"objectUUIDs": [uuid], "createdDateTo": "2001-01-01"}) == (0, False)
    assert today > "2001-01-01"


@pytest.mark.parametrize(
    ("call", "asked", "member"),
    [
        (ACCESSES, {"objectType": "Nope"}, "objectType"),
        (ACCESSES, {"objectType": "Arkiv"}, "objectType"),
        (ACCESSES, {"objectType": 7}, "objectType"),
        (ACCESSES, {"objectUUIDs": "x"}, "objectUUIDs"),
        (ACCESSES, {"objectUUIDs": [7]}, "objectUUIDs"),
        (ACCESSES, {"userName": 7}, "userName"),
        (ACCESSES, {"createdDateFrom": "soon"}, "createdDate"),
        (ACCESSES, {"createdDateTo": 7}, "createdDate"),
        (DOWNLOADS, {"dokumentversjonUUIDs": "x"}, "dokumentversjonUUIDs"),
        (DOWNLOADS, {"dokumentversjonUUIDs": [None]}, "dokumentversjonUUIDs"),
        (DOWNLOADS, {"userName": []}, "userName"),
        (DOWNLOADS, {"createdDateFrom": "soon"}, "createdDate"),
        (DOWNLOADS, {"createdDateTo": "2024-13-01"}, "createdDate"),
    ],
)
def test_a_log_of_reads_asked_for_badly_is_400(scene: Scene, call: tuple[str, str], asked: Body, member: str) -> None:
    refused(scene.wire, call, asked, 400, member)


def test_what_may_not_be_read_does_not_show_in_the_logs(scene: Scene) -> None:
    blind = scene.account(VIEW, ())
    scene.get("Mappe", scene.ids["folder"])
    uuid = scene.fields("Mappe", scene.ids["folder"])["uuid"]
    asked = {"objectUUIDs": [uuid]}
    assert came(lambda: answered(scene.wire.call(*ACCESSES, asked)) != {"results": [], "hasMore": False})
    assert answered(blind.call(*ACCESSES, asked)) == {"results": [], "hasMore": False}
    assert answered(blind.call(*DOWNLOADS, {})) == {"results": [], "hasMore": False}

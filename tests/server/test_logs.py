"""The change log, the access log, and history that is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.conftest import Archive, serving
from tests.server.wire import Wire, save, small_archive

Entry = dict[str, object]


def changes(wire: Wire, object_id: str, **more: object) -> tuple[list[Entry], int]:
    """The entries and the total of one change-log call."""
    reply = wire.call("POST", "logs/change-log", {"id": object_id, "limit": 100} | more)
    assert reply.status == 200, reply
    told = reply.json()
    results, total = told["results"], told["total"]
    assert isinstance(results, list)
    assert isinstance(total, int)
    return results, total


def accesses(wire: Wire, **asked: object) -> list[Entry]:
    told = wire.call("POST", "logs/access-log", {"limit": 100} | asked).json()["results"]
    assert isinstance(told, list)
    return told


def uuid_of(wire: Wire, type_name: str, object_id: str) -> str:
    return str(changes(wire, object_id, type=type_name, includeChildChanges=False)[0][0]["systemId"])


def test_a_change_tells_what_who_and_when(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    archive.wire.saved(save("Mappe", ids["@folder"], tittel="Renamed"))
    entries, total = changes(archive.wire, ids["@folder"], includeChildChanges=False)
    assert (total, [entry["revisionType"] for entry in entries]) == (2, ["CREATE", "UPDATE"])
    created, updated = entries
    assert updated | {"revisionId": 0, "modifiedDate": "", "systemId": ""} == {
        "id": ids["@folder"],
        "systemId": "",
        "type": "Mappe",
        "revisionId": 0,
        "revisionType": "UPDATE",
        "modifiedDate": "",
        "modifiedBy": "admin",
        "modifiedByUserId": "admin",
        "modifiedField": "tittel",
        "modifiedFieldType": "string",
        "newValue": {"tittel": "Renamed"},
        "oldValue": {"tittel": "Folder"},
    }
    assert str(updated["modifiedDate"]).endswith("Z")
    assert isinstance(created["newValue"], dict)
    assert int(str(updated["revisionId"])) > int(str(created["revisionId"]))


def test_an_object_is_found_by_id_and_uuid_and_abstract_type(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    uuid = uuid_of(archive.wire, "Mappe", ids["@folder"])
    for named in (ids["@folder"], uuid):
        for more in ({}, {"type": "Mappe"}, {"type": "AbstraktMappe"}):
            assert changes(archive.wire, named, **more)[1] == 2
    for wrong in ({"id": uuid, "type": "Saksmappe"}, {"id": "999999999"}, {"id": "no-uuid"}):
        assert archive.wire.call("POST", "logs/change-log", wrong).status == 404


def test_children_show_as_deep_as_asked(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    series = ids["@series"]
    alone = changes(archive.wire, series, includeChildChanges=False)[0]
    children = changes(archive.wire, series, nestChildChanges=False)[0]
    whole = changes(archive.wire, series)[0]
    assert [[entry["type"] for entry in entries] for entries in (alone, children, whole)] == [
        ["Arkivdel"],
        ["Arkivdel", "Mappe"],
        ["Arkivdel", "Mappe", "Basisregistrering"],
    ]


def test_pages_follow_each_other(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    for at in range(5):
        archive.wire.saved(save("Mappe", ids["@folder"], tittel=f"Title {at}"))
    whole, total = changes(archive.wire, ids["@folder"], includeChildChanges=False)
    assert total == 6
    pages = [changes(archive.wire, ids["@folder"], includeChildChanges=False, offset=at, limit=2) for at in (0, 2, 4)]
    assert [entry for page, _ in pages for entry in page] == whole
    assert changes(archive.wire, ids["@folder"], offset=100) == ([], 7)


def test_the_log_of_what_is_deleted_stays(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    uuid = uuid_of(archive.wire, "Mappe", ids["@folder"])
    archive.wire.saved({"action": "delete", "type": "Mappe", "id": ids["@folder"]})
    for named in (ids["@folder"], uuid):
        assert [entry["revisionType"] for entry in changes(archive.wire, named, includeChildChanges=False)[0]] == [
            "CREATE",
            "DELETE",
        ]
    assert "DELETE" in [entry["revisionType"] for entry in changes(archive.wire, ids["@series"])[0]]


@pytest.mark.parametrize("log", ["change-log", "access-log", "download-log", "change-log/import"])
def test_every_log_asks_for_its_permission(archive: Archive, log: str) -> None:
    powerless = archive.add_client(f"powerless-{log.replace('/', '-')}")
    assert powerless.call("POST", f"logs/{log}", {"id": "1", "entries": []}).status == 403


def test_what_may_not_be_read_does_not_show(archive: Archive) -> None:
    wire = archive.wire
    ids, hidden = small_archive(wire), small_archive(wire)
    auditor = archive.add_client("auditor", "auditors")
    group = {
        "name": "Auditors",
        "description": "x",
        "claims": ["auditors"],
        "globalPermissions": ["ReadThis"],
        "servicePermissions": ["View changelog"],
    }
    group_id = wire.call("POST", "access-group", group).json()["id"]
    grant = {
        "accessGroupId": group_id,
        "objectType": "Arkiv",
        "objectId": ids["@fonds"],
        "explicitPermissions": ["ReadThis", "Read"],
    }
    assert wire.call("POST", "permission/entity", grant).status == 201
    for each in (ids, hidden):
        wire.call(
            "POST", "query", {"type": "Mappe", "limit": 1, "query": "id=@i", "parameters": {"@i": each["@folder"]}}
        )
    assert changes(auditor, ids["@folder"])[1] > 0
    assert auditor.call("POST", "logs/change-log", {"id": hidden["@folder"]}).status == 404
    seen = {entry["objectUUID"] for entry in accesses(auditor)}
    assert seen == {uuid_of(wire, "Mappe", ids["@folder"])}
    wire.saved({"action": "delete", "type": "Mappe", "id": hidden["@folder"]})
    wire.saved({"action": "delete", "type": "Mappe", "id": ids["@folder"]})
    assert auditor.call("POST", "logs/change-log", {"id": hidden["@folder"]}).status == 404
    assert changes(auditor, ids["@folder"])[1] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 101},
        {"offset": -1},
        {"limit": "many"},
        {"createdDateFrom": "yesterday"},
        {"objectType": "Arkiv", "type": "Dokumentversjon"},
        {"objectUUIDs": "one", "dokumentversjonUUIDs": [1]},
    ],
)
def test_a_wrong_member_is_400(archive: Archive, wrong: dict[str, object]) -> None:
    ids = small_archive(archive.wire)
    statuses = [
        archive.wire.call("POST", f"logs/{log}", {"id": ids["@fonds"]} | wrong).status
        for log in ("change-log", "access-log", "download-log")
    ]
    assert 400 in statuses
    assert set(statuses) <= {200, 400}


@pytest.mark.parametrize(("setting", "expected"), [("off", 0), ("single", 1), ("all", 3)])
def test_the_access_log_notes_what_the_setting_says(
    archive_with: Callable[..., Archive], setting: str, expected: int
) -> None:
    wire = archive_with(access_log=setting).wire
    first, _ = small_archive(wire), small_archive(wire)
    for asked in ({"query": "id=@i", "parameters": {"@i": first["@folder"]}}, {}):
        wire.call("POST", "query", {"type": "Mappe", "limit": 10} | asked)
    assert len(accesses(wire)) == expected


def test_the_access_log_is_filtered_by_all_it_knows(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    ids = small_archive(wire)
    other = fresh_archive.wire_as("integration")
    for by, type_name, name in (
        (wire, "Mappe", "@folder"),
        (wire, "Basisregistrering", "@record"),
        (other, "Mappe", "@folder"),
    ):
        by.call("POST", "query", {"type": type_name, "limit": 1, "query": "id=@i", "parameters": {"@i": ids[name]}})
    entries = accesses(wire)
    assert [(entry["userName"], entry["objectType"], entry["version"]) for entry in entries] == [
        ("admin", "Mappe", entries[0]["version"]),
        ("admin", "Basisregistrering", 1),
        ("integration", "Mappe", entries[0]["version"]),
    ]
    assert isinstance(entries[0]["version"], int)
    assert len(accesses(wire, userName="integration")) == 1
    assert len(accesses(wire, objectType="Mappe")) == 2
    assert len(accesses(wire, objectUUIDs=[entries[1]["objectUUID"]])) == 1
    day = str(entries[0]["createdDate"])[:10]
    assert len(accesses(wire, createdDateFrom=entries[0]["createdDate"], createdDateTo=entries[-1]["createdDate"])) == 3
    assert len(accesses(wire, createdDateTo="2001-01-01")) == 0
    assert len(accesses(wire, createdDateFrom="2001-01-01", createdDateTo=f"{int(day[:4]) + 1}-01-01")) == 3


def test_history_is_imported_once_and_stands_in_its_time(archive: Archive) -> None:
    ids = small_archive(archive.wire)
    uuid = uuid_of(archive.wire, "Mappe", ids["@folder"])
    entry = {
        "systemId": uuid,
        "revisionType": "UPDATE",
        "modifiedDate": "1999-12-31T23:00:00.000Z",
        "modifiedBy": "Kari",
        "modifiedByUserId": "kari",
        "modifiedField": "tittel",
        "modifiedFieldType": "string",
        "oldValue": {"tittel": "Older"},
        "newValue": {"tittel": "Old"},
    }
    for imported in (1, 0):
        reply = archive.wire.call("POST", "logs/change-log/import", {"entries": [entry]})
        assert (reply.status, reply.json()) == (200, {"imported": imported})
    told = changes(archive.wire, ids["@folder"], includeChildChanges=False)[0]
    assert told[0] | {"revisionId": 0} == entry | {"id": ids["@folder"], "type": "Mappe", "revisionId": 0}
    assert [each["revisionType"] for each in told] == ["UPDATE", "CREATE"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"systemId": "unknown"}, 404),
        ({"systemId": None}, 400),
        ({"revisionType": "DELETE"}, 400),
        ({"modifiedDate": "once"}, 400),
        ({"modifiedBy": None}, 400),
        ({"modifiedField": None}, 400),
        ({"newValue": "text"}, 400),
    ],
)
def test_history_with_a_fault_is_refused_as_a_whole(archive: Archive, change: Entry, status: int) -> None:
    ids = small_archive(archive.wire)
    good = {
        "id": ids["@folder"],
        "revisionType": "UPDATE",
        "modifiedDate": "1999-12-31T23:00:00Z",
        "modifiedBy": "Kari",
        "modifiedField": "tittel",
        "newValue": {"tittel": "x"},
    }
    bad = good | {"id": None, "systemId": uuid_of(archive.wire, "Mappe", ids["@folder"])} | change
    reply = archive.wire.call("POST", "logs/change-log/import", {"entries": [good, bad]})
    assert (reply.status, b"entries[1]" in reply.body) == (status, True)
    assert changes(archive.wire, ids["@folder"], includeChildChanges=False)[1] == 1
    assert archive.wire.call("POST", "logs/change-log/import", {"entries": [good] * 1001}).status == 400


def test_nothing_is_lost_from_the_read_logs_by_a_tidy_stop(tmp_path: Path) -> None:
    with serving(tmp_path) as archive:
        ids = small_archive(archive.wire)
        asked = {"type": "Mappe", "limit": 1, "query": "id=@i", "parameters": {"@i": ids["@folder"]}}
        archive.wire.call("POST", "query", asked)
    with serving(tmp_path) as archive:
        assert len(accesses(archive.wire)) == 1

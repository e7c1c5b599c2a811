"""The further calls: method, path, query and body of each, and what is made of the answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from noarkit.archive.administration import Administration, registry
from noarkit.archive.registers import (
    AccessGroup,
    BusinessField,
    BusinessGroup,
    ChangesOf,
    FullTextQuery,
    Hit,
    Hits,
    ListedCode,
    ListedCodes,
    LogEntries,
    OnCodeList,
    OnObject,
    Permission,
)
from noarkit.archive.values import Json, SavedObject
from noarkit.errors import ArchiveStrange
from tests.archive.fakes import FakeArchive

GROUP: Json = {"id": 4, "name": "lesere", "claims": ["c"], "globalPermissions": ["Read"], "servicePermissions": []}
FOLDER: Json = {"type": "Mappe", "id": "1", "version": "2", "fields": {}, "links": {}}
Does = Callable[[Administration], object]


@pytest.mark.parametrize(
    ("does", "method", "path", "query", "body"),
    [
        (lambda a: a.delete_code("skjerming", "U"), "DELETE", "code-lists/skjerming/U", {}, None),
        (
            lambda a: a.put_business_group(BusinessGroup("g-1", "G", "about")),
            "PUT",
            "bsm-registry/group/g-1",
            {},
            {"groupName": "G", "groupDescription": "about"},
        ),
        (lambda a: a.delete_business_group("g"), "DELETE", "bsm-registry/group/g", {}, None),
        (
            lambda a: a.put_business_field("g", BusinessField("f", "F", "long", values=("1", "2"))),
            "PUT",
            "bsm-registry/group/g/field/f",
            {},
            {"fieldName": "F", "fieldType": "long", "fieldValues": ["1", "2"]},
        ),
        (
            lambda a: a.put_business_field("g", BusinessField("f", "F", description="d")),
            "PUT",
            "bsm-registry/group/g/field/f",
            {},
            {"fieldName": "F", "fieldType": "string", "fieldDescription": "d"},
        ),
        (lambda a: a.delete_business_field("g", "f"), "DELETE", "bsm-registry/group/g/field/f", {}, None),
        (lambda a: a.set_text("7", "tekst"), "POST", "full-text/set", {}, {"dokumentversjonId": "7", "tekst": "tekst"}),
        (lambda a: a.set_text("7", None), "POST", "full-text/set", {}, {"dokumentversjonId": "7"}),
        (lambda a: a.bulk_close("Arkiv", "1"), "POST", "bulk/close", {}, {"type": "Arkiv", "id": "1"}),
        (lambda a: a.bulk_open("Arkiv", "1"), "POST", "bulk/open", {}, {"type": "Arkiv", "id": "1"}),
        (
            lambda a: a.bulk_delete("Mappe", "1", version="3", with_precedents=True),
            "POST",
            "bulk/delete",
            {},
            {"type": "Mappe", "id": "1", "version": "3", "deleteObjectsLinkedToPrecedents": True},
        ),
        (
            lambda a: a.expand_folder("1", {"saksaar": 2024}),
            "POST",
            "expand/folder",
            {},
            {"id": "1", "saksmappe": {"saksaar": 2024}},
        ),
        (
            lambda a: a.expand_record("1", {"journalposttype": "I"}, [{"korrespondansepartNavn": "Kari"}]),
            "POST",
            "expand/record",
            {},
            {
                "id": "1",
                "journalpost": {"journalposttype": "I"},
                "korrespondansepart": [{"korrespondansepartNavn": "Kari"}],
            },
        ),
        (lambda a: a.delete_access_group(4), "DELETE", "access-group/4", {}, None),
        (
            lambda a: a.set_steers_access("klassifikasjons-system", "9", True),
            "POST",
            "access-modifier/klassifikasjons-system",
            {},
            {"id": "9", "determinesAccessControl": True},
        ),
        (
            lambda a: a.delete_permission(OnObject("Arkiv", "1"), 4),
            "DELETE",
            "permission/entity",
            {"objectType": "Arkiv", "objectId": "1", "accessGroupId": "4"},
            None,
        ),
        (
            lambda a: a.delete_permission(OnCodeList("skjerming", "U")),
            "DELETE",
            "permission/code-list",
            {"listType": "skjerming", "code": "U"},
            None,
        ),
        (lambda a: a.delete_permission(registry("bsm-registry")), "DELETE", "permission/bsm-registry", {}, None),
    ],
)
def test_each_change_goes_where_the_wire_has_it(
    does: Does, method: str, path: str, query: dict[str, str], body: dict[str, Json] | None
) -> None:
    archive = FakeArchive()
    does(Administration(archive))
    (call,) = archive.calls
    assert (call.method, "/".join(call.path), call.query, call.body) == (method, path, query, body)
    assert call.changes


def test_code_lists_are_read_and_set() -> None:
    code: Json = {"code": "U", "name": "Unntatt", "description": "d", "authority": "§13"}
    lists: Json = {
        "results": [
            {"type": "Mappe", "field": "skjerming", "defaultValue": "U", "values": [code]},
            {"type": "Mappe", "field": "mappetype", "values": []},
        ]
    }
    archive = FakeArchive(answers=[lists, code])
    office = Administration(archive)
    screened = ListedCode("U", "Unntatt", "d", "§13")
    assert office.code_lists(field="skjerming") == (
        ListedCodes("Mappe", "skjerming", "U", (screened,)),
        ListedCodes("Mappe", "mappetype", None, ()),
    )
    assert office.put_code("skjerming", screened) == screened
    assert archive.calls[0].query == {"field": "skjerming"}
    assert archive.calls[1].body == {"name": "Unntatt", "description": "d", "authority": "§13"}
    assert [call.changes for call in archive.calls] == [False, True]


def test_business_groups_are_read() -> None:
    field: Json = {"fieldId": "f", "fieldName": "F", "fieldType": "long", "fieldValues": ["1"]}
    answer: Json = {"results": [{"groupId": "g", "groupName": "G", "groupDescription": "d", "fields": [field]}]}
    office = Administration(FakeArchive(answers=[answer]))
    assert office.business_groups() == (BusinessGroup("g", "G", "d", (BusinessField("f", "F", "long", None, ("1",)),)),)


def test_a_business_field_of_unknown_kind_is_strange() -> None:
    answer: Json = {"results": [{"groupId": "g", "fields": [{"fieldId": "f", "fieldType": "colour"}]}]}
    with pytest.raises(ArchiveStrange):
        Administration(FakeArchive(answers=[answer])).business_groups()


def test_full_text_is_searched_for_everything_unless_told() -> None:
    answer: Json = {
        "total": 1,
        "results": [
            {
                "ids": {"Dokument.id": ["11"], "AbstraktMappe.id": ["1"]},
                "highlights": {"Dokument.tittel": ["|=hlstart=|Vei|=hlstop=|"]},
                "expand": {"AbstraktMappe": [FOLDER]},
            }
        ],
        "facets": [{"field": "AbstraktMappe.saksaar", "values": {"2024": 1}}],
    }
    archive = FakeArchive(answers=[answer])
    found = Administration(archive).search(FullTextQuery("Tekst", "vei", {"a": ("b", "c")}, ("AbstraktMappe",)))
    hit = Hit(
        {"Dokument.id": ("11",), "AbstraktMappe.id": ("1",)},
        {"Dokument.tittel": ("|=hlstart=|Vei|=hlstop=|",)},
        {"AbstraktMappe": (SavedObject("Mappe", "1", "2", {}, {}),)},
    )
    assert found == Hits(1, (hit,), {"AbstraktMappe.saksaar": {"2024": 1}})
    assert archive.calls[0].body == {
        "doctype": "Tekst",
        "query": "vei",
        "filters": {"a": ["b", "c"]},
        "expand": ["AbstraktMappe"],
        "offset": 0,
        "limit": 10,
        "publicUse": False,
    }


def test_the_change_log_is_read_to_its_end() -> None:
    first: Json = {"results": [{"id": number} for number in range(100)], "total": 101}
    archive = FakeArchive(answers=[first, {"results": [{"id": 100}], "total": 101}])
    found = list(Administration(archive).all_changes("7", "Mappe"))
    assert [one["id"] for one in found] == list(range(101))
    assert archive.calls[1].body == {
        "id": "7",
        "type": "Mappe",
        "includeChildChanges": True,
        "nestChildChanges": True,
        "offset": 100,
        "limit": 100,
    }


def test_changes_are_imported_in_portions() -> None:
    archive = FakeArchive(answers=[{"imported": 1000}, {"imported": 499}])
    imported = Administration(archive).import_changes({"id": str(number)} for number in range(1500))
    assert imported == 1499
    assert [call.path for call in archive.calls] == [("logs", "change-log", "import")] * 2
    assert archive.calls[1].body == {"entries": [{"id": str(number)} for number in range(1000, 1500)]}
    assert all(call.changes for call in archive.calls)


def test_logs_are_read_by_page() -> None:
    page: Json = {"results": [{"userName": "kari"}], "hasMore": True}
    archive = FakeArchive(answers=[page, page, {"results": [], "total": 0}])
    office = Administration(archive)
    entries = LogEntries(({"userName": "kari"},), True)
    assert office.accesses({"userName": "kari"}, 5, 1) == entries
    assert office.downloads({}) == entries
    assert office.changes(ChangesOf("7")) == LogEntries((), False, 0)
    assert archive.calls[0].body == {"userName": "kari", "offset": 5, "limit": 1}
    assert [call.path[1] for call in archive.calls] == ["access-log", "download-log", "change-log"]
    assert not any(call.changes for call in archive.calls)


def test_access_groups_are_read_page_by_page() -> None:
    archive = FakeArchive(
        answers=[{"groups": [GROUP] * 100, "hasMore": True}, {"groups": [GROUP], "hasMore": False}, GROUP]
    )
    office = Administration(archive)
    group = AccessGroup("lesere", ("c",), None, ("Read",), (), 4)
    assert list(office.access_groups()) == [group] * 101
    assert office.access_group(4) == group
    assert [call.query for call in archive.calls[:2]] == [
        {"offset": "0", "limit": "100"},
        {"offset": "100", "limit": "100"},
    ]


def test_access_groups_are_made_and_set() -> None:
    archive = FakeArchive(answers=[GROUP, GROUP])
    office = Administration(archive)
    group = AccessGroup("lesere", ("c",), "d", ("Read",), ("Journal",))
    assert office.add_access_group(group).id == 4
    office.set_access_group(AccessGroup("lesere", ("c",), id=4))
    assert archive.calls[0].body == {
        "name": "lesere",
        "claims": ["c"],
        "description": "d",
        "globalPermissions": ["Read"],
        "servicePermissions": ["Journal"],
    }
    assert [(call.method, call.path) for call in archive.calls] == [
        ("POST", ("access-group",)),
        ("PUT", ("access-group", "4")),
    ]


def test_permissions_are_read_granted_and_replaced() -> None:
    told: Json = {"accessGroupId": 4, "listType": "skjerming", "code": "U", "explicitPermissions": ["ReadRelated"]}
    archive = FakeArchive(answers=[{"permissions": [told], "hasMore": False}, told, told])
    office = Administration(archive)
    permission = Permission(4, OnCodeList("skjerming", "U"), ("ReadRelated",))
    assert list(office.permissions(OnCodeList("skjerming"), 4)) == [permission]
    assert office.add_permission(permission) == permission
    assert office.set_permission(permission) == permission
    assert archive.calls[0].query == {"listType": "skjerming", "accessGroupId": "4", "offset": "0", "limit": "100"}
    assert [call.method for call in archive.calls] == ["GET", "POST", "PUT"]
    assert archive.calls[1].body == {
        "accessGroupId": 4,
        "listType": "skjerming",
        "code": "U",
        "explicitPermissions": ["ReadRelated"],
    }


def test_rights_and_modifiers_and_who_we_are_are_read() -> None:
    archive = FakeArchive(
        answers=[
            {"servicePermissions": ["Journal"], "explicitPermissions": ["Read", "Move"]},
            {"determinesAccessControl": True},
            {"userId": "integration"},
            {"results": [{"discriminator": "Arkiv"}], "hasMore": False},
        ]
    )
    office = Administration(archive)
    assert office.own_rights() == (frozenset({"Journal"}), frozenset({"Read", "Move"}))
    assert office.steers_access("code-list", "skjerming")
    assert office.me() == "integration"
    assert list(office.group_permissions(4)) == [{"discriminator": "Arkiv"}]
    assert ["/".join(call.path) for call in archive.calls] == [
        "access-group/info",
        "access-modifier/code-list/skjerming",
        "info/me",
        "access-group/4/permissions",
    ]


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"results": {}}, {"results": ["x"]}, {"results": [{}]}])
def test_answers_of_another_shape_are_strange(answer: Json) -> None:
    with pytest.raises(ArchiveStrange):
        Administration(FakeArchive(answers=[answer])).code_lists()

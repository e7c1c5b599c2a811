"""The sixteen permission calls over HTTP: objects, code lists, and the two registries."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest

from tests.server.conftest import Archive
from tests.server.wire import Wire
from tests.waiting import PATIENCE_S

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}
ALL_BUT_RELATED = ["ReadThis", "Read", "Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move"]
OBJECTS = {
    "Arkiv": ("o_arkiv", 11, ""),
    "Arkivdel": ("o_arkivdel", 12, "refArkiv = 11"),
    "Saksmappe": ("o_abstraktmappe", 13, "refArkivdel = 12"),
    "Journalpost": ("o_abstraktregistrering", 14, "refMappe = 13"),
    "Klassifikasjonssystem": ("o_klassifikasjonssystem", 15, ""),
    "Klasse": ("o_klasse", 16, "refKlassifikasjonssystem = 15"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """One of the things permissions are granted on: its address, the members that name it, what may be granted."""

    path: str
    names: Mapping[str, object] = field(default_factory=dict)
    grantable: tuple[str, ...] = ()

    def query(self, **more: object) -> str:
        """The address with the members as a query."""
        return f"permission/{self.path}?{urlencode({**self.names, **more})}"

    def body(self, group: object, *words: str) -> dict[str, object]:
        """The members as a body."""
        return {"accessGroupId": group, **self.names, "explicitPermissions": list(words)}


PLACES = (
    *(
        Place("entity", {"objectType": name, "objectId": OBJECTS[name][1]}, tuple(ALL_BUT_RELATED))
        for name in ("Arkiv", "Arkivdel", "Saksmappe", "Journalpost")
    ),
    Place("entity", {"objectType": "Klassifikasjonssystem", "objectId": 15}, (*ALL_BUT_RELATED, "ReadRelated")),
    Place("entity", {"objectType": "Klasse", "objectId": 16}, (*ALL_BUT_RELATED, "ReadRelated")),
    Place("entity", {"objectType": "AbstraktMappe", "objectId": 13}, tuple(ALL_BUT_RELATED)),
    Place("entity", {"objectType": "AbstraktRegistrering", "objectId": 14}, tuple(ALL_BUT_RELATED)),
    Place("code-list", {"listType": "all"}, (*ALL_BUT_RELATED, "ReadRelated")),
    *(
        Place("code-list", {"listType": name, "code": code} if code else {"listType": name}, ("ReadRelated",))
        for name, codes in {
            "administrativEnhet": ("", "ADM"),
            "mappetype": ("", "EMNE"),
            "dokumenttype": ("", "B"),
            "skjerming": ("", "UO13"),
        }.items()
        for code in codes
    ),
    Place("bsm-registry", {}, tuple(ALL_BUT_RELATED)),
    Place("precedent-registry", {}, tuple(ALL_BUT_RELATED)),
)
ONE_OF_EACH = tuple(
    {place.path: place for place in (Place("code-list", {"listType": "skjerming"}, ("ReadRelated",)), *PLACES)}.values()
)


def title(value: object) -> str | None:
    """The name of a place in a test report."""
    return " ".join([value.path, *map(str, value.names.values())]) if isinstance(value, Place) else None


def put_objects(archive: Archive) -> None:
    """Puts one object of each kind straight into the archive, once."""
    with closing(sqlite3.connect(archive.data_dir / "archive.db", timeout=PATIENCE_S)) as db, db:
        for name, (table, object_id, link) in OBJECTS.items():
            db.execute(f"INSERT OR IGNORE INTO {table} (id, type, version) VALUES (?, ?, 1)", (object_id, name))
            if link:
                db.execute(f"UPDATE {table} SET {link} WHERE id = ?", (object_id,))


@pytest.fixture(scope="module")
def stocked(archive: Archive) -> Archive:
    """The shared archive, with objects."""
    put_objects(archive)
    return archive


_numbers = itertools.count(1)


def new_group(archive: Archive, *claims: str, everywhere: tuple[str, ...] = (), service: tuple[str, ...] = ()) -> int:
    """A group of its own for a test; its id."""
    group = {
        "name": f"Group {next(_numbers)} of permissions",
        "claims": list(claims) or ["nobody"],
        "globalPermissions": list(everywhere),
        "servicePermissions": list(service),
    }
    made = archive.wire.call("POST", "access-group", group)
    assert made.status == 201, made
    return int(str(made.json()["id"]))


def told(archive: Archive, place: Place, **more: object) -> object:
    """The permissions that stand there."""
    reply = archive.wire.call("GET", place.query(**more))
    assert reply.status == 200, reply
    return reply.json()["permissions"]


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_a_permission_is_made_changed_told_and_taken_away(stocked: Archive, place: Place) -> None:
    wire, group = stocked.wire, new_group(stocked)
    path, first = f"permission/{place.path}", place.body(group, place.grantable[0])
    made = wire.call("POST", path, first)
    assert (made.status, made.json()) == (201, first)
    assert told(stocked, place, accessGroupId=group) == [first]
    whole = place.body(group, *place.grantable)
    changed = wire.call("PUT", path, whole)
    assert (changed.status, changed.json()) == (200, whole)
    assert told(stocked, place, accessGroupId=group) == [whole]
    assert wire.call("DELETE", place.query(accessGroupId=group)).status == 204
    assert told(stocked, place, accessGroupId=group) == []


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_only_what_can_be_granted_there_is(stocked: Archive, place: Place) -> None:
    group, path = new_group(stocked), f"permission/{place.path}"
    every = {*ALL_BUT_RELATED, "ReadRelated", "Journal", "read"}
    for word in every - set(place.grantable):
        refused = stocked.wire.call("POST", path, place.body(group, word), headers=JSON_ERRORS)
        assert refused.status == 400
        assert word in str(refused.json()["description"])
    for words in ([], [""], [None], "Read", None):
        body = {**place.body(group), "explicitPermissions": words}
        assert stocked.wire.call("POST", path, body).status == 400
    assert told(stocked, place, accessGroupId=group) == []


@pytest.mark.parametrize("place", ONE_OF_EACH, ids=title)
def test_a_permission_is_made_once_and_changed_only_where_it_is(stocked: Archive, place: Place) -> None:
    group, path, word = new_group(stocked), f"permission/{place.path}", place.grantable[0]
    assert stocked.wire.call("PUT", path, place.body(group, word)).status == 404
    assert stocked.wire.call("DELETE", place.query(accessGroupId=group)).status == 404
    assert stocked.wire.call("POST", path, place.body(group, word)).status == 201
    assert stocked.wire.call("POST", path, place.body(group, word)).status == 409


@pytest.mark.parametrize("place", ONE_OF_EACH, ids=title)
def test_the_group_is_there(stocked: Archive, place: Place) -> None:
    path, word = f"permission/{place.path}", place.grantable[0]
    for group, status in ((999_999, 404), ("999999", 404), ("x", 400), (None, 400), (True, 400), (1.5, 400)):
        assert stocked.wire.call("POST", path, place.body(group, word)).status == status
    assert stocked.wire.call("GET", place.query(accessGroupId="x")).status == 400
    assert stocked.wire.call("DELETE", place.query(accessGroupId="x")).status == 400


@pytest.mark.parametrize("place", ONE_OF_EACH, ids=title)
def test_unknown_members_are_refused(stocked: Archive, place: Place) -> None:
    body = {**place.body(new_group(stocked), place.grantable[0]), "permissions": []}
    assert stocked.wire.call("POST", f"permission/{place.path}", body).status == 400


@pytest.mark.parametrize("place", ONE_OF_EACH, ids=title)
def test_without_a_group_all_groups_are_meant(fresh_archive: Archive, place: Place) -> None:
    put_objects(fresh_archive)
    groups = [new_group(fresh_archive) for _ in range(3)]
    for group in reversed(groups):
        assert (
            fresh_archive.wire.call("POST", f"permission/{place.path}", place.body(group, place.grantable[0])).status
            == 201
        )
    whole = [place.body(group, place.grantable[0]) for group in groups]
    assert fresh_archive.wire.call("GET", place.query()).json() == {"permissions": whole, "hasMore": False}
    assert fresh_archive.wire.call("GET", place.query(limit=2)).json() == {"permissions": whole[:2], "hasMore": True}
    paged = fresh_archive.wire.call("GET", place.query(offset=1, limit=200)).json()
    assert paged == {"permissions": whole[1:], "hasMore": False}
    for page in ("limit=0", "limit=201", "offset=-1"):
        assert fresh_archive.wire.call("GET", f"{place.query(x=1)}&{page}").status == 400
    assert fresh_archive.wire.call("DELETE", place.query()).status == 204
    assert told(fresh_archive, place) == []
    assert fresh_archive.wire.call("DELETE", place.query()).status == 204


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ({"objectType": "Arkiv", "objectId": "999999"}, 404),
        ({"objectType": "Arkivdel", "objectId": "11"}, 404),
        ({"objectType": "Mappe", "objectId": "13"}, 404),
        ({"objectType": "Dokument", "objectId": "11"}, 400),
        ({"objectType": "Sakspart", "objectId": "11"}, 400),
        ({"objectType": "Nothing", "objectId": "11"}, 400),
        ({"objectType": "Arkiv", "objectId": "x"}, 400),
        ({"objectType": "Arkiv"}, 400),
        ({"objectId": "11"}, 400),
    ],
)
def test_the_object_is_there(stocked: Archive, names: dict[str, str], status: int) -> None:
    place, group = Place("entity", names), new_group(stocked)
    assert stocked.wire.call("GET", place.query()).status == status
    assert stocked.wire.call("DELETE", place.query()).status == status
    assert stocked.wire.call("POST", "permission/entity", place.body(group, "Read")).status == status
    assert stocked.wire.call("PUT", "permission/entity", place.body(group, "Read")).status == status


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ({"listType": "skjerming", "code": "NOTHING"}, 404),
        ({"listType": "saksstatus"}, 400),
        ({"listType": "all", "code": "UO13"}, 400),
        ({"listType": "skjerming", "code": ""}, 400),
        ({"code": "UO13"}, 400),
    ],
)
def test_the_list_and_its_value_are_there(stocked: Archive, names: dict[str, str], status: int) -> None:
    place, group = Place("code-list", names), new_group(stocked)
    assert stocked.wire.call("GET", place.query()).status == status
    assert stocked.wire.call("DELETE", place.query()).status == status
    assert stocked.wire.call("POST", "permission/code-list", place.body(group, "ReadRelated")).status == status


def test_an_object_id_goes_out_as_a_number(stocked: Archive) -> None:
    group = new_group(stocked)
    body = {"accessGroupId": str(group), "objectType": "Arkiv", "objectId": 11, "explicitPermissions": ["Read", "Read"]}
    made = stocked.wire.call("POST", "permission/entity", body)
    assert made.json() == {
        "accessGroupId": group,
        "objectType": "Arkiv",
        "objectId": 11,
        "explicitPermissions": ["Read"],
    }


def every_call(wire: Wire, place: Place, group: int) -> list[int]:
    """The statuses of all four calls for a place, in the order that leaves nothing behind."""
    path, body = f"permission/{place.path}", place.body(group, place.grantable[0])
    calls: list[tuple[str, str, object]] = [
        ("GET", place.query(), None),
        ("POST", path, body),
        ("PUT", path, body),
        ("DELETE", place.query(accessGroupId=group), None),
    ]
    return [wire.call(*call).status for call in calls]


@pytest.mark.parametrize("place", ONE_OF_EACH, ids=title)
def test_permissions_are_for_security_administrators_and_those_who_may_grant(stocked: Archive, place: Place) -> None:
    other, name = new_group(stocked), f"granter-{place.path}"
    wire = stocked.add_client(name, name)
    reading = ("ReadThis", "Read")
    group = new_group(stocked, name, everywhere=reading)
    assert every_call(wire, place, other) == [403] * 4
    for words, service, statuses in (
        (reading, ("GUI administrator",), [403] * 4),
        ((*reading, "Create", "Update", "Delete", "Move"), (), [403] * 4),
        ((*reading, "Grant"), (), [200, 201, 200, 204]),
        (reading, ("Security administrator",), [200, 201, 200, 204]),
    ):
        changed = {"globalPermissions": list(words), "servicePermissions": list(service)}
        assert stocked.wire.call("PUT", f"access-group/{group}", changed).status == 200
        assert every_call(wire, place, other) == statuses


def test_grant_on_an_object_counts_below_it_and_not_on_itself(stocked: Archive) -> None:
    wire, other = stocked.add_client("granter-below", "granters-below"), new_group(stocked)
    group = new_group(stocked, "granters-below", everywhere=("ReadThis", "Read"))
    series = Place("entity", {"objectType": "Arkivdel", "objectId": 12}, ("Read",))
    case = Place("entity", {"objectType": "Saksmappe", "objectId": "13"}, ("Read",))
    assert stocked.wire.call("POST", "permission/entity", series.body(group, "Grant")).status == 201
    assert every_call(wire, series, other) == [403] * 4
    assert every_call(wire, case, other) == [200, 201, 200, 204]


def test_what_may_not_be_read_is_not_found_even_by_a_security_administrator(stocked: Archive) -> None:
    wire, other = stocked.add_client("blind", "blind"), new_group(stocked)
    new_group(stocked, "blind", service=("Security administrator",))
    assert every_call(wire, PLACES[0], other) == [404] * 4


def test_a_value_that_is_taken_away_takes_its_permissions_along(fresh_archive: Archive) -> None:
    group = new_group(fresh_archive)
    place = Place("code-list", {"listType": "mappetype", "code": "EMNE"}, ("ReadRelated",))
    assert fresh_archive.wire.call("POST", "permission/code-list", place.body(group, "ReadRelated")).status == 201
    assert fresh_archive.wire.call("DELETE", "code-lists/mappetype/EMNE").status == 204
    assert fresh_archive.wire.call("PUT", "code-lists/mappetype/EMNE", {"name": "New"}).status == 200
    assert told(fresh_archive, place) == []

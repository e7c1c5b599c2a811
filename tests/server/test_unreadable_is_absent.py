"""To who may not read it, an object, a file or a version looks like one that does not exist, whatever the call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.server.conftest import Archive, serving
from tests.server.rights_table import GRAPH, Thing
from tests.server.wire import Reply, Wire, link, save

EVERYTHING_BUT_READING = ["Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move"]
SERVICES = [
    "Edit list values", "Write changelog", "Store light PDF", "Edit journaled", "Dispose documents", "Edit finalized",
    "Publish documents", "View changelog", "Journal", "Store documents",
]  # fmt: skip
THINGS = [thing for thing in GRAPH if thing.type not in ("Presedens",)]
ABSENT = "987654"


@dataclass(frozen=True, slots=True)
class Scene:
    """An archive with one of each, and a client that may do everything but read."""

    live: Archive
    ids: dict[str, str]
    uuids: dict[str, str]
    file: str
    upload: str
    blind: Wire


@pytest.fixture(scope="module")
def scene_of_the_blind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with serving(tmp_path_factory.mktemp("absent")) as live:
        file, upload = (str(live.wire.upload(b"body", "body.txt").json()["id"]) for _ in range(2))
        saves = [save(thing.type, thing.name, **thing.fields) for thing in GRAPH]
        version = next(action for action in saves if action["type"] == "Dokumentversjon")
        version["fields"] = {"variantformat": "P", "format": "txt", "referanseDokumentfil": file}
        links = [link(thing.type, thing.name, ref, to) for thing in GRAPH for ref, to in thing.links.items()]
        saved = live.wire.saved(*saves, *links)
        group = {
            "name": "Blind",
            "claims": ["blind"],
            "globalPermissions": EVERYTHING_BUT_READING,
            "servicePermissions": SERVICES,
        }
        assert live.wire.call("POST", "access-group", group).status == 201
        ids = {name: str(told["id"]) for name, told in saved.items()}
        uuids = {name: str(told["fields"]["uuid"]) for name, told in saved.items()}  # type: ignore[index]  # an object
        yield Scene(live, ids, uuids, file, upload, live.add_client("blind", "blind"))


def alike(scene: Scene, hidden: str, method: str, path: str, body: object = None) -> None:
    """Sends a call that names a hidden id, and the same with an absent one."""

    def answer(number: str) -> tuple[int, str]:
        reply: Reply = scene.blind.call(method, path.replace("ID", number), _with(body, number))
        told = re.sub(r"actions\[[0-9]+\]", "actions[]", reply.body.decode())
        return reply.status, re.sub(rf"\b{number}\b", "ID", told)

    assert answer(hidden) == answer(ABSENT), (method, path, body)


def _with(body: object, number: str) -> object:
    if isinstance(body, dict):
        return {name: _with(value, number) for name, value in body.items()}
    if isinstance(body, list):
        return [_with(value, number) for value in body]
    return number if body == "ID" else int(number) if body == "INT" else body


@pytest.mark.parametrize("thing", THINGS, ids=[thing.name for thing in THINGS])
def test_no_transaction_tells_an_unreadable_object_from_an_absent_one(scene_of_the_blind: Scene, thing: Thing) -> None:
    scene, name, type_name = scene_of_the_blind, thing.name, thing.type
    ways: list[list[object]] = [
        [save(type_name, "ID")],
        [save(type_name, "ID", tittel="x")],
        [save(type_name, "ID", uuid="x")],
        [save(type_name, "ID") | {"version": "999"}],
        [{"action": "delete", "type": type_name, "id": "ID"}],
        [{"action": "delete", "type": type_name, "id": "ID", "version": "999"}],
        [save("Mappe", "ID", tittel="x")],
    ]
    for made, ref in (("Mappe", "refArkivdel"), ("Mappe", "refForelderMappe"), ("Basisregistrering", "refMappe"),
                      ("Dokument", "refRegistrering"), ("Merknad", "refMappe"), ("Arkivdel", "refArkiv"),
                      ("Mappe", "refPrimaerKlasse"), ("Mappe", "refKryssreferanseTilMappe")):  # fmt: skip
        new = save(made, "@new", tittel="x") if made != "Merknad" else save(made, "@new", tekst="x", merknadstype="MS")
        ways.append([new, link(made, "@new", ref, "ID")])
    for ref in thing.links:
        target = scene.ids[thing.links[ref]]
        ways.append([link(type_name, "ID", ref, target)])
        ways.append([link(type_name, "ID", ref, ABSENT)])
        ways.append([{"action": "unlink", "type": type_name, "id": "ID", "ref": ref, "unlinkFromId": [target]}])
    for actions in ways:
        alike(scene, scene.ids[name], "POST", "transaction", {"actions": actions})


@pytest.mark.parametrize("thing", THINGS, ids=[thing.name for thing in THINGS])
def test_no_other_call_tells_an_unreadable_object_from_an_absent_one(scene_of_the_blind: Scene, thing: Thing) -> None:
    scene, name, type_name = scene_of_the_blind, thing.name, thing.type
    hidden = scene.ids[name]
    for kind in (type_name, "AbstraktMappe", "AbstraktRegistrering", "DokumentBeskrivelse", "Arkiv"):
        for call in ("open", "close", "delete"):
            alike(scene, hidden, "POST", f"bulk/{call}", {"type": kind, "id": "ID"})
        alike(scene, hidden, "POST", "bulk/delete", {"type": kind, "id": "ID", "version": "999"})
        alike(scene, hidden, "POST", "logs/change-log", {"type": kind, "id": "ID"})
        for member in ("ID", "INT"):
            grant = {"accessGroupId": 1, "objectType": kind, "objectId": member, "explicitPermissions": ["Read"]}
            alike(scene, hidden, "POST", "permission/entity", grant)
            alike(scene, hidden, "PUT", "permission/entity", grant)
        alike(scene, hidden, "GET", f"permission/entity?objectType={kind}&objectId=ID")
        alike(scene, hidden, "DELETE", f"permission/entity?objectType={kind}&objectId=ID&accessGroupId=1")
        alike(
            scene, hidden, "POST", "query", {"type": "Mappe", "limit": 1, "query": "id=@i", "parameters": {"@i": "ID"}}
        )
    alike(scene, hidden, "POST", "logs/change-log", {"id": "ID"})
    alike(scene, hidden, "POST", "full-text/set", {"dokumentversjonId": "ID", "tekst": "x"})
    alike(scene, hidden, "POST", "light-pdf/set", {"dokumentversjonId": "ID"})
    alike(scene, hidden, "POST", "expand/folder", {"id": "ID", "saksmappe": {"administrativEnhet": "x"}})
    alike(scene, hidden, "POST", "expand/record", {"id": "ID", "journalpost": {"journalposttype": "I"}})
    alike(scene, hidden, "GET", "access-modifier/klassifikasjons-system/ID")
    alike(
        scene, hidden, "POST", "access-modifier/klassifikasjons-system", {"id": "ID", "determinesAccessControl": True}
    )
    absent = {"id": "00000000-0000-4000-8000-000000000000"}
    told = [scene.blind.call("POST", "logs/change-log", body) for body in ({"id": scene.uuids[name]}, absent)]
    assert told[0].status == told[1].status == 404
    assert told[0].body.replace(scene.uuids[name].encode(), b"") == told[1].body.replace(absent["id"].encode(), b"")


@pytest.mark.parametrize("which", ["file", "upload"])
def test_no_call_tells_another_accounts_file_from_an_absent_one(scene_of_the_blind: Scene, which: str) -> None:
    scene = scene_of_the_blind
    hidden = scene.file if which == "file" else scene.upload
    for kind in ("", "&type=original", "&type=lightpdf"):
        alike(scene, hidden, "GET", f"download?id=ID{kind}")
    other = scene.live.add_client(f"writer-{which}", "admin")
    for blind in (scene.blind, other):
        seen = Scene(scene.live, scene.ids, scene.uuids, scene.file, scene.upload, blind)
        actions = [
            save("Dokumentversjon", "@v", variantformat="P", format="txt", referanseDokumentfil="ID"),
            link("Dokumentversjon", "@v", "refDokument", scene.ids["document"]),
        ]
        alike(seen, hidden, "POST", "transaction", {"actions": actions})
        light = {"dokumentversjonId": scene.ids["version"], "referanseDokumentfil": "ID"}
        alike(seen, hidden, "POST", "light-pdf/set", light)

"""POST bulk/close, bulk/open and bulk/delete."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import READER, WRITER, Body, Scene
from tests.server.calls.shapes import empty, refused
from tests.server.wire import link, save
from tests.waiting import came

CLOSE, OPEN, DELETE = (("POST", f"bulk/{name}") for name in ("close", "open", "delete"))
SOON_S = 20.0  # by itself it looks every 30 s


def own_fonds(scene: Scene) -> dict[str, str]:
    """A fonds of the test's own with one of each: arkiv, del, mappe, post, dokument."""
    return scene.made(
        save("Arkiv", "arkiv", tittel="A"),
        save("Arkivskaper", "skaper", arkivskaperIdent="1", arkivskaperNavn="N"),
        link("Arkivskaper", "skaper", "refArkiv", "arkiv"),
        save("Arkivdel", "del", tittel="D"),
        link("Arkivdel", "del", "refArkiv", "arkiv"),
        save("Mappe", "mappe", tittel="M"),
        link("Mappe", "mappe", "refArkivdel", "del"),
        save("Basisregistrering", "post", tittel="P"),
        link("Basisregistrering", "post", "refMappe", "mappe"),
        save("Dokument", "dokument", tittel="T", tilknyttetRegistreringSom="H"),
        link("Dokument", "dokument", "refRegistrering", "post"),
    )


def test_a_close_is_accepted_at_once_and_cascades_soon(scene: Scene) -> None:
    ids = own_fonds(scene)
    empty(scene.wire.call(*CLOSE, {"type": "Arkiv", "id": ids["arkiv"]}), 202)
    assert came(lambda: scene.fields("Arkiv", ids["arkiv"])["arkivstatus"] == "A", SOON_S)
    assert scene.fields("Arkivdel", ids["del"])["arkivdelstatus"] == "P"
    assert scene.fields("Dokument", ids["dokument"])["dokumentstatus"] == "F"
    assert scene.fields("Mappe", ids["mappe"])["avsluttetAv"] == "admin"
    empty(scene.wire.call(*OPEN, {"type": "Arkiv", "id": ids["arkiv"]}), 202)
    assert came(lambda: scene.fields("Arkiv", ids["arkiv"])["arkivstatus"] == "O", SOON_S)


def test_an_open_is_accepted_at_once_and_cascades_soon(scene: Scene) -> None:
    folder = scene.folder()
    document = scene.document(scene.record(folder))
    scene.wire.saved(save("Dokument", document, dokumentstatus="F"))
    scene.wire.saved(save("Mappe", folder, avsluttetDato="2024-01-02T03:04:05Z"))
    empty(scene.wire.call(*OPEN, {"type": "AbstraktMappe", "id": folder}), 202)
    assert came(lambda: "avsluttetDato" not in scene.fields("Mappe", folder), SOON_S)
    assert scene.fields("Dokument", document)["dokumentstatus"] == "B"


@pytest.mark.parametrize(
    ("type_name", "name"),
    [
        ("Arkiv", "fonds"),
        ("Arkivdel", "series"),
        ("AbstraktMappe", "folder"),
        ("AbstraktRegistrering", "record"),
        ("DokumentBeskrivelse", "document"),
        ("Klassifikasjonssystem", "system"),
        ("Klasse", "class"),
    ],
)
def test_each_type_that_can_be_opened_or_closed_is_known(scene: Scene, type_name: str, name: str) -> None:
    reader = scene.account((), READER)
    given = {"type": type_name, "id": scene.ids[name]}
    refused(reader, CLOSE, given, 403, "Update")
    refused(reader, OPEN, given, 403, "Update")
    refused(scene.wire, CLOSE, given | {"id": "999999999"}, 404, type_name.removesuffix("Beskrivelse"))


def test_a_delete_is_accepted_at_once_and_done_soon(scene: Scene) -> None:
    folder = scene.folder()
    record = scene.record(folder)
    told = scene.get("Mappe", folder)
    assert told is not None
    empty(scene.wire.call(*DELETE, {"type": "Mappe", "id": folder, "version": told["version"]}), 202)
    assert came(lambda: scene.get("Mappe", folder) is None, SOON_S)
    assert scene.get("Basisregistrering", record) is None


def test_a_delete_spares_what_a_precedent_holds_unless_told_otherwise(scene: Scene) -> None:
    case = scene.case()
    actions = [save("Presedens", "@p", rettskildefaktor="DOM"), link("Presedens", "@p", "refSaksmappe", case)]
    scene.made(*actions)
    free = scene.case()
    empty(scene.wire.call(*DELETE, {"type": "Saksmappe", "id": case}), 202)
    empty(scene.wire.call(*DELETE, {"type": "Saksmappe", "id": free}), 202)
    assert came(lambda: scene.get("Saksmappe", free) is None, SOON_S)
    assert scene.get("Saksmappe", case) is not None
    told: Body = {"type": "Saksmappe", "id": case, "deleteObjectsLinkedToPrecedents": True}
    empty(scene.wire.call(*DELETE, told), 202)
    assert came(lambda: scene.get("Saksmappe", case) is None, SOON_S)


@pytest.mark.parametrize(
    "type_name",
    [
        "Arkiv",
        "Arkivdel",
        "AbstraktMappe",
        "Mappe",
        "Saksmappe",
        "Moetemappe",
        "AbstraktRegistrering",
        "Journalpost",
        "Basisregistrering",
        "Arkivnotat",
        "Moeteregistrering",
    ],
)
def test_each_type_that_can_be_deleted_is_known(scene: Scene, type_name: str) -> None:
    refused(scene.wire, DELETE, {"type": type_name, "id": "999999999"}, 404, type_name)


@pytest.mark.parametrize("call", [CLOSE, OPEN, DELETE])
@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({}, "type"),
        ({"id": "1"}, "type"),
        ({"type": "Nope", "id": "1"}, "type"),
        ({"type": "Noekkelord", "id": "1"}, "type"),
        ({"type": ["Arkiv"], "id": "1"}, "type"),
        ({"type": "Arkiv"}, "id"),
        ({"type": "Arkiv", "id": "x"}, "id"),
        ({"type": "Arkiv", "id": ""}, "id"),
        ({"type": "Arkiv", "id": None}, "id"),
        ({"type": "Arkiv", "id": -1}, "id"),
    ],
)
def test_bulk_work_on_nothing_is_400(scene: Scene, call: tuple[str, str], body: Body, member: str) -> None:
    refused(scene.wire, call, body, 400, member)


@pytest.mark.parametrize("type_name", ["Mappe", "Journalpost", "Presedens"])
def test_only_whole_kinds_are_opened_and_closed(scene: Scene, type_name: str) -> None:
    for call in (CLOSE, OPEN):
        refused(scene.wire, call, {"type": type_name, "id": "1"}, 400, "type")


@pytest.mark.parametrize("type_name", ["Klasse", "Klassifikasjonssystem", "Dokument", "DokumentBeskrivelse"])
def test_only_what_the_format_names_is_deleted_in_bulk(scene: Scene, type_name: str) -> None:
    refused(scene.wire, DELETE, {"type": type_name, "id": "1"}, 400, "type")


@pytest.mark.parametrize(
    ("more", "member"),
    [
        ({"version": "x"}, "version"),
        ({"version": -1}, "version"),
        ({"deleteObjectsLinkedToPrecedents": "perhaps"}, "deleteObjectsLinkedToPrecedents"),
    ],
)
def test_a_delete_that_makes_no_sense_is_400(scene: Scene, more: Body, member: str) -> None:
    refused(scene.wire, DELETE, {"type": "Mappe", "id": scene.ids["folder"], **more}, 400, member)


def test_existence_and_readability_are_judged_at_once(scene: Scene) -> None:
    blind = scene.account(("Edit finalized",), ("Update", "Delete"))
    given = {"type": "AbstraktMappe", "id": scene.ids["folder"]}
    for call in (CLOSE, OPEN, DELETE):
        refused(scene.wire, call, given | {"id": "999999999"}, 404, "999999999")
        refused(blind, call, given, 404, scene.ids["folder"])
    refused(scene.wire, DELETE, {"type": "Saksmappe", "id": scene.ids["folder"]}, 404, "Saksmappe")


def test_a_newer_version_is_409(scene: Scene) -> None:
    folder = scene.folder()
    told = scene.get("Mappe", folder)
    assert told is not None
    scene.wire.saved(save("Mappe", folder, tittel="Nyere"))
    for stale in (told["version"], int(str(told["version"]))):
        refused(scene.wire, DELETE, {"type": "Mappe", "id": folder, "version": stale}, 409, "version", folder)
    assert scene.get("Mappe", folder) is not None


def test_bulk_work_needs_its_permissions(scene: Scene) -> None:
    given = {"type": "AbstraktMappe", "id": scene.folder()}
    reader, writer = scene.account((), READER), scene.account((), WRITER)
    refused(reader, CLOSE, given, 403, "Update")
    refused(reader, OPEN, given, 403, "Update")
    refused(writer, OPEN, given, 403, "Edit finalized")
    refused(writer, DELETE, given, 403, "Delete")
    empty(writer.call(*CLOSE, given), 202)

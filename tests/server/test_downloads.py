"""Downloads: whose files, under which rights, and how they come."""

from __future__ import annotations

import hashlib
import http.client
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.server.conftest import Archive
from tests.server.wire import BASE, document, small_archive
from tests.waiting import PATIENCE_S


def test_an_upload_that_nothing_refers_to_is_its_uploaders_alone(archive: Archive) -> None:
    file_id = archive.wire.upload(b"mine").json()["id"]
    assert archive.wire.call("GET", f"download?id={file_id}").body == b"mine"
    assert archive.wire_as("integration").call("GET", f"download?id={file_id}").status == 404


def test_a_registered_file_has_the_rights_of_its_version(archive: Archive) -> None:
    file_id = str(archive.wire.upload(b"registered").json()["id"])
    ids = small_archive(archive.wire, file_id)
    reader = archive.add_client("file-reader", "file-readers")
    assert reader.call("GET", f"download?id={file_id}").status == 404
    group = {
        "name": "File readers",
        "description": "x",
        "claims": ["file-readers"],
        "globalPermissions": ["ReadThis"],
        "servicePermissions": [],
    }
    group_id = archive.wire.call("POST", "access-group", group).json()["id"]
    grant = {"accessGroupId": group_id, "objectType": "Arkiv", "objectId": ids["@fonds"]}
    rights = {"explicitPermissions": ["ReadThis", "Read"]}
    assert archive.wire.call("POST", "permission/entity", grant | rights).status == 201
    assert reader.call("GET", f"download?id={file_id}").body == b"registered"
    archive.wire.call("DELETE", f"permission/entity?objectType=Arkiv&objectId={ids['@fonds']}")
    assert reader.call("GET", f"download?id={file_id}").status == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("id=", 400),
        ("id=abc", 404),
        ("id=-1", 404),
        ("id=999999999", 404),
        ("id=" + "9" * 30, 404),
        ("id=%C2%B2", 404),
    ],
)
def test_what_is_no_file_is_not_served(archive: Archive, query: str, status: int) -> None:
    assert archive.wire.call("GET", f"download?{query}").status == status


def test_the_type_is_original_or_lightpdf(archive: Archive) -> None:
    file_id = archive.wire.upload(b"original").json()["id"]
    assert archive.wire.call("GET", f"download?id={file_id}&type=original").body == b"original"
    assert archive.wire.call("GET", f"download?id={file_id}&type=lightpdf").status == 404
    assert archive.wire.call("GET", f"download?id={file_id}&type=other").status == 400


def test_a_light_pdf_is_stored_replaced_and_taken_away(archive: Archive) -> None:
    file_id, one, two = (str(archive.wire.upload(content).json()["id"]) for content in (b"docx", b"%PDF 1", b"%PDF 2"))
    ids = small_archive(archive.wire, file_id)

    def light() -> tuple[int, bytes]:
        reply = archive.wire.call("GET", f"download?id={file_id}&type=lightpdf")
        return reply.status, reply.body if reply.status == 200 else b""

    def store(light_id: str | None) -> int:
        named = {} if light_id is None else {"referanseDokumentfil": light_id}
        return archive.wire.call("POST", "light-pdf/set", {"dokumentversjonId": ids["@version1"]} | named).status

    assert light() == (404, b"")
    assert (store(one), light()) == (200, (200, b"%PDF 1"))
    assert (store(two), light()) == (200, (200, b"%PDF 2"))
    assert (store("999999999"), light()) == (400, (200, b"%PDF 2"))
    assert (store(None), light()) == (200, (404, b""))
    assert archive.wire.call("GET", f"download?id={file_id}").body == b"docx"


def test_a_light_pdf_asks_for_its_permission_and_a_version(archive: Archive) -> None:
    ids = small_archive(archive.wire, str(archive.wire.upload(b"x").json()["id"]))
    powerless = archive.add_client("no-light-pdf")
    assert powerless.call("POST", "light-pdf/set", {"dokumentversjonId": ids["@version1"]}).status == 403
    version = {"dokumentversjonId": ids["@version1"]}
    wrongs: tuple[tuple[dict[str, object], int], ...] = (
        ({}, 400),
        ({"dokumentversjonId": 7}, 400),
        ({**version, "referanseDokumentfil": 7}, 400),
        ({"dokumentversjonId": ids["@document1"]}, 404),
    )
    for wrong, status in wrongs:
        assert archive.wire.call("POST", "light-pdf/set", wrong).status == status
    reader = archive.add_client("light-pdf-reader", "light-pdf-readers")
    group = {"name": "Light", "claims": ["light-pdf-readers"], "servicePermissions": ["Store light PDF"]}
    assert archive.wire.call("POST", "access-group", {**group, "globalPermissions": ["ReadThis", "Read"]}).status == 201
    assert reader.call("POST", "light-pdf/set", version).status == 403


def test_a_large_file_comes_whole_and_in_pieces(archive: Archive) -> None:
    content = b"".join(hashlib.sha256(b"%d" % at).digest() for at in range(150_000))
    file_id = archive.wire.upload(content).json()["id"]
    reply = archive.wire.call("GET", f"download?id={file_id}")
    assert hashlib.sha256(reply.body).digest() == hashlib.sha256(content).digest()


def test_a_client_that_leaves_in_the_middle_hurts_nobody(archive: Archive) -> None:
    file_id = archive.wire.upload(b"x" * 8_000_000).json()["id"]
    for _ in range(5):
        connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=PATIENCE_S)
        connection.request(
            "GET", f"{BASE}/download?id={file_id}", headers={"Authorization": f"Bearer {archive.wire.token}"}
        )
        connection.getresponse().read(1000)
        connection.close()
    assert len(archive.wire.call("GET", f"download?id={file_id}").body) == 8_000_000


def test_a_client_that_stops_reading_is_let_go(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(body_idle_timeout_s=0.5).wire
    file_id = wire.upload(b"x" * 64_000_000).json()["id"]
    head = f"GET {BASE}/download?id={file_id} HTTP/1.1\r\nAuthorization: Bearer {wire.token}\r\n\r\n"
    for pause_s in (1.5, 10.0, 60.0):  # a busy machine may be late to let it go
        with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as stuck:
            stuck.sendall(head.encode())
            time.sleep(pause_s)
            got = 0
            with suppress(ConnectionError):
                while piece := stuck.recv(1_000_000):
                    got += len(piece)
        if got < 64_000_000:
            break
    assert 0 < got < 64_000_000


def test_a_deleted_versions_file_is_gone(archive: Archive) -> None:
    file_id = str(archive.wire.upload(b"to be deleted").json()["id"])
    ids = small_archive(archive.wire, file_id)
    archive.wire.saved({"action": "delete", "type": "Dokument", "id": ids["@document1"]})
    assert archive.wire.call("GET", f"download?id={file_id}").status == 404


def test_downloads_of_registered_files_are_logged(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    first, second, private = (str(wire.upload(content).json()["id"]) for content in (b"1", b"2", b"3"))
    ids = small_archive(wire, first)
    wire.saved(*document("@d", "@v", ids["@record"], second))
    for file_id in (first, second, first, private):
        wire.call("GET", f"download?id={file_id}")
    uuids = [fields(fresh_archive, file_id)["uuid"] for file_id in (first, second)]
    told = wire.call("POST", "logs/download-log", {}).json()
    assert told["hasMore"] is False
    results = told["results"]
    assert isinstance(results, list)
    assert [entry["dokumentversjonUUID"] for entry in results] == [uuids[0], uuids[1], uuids[0]]
    assert {(entry["userName"], entry["userId"]) for entry in results} == {("admin", "admin")}
    page = wire.call("POST", "logs/download-log", {"dokumentversjonUUIDs": [uuids[0]], "limit": 1}).json()
    assert (page["hasMore"], len(list(page["results"]))) == (True, 1)  # type: ignore[call-overload]  # a list


def fields(archive: Archive, file_id: str) -> dict[str, object]:
    """The fields of the version that refers to a file."""
    asked = {"type": "Dokumentversjon", "limit": 1, "query": "referanseDokumentfil=@f", "parameters": {"@f": file_id}}
    told = archive.wire.call("POST", "query", asked).json()["results"]
    assert isinstance(told, list)
    found: dict[str, object] = told[0]["fields"]
    return found

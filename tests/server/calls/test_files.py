"""POST upload and GET download: bytes in, bytes out, and who may have them."""

from __future__ import annotations

import hashlib
import http.client
from collections.abc import Callable

import pytest

from tests.server.calls.scene import READER, WRITER, Scene, version_actions
from tests.server.calls.shapes import DIGITS, JSON_ERRORS, answered, refused
from tests.server.conftest import Archive
from tests.server.wire import BASE, Reply
from tests.waiting import PATIENCE_S, came

UPLOAD = ("POST", "upload")
OCTETS = {"Content-Type": "application/octet-stream"}


def upload(scene: Scene, content: bytes, disposition: str | None, **headers: str) -> Reply:
    sent = OCTETS | headers | ({} if disposition is None else {"Content-Disposition": disposition})
    return scene.wire.call(*UPLOAD, content, headers=sent)


def test_an_upload_answers_with_the_id_of_the_file(scene: Scene) -> None:
    reply = upload(scene, b"\x00\xff bytes", "attachment; filename=\"a.bin\"; filename*=utf-8''%C3%A6.bin")
    assert answered(reply) == {"id": DIGITS}
    file = str(reply.json()["id"])
    back = scene.wire.call("GET", f"download?id={file}")
    assert (back.status, back.body) == (200, b"\x00\xff bytes")
    assert back.headers["content-type"] == "application/octet-stream"
    assert back.headers["content-length"] == "8"
    assert back.headers["content-disposition"] == "attachment; filename=\"_.bin\"; filename*=utf-8''%C3%A6.bin"


def test_the_version_gets_the_facts_of_its_file(scene: Scene) -> None:
    content = b"%PDF-1.7 not really"
    disposition = "attachment; filename*=utf-8''S%C3%B8knad%20om%20tilskudd.pdf"
    file = str(upload(scene, content, disposition, **{"Content-Type": "application/pdf"}).json()["id"])
    fields = scene.fields("Dokumentversjon", scene.version(scene.ids["document"], file))
    assert (fields["filnavn"], fields["innholdstype"]) == ("Søknad om tilskudd.pdf", "application/pdf")
    assert (fields["sjekksum"], fields["sjekksumAlgoritme"]) == (hashlib.sha256(content).hexdigest(), "SHA-256")
    assert fields["filstoerrelse"] == 19


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="brev.txt"', "brev.txt"),
        ("attachment; filename=brev.txt", "brev.txt"),
        ("attachment; filename*=utf-8''%C3%A6.txt", "æ.txt"),
        ("attachment; filename*=UTF-8'nb'%C3%A6.txt", "æ.txt"),
        ("ATTACHMENT; FileName=\"a.txt\"; FILENAME*=utf-8''%C3%A5.txt", "å.txt"),
        ("attachment; filename*=utf-8''to+ord.txt", "to+ord.txt"),
        ('attachment; filename="med \\"sitat\\".txt"', 'med "sitat".txt'),
        ('attachment; filename="C:\\\\mappe\\\\a.txt"', "a.txt"),
    ],
)
def test_the_name_comes_from_either_parameter_and_the_extended_wins(scene: Scene, disposition: str, name: str) -> None:
    file = str(upload(scene, b"text", disposition).json()["id"])
    assert scene.fields("Dokumentversjon", scene.version(scene.ids["document"], file))["filnavn"] == name


@pytest.mark.parametrize(
    "disposition",
    [
        None,
        "attachment",
        'attachment; filename=""',
        "attachment; filename*=æ.txt",
        "attachment; filename*=iso-8859-1''%E6.txt",
        "attachment; filename*=utf-8''%E6.txt",
        'attachment; filename="\xe6.txt"',
        'attachment; filename=".."',
        "attachment; filename*=utf-8''a%00b",
    ],
)
def test_an_upload_without_a_good_name_is_400(scene: Scene, disposition: str | None) -> None:
    for headers in ({}, JSON_ERRORS):
        reply = upload(scene, b"text", disposition, **headers)
        assert reply.status == 400
        assert b"Content-Disposition" in reply.body
        assert reply.headers["content-type"] == ("application/json" if headers else "text/plain; charset=utf-8")


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/pdf", "text/plain; charset=x", ""])
def test_any_media_type_is_taken(scene: Scene, media_type: str) -> None:
    assert upload(scene, b"text", 'attachment; filename="a.pdf"', **{"Content-Type": media_type}).status == 200


def test_a_chunked_upload_needs_no_length(scene: Scene) -> None:
    connection = http.client.HTTPConnection(scene.wire.host, scene.wire.port, timeout=PATIENCE_S)
    headers = {
        "Authorization": f"Bearer {scene.wire.token}",
        "Content-Disposition": "attachment; filename*=utf-8''chunked.txt",
        **OCTETS,
    }
    connection.request("POST", f"{BASE}/upload", iter([b"first ", b"second"]), headers, encode_chunked=True)
    response = connection.getresponse()
    reply = Reply(response.status, {}, response.read())
    connection.close()
    assert reply.status == 200
    assert scene.wire.call("GET", f"download?id={reply.json()['id']}").body == b"first second"


def test_an_empty_file_is_a_file(scene: Scene) -> None:
    file = str(upload(scene, b"", 'attachment; filename="tom.txt"').json()["id"])
    fields = scene.fields("Dokumentversjon", scene.version(scene.ids["document"], file))
    assert (fields["filstoerrelse"], fields["sjekksum"]) == (0, hashlib.sha256(b"").hexdigest())
    assert scene.wire.call("GET", f"download?id={file}").headers["content-length"] == "0"


def test_an_upload_needs_its_permission(scene: Scene) -> None:
    writer = scene.account((), WRITER)
    about = {"Content-Disposition": 'attachment; filename="a.txt"', **OCTETS}
    for headers in (about, about | JSON_ERRORS):
        reply = writer.call(*UPLOAD, b"text", headers=headers)
        assert reply.status == 403
        assert b"Store documents" in reply.body
    assert scene.account(("Store documents",), ()).upload(b"text").status == 200


def test_an_upload_over_the_limit_is_413(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(max_upload_bytes=1000).wire
    assert wire.upload(b"x" * 1000).status == 200
    assert wire.upload(b"x" * 1001).status == 413


def test_an_upload_that_nobody_refers_to_is_its_uploaders_alone(scene: Scene) -> None:
    file = scene.uploaded(b"mine")
    call = ("GET", f"download?id={file}")
    assert scene.wire.call(*call).body == b"mine"
    refused(scene.account(("Store documents",), READER), call, None, 404, "no such file")


def test_an_upload_that_nobody_refers_to_is_gone_in_time(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(upload_ttl_s=0).wire
    file = wire.upload(b"soon gone").json()["id"]
    assert came(lambda: wire.call("GET", f"download?id={file}").status == 404)


def test_a_registered_file_has_the_access_rules_of_its_version(scene: Scene) -> None:
    call = ("GET", f"download?id={scene.file}")
    reader = scene.account((), READER).call(*call)
    assert (reader.status, reader.body) == (200, b"the first text")
    assert reader.headers["content-disposition"] == "attachment; filename=\"brev.txt\"; filename*=utf-8''brev.txt"
    refused(scene.account((), ()), call, None, 404, "no such file")


def test_a_download_may_say_that_it_wants_the_original(scene: Scene) -> None:
    for more in ("&type=original", ""):
        assert scene.wire.call("GET", f"download?id={scene.file}{more}").body == b"the first text"


def test_a_light_pdf_is_downloaded_where_there_is_one(scene: Scene) -> None:
    file, light = scene.uploaded(), scene.uploaded(b"%PDF light", "light.pdf")
    version = scene.version(scene.ids["document"], file)
    call = ("GET", f"download?id={file}&type=lightpdf")
    refused(scene.wire, call, None, 404, "no such file")
    given = {"dokumentversjonId": version, "referanseDokumentfil": light}
    assert scene.wire.call("POST", "light-pdf/set", given).status == 200
    reply = scene.wire.call(*call)
    assert (reply.body, reply.headers["content-type"]) == (b"%PDF light", "application/pdf")


@pytest.mark.parametrize(
    ("query", "status", "word"),
    [
        ("", 400, "id"),
        ("?id=", 400, "id"),
        ("?id=1&type=pdf", 400, "type"),
        ("?id=1&type=", 400, "type"),
        ("?id=999999999", 404, "no such file"),
        ("?id=x", 404, "no such file"),
        ("?id=99999999999999999999999", 404, "no such file"),
        ("?id=-1", 404, "no such file"),
    ],
)
def test_a_download_of_nothing_is_refused(scene: Scene, query: str, status: int, word: str) -> None:
    refused(scene.wire, ("GET", f"download{query}"), None, status, word)


def test_the_id_of_a_version_is_not_that_of_its_file(scene: Scene) -> None:
    file = scene.uploaded()
    version = scene.made(*version_actions(scene.ids["document"], file))["@v"]
    assert version != file
    assert scene.fields("Dokumentversjon", version)["referanseDokumentfil"] == file

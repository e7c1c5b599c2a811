"""Uploads: who may, under which name, how large, and how long they stay."""

from __future__ import annotations

import hashlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.server.areas import open_service
from noarkit.server.database import Database
from noarkit.server.files import Files, UploadInfo
from noarkit.server.settings import Settings
from noarkit.server.wire import Refusal
from tests.server.conftest import Archive
from tests.server.wire import BASE, Wire, document, small_archive
from tests.waiting import PATIENCE_S, came

HOUR_S = 3600


def named(wire: Wire, disposition: str | None) -> tuple[int, str]:
    """Uploads under a Content-Disposition; the status, and the name it was kept under."""
    headers = {"Content-Type": "application/octet-stream"}
    if disposition is not None:
        headers["Content-Disposition"] = disposition
    reply = wire.call("POST", "upload", b"x", headers=headers)
    if reply.status != 200:
        return reply.status, ""
    kept = wire.call("GET", f"download?id={reply.json()['id']}")
    return 200, kept.headers["content-disposition"]


@pytest.mark.parametrize(
    ("disposition", "kept"),
    [
        ('attachment; filename="a b.txt"', "filename=\"a b.txt\"; filename*=utf-8''a%20b.txt"),
        ("attachment; filename=a.txt", "filename=\"a.txt\"; filename*=utf-8''a.txt"),
        ("attachment; filename*=utf-8''%C3%A6%20b.txt", "filename=\"_ b.txt\"; filename*=utf-8''%C3%A6%20b.txt"),
        ("attachment; filename*=UTF-8'nb'%C3%A6.txt", "filename=\"_.txt\"; filename*=utf-8''%C3%A6.txt"),
        ("attachment; filename=\"a.txt\"; filename*=utf-8''b.txt", "filename=\"b.txt\"; filename*=utf-8''b.txt"),
        ("attachment; filename*=utf-8''b.txt; filename=\"\xe6.txt\"", "filename=\"b.txt\"; filename*=utf-8''b.txt"),
        ("attachment; filename*=utf-8''a+b.txt", "filename=\"a+b.txt\"; filename*=utf-8''a%2Bb.txt"),
        ('attachment; filename="a\\"b;c.txt"', "filename=\"a_b;c.txt\"; filename*=utf-8''a%22b%3Bc.txt"),
        ('attachment; filename="../../etc/passwd"', "filename=\"passwd\"; filename*=utf-8''passwd"),
        ('inline; filename="C:\\\\dir\\\\a.txt"', "filename=\"a.txt\"; filename*=utf-8''a.txt"),
    ],
)
def test_a_name_is_read_and_given_back(archive: Archive, disposition: str, kept: str) -> None:
    assert named(archive.wire, disposition) == (200, f"attachment; {kept}")


@pytest.mark.parametrize(
    "disposition",
    [
        None,
        "attachment",
        'attachment; filename=""',
        'attachment; filename=".."',
        'attachment; filename="\xe6.txt"',
        "attachment; filename*=utf-8''%ff.txt",
        "attachment; filename*=iso-8859-1''%e6.txt",
        "attachment; filename*=a.txt",
        "attachment; filename*=utf-8''a%00.txt",
        "attachment; filename*=utf-8''a%0d%0aX:%20y",
        "attachment; filename*=utf-8''" + "a" * 1100,
        'attachment; name="filename=a.txt"',
    ],
)
def test_what_is_no_name_is_400(archive: Archive, disposition: str | None) -> None:
    assert named(archive.wire, disposition)[0] == 400


@pytest.mark.parametrize("size", [0, 1, 4096, 65536, 256 * 1024, 256 * 1024 + 1, 3_000_001])
@pytest.mark.parametrize("way", ["length", "chunked"])
def test_the_bytes_come_back_as_they_went(archive: Archive, size: int, way: str) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(range(size % 256))
    connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {archive.wire.token}", "Content-Disposition": "x; filename=a"}
    body = content if way == "length" else iter([content[:100], content[100:]])
    connection.request("POST", f"{BASE}/upload", body, headers, encode_chunked=way == "chunked")
    file_id = connection.getresponse().read().decode().removeprefix('{"id":"').removesuffix('"}')
    connection.close()
    got = archive.wire.call("GET", f"download?id={file_id}")
    assert (got.status, got.headers["content-length"], got.body == content) == (200, str(size), True)


def test_ids_are_new_after_each_start(tmp_path: Path) -> None:
    seen: list[int] = []
    for _ in range(3):
        service = open_service(tmp_path)
        service.files.reserve_ids()
        seen += [service.files.keep(b"same", UploadInfo("a", "", "me")) for _ in range(3)]
        service.close()
    assert len(set(seen)) == 9


def test_an_upload_needs_the_permission_to_store_documents(archive: Archive) -> None:
    powerless = archive.add_client("powerless")
    assert powerless.upload(b"x").status == 403


def test_a_file_over_the_limit_is_413_and_leaves_nothing(archive_with: Callable[..., Archive]) -> None:
    archive = archive_with(max_upload_bytes=400_000)
    assert archive.wire.upload(b"x" * 400_000).status == 200
    assert archive.wire.upload(b"x" * 400_001).status == 413
    connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {archive.wire.token}", "Content-Disposition": "x; filename=a"}
    connection.request("POST", f"{BASE}/upload", iter([b"y" * 300_000] * 3), headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert len(contents(archive.data_dir)) == 1


def test_an_upload_cut_off_leaves_nothing(archive_with: Callable[..., Archive]) -> None:
    archive = archive_with(body_idle_timeout_s=0.3)
    head = (
        f"POST {BASE}/upload HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {archive.wire.token}\r\n"
        "Content-Disposition: x; filename=a\r\nContent-Length: 9000000\r\n\r\n"
    )
    with socket.create_connection((archive.wire.host, archive.wire.port), timeout=PATIENCE_S) as stuck:
        stuck.sendall(head.encode() + b"z" * 2_000_000)
        assert stuck.recv(100).startswith(b"HTTP/1.1 408 ")
    with socket.create_connection((archive.wire.host, archive.wire.port), timeout=PATIENCE_S) as gone:
        gone.sendall(head.encode() + b"z" * 2_000_000)
    assert archive.wire.upload(b"x").status == 200
    assert came(lambda: len(contents(archive.data_dir)) == 1)


def test_the_version_tells_the_facts_of_its_file(archive: Archive) -> None:
    content = b"%PDF-1.7 facts"
    file_id = str(archive.wire.upload(content, "a.pdf").json()["id"])
    ids = small_archive(archive.wire, file_id)
    reply = archive.wire.call(
        "POST",
        "query",
        {
            "type": "Dokumentversjon",
            "limit": 1,
            "query": "id=@i",
            "parameters": {"@i": ids["@version1"]},
            "publicUse": False,
        },
    )
    fields = reply.json()["results"][0]["fields"]  # type: ignore[index]  # a list of objects
    told = {
        name: fields[name] for name in ("sjekksum", "sjekksumAlgoritme", "filstoerrelse", "filnavn", "innholdstype")
    }
    assert told == {
        "sjekksum": hashlib.sha256(content).hexdigest(),
        "sjekksumAlgoritme": "SHA-256",
        "filstoerrelse": len(content),
        "filnavn": "a.pdf",
        "innholdstype": "application/pdf",
    }


def test_a_media_type_that_the_upload_names_is_kept(archive: Archive) -> None:
    file_id = archive.wire.upload(b"x", "a.pdf", **{"Content-Type": "text/csv; header=present"}).json()["id"]
    assert archive.wire.call("GET", f"download?id={file_id}").headers["content-type"] == "text/csv"


def test_an_unknown_file_is_400_and_anothers_too(archive: Archive) -> None:
    other = archive.wire_as("integration")
    file_id = str(other.upload(b"private").json()["id"])
    ids = small_archive(archive.wire)
    for wrong in ("999999999", file_id):
        reply = archive.wire.transaction(*document("@d", "@v", ids["@record"], wrong))
        assert (reply.status, b"referanseDokumentfil" in reply.body) == (400, True)


def test_many_uploads_at_once_get_ids_of_their_own(archive: Archive) -> None:
    ids: list[str] = []

    def work(at: int) -> None:
        for each in range(20):
            ids.append(str(archive.wire.upload(b"%d-%d" % (at, each)).json()["id"]))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 80


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files(tmp_path: Path, clock: Clock) -> Iterator[Files]:
    """The files of an archive with a clock of the test's own."""
    service = open_service(tmp_path, Settings(upload_ttl_s=HOUR_S), clock)
    service.files.reserve_ids()
    yield service.files
    service.close()


ME = UploadInfo("a.txt", "", "me")


def database(files: Files) -> Database:
    return files._archive  # the tests below stand in for a transaction


def claim(files: Files, file_id: int) -> None:
    with database(files).transaction() as db:
        files.make_durable([files.claim(db, str(file_id), "me")])


def test_an_upload_is_gone_after_its_hour(files: Files, clock: Clock, tmp_path: Path) -> None:
    file_id = files.keep(b"content", ME)
    clock.now += HOUR_S - 1
    assert files.find_own_upload(file_id, "me") is not None
    clock.now += 2
    assert files.find_own_upload(file_id, "me") is None
    with database(files).transaction() as db, pytest.raises(Refusal) as told:
        files.claim(db, str(file_id), "me")
    assert told.value.status == 400
    clock.now += HOUR_S
    files.sweep()
    assert contents(tmp_path) == []


def test_a_file_that_is_referred_to_outlives_its_upload(files: Files, clock: Clock, tmp_path: Path) -> None:
    file_id = files.keep(b"content", ME)
    claim(files, file_id)
    clock.now += 3 * HOUR_S
    files.sweep()
    files.sweep_strays()
    assert len(contents(tmp_path)) == 1
    with database(files).snapshot() as db:
        assert files.find_stored(db, file_id) is not None


def test_a_claim_that_was_rolled_back_leaves_a_private_upload(files: Files, clock: Clock, tmp_path: Path) -> None:
    file_id = files.keep(b"content", ME)
    with pytest.raises(ZeroDivisionError), database(files).transaction() as db:
        files.claim(db, str(file_id), "me")
        raise ZeroDivisionError
    assert files.find_own_upload(file_id, "me") is not None
    clock.now += 3 * HOUR_S
    files.sweep()
    assert contents(tmp_path) == []


def test_a_claim_at_the_last_moment_is_safe_from_the_sweep(files: Files, clock: Clock, tmp_path: Path) -> None:
    file_id = files.keep(b"content", ME)
    clock.now += HOUR_S
    with database(files).transaction() as db:
        facts = files.claim(db, str(file_id), "me")
        clock.now += 600
        files.sweep()
        files.make_durable([facts])
    clock.now += HOUR_S
    files.sweep()
    assert len(contents(tmp_path)) == 1


def test_a_content_stays_while_another_refers_to_it(files: Files, clock: Clock, tmp_path: Path) -> None:
    first = files.keep(b"same", ME)
    claim(files, first)
    clock.now += 2 * HOUR_S
    second = files.keep(b"same", ME)
    with database(files).transaction() as db:
        files.release(db, [str(first)])
    files.sweep()
    assert len(contents(tmp_path)) == 1
    assert files.find_own_upload(second, "me") is not None
    clock.now += 2 * HOUR_S
    files.sweep()
    assert contents(tmp_path) == []


def test_a_released_file_goes_at_once_and_cannot_be_claimed_again(files: Files, tmp_path: Path) -> None:
    file_id = files.keep(b"content", ME)
    claim(files, file_id)
    with database(files).transaction() as db:
        files.release(db, [str(file_id)])
    files.sweep()
    assert contents(tmp_path) == []
    with database(files).transaction() as db, pytest.raises(Refusal):
        files.claim(db, str(file_id), "me")


def test_a_file_that_another_version_uses_is_not_released(archive: Archive) -> None:
    file_id = str(archive.wire.upload(b"twice").json()["id"])
    ids = small_archive(archive.wire, file_id, file_id)
    archive.wire.saved({"action": "delete", "type": "Dokument", "id": ids["@document1"]})
    assert archive.wire.call("GET", f"download?id={file_id}").body == b"twice"


def test_a_damaged_content_is_replaced_by_the_next_upload_of_the_same(files: Files, tmp_path: Path) -> None:
    files.keep(b"content", ME)
    (path,) = contents(tmp_path)
    path.write_bytes(b"torn")
    files.keep(b"content", ME)
    assert path.read_bytes() == b"content"


def test_a_vanished_content_is_no_commit(files: Files, tmp_path: Path) -> None:
    ids = [files.keep(b"content %d" % at, ME) for at in range(20)]
    contents(tmp_path)[0].unlink()
    with pytest.raises(Refusal) as told, database(files).transaction() as db:
        files.make_durable([files.claim(db, str(file_id), "me") for file_id in ids])
    assert told.value.status == 400


def test_strays_of_a_loss_of_power_go_after_a_while(files: Files, clock: Clock, tmp_path: Path) -> None:
    claim(files, files.keep(b"wanted", ME))
    stray = files.store.path("ab" * 32)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"stray")
    clock.now = stray.stat().st_mtime + 60
    files.sweep_strays()
    assert stray.exists()
    clock.now += 3 * HOUR_S
    files.sweep_strays()
    assert [path.read_bytes() for path in contents(tmp_path)] == [b"wanted"]


def test_what_a_crash_left_half_written_is_gone_at_the_next_start(tmp_path: Path) -> None:
    open_service(tmp_path).close()
    (tmp_path / "files" / "incoming" / "7").write_bytes(b"half")
    open_service(tmp_path).close()
    assert list((tmp_path / "files" / "incoming").iterdir()) == []


def contents(data_dir: Path) -> list[Path]:
    """Every content in the store, half written ones too."""
    return [path for path in sorted((data_dir / "files").rglob("*")) if path.is_file()]

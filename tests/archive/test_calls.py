"""What goes over the wire for each hot call, byte for byte where it matters, and what is made of the answers."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tracemalloc
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from noarkit.archive.http import HttpArchive
from noarkit.archive.values import (
    Call,
    Delete,
    Link,
    Query,
    Save,
    SavedObject,
    Unlink,
    Upload,
    bytes_to_upload,
    file_to_upload,
    stream_to_upload,
)
from noarkit.errors import ArchiveStrange, ChecksumDiffers, ItemChanged, ItemUnreadable, UsageFault
from noarkit.safe.digest import Readable
from tests.archive.scripted import SERVICE, Conversation, ScriptedServer, Step, answer, head, says

SAVED = {"type": "Mappe", "id": "938", "version": "8", "fields": {"tittel": "A"}, "links": {"refArkivdel": 691}}


def test_actions_go_out_as_the_wire_has_them(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"saved": {}}))
    archive.transaction(
        [
            Save("Mappe", "tmp", {"tittel": "Grå", "beskrivelse": None}),
            Save("Mappe", "938", version="8"),
            Link("Mappe", "tmp", "refArkivdel", ("691",)),
            Unlink("Mappe", "938", "refArkivdel", ("690", "691")),
            Delete("Mappe", "12", "3"),
        ]
    )
    (seen,) = server.seen
    assert (seen.method, seen.target) == ("POST", SERVICE + "/transaction")
    assert seen.json == {
        "actions": [
            {"action": "save", "type": "Mappe", "id": "tmp", "fields": {"tittel": "Grå", "beskrivelse": None}},
            {"action": "save", "type": "Mappe", "id": "938", "version": "8", "fields": {}},
            {"action": "link", "type": "Mappe", "id": "tmp", "ref": "refArkivdel", "linkToId": ["691"]},
            {"action": "unlink", "type": "Mappe", "id": "938", "ref": "refArkivdel", "unlinkFromId": ["690", "691"]},
            {"action": "delete", "type": "Mappe", "id": "12", "version": "3"},
        ]
    }


def test_every_call_bears_token_and_error_format_and_asks_for_no_encoding(
    server: ScriptedServer, archive: HttpArchive
) -> None:
    server.then(answer(200, {"saved": {}}))
    archive.transaction([])
    headers = server.seen[0].headers
    assert headers["authorization"] == "Bearer token-1"
    assert headers["x-noark-error-response-type"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert headers["content-type"] == "application/json; charset=UTF-8"
    assert headers["host"] == f"127.0.0.1:{server.port}"


def test_saved_objects_have_text_ids_however_they_were_told(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"saved": {"tmp": {**SAVED, "id": 938, "version": 8}}}))
    saved = archive.transaction([Save("Mappe", "tmp")])
    assert saved == {"tmp": SavedObject("Mappe", "938", "8", {"tittel": "A"}, {"refArkivdel": "691"})}


def test_times_go_out_in_utc_with_three_digits_and_dates_as_dates(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"saved": {}}))
    moment = datetime(2024, 1, 2, 3, 4, 5, 678901, UTC)
    archive.transaction([Save("Mappe", "x", {"opprettetDato": moment, "saksdato": date(2024, 1, 2)})])
    assert b'"opprettetDato":"2024-01-02T03:04:05.678Z","saksdato":"2024-01-02"' in server.seen[0].body


@pytest.mark.parametrize("value", [datetime(2024, 1, 2), "\udcff", object()])
def test_what_cannot_be_sent_is_told_before_anything_is(
    server: ScriptedServer, archive: HttpArchive, value: str
) -> None:
    with pytest.raises(UsageFault):
        archive.transaction([Save("Mappe", "x", {"tittel": value})])
    assert server.seen == []


def test_a_query_always_says_public_use(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"hasMore": True, "results": [SAVED]}))
    page = archive.query(Query("Mappe", "tittel = @p1", {"@p1": None}, {"#a": "refArkivdel"}, (("id", "asc"),), 10, 20))
    assert server.seen[0].json == {
        "type": "Mappe",
        "limit": 10,
        "offset": 20,
        "publicUse": False,
        "query": "tittel = @p1",
        "parameters": {"@p1": None},
        "joins": {"#a": "refArkivdel"},
        "sortOrder": [{"field": "id", "order": "asc"}],
    }
    assert (page.has_more, [one.id for one in page.objects]) == (True, ["938"])


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 3 * 1024 * 1024 + 1])
def test_an_upload_sends_every_byte_and_says_what_passed(
    server: ScriptedServer, archive: HttpArchive, size: int, tmp_path: Path
) -> None:
    content = os.urandom(size)
    place = tmp_path / "scan.pdf"
    place.write_bytes(content)
    server.then(answer(200, {"id": "9983"}))
    uploaded = archive.upload(file_to_upload(place))
    assert server.seen[0].body == content
    assert server.seen[0].headers["content-length"] == str(size)
    assert (uploaded.id, uploaded.size_bytes) == ("9983", size)
    assert uploaded.sha256 == hashlib.sha256(content).hexdigest()


def test_a_stream_of_unknown_size_is_sent_in_chunks(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"id": 9983}))
    content = os.urandom(200_000)
    assert archive.upload(stream_to_upload(io.BytesIO(content), "x")).id == "9983"
    assert server.seen[0].headers["transfer-encoding"] == "chunked"
    assert "content-length" not in server.seen[0].headers
    assert server.seen[0].body == content


@pytest.mark.parametrize(
    ("name", "plain", "real"),
    [
        ("scan.pdf", "scan.pdf", "scan.pdf"),
        ("Søknad om «vei».pdf", "S_knad om _vei_.pdf", "S%C3%B8knad%20om%20%C2%ABvei%C2%BB.pdf"),
        ('a"b\\c\r\nX-Evil: 1', "a_b_c__X-Evil: 1", "a%22b_c__X-Evil%3A%201"),
        ("bad\udcff", "bad_", "bad_"),
        ("line\nbreak.txt", "line_break.txt", "line_break.txt"),
        (" .. ", "_", "_"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_an_upload_names_the_file_in_ascii_and_in_full(
    server: ScriptedServer, archive: HttpArchive, name: str, plain: str, real: str
) -> None:
    server.then(answer(200, {"id": "1"}))
    archive.upload(bytes_to_upload(b"x", name))
    headers = server.seen[0].headers
    assert headers["content-disposition"] == f"attachment; filename=\"{plain}\"; filename*=utf-8''{real}"
    assert "x-evil" not in headers


@pytest.mark.parametrize(
    ("media_type", "sent"),
    [
        ("application/pdf", "application/pdf"),
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("text/plain\r\nX-Evil: 1", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_media_type_is_told_where_it_is_one(
    server: ScriptedServer, archive: HttpArchive, media_type: str, sent: str
) -> None:
    server.then(answer(200, {"id": "1"}))
    archive.upload(replace(bytes_to_upload(b"x", "x"), media_type=media_type))
    assert server.seen[0].headers["content-type"] == sent
    assert "x-evil" not in server.seen[0].headers


@pytest.mark.parametrize("promised", [5, 200_000])
@pytest.mark.parametrize("difference", [-1, 1])
def test_an_upload_that_is_not_as_long_as_promised_is_a_changed_item(
    server: ScriptedServer, archive: HttpArchive, promised: int, difference: int
) -> None:
    server.then(answer(200, {"id": "1"}))
    content = io.BytesIO(b"x" * (promised + difference))
    with pytest.raises(ItemChanged):
        archive.upload(stream_to_upload(content, "x", promised))


def test_a_source_that_cannot_be_read_is_a_source_fault(archive: HttpArchive) -> None:
    with pytest.raises(ItemUnreadable):
        archive.upload(Upload("x", lambda: _Broken(), 4096))


def test_a_huge_upload_is_never_held(server: ScriptedServer, archive: HttpArchive) -> None:
    size = 48 * 1024 * 1024
    server.reads_body = False
    server.then(_swallows(size))
    tracemalloc.start()
    archive.upload(Upload("zeros", lambda: _Zeros(size), size))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * 1024 * 1024


def test_an_upload_answered_before_its_end_is_not_believed(server: ScriptedServer, archive: HttpArchive) -> None:
    server.reads_body = False
    server.then(says(head(200, 10) + b'{"id":"1"}'))
    with pytest.raises(ArchiveStrange, match="answered-before-the-end"):
        archive.upload(bytes_to_upload(bytes(64 * 1024 * 1024), "x"))


def test_a_download_stands_whole_with_its_checksum_and_name(
    server: ScriptedServer, archive: HttpArchive, tmp_path: Path
) -> None:
    content = os.urandom(300_000)
    told = {"Content-Type": "application/pdf", "Content-Disposition": "attachment; filename*=utf-8''S%C3%B8k.pdf"}
    server.then(answer(200, content, told))
    found = archive.download("99/83", tmp_path / "a", rendition="lightpdf")
    assert server.seen[0].target == SERVICE + "/download?id=99%2F83&type=lightpdf"
    assert (tmp_path / "a").read_bytes() == content
    assert (found.sha256, found.size_bytes) == (hashlib.sha256(content).hexdigest(), 300_000)
    assert (found.name, found.media_type) == ("Søk.pdf", "application/pdf")


def test_a_download_that_is_another_file_leaves_nothing(
    server: ScriptedServer, archive: HttpArchive, tmp_path: Path
) -> None:
    server.then(answer(200, b"other"))
    with pytest.raises(ChecksumDiffers):
        archive.download("1", tmp_path / "a", expected_sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_an_encoded_download_is_not_taken_for_the_file(
    server: ScriptedServer, archive: HttpArchive, tmp_path: Path
) -> None:
    server.then(answer(200, b"zipped", {"Content-Encoding": "gzip"}))
    with pytest.raises(ArchiveStrange):
        archive.download("1", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_any_other_call_quotes_its_path_and_query(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(204), answer(200, {"results": []}))
    assert archive.call(Call("x", "DELETE", ("code-lists", "skjerming", "UO §13/a+b"), changes=True)) is None
    assert archive.call(Call("x", "GET", ("code-lists",), {"field": "a&b"})) == {"results": []}
    assert server.seen[0].target == SERVICE + "/code-lists/skjerming/UO%20%C2%A713%2Fa%2Bb"
    assert server.seen[1].target == SERVICE + "/code-lists?field=a%26b"
    assert "content-length" not in server.seen[1].headers


def test_calls_share_one_connection(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, {"saved": {}}), answer(404, {"description": "x"}), answer(200, {"saved": {}}))
    archive.transaction([])
    with pytest.raises(Exception, match="F311"):
        archive.transaction([])
    archive.transaction([])
    assert {seen.connection for seen in server.seen} == {1}


class _Broken(io.BytesIO):
    """A disk that gives up."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Never anything."""
        raise OSError(errno.EIO, "gone")


class _Zeros(AbstractContextManager[Readable]):
    """So many zero bytes, made as they are read."""

    def __init__(self, size: int) -> None:
        self._left = size

    def __enter__(self) -> Readable:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` of them."""
        block = bytes(min(size, self._left))
        self._left -= len(block)
        return block


def _swallows(size: int) -> Step:
    def step(conversation: Conversation) -> bool:
        left = size - len(conversation.seen.body)
        buffer = bytearray(1 << 18)
        while left > 0 and (count := conversation.socket.recv_into(buffer)):
            left -= count
        conversation.say(head(200, 10) + b'{"id":"1"}')
        return False

    return step

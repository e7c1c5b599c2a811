"""What breaks on the way: whether anything was sent, whether the fate is known, and how soon it is told."""

from __future__ import annotations

import errno
import io
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.answers import CallContext
from noarkit.archive.connection import Reply
from noarkit.archive.http import HttpArchive
from noarkit.archive.stream import Patience
from noarkit.archive.transfer import receive_download
from noarkit.archive.values import Call, Query, Save, Upload, bytes_to_upload
from noarkit.errors import AnswerLost, ArchiveAway, ArchiveRefused, ArchiveStrange, DiskFull, TransferStalled
from tests.archive.scripted import (
    Conversation,
    ScriptedServer,
    Step,
    answer,
    client_of,
    head,
    resets,
    says,
    settings_for,
    stalls,
    trickles,
)
from tests.ports import free_port
from tests.waiting import PATIENCE_S

SAVED = b'{"saved":{}}'
ACTIONS = [Save("Mappe", "x", {"tittel": "A"})]


def test_a_refused_connection_sent_nothing() -> None:
    with HttpArchive(settings_for(f"http://127.0.0.1:{free_port()}")) as archive, pytest.raises(ArchiveAway) as caught:
        archive.transaction(ACTIONS)
    assert caught.value.data["why"] == "refused"
    assert not caught.value.fate_unknown


def test_a_host_that_is_not_there_sent_nothing() -> None:
    with HttpArchive(settings_for("https://archive.invalid")) as archive, pytest.raises(ArchiveAway) as caught:
        archive.transaction(ACTIONS)
    assert caught.value.data["why"] == "no-such-host"


@pytest.mark.parametrize(
    "step",
    [
        resets,
        says(b""),
        says(b"HTTP/1.1 200 O"),
        says(b"HTTP/1.1 200 OK\r\nContent-Le", then_reset=True),
        says(head(200, len(SAVED))),
        says(head(200, len(SAVED)) + SAVED[:-1]),
        says(head(200, len(SAVED)) + SAVED[:-1], then_reset=True),
        says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + SAVED + b"\r\n"),
    ],
)
def test_a_transaction_without_a_whole_answer_is_of_unknown_fate_and_sent_once(
    server: ScriptedServer, archive: HttpArchive, step: Step
) -> None:
    server.then(step)
    with pytest.raises(AnswerLost) as caught:
        archive.transaction(ACTIONS)
    assert caught.value.fate_unknown
    assert len(server.seen) == 1


def test_what_is_no_http_is_strange_and_of_unknown_fate(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(says(b"220 mail.example ESMTP ready\r\n\r\n"))
    with pytest.raises(ArchiveStrange, match="not-http") as caught:
        archive.transaction(ACTIONS)
    assert caught.value.fate_unknown


def test_an_answer_that_ends_with_the_connection_is_whole(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(says(b"HTTP/1.0 200 OK\r\n\r\n" + SAVED))
    assert archive.transaction(ACTIONS) == {}


def test_interim_answers_are_passed_over(server: ScriptedServer, archive: HttpArchive) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    server.then(trickles(interim + head(200, len(SAVED)) + SAVED, 0.001, 20))
    assert archive.transaction(ACTIONS) == {}
    assert archive.transaction(ACTIONS) == {}
    assert {seen.connection for seen in server.seen} == {1}


@pytest.mark.parametrize("surplus", [b"garbage", head(200, 2) + b"{}", b"HTTP/1.1 200 OK\r\n"])
def test_what_follows_an_answer_is_never_taken_for_the_next_one(
    server: ScriptedServer, archive: HttpArchive, surplus: bytes
) -> None:
    server.then(trickles(head(200, len(SAVED)) + SAVED + surplus, 0, 100_000), answer(200, {"saved": {}}))
    assert archive.transaction(ACTIONS) == {}
    assert archive.transaction(ACTIONS) == {}
    assert [seen.connection for seen in server.seen] == [1, 2]


def test_a_connection_the_archive_means_to_close_is_not_used_again(
    server: ScriptedServer, archive: HttpArchive
) -> None:
    server.then(answer(200, {"saved": {}}, {"Connection": "close"}))
    archive.transaction(ACTIONS)
    archive.transaction(ACTIONS)
    assert [seen.connection for seen in server.seen] == [1, 2]


def test_an_answer_in_chunks_is_put_together(server: ScriptedServer, archive: HttpArchive) -> None:
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in SAVED)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nX: y\r\n\r\n"
    server.then(trickles(chunked, 0, 7))
    assert archive.transaction(ACTIONS) == {}
    assert archive.transaction(ACTIONS) == {}
    assert {seen.connection for seen in server.seen} == {1}


@pytest.mark.parametrize(
    "answered",
    [
        b"HTTP/1.1 200 OK\r\n" + b"X-Y: " + b"z" * 600_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 13\r\n\r\n" + SAVED,
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + SAVED,
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + SAVED,
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    ],
)
def test_an_answer_that_means_two_things_is_strange(
    server: ScriptedServer, archive: HttpArchive, answered: bytes
) -> None:
    server.then(says(answered))
    with pytest.raises(ArchiveStrange) as caught:
        archive.transaction(ACTIONS)
    assert caught.value.fate_unknown


def test_an_encoded_answer_that_nobody_asked_for_is_strange(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, SAVED, {"Content-Encoding": "gzip"}))
    with pytest.raises(ArchiveStrange, match="encoded"):
        archive.transaction(ACTIONS)
    with pytest.raises(ArchiveStrange, match="encoded"):
        archive.call(Call("me", "GET", ("info", "me")))


def test_no_more_connections_are_opened_than_allowed(server: ScriptedServer) -> None:
    server.then(trickles(head(200, len(SAVED)) + SAVED, 0.005, 30))
    settings = replace(settings_for(server.url), max_connections=3)
    with HttpArchive(settings) as archive, ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda _: archive.transaction(ACTIONS), range(36)))
    assert len(server.connections) <= 3


def test_a_kept_connection_that_the_archive_closed_is_replaced_unseen(
    server: ScriptedServer, archive: HttpArchive
) -> None:
    server.then(answer(200, SAVED))
    archive.transaction(ACTIONS)
    for connection in server.connections:
        connection.shutdown(socket.SHUT_RDWR)
    archive.transaction(ACTIONS)
    assert [seen.connection for seen in server.seen] == [1, 2]


def test_a_kept_connection_closed_while_the_transaction_leaves_is_of_unknown_fate(
    server: ScriptedServer, archive: HttpArchive
) -> None:
    server.then(answer(200, SAVED), resets)
    archive.transaction(ACTIONS)
    with pytest.raises(AnswerLost) as caught:
        archive.transaction(ACTIONS)
    assert caught.value.fate_unknown


def test_a_first_write_that_the_system_refuses_sent_nothing(server: ScriptedServer, archive: HttpArchive) -> None:
    # the reset comes after the pool looked at the connection and before the first byte: while the body is read
    may_reset, was_reset = threading.Event(), threading.Event()

    def answers_then_resets(conversation: Conversation) -> bool:
        answer(200, {"id": "1"})(conversation)
        may_reset.wait(PATIENCE_S)
        conversation.reset()
        was_reset.set()
        return False

    class Resetting(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            may_reset.set()
            was_reset.wait(PATIENCE_S)
            return super().read(size)

    server.then(answers_then_resets)
    archive.upload(bytes_to_upload(b"x", "x"))
    body = bytes(70_000)
    with pytest.raises(ArchiveAway) as caught:
        archive.upload(Upload("x", lambda: Resetting(body), len(body)))
    assert not caught.value.fate_unknown


def test_an_archive_that_never_answers_is_given_up(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(stalls())
    started = time.monotonic()
    with pytest.raises(AnswerLost, match="timeout") as caught:
        archive.transaction(ACTIONS)
    assert 0.5 < time.monotonic() - started < PATIENCE_S / 2
    assert caught.value.fate_unknown


@pytest.mark.parametrize("after", [head(200, 1000)[:20], head(200, 1000), head(200, 1000) + b'{"saved"'])
def test_an_answer_that_stops_is_cut_for_lack_of_progress(
    server: ScriptedServer, archive: HttpArchive, after: bytes
) -> None:
    server.then(stalls(after))
    started = time.monotonic()
    with pytest.raises(TransferStalled) as caught:
        archive.transaction(ACTIONS)
    assert time.monotonic() - started < PATIENCE_S / 2
    assert caught.value.fate_unknown


def test_an_answer_that_trickles_is_waited_for(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(trickles(head(200, len(SAVED)) + SAVED, 0.02))
    started = time.monotonic()
    assert archive.transaction(ACTIONS) == {}
    assert time.monotonic() - started > 1.0  # longer than any of the limits


def test_an_upload_that_is_taken_slowly_goes_on(slow_reader: Callable[[float], ScriptedServer]) -> None:
    server = slow_reader(0.03)
    with client_of(server, Patience(5.0, 0.3, 0.3)) as archive:
        archive.query(Query("Mappe"))
        started = time.monotonic()
        archive.upload(bytes_to_upload(bytes(6 * 1024 * 1024), "x"))
    assert time.monotonic() - started > 0.6


def test_an_upload_that_is_not_taken_any_more_is_cut(server: ScriptedServer, archive: HttpArchive) -> None:
    server.reads_body = False
    server.then(stalls())
    with pytest.raises(TransferStalled, match="no-progress"):
        archive.upload(bytes_to_upload(bytes(32 * 1024 * 1024), "x"))


def test_an_upload_refused_at_its_head_is_not_sent_to_its_end(server: ScriptedServer, archive: HttpArchive) -> None:
    server.reads_body = False
    read = 0

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            block = super().read(size)
            read += len(block)
            return block

    body = bytes(64 * 1024 * 1024)
    server.then(_refuses_and_waits)
    with pytest.raises(ArchiveRefused) as caught:
        archive.upload(Upload("x", lambda: Counting(body), len(body)))
    assert caught.value.data["status"] == 413
    assert read < len(body) // 2


@pytest.mark.parametrize("step", [says(head(200, 9) + b"1234"), stalls(head(200, 9) + b"1234")])
def test_half_a_download_leaves_nothing(
    server: ScriptedServer, archive: HttpArchive, step: Step, tmp_path: Path
) -> None:
    server.then(step)
    with pytest.raises((AnswerLost, TransferStalled)):
        archive.download("1", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    class NoRoom:
        def __iter__(self) -> Iterator[bytes]:
            yield b"some"
            raise OSError(errno.ENOSPC, "no room")

    with pytest.raises(DiskFull):
        receive_download(
            Reply(200, [], NoRoom()), tmp_path / "a", CallContext("download"), expected_sha256=None, durable=True
        )
    assert list(tmp_path.iterdir()) == []


def test_threads_share_a_session(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, SAVED))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: archive.transaction(ACTIONS), range(160)))
    assert answers == [{}] * 160
    assert len(server.seen) == 160
    assert len(server.token_requests) == 1


def test_a_session_is_not_usable_in_a_child_process(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, SAVED))
    archive.transaction(ACTIONS)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that forking with threads is risky is the point
        child = os.fork()
    if child == 0:
        try:
            archive.transaction(ACTIONS)
            os.write(writer, b"sent")
        except RuntimeError:
            os.write(writer, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 20) == b"refused"
    os.close(reader)
    os.close(writer)


@pytest.fixture
def slow_reader() -> Callable[[float], ScriptedServer]:
    """Makes servers that take uploads a little at a time."""

    def made(pause_s: float) -> ScriptedServer:
        server = ScriptedServer(reads_body=False, receive_buffer=64 * 1024)

        def step(conversation: Conversation) -> bool:
            left = int(conversation.seen.headers["content-length"]) - len(conversation.seen.body)
            while left > 0:
                left -= len(conversation.socket.recv(128 * 1024))
                time.sleep(pause_s)
            conversation.say(head(200, 10) + b'{"id":"1"}')
            return True

        return server.then(answer(200, {"results": []}), step)

    return made


def _refuses_and_waits(conversation: Conversation) -> bool:
    conversation.say(head(413, 2) + b"{}")
    conversation.server.ended.wait(PATIENCE_S)
    return False

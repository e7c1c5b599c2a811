"""One client that is let in and means no good: others hardly notice, and the archive still ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server.conftest import Archive
from tests.server.wire import BASE, Wire, link, save, small_archive, wire_to
from tests.waiting import PATIENCE_S, came, quickest

JSON = {"Content-Type": "application/json"}
# What nobody may wait longer for while others are busy.
LONGEST_WAIT_S = 2.0


def endless_query(words: int = 12) -> dict[str, object]:
    """A query that would look at every combination of so many objects, were it let."""
    joins = {f"#j{number}": "refMappe" for number in range(words)}
    condition = " && ".join(f"#j{number}.tittel != @x" for number in range(words))
    body = {"type": "Arkivdel", "limit": 1, "query": f"{condition} && tittel = @y"}
    return body | {"joins": joins, "parameters": {"@x": "x", "@y": "y"}}


def many_folders(wire: Wire, count: int = 40) -> None:
    """A series with folders, for queries that take long."""
    series = small_archive(wire)["@series"]
    wire.saved(save("Arkivdel", series, tittel="y"))
    actions: list[object] = []
    for number in range(count):
        actions += [save("Mappe", f"@{number}", tittel="z"), link("Mappe", f"@{number}", "refArkivdel", series)]
    wire.saved(*actions)


@contextmanager
def asked(wire: Wire, body: object, times: int) -> Iterator[None]:
    """Asks many times at once without waiting for the answers."""
    content = json.dumps(body).encode()
    head = (
        f"POST {BASE}/query HTTP/1.1\r\nHost: archive\r\nAuthorization: Bearer {wire.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    opened = [socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) for _ in range(times)]
    try:
        for each in opened:
            each.sendall(head.encode() + content)
        yield
    finally:
        for each in opened:
            each.close()


def wait_of(call: Callable[[], object]) -> float:
    return quickest(call, LONGEST_WAIT_S)


def test_a_query_past_its_time_is_ended_and_says_so(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(call_limit_s=0.3).wire
    many_folders(wire)
    reply = wire.call("POST", "query", endless_query())
    assert (reply.status, reply.body) == (400, b"The call takes longer than 0.3 s; ask for less at once.")


def test_waiting_for_a_thread_counts_into_the_deadline(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(call_limit_s=3.0).wire
    many_folders(wire)

    def wait_and_ask() -> None:
        with asked(wire, endless_query(), 8):  # as many as one account may have at work
            time.sleep(1.5)
            wire.call("POST", "query", endless_query())

    assert quickest(wait_and_ask, 5.5) < 5.5  # 4.5 s; were the wait not counted, 6 s


def test_one_account_never_takes_all_of_the_archives_time(archive_with: Callable[..., Archive]) -> None:
    live = archive_with(call_limit_s=30.0)
    many_folders(live.wire)
    bad, good = live.wire_as("admin"), live.add_client("other", "admin")
    with asked(bad, endless_query(), 60):
        time.sleep(0.3)
        waited = [wait_of(lambda: good.call("GET", "access-group/info")) for _ in range(5)]
        waited += [wait_of(lambda: good.upload(b"x")), wait_of(lambda: live.token("integration"))]
        waited.append(wait_of(lambda: small_archive(good)))
    assert max(waited) < LONGEST_WAIT_S, waited


@pytest.mark.parametrize(
    ("call", "content"),
    [
        ("transaction", b'{"actions":[' + b"1," * 1_000_000 + b"1]}"),
        ("transaction", b'{"actions":[' + b"[]," * 1_000_000 + b"1]}"),
        ("query", b'{"type":"Mappe","limit":1,"sortOrder":[' + b"{}," * 600_000 + b"1]}"),
        ("query", b'{"type":"Mappe","limit":1,"parameters":{' + b'"@a":1,' * 1_000_000 + b'"@b":1}}'),
        ("query", b'{"a":"' + b'\\",' * 10 + b'","b":[' + b'"",' * 1_000_000 + b"1]}"),
    ],
)
def test_a_body_of_too_many_values_is_413_before_it_is_read(archive: Archive, call: str, content: bytes) -> None:
    reply = archive.wire.call("POST", call, content, headers=JSON)
    assert (reply.status, reply.body) == (413, b"the body holds more than 500000 values; send less at once")


def test_the_commas_of_a_long_text_are_no_values(archive: Archive) -> None:
    text = 'a,[{\\",' * 200_000
    reply = archive.wire.call("POST", "full-text/set", {"dokumentversjonId": "999999", "tekst": text})
    assert reply.status == 404


@pytest.mark.parametrize(
    "members",
    [
        {"parameters": {f"@p{number}": 1 for number in range(10_001)}},
        {"joins": {f"#j{number}": "refArkivdel" for number in range(1_001)}},
        {"sortOrder": [{"field": "tittel", "order": "asc"}] * 33},
    ],
)
def test_a_query_with_too_much_of_anything_is_400(archive: Archive, members: dict[str, object]) -> None:
    reply = archive.wire.call("POST", "query", {"type": "Mappe", "limit": 1} | members)
    assert reply.status == 400
    assert b"more than" in reply.body


def test_objects_of_too_much_text_are_not_told_at_once(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    series = small_archive(wire)["@series"]
    for number in range(5):
        wire.saved(
            save("Mappe", f"@{number}", tittel="a" * 14_000_000), link("Mappe", f"@{number}", "refArkivdel", series)
        )
    assert [wire.call("POST", "query", {"type": "Mappe", "limit": limit}).status for limit in (10, 2)] == [400, 200]


def test_a_transaction_of_too_many_actions_is_413(archive: Archive) -> None:
    reply = archive.wire.transaction(*[save("Mappe", "@a", tittel="x")] * 20_001)
    assert (reply.status, reply.body) == (413, b"A transaction takes at most 20000 actions.")


def test_a_body_far_over_the_limit_is_answered_before_it_has_come(archive: Archive) -> None:
    with socket.create_connection((archive.wire.host, archive.wire.port), timeout=PATIENCE_S) as raw:
        head = f"POST {BASE}/transaction HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {archive.wire.token}\r\n"
        about = "Content-Type: application/json\r\nContent-Length: 66060288\r\nExpect: 100-continue\r\n\r\n"
        raw.sendall((head + about).encode())
        assert raw.recv(12) == b"HTTP/1.1 413"


def test_an_upload_that_drips_is_given_up(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(body_idle_timeout_s=0.4).wire
    with socket.create_connection((wire.host, wire.port), timeout=0.05) as dripping:
        dripping.sendall(
            f"POST {BASE}/upload HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {wire.token}\r\n"
            "Content-Disposition: attachment; filename=a\r\nContent-Length: 1000\r\n\r\n".encode()
        )
        ends, answer = time.monotonic() + PATIENCE_S, b""
        while not answer and time.monotonic() < ends:
            try:
                dripping.sendall(b" ")
                answer = dripping.recv(100)
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408 ")


UPLOADS = """
import asyncio, os, sys

async def upload(number):
    reader, writer = await asyncio.open_connection(sys.argv[1], int(sys.argv[2]))
    content = os.urandom(300 * 1024)
    head = (
        f"POST /noark5/v1/upload HTTP/1.1\\r\\nHost: archive\\r\\nAuthorization: Bearer {sys.argv[3]}\\r\\n"
        f"Content-Disposition: attachment; filename=a.bin\\r\\nContent-Length: {len(content)}\\r\\n\\r\\n"
    )
    writer.write(head.encode() + content)
    await writer.drain()
    return reader, writer

async def main():
    sent = await asyncio.gather(*(upload(number) for number in range(200)))
    print("sent", flush=True)
    answers = [await reader.readline() for reader, writer in sent]
    print(sum(b" 200 " in answer for answer in answers), flush=True)

asyncio.run(main())
"""


def test_under_200_uploads_to_a_slow_disk_no_other_call_waits(
    fresh_archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = fresh_archive.wire
    first = str(wire.upload(b"content").json()["id"])
    ids = small_archive(wire, first)
    flush = os.fsync

    def slow_flush(descriptor: int) -> None:
        time.sleep(0.05)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", slow_flush)  # a disk like those of small virtual machines
    calls: list[Callable[[], object]] = [
        lambda: wire.call("GET", f"download?id={first}"),
        lambda: wire.call("POST", "query", {"type": "Mappe", "limit": 10}),
        lambda: wire.saved(save("Mappe", ids["@folder"], tittel="changed")),
        lambda: wire.call("GET", "code-lists?field=skjerming"),
        lambda: wire.upload(b"small"),
        lambda: fresh_archive.token("integration"),
    ]
    command = [sys.executable, "-c", UPLOADS, wire.host, str(wire.port), wire.token]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as clients:
        assert clients.stdout is not None
        assert clients.stdout.readline() == b"sent\n"
        waited = [wait_of(call) for call in calls]
        assert len(list((fresh_archive.data_dir / "files" / "incoming").iterdir())) > 0  # they are still at it
        assert clients.stdout.readline() == b"200\n"
    assert max(waited) < LONGEST_WAIT_S, waited


SERVE = """
import sys
from pathlib import Path
from noarkit.server.run import Address, serve
serve(Path(sys.argv[1]), Address(port=0))
"""
STUCK = """
import sys, threading, time
from pathlib import Path
from noarkit.server import areas
from noarkit.server.calling import Route
from noarkit.server.run import Address, serve

def route(call):
    Path(sys.argv[1], "stuck").touch()
    threading.Event().wait()

class Area:
    def statements(self):
        return []
    def routes(self):
        return [Route("GET", "stuck", route)]

def watch():
    while not Path(sys.argv[1], "stop").exists():
        time.sleep(0.05)
    stopping.set()

stopping = threading.Event()
threading.Thread(target=watch, daemon=True).start()
areas.AREAS = (*areas.AREAS, Area())
serve(Path(sys.argv[1]), Address(port=0), stop_event=stopping)
"""


@contextmanager
def archive_process(data_dir: Path, program: str = SERVE) -> Iterator[tuple[subprocess.Popen[bytes], Archive]]:
    """An archive in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", program, str(data_dir)]) as process:
        try:
            assert came(lambda: (data_dir / "serving.json").exists(), PATIENCE_S)
            told = json.loads((data_dir / "serving.json").read_text("utf-8"))
            live = Archive(data_dir, told, wire_to(told["url"]))
            yield process, Archive(data_dir, told, live.wire_as("admin"))
        finally:
            if process.poll() is None:
                process.kill()


def test_sigterm_ends_it_within_five_seconds_whatever_it_is_doing(tmp_path: Path) -> None:
    with archive_process(tmp_path / "archive") as (process, live):
        many_folders(live.wire)
        before = live.wire.call("POST", "query", {"type": "Mappe", "limit": 500}).json()
        with asked(live.wire, endless_query(), 20), socket.create_connection((live.wire.host, live.wire.port)) as half:
            half.sendall(b"POST /noark5/v1/query HTTP/1.1\r\n")
            time.sleep(0.5)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
            assert time.monotonic() - began < 25  # it would work for 30 s
    with archive_process(tmp_path / "archive") as (_, again):
        assert again.wire.call("POST", "query", {"type": "Mappe", "limit": 500}).json() == before


@pytest.mark.parametrize("way", ["signal", "event"])
def test_a_thread_that_never_ends_does_not_keep_the_process(tmp_path: Path, way: str) -> None:
    data_dir = tmp_path / "archive"
    with archive_process(data_dir, STUCK) as (process, live):
        waiting = threading.Thread(target=_call_quietly, args=(live.wire, "stuck"), daemon=True)
        waiting.start()
        assert came(lambda: (data_dir / "stuck").exists())
        began = time.monotonic()
        if way == "signal":
            process.send_signal(signal.SIGTERM)
        else:
            (data_dir / "stop").touch()
        process.wait(PATIENCE_S)
        assert time.monotonic() - began < 25  # it would work for 30 s
        waiting.join(PATIENCE_S)


def _call_quietly(wire: Wire, path: str) -> None:
    try:
        wire.call("GET", path)
    except OSError:
        return

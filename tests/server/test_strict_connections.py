"""Bytes on a socket as clients of all kinds send them: nothing is lost, and what is not understood is refused."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import gzip
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noarkit.cli.standin import find_standin
from noarkit.reading_room.serve import RoomConnection
from noarkit.safe.connections import BoundedConnection, StrictConnection
from noarkit.server.exchange import BodyLimits, Exchange
from noarkit.server.run import Address, ServingInfo, serve
from noarkit.server.wire import Refusal
from noarkit.services.standins.server import ReadyStandin as StandinReady
from noarkit.services.standins.server import StandinSpec
from noarkit.services.standins.server import serve as serve_standin
from tests.package_code import modules_with, nodes_of
from tests.server.conftest import Archive
from tests.server.test_run import make_certificate
from tests.server.wire import BASE, Wire
from tests.waiting import PATIENCE_S

H2C = (
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
)
OFFERS = [H2C, ("Connection: upgrade", "Upgrade: websocket"), ("Upgrade: TLS/1.2", "connection: keep-alive, Upgrade")]


def raw(wire: Wire, *sent: bytes, answers: int = 1, pause_s: float = 0.0) -> list[tuple[int, bytes]]:
    """Status and body of each answer to bytes that are sent as they stand."""
    with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as connection:
        for piece in sent:
            connection.sendall(piece)
            time.sleep(pause_s)
        read = connection.makefile("rb")
        return [one_answer(read) for _ in range(answers)]


def one_answer(read: object) -> tuple[int, bytes]:
    lines = []
    while (line := read.readline()) not in (b"\r\n", b""):  # type: ignore[attr-defined]  # a file of a socket
        lines.append(line)
    assert lines, "no answer"
    length = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length"))
    return int(lines[0].split()[1]), read.read(length)  # type: ignore[attr-defined]  # a file of a socket


def upload_head(wire: Wire, *lines: str, host: str = "Host: archive") -> bytes:
    told = [f"POST {BASE}/upload HTTP/1.1", host, f"Authorization: Bearer {wire.token}"]
    told += ["Content-Disposition: attachment; filename=a.bin", *lines]
    return "\r\n".join([line for line in told if line] + ["", ""]).encode()


def stored(wire: Wire, answer: bytes) -> bytes:
    found = re.search(rb'"id":"([0-9]+)"', answer)
    assert found, answer
    return wire.call("GET", f"download?id={found[1].decode()}").body


@pytest.mark.parametrize("offer", OFFERS, ids=["h2c", "websocket", "tls"])
@pytest.mark.parametrize("size", [1, 5_000, 300_000, 3_000_000])
def test_an_offer_to_upgrade_loses_no_body(archive: Archive, offer: tuple[str, ...], size: int) -> None:
    content = os.urandom(size)
    head = upload_head(archive.wire, *offer, f"Content-Length: {size}")
    for sent, pause_s in (((head + content,), 0.0), ((head, content[:7], content[7:]), 0.02)):
        ((status, answer),) = raw(archive.wire, *sent, pause_s=pause_s)
        assert status == 200
        assert stored(archive.wire, answer) == content


def test_an_offer_with_a_chunked_body_loses_nothing(archive: Archive) -> None:
    head = upload_head(archive.wire, *H2C, "Transfer-Encoding: chunked")
    ((status, answer),) = raw(archive.wire, head, b"5\r\nfirst\r\n", b"7\r\n second\r\n0\r\n\r\n", pause_s=0.02)
    assert (status, stored(archive.wire, answer)) == (200, b"first second")


def test_offers_may_follow_each_other_on_one_connection(archive: Archive) -> None:
    wire = archive.wire
    sent = b"".join(upload_head(wire, *offer, "Content-Length: 3") + b"abc" for offer in (H2C, (), OFFERS[1], H2C))
    answers = raw(wire, sent, answers=4)
    assert [(status, stored(wire, answer)) for status, answer in answers] == [(200, b"abc")] * 4


def test_an_offer_without_a_body_is_an_ordinary_call(archive: Archive) -> None:
    lines = [f"GET {BASE}/info/me HTTP/1.1", "Host: a", f"Authorization: Bearer {archive.wire.token}", *H2C, "", ""]
    assert raw(archive.wire, "\r\n".join(lines).encode())[0][0] == 200


JAVA = r"""
import java.net.URI;
import java.net.http.*;
import java.nio.file.Path;

public class Upload {
    public static void main(String[] told) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (String version : new String[] {"HTTP_2", "HTTP_1_1"}) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(told[0]))
                .version(HttpClient.Version.valueOf(version))
                .header("Authorization", "Bearer " + told[1])
                .header("Content-Type", "application/octet-stream")
                .header("Content-Disposition", "attachment; filename=\"java.bin\"")
                .POST(HttpRequest.BodyPublishers.ofFile(Path.of(told[2])))
                .build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body());
        }
    }
}
"""


@pytest.mark.skipif(shutil.which("java") is None, reason="there is no java here")
def test_the_client_of_the_jdk_uploads_all_its_bytes(archive: Archive, tmp_path: Path) -> None:
    content = os.urandom(200_000)
    (tmp_path / "content").write_bytes(content)
    (tmp_path / "Upload.java").write_text(JAVA)
    url = f"http://{archive.wire.host}:{archive.wire.port}{BASE}/upload"
    command = ["java", str(tmp_path / "Upload.java"), url, archive.wire.token, str(tmp_path / "content")]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert [line.split()[0] for line in answers] == [b"200", b"200"]
    assert [stored(archive.wire, line) for line in answers] == [content, content]


@pytest.mark.parametrize("cut", [0, 1, 299_000])
def test_an_upload_that_ends_early_stores_nothing(fresh_archive: Archive, cut: int) -> None:
    wire, files = fresh_archive.wire, fresh_archive.data_dir / "files"
    with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as connection:
        connection.sendall(upload_head(wire, "Content-Length: 300000") + bytes(cut))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1000)
    assert wire.call("GET", "info/me").status == 200
    assert [path for path in files.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("declared", [b"2", b"4", b"300000"])
def test_a_body_of_another_length_than_declared_is_400_whoever_lost_it(declared: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"abc", "more_body": False}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    headers = [(b"content-length", declared)]
    with pytest.raises(Refusal) as refused:
        asyncio.run(Exchange({"method": "POST", "headers": headers}, receive, send).body(BodyLimits(0, 5.0)))
    assert refused.value.status == 400


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "x-gzip"])
def test_a_compressed_upload_is_415(archive: Archive, encoding: str) -> None:
    reply = archive.wire.upload(gzip.compress(b"content"), **{"Content-Encoding": encoding})
    assert reply.status == 415
    assert archive.wire.upload(b"content", **{"Content-Encoding": "identity"}).status == 200


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip", "deflate", "identity", "x"])
def test_a_transfer_coding_other_than_chunked_is_501(archive: Archive, coding: str) -> None:
    head = upload_head(archive.wire, f"Transfer-Encoding: {coding}")
    assert raw(archive.wire, head, b"5\r\nfirst\r\n0\r\n\r\n")[0][0] == 501
    large = head + b"40000\r\n" + bytes(0x40000) + b"\r\n0\r\n\r\n"
    assert raw(archive.wire, large)[0][0] == 501


@pytest.mark.parametrize("host", ["", "Host: a\r\nHost: b"])
def test_a_request_without_one_host_is_400(archive: Archive, host: str) -> None:
    ((status, answer),) = raw(archive.wire, upload_head(archive.wire, "Content-Length: 1", host=host) + b"x")
    assert (status, answer) == (400, b"A request names one Host.")


def test_an_older_request_needs_no_host(archive: Archive) -> None:
    lines = f"GET {BASE}/info/me HTTP/1.0\r\nAuthorization: Bearer {archive.wire.token}\r\n\r\n"
    assert raw(archive.wire, lines.encode())[0][0] == 200


def test_it_is_no_proxy(archive: Archive) -> None:
    assert raw(archive.wire, b"CONNECT archive:80 HTTP/1.1\r\nHost: archive:80\r\n\r\n")[0][0] == 400


@contextmanager
def in_thread(run: Callable[[], None], stopping: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(PATIENCE_S)


# Nothing at all, the beginning of a request, the beginning of a handshake, and a request by plain http.
NO_HANDSHAKES = (b"", b"GET", b"\x16\x03", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")


def test_plain_http_to_a_tls_port_is_ended_within_five_seconds(tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    told, opened, stopping = list[ServingInfo](), threading.Event(), threading.Event()

    def ready(at: ServingInfo) -> None:
        told.append(at)
        opened.set()

    def run() -> None:
        serve(tmp_path / "archive", Address(port=0, tls_cert=cert, tls_key=key), ready=ready, stop_event=stopping)

    with in_thread(run, stopping):
        assert opened.wait(PATIENCE_S)
        port = int(told[0].url.split(":")[2].split("/")[0])
        with ThreadPoolExecutor(len(NO_HANDSHAKES)) as clients:
            lasted = list(clients.map(partial(_lasts_s, port), NO_HANDSHAKES))
        assert max(lasted) < 30, dict(zip(NO_HANDSHAKES, lasted, strict=True))


def _lasts_s(port: int, sent: bytes) -> float:
    """How long a connection lasts on which only this is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain:
        began = time.monotonic()
        plain.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            while plain.recv(1000):
                pass
        return time.monotonic() - began


READING = {
    "crm": "/oauth/v2/token",
    "spend": "/oauth/token/introspect",
    "appsec": "/store/one",
    "features": "/v1/get_config",
}


class Listening:
    """An application around another that notes the bodies that reach it."""

    def __init__(self, app: ASGIApp, heard: list[bytes]) -> None:
        self._app = app
        self._heard = heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def hear() -> Message:
            message = await receive()
            self._heard.append(message.get("body", b""))
            return message

        await self._app(scope, hear, send)


@pytest.mark.parametrize("service", sorted(READING))
def test_a_standin_loses_no_body_either(service: str) -> None:
    told, opened, stopping = list[StandinReady](), threading.Event(), threading.Event()
    heard: list[bytes] = []

    def ready(at: StandinReady) -> None:
        told.append(at)
        opened.set()

    def run() -> None:
        wish = StandinSpec(records=5)
        build = find_standin(service)
        serve_standin(service, build, wish, ready=ready, stop_event=stopping, around=lambda app: Listening(app, heard))

    method = "PUT" if service == "appsec" else "POST"
    content = b"grant_type=refresh_token&refresh_token=none" * 50
    with in_thread(run, stopping):
        assert opened.wait(PATIENCE_S)
        host, port = told[0].url.removeprefix("http://").split(":")
        lines = [f"{method} {READING[service]} HTTP/1.1", "Host: a", f"Content-Length: {len(content)}", *H2C, "", ""]
        raw(Wire(host, int(port)), "\r\n".join(lines).encode() + content)
    assert b"".join(heard) == content


def test_every_service_of_ours_has_strict_connections() -> None:
    made = [
        (path.name, {keyword.arg for keyword in node.keywords}, ast.unparse(node))
        for path in modules_with("uvicorn.Config")
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("uvicorn.Config")
    ]
    assert len(made) >= 4
    for name, keywords, text in made:
        assert {"http", "ws"} <= keywords, (name, text)
        # the archive and the reading room have connections of their own kind, which are as strict
        assert "http=StrictConnection" in text or name == "run.py" or "http=RoomConnection" in text, (name, text)
    assert issubclass(RoomConnection, BoundedConnection) and issubclass(BoundedConnection, StrictConnection)

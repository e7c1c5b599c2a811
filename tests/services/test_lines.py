"""Straight lines to a service: requests go out as httpx would spell them, and answers come in as it would read them."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from contextlib import closing, suppress

import httpx
import pytest

from noarkit.errors import ServiceAway, TooLarge
from noarkit.safe.urls import UrlPolicy
from noarkit.services.lines import DirectLine, LineSettings, _target
from noarkit.services.scrub import Scrubber
from noarkit.services.wire import Request, Wire, WireSettings
from tests.services.conftest import kept_open
from tests.services.scripted import Asked, Told, one_after_another, serving, told
from tests.waiting import PATIENCE_S

LOOPBACK = frozenset({"127.0.0.1"})
POLICY = UrlPolicy(LOOPBACK, frozenset({"http"}), LOOPBACK)


def wire(**more: object) -> Wire:
    """A wire to this machine."""
    return kept_open(Wire(WireSettings("crm:test", POLICY, **more), Scrubber()))  # type: ignore[arg-type]  # as given


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.org/crm/v8/Deals?fields=a%2Cb&per_page=200",
        "https://api.example.org:443/x",
        "https://api.example.org:8443/x",
        "http://127.0.0.1:9/a/../b/./c?d=../e",
        "https://API.example.org/Å/b c'd?q=æ'&r=[1]",
        "https://api.example.org/100%/%zz/%c3%a5?x=%",
        "https://api.example.org",
        "https://api.example.org?x=1",
        "https://api.example.org/x#part",
        "https://[::1]:8443/x",
    ],
)
def test_a_request_goes_where_httpx_would_send_it(url: str) -> None:
    spelt = httpx.Request("GET", url)
    origin, host, target = _target(url)
    assert (host, target) == (spelt.headers["Host"], spelt.url.raw_path)
    assert (origin.host, origin.port) == (spelt.url.host, spelt.url.port or (443 if origin.is_tls else 80))
    assert origin.is_tls == url.startswith("https")


def test_bodies_are_sent_with_their_length_and_come_as_they_are() -> None:
    def echo(asked: Asked) -> Told:
        return told(
            {"method": asked.method, "length": asked.headers.get("content-length"), "body": asked.body.decode()}
        )

    with serving(echo) as service:
        line = wire()
        for request, length in (
            (Request("POST", f"{service.url}/x", body=b"abc", media_type="text/plain"), "3"),
            (Request("POST", f"{service.url}/x"), "0"),
            (Request("GET", f"{service.url}/x"), None),
            (Request("DELETE", f"{service.url}/x", body=b"ab"), "2"),
        ):
            body = (request.body or b"").decode()
            assert line.send(request).members() == {"method": request.method, "length": length, "body": body}
        assert service.asked[0].headers["content-type"] == "text/plain"
        assert {asked.headers["host"] for asked in service.asked} == {service.url.removeprefix("http://")}


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_packed_answer_is_unpacked_and_bounded_by_what_it_unpacks_to(coding: str, pack: object) -> None:
    assert callable(pack)
    packed = Told(200, pack(b'{"a": "' + b"x" * 50_000 + b'"}'), {"Content-Encoding": coding})
    with serving(one_after_another(packed)) as service:
        assert wire().send(Request("GET", f"{service.url}/x")).members() == {"a": "x" * 50_000}
        with pytest.raises(TooLarge):
            wire(max_answer_bytes=10_000).send(Request("GET", f"{service.url}/x"))
        with wire().stream(Request("GET", f"{service.url}/x")) as answer:
            assert answer.read()[7:] == b"x" * 50_000 + b'"}'


@pytest.mark.parametrize("value", ["a\r\nX-Other: 1", "a\nb", "a\0b"])
def test_a_value_never_becomes_a_header_of_its_own(value: str) -> None:
    with serving(one_after_another(told({}))) as service:
        with pytest.raises(ServiceAway):
            wire().send(Request("GET", f"{service.url}/x", headers={"X-Value": value}))
        assert service.asked == []


def test_what_breaks_off_is_told_by_how_far_it_came() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(ServiceAway) as caught:
            wire(answer_timeout_s=0.2).send(Request("GET", url))
        assert (caught.value.data["why"], caught.value.data["sent"]) == ("timeout", True)
    with pytest.raises(ServiceAway) as caught:
        wire().send(Request("GET", url))
    assert (caught.value.data["why"], caught.value.data["sent"]) == ("no-connection", False)
    with serving(one_after_another(Told(None))) as service:
        with pytest.raises(ServiceAway) as caught:
            wire().send(Request("GET", f"{service.url}/x"))
        assert (caught.value.data["why"], caught.value.data["sent"]) == ("broke-off", True)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/crm/v8/Deals?fields=a%2Cb&per_page=200", None),
        ("GET", "/b c/æ?q='ø'&r=[1]&x=%", None),
        ("POST", "/x", b'{"a": 1}'),
        ("POST", "/x", None),
        ("PUT", "/x", b"\0\xff"),
        ("PATCH", "/x", b"{}"),
        ("DELETE", "/x", None),
        ("DELETE", "/x?y=1", b"ab"),
    ],
)
def test_the_bytes_sent_are_those_that_httpx_sends(method: str, path: str, body: bytes | None) -> None:
    heads: list[bytes] = []

    def receive_two(server: socket.socket) -> None:
        for _ in range(2):
            connected, _ = server.accept()
            with connected:
                heads.append(_received(connected))
                connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    headers = {"accept": "application/json", "x-token": "a b~!"}
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=receive_two, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}{path}"
        with (
            closing(DirectLine(LineSettings(None, PATIENCE_S, PATIENCE_S, 1))) as line,
            line.exchange(method, url, headers, body),
        ):
            pass
        with httpx.HTTPTransport() as transport:
            transport.handle_request(httpx.Request(method, url, headers=headers, content=body)).read()
        thread.join()
    ours, theirs = heads
    assert _parts(ours) == _parts(theirs)


def _received(connected: socket.socket) -> bytes:
    """A whole request."""
    connected.settimeout(PATIENCE_S)
    received = b""
    while b"\r\n\r\n" not in received:
        received += connected.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connected.recv(65_536)
    return head + b"\r\n\r\n" + body


def _parts(request: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
    """Its first line, its headers whatever their case and order, and its body."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    return first, sorted((name.lower(), value) for name, _, value in (line.partition(b": ") for line in lines)), body


def test_a_call_within_another_waits_for_a_free_connection_no_longer_than_for_an_answer() -> None:
    body = Told(200, b"{}", {"Content-Type": "application/json"})
    with serving(one_after_another(body)) as service:
        for patience_s in (0.3, 3.0, 30.0):
            line = wire(max_connections=1, answer_timeout_s=patience_s)
            with suppress(ServiceAway):  # a busy machine may answer later than that
                with line.stream(Request("GET", f"{service.url}/x")), pytest.raises(ServiceAway) as caught:
                    line.send(Request("GET", f"{service.url}/y"))
                line.send(Request("GET", f"{service.url}/x"))
                break
        else:
            pytest.fail("the first call or the last one is not answered")
        assert (caught.value.data["why"], caught.value.data["sent"]) == ("no-connection", False)


def test_calls_one_after_another_share_a_connection() -> None:
    ports: list[int] = []

    def count(server: socket.socket) -> None:
        connected, peer = server.accept()
        with connected:
            for _ in range(3):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connected.recv(1)
                ports.append(peer[1])
                connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=count, args=(server,))
        thread.start()
        line = wire(answer_timeout_s=PATIENCE_S)
        for _ in range(3):
            line.send(Request("GET", f"http://127.0.0.1:{server.getsockname()[1]}/x"))
        thread.join()
    assert len(ports) == 3
    assert len(set(ports)) == 1

"""The HTTP face: addresses, tokens, media types, both error formats, limits."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import time
import uuid
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from tests.server.conftest import Archive
from tests.server.wire import BASE, Reply, Wire
from tests.waiting import PATIENCE_S

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ANY = {"type": "Arkiv", "limit": 1}


def test_a_call_without_token_is_told_to_bear_one(archive: Archive) -> None:
    reply = archive.wire.call("POST", "query", ANY, token="")
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer 1234", "Basic YTpi", "bearer " + "0" * 40, "\xff"])
def test_a_malformed_or_unknown_token_is_401(archive: Archive, header: str) -> None:
    reply = archive.wire.call("POST", "query", ANY, token="", headers={"Authorization": header})
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    "path", [f"{BASE}/query", "/noark5/v1/query", f"/{BASE}/query", f"{BASE}//query", "//noark5//v1/query"]
)
def test_both_bases_serve_and_double_slashes_count_as_one(archive: Archive, path: str) -> None:
    assert archive.wire.call("POST", path, ANY).status == 200


@pytest.mark.parametrize("path", ["/idp/oauth2/token", "/oauth2/token"])
@pytest.mark.parametrize("way", ["body", "basic"])
def test_client_credentials_come_in_the_body_or_as_basic(archive: Archive, path: str, way: str) -> None:
    secret = re.findall(r'secret = "(.*)"', (archive.data_dir / "clients.toml").read_text())[0]
    form, headers = {"grant_type": "client_credentials"}, dict(FORM)
    if way == "body":
        form |= {"client_id": "admin", "client_secret": secret}
    else:
        headers["Authorization"] = "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode()
    reply = archive.wire.call("POST", path, urlencode(form).encode(), token="", headers=headers)
    assert reply.status == 200
    told = reply.json()
    assert (told["token_type"], told["scope"]) == ("Bearer", "openid")
    assert re.fullmatch("[0-9a-f]{40}", str(told["access_token"]))
    assert "refresh_token" not in told
    assert reply.headers["cache-control"] == "no-store"


def test_a_wrong_secret_is_answered_in_the_words_of_oauth(archive: Archive) -> None:
    form = {"grant_type": "client_credentials", "client_id": "admin", "client_secret": "wrong"}
    reply = archive.wire.call("POST", "/idp/oauth2/token", urlencode(form).encode(), token="", headers=FORM)
    assert (reply.status, reply.json()["error"]) == (401, "invalid_client")


def test_a_token_request_that_is_no_form_is_415(archive: Archive) -> None:
    assert archive.wire.call("POST", "/oauth2/token", {"grant_type": "client_credentials"}, token="").status == 415


def test_userinfo_names_the_client(archive: Archive) -> None:
    for path in ("/idp/oauth2/userinfo", "/oauth2/userinfo"):
        assert archive.wire.call("POST", path).json()["sub"] == "admin"
    assert archive.wire.call("POST", "/oauth2/userinfo", token="").status == 401


def test_errors_are_json_where_any_vendors_header_asks_for_it(archive: Archive) -> None:
    replies = [
        archive.wire.call("POST", "query", {"type": "Nope", "limit": 1}, headers=JSON_ERRORS),
        archive.wire.call("POST", "query", {"type": "Nope", "limit": 1}, headers=JSON_ERRORS),
        archive.wire.call("GET", "nowhere", headers={"x-documaster-error-response-type": "application/json; q=1"}),
        archive.wire.call("GET", "query", headers=JSON_ERRORS),
        archive.wire.call("POST", "query", ANY, token="", headers=JSON_ERRORS),
    ]
    assert [reply.status for reply in replies] == [400, 400, 404, 405, 401]
    for reply in replies:
        told = reply.json()
        assert sorted(told) == ["description", "errorId", "status"]
        assert told["status"] == reply.status
        assert isinstance(told["description"], str)
    assert len({uuid.UUID(str(reply.json()["errorId"])) for reply in replies}) == len(replies)


def test_errors_are_plain_text_otherwise(archive: Archive) -> None:
    for headers in ({}, {"X-Vendor-Error-Response-Type": "text/plain"}):
        reply = archive.wire.call("POST", "query", {"type": "Nope", "limit": 1}, headers=headers)
        assert reply.status == 400
        assert reply.headers["content-type"] == "text/plain; charset=utf-8"
        assert "Nope" in reply.body.decode()


def test_a_wrong_method_is_told_which_are_right(archive: Archive) -> None:
    reply = archive.wire.call("GET", "query")
    assert (reply.status, reply.headers["allow"]) == (405, "POST")
    assert archive.wire.call("PATCH", "code-lists/skjerming/x").headers["allow"] == "DELETE, PUT"


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", BASE, f"{BASE}/nowhere", f"{BASE}/code-lists/a/b/c", "/rms/query", "/%ff/%00"]
)
def test_an_unknown_address_is_404(archive: Archive, path: str) -> None:
    assert archive.wire.call("GET", path).status == 404


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"; x=y']
)
def test_parameters_of_the_media_type_do_not_matter(archive: Archive, media_type: str) -> None:
    content = json.dumps(ANY).encode()
    assert archive.wire.call("POST", "query", content, headers={"Content-Type": media_type}).status == 200


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "application/jsonp", "multipart/form-data"])
def test_another_media_type_is_415(archive: Archive, media_type: str) -> None:
    content = json.dumps(ANY).encode()
    assert archive.wire.call("POST", "query", content, headers={"Content-Type": media_type}).status == 415


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        '{"type":"Arkiv","limit":1}'.encode("utf-16"),
        b'{"type":"Arkiv\xe6","limit":1}',
        b'{"type":"Ark\\ud800iv","limit":1}',
        b'{"type":"Arkiv","limit":NaN}',
    ],
)
def test_what_is_no_json_object_in_utf8_is_400(archive: Archive, content: bytes) -> None:
    assert archive.wire.call("POST", "query", content, headers={"Content-Type": "application/json"}).status == 400


def test_a_named_charset_is_ignored_for_json_is_utf8(archive: Archive) -> None:
    headers = {"Content-Type": "application/json; charset=iso-8859-1"}
    body = json.dumps(ANY | {"query": "tittel = @x", "parameters": {"@x": "blåbær"}}, ensure_ascii=False)
    assert archive.wire.call("POST", "query", body.encode(), headers=headers).status == 200


@pytest.mark.parametrize("levels", [65, 500, 100_000])
@pytest.mark.parametrize("piece", ["[", '{"a":'])
def test_a_body_nested_too_deep_is_400(archive: Archive, levels: int, piece: str) -> None:
    closing = "]" if piece == "[" else "}"
    content = '{"actions":' + piece * levels + ("" if piece == "[" else "1") + closing * levels + "}"
    reply = archive.wire.call("POST", "query", content.encode(), headers={"Content-Type": "application/json"})
    assert reply.status == 400
    assert archive.wire.call("POST", "query", ANY).status == 200


def test_a_body_over_the_limit_is_413_declared_or_not(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(max_json_bytes=10_000).wire
    large = json.dumps(ANY | {"query": "x" * 20_000}).encode()
    assert wire.call("POST", "query", large, headers={"Content-Type": "application/json"}).status == 413
    assert chunked(wire, "query", [large[at : at + 1000] for at in range(0, len(large), 1000)]).status == 413
    assert wire.call("POST", "query", ANY).status == 200


def test_a_chunked_body_is_read(archive: Archive) -> None:
    content = json.dumps(ANY).encode()
    assert chunked(archive.wire, "query", [content[:5], content[5:]]).status == 200


def test_a_body_that_never_ends_is_cut_and_others_go_on(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(body_idle_timeout_s=0.3).wire
    with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as stuck:
        stuck.sendall(head(wire, "POST", "query", 1000) + b'{"type":')
        assert wire.call("POST", "query", ANY).status == 200
        assert read_all(stuck).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_drips_is_cut_too(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(body_idle_timeout_s=0.4).wire
    with socket.create_connection((wire.host, wire.port), timeout=0.05) as dripping:
        dripping.sendall(head(wire, "POST", "query", 1000))
        ends, answer = time.monotonic() + PATIENCE_S, b""
        while not answer and time.monotonic() < ends:
            dripping.sendall(b" ")
            try:
                answer = dripping.recv(100)
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_connection_without_a_whole_head_is_closed(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(connection_idle_timeout_s=0.3).wire
    for sent in (b"", b"GET / HTTP/1.1\r\nX-Slow: "):
        with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as idle:
            idle.sendall(sent)
            assert idle.recv(100) == b""


def test_a_head_over_its_limit_is_refused(archive: Archive) -> None:
    with socket.create_connection((archive.wire.host, archive.wire.port), timeout=PATIENCE_S) as flood:
        flood.sendall(b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * 100_000 + b"\r\n\r\n")
        assert read_all(flood).startswith(b"HTTP/1.1 400 ")


def test_an_answer_before_the_body_leaves_the_connection_usable(archive: Archive) -> None:
    connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=PATIENCE_S)
    for token, expected in (("", 401), (archive.wire.token, 200), ("", 401), (archive.wire.token, 200)):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        content = json.dumps(ANY | {"offset": 0} | ({} if token else {"padding": "x" * 300_000}))
        connection.request("POST", f"{BASE}/query", content, headers)
        response = connection.getresponse()
        assert (response.status, bool(response.read())) == (expected, True)
    connection.close()


def test_an_integer_too_large_for_the_database_is_400(archive: Archive) -> None:
    asked = {"type": "Saksmappe", "limit": 1, "query": "saksaar = @y", "parameters": {"@y": 2**64 - 1}}
    assert archive.wire.call("POST", "query", asked).status in (200, 400)
    assert archive.wire.call("POST", "query", ANY | {"offset": 2**63}).status == 400


def head(wire: Wire, method: str, path: str, length: int) -> bytes:
    lines = [
        f"{method} {BASE}/{path} HTTP/1.1",
        f"Host: {wire.host}",
        f"Authorization: Bearer {wire.token}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def read_all(connection: socket.socket) -> bytes:
    read = b""
    while piece := connection.recv(65536):
        read += piece
    return read


def chunked(wire: Wire, path: str, pieces: list[bytes]) -> Reply:
    connection = http.client.HTTPConnection(wire.host, wire.port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {wire.token}", "Content-Type": "application/json"}
    connection.request("POST", f"{BASE}/{path}", iter(pieces), headers, encode_chunked=True)
    response = connection.getresponse()
    reply = Reply(response.status, dict(response.getheaders()), response.read())
    connection.close()
    return reply

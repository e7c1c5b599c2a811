"""The table of all calls: none lacks tests of its success and of its failures; what holds for all is tried on all."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest

from noarkit.server.areas import all_routes
from tests.server.calls.scene import Scene
from tests.server.calls.shapes import JSON_ERRORS
from tests.server.calls.table import CALLS, EVERY, NEWER, OWN, STREAMS, WITH_BODY, Call
from tests.server.wire import Reply

BASES = ("/rms/api/public/noark5/v1", "/noark5/v1")


def name(call: Call) -> str:
    return f"{call.method} {call.path}"


def test_the_format_has_47_calls_and_newer_clients_know_3_more() -> None:
    assert (len(CALLS), len(NEWER)) == (47, 3)
    areas = Counter(call.path.split("/")[0] for call in CALLS)
    assert areas == {
        "query": 1,
        "upload": 1,
        "transaction": 1,
        "download": 1,
        "full-text": 2,
        "code-lists": 3,
        "bsm-registry": 5,
        "logs": 3,
        "bulk": 3,
        "access-group": 7,
        "access-modifier": 4,
        "permission": 16,
    }
    assert len({(call.method, call.path) for call in EVERY}) == 50


def test_no_call_of_the_server_lacks_a_row() -> None:
    served = {(route.method, route.path.strip("/")) for route in all_routes()} | set(STREAMS)
    assert served == {(call.method, call.path) for call in EVERY} | set(OWN)


def test_what_takes_a_body_is_as_the_table_has_it() -> None:
    taking = {(route.method, route.path.strip("/")) for route in all_routes() if route.has_body}
    assert taking == {(call.method, call.path) for call in WITH_BODY} | set(OWN)


@pytest.mark.parametrize("call", EVERY, ids=name)
def test_each_test_that_the_table_names_is_there(call: Call) -> None:
    for named in (call.success, *call.failures.values()):
        module, _, test = named.partition(":")
        assert callable(getattr(importlib.import_module(f"tests.server.calls.{module}"), test)), named


@pytest.mark.parametrize("call", EVERY, ids=name)
def test_each_row_names_the_failures_that_its_shape_brings(call: Call) -> None:
    asked = {400} if call.has_body or call.method == "POST" else set()
    asked |= (
        {404}
        if call.path.endswith("}") and (call.method, call.path) != ("PUT", "bsm-registry/group/{group}")
        else set()
    )
    asked |= {403} if call.method in ("PUT", "DELETE") else set()
    assert asked <= set(call.failures)


@pytest.mark.parametrize(("call", "module"), OWN.items())
def test_calls_of_our_own_have_tests_elsewhere(call: tuple[str, str], module: str) -> None:
    source = importlib.import_module(module).__file__
    assert source is not None
    assert call[1] in Path(source).read_text("utf-8")


def both(scene: Scene, call: Call, base: str, content: bytes | None = None, **headers: str) -> tuple[Reply, Reply]:
    """The answers with JSON errors and without; the token is the scene's unless the headers bear another."""
    token = None if "Authorization" not in headers else ""
    path = f"{base}/{call.example}"
    sent = {key.replace("_", "-"): value for key, value in headers.items() if value}
    with_json = scene.wire.call(call.method, path, content, token=token, headers=sent | JSON_ERRORS)
    return with_json, scene.wire.call(call.method, path, content, token=token, headers=sent)


def say(replies: tuple[Reply, Reply], status: int) -> str:
    """The description, which both formats must give with this status."""
    told, plain = replies
    assert (told.status, plain.status) == (status, status), replies
    assert told.headers["content-type"] == "application/json"
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    error = told.json()
    assert (sorted(error), error["status"]) == (["description", "errorId", "status"], status)
    assert error["description"] == plain.body.decode()
    return str(error["description"])


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("call", EVERY, ids=name)
def test_no_call_is_answered_without_a_token(scene: Scene, call: Call, base: str) -> None:
    for bearer in ("", "Bearer", "Bearer " + "0" * 40):
        replies = both(scene, call, base, b"{}" if call.method in ("POST", "PUT") else None, Authorization=bearer)
        assert "token" in say(replies, 401)
        assert [reply.headers["www-authenticate"] for reply in replies] == ["Bearer", "Bearer"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("call", WITH_BODY, ids=name)
def test_another_media_type_is_415(scene: Scene, call: Call, base: str) -> None:
    for media_type in ("text/xml", "application/x-www-form-urlencoded", "application/octet-stream"):
        assert media_type in say(both(scene, call, base, b"{}", Content_Type=media_type), 415)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"text"', b"\xff", b"{'single': 1}"])
@pytest.mark.parametrize("call", WITH_BODY, ids=name)
def test_a_body_that_is_no_json_object_is_400(scene: Scene, call: Call, content: bytes) -> None:
    assert "JSON" in say(both(scene, call, BASES[0], content, Content_Type="application/json"), 400)


@pytest.mark.parametrize("call", EVERY, ids=name)
def test_another_method_is_405_and_told_which_are_right(scene: Scene, call: Call) -> None:
    strange = Call("PATCH", call.path, call.success, {})
    replies = both(scene, strange, BASES[0])
    say(replies, 405)
    others = {each.method for each in EVERY if each.path == call.path}
    assert others and len(replies) == 2
    for reply in replies:
        assert set(reply.headers["allow"].split(", ")) >= others

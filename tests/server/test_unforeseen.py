"""The last door: what nobody foresaw gets an answer with an id, and one line in the log that says where, never what."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from noarkit.server.areas import open_service
from noarkit.server.asgi import ArchiveApp
from noarkit.server.calling import Call, Route
from noarkit.server.exchange import Exchange, Message
from noarkit.server.service import Service
from noarkit.server.wire import Answer, Caller
from tests.server.conftest import Archive

BASE = "/noark5/v1"
SECRET = "what the request held"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    opened = open_service(tmp_path / "archive")
    yield opened
    opened.close()


def full_database() -> None:
    """Fills a database that may not grow."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE TABLE t (x)")
        db.execute("PRAGMA max_page_count = 1")
        db.execute("INSERT INTO t VALUES (zeroblob(100000))")
    finally:
        db.close()


def busy_database(path: Path) -> None:
    """Writes to a database that another connection holds."""
    holder, other = sqlite3.connect(path, isolation_level=None), sqlite3.connect(path, timeout=0)
    try:
        holder.execute("CREATE TABLE IF NOT EXISTS t (x)")
        holder.execute("BEGIN EXCLUSIVE")
        other.execute("INSERT INTO t VALUES (1)")
    finally:
        holder.close()
        other.close()


def raising(fault: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise fault

    return fail


def ask(service: Service, work: Callable[[], None], *, json_errors: bool) -> tuple[int, bytes]:
    """One call of an app whose only route does that work; its status and body."""

    def handler(call: Call) -> Answer:
        work()
        return Answer(body={})

    app = ArchiveApp(service, service.identity, [Route("POST", "boom", handler, has_body=True)], {})
    try:
        sent = asyncio.run(exchange(app, token(service), "POST", json_errors=json_errors))
    finally:
        app.close()
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent[1:])


def token(service: Service) -> str:
    secret = (service.data_dir / "clients.toml").read_text("utf-8").split('secret = "')[1].split('"')[0]
    form = {"grant_type": "client_credentials", "client_id": "admin", "client_secret": secret}
    told = service.identity.token(form, None).body
    assert isinstance(told, dict)
    return str(told["access_token"])


async def exchange(app: ArchiveApp, bearer: str, method: str, *, json_errors: bool = True) -> list[Message]:
    """What the app sends for one request to /boom."""
    body = json.dumps({"secret": SECRET}).encode()
    headers = [(b"authorization", b"Bearer " + bearer.encode()), (b"content-length", str(len(body)).encode())]
    if json_errors:
        headers.append((b"x-vendor-error-response-type", b"application/json"))
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    path = f"{BASE}/boom".encode()
    await app({"type": "http", "method": method, "raw_path": path, "headers": headers}, receive, send)
    return sent


FAULTS: tuple[tuple[Callable[[], None], int], ...] = (
    (raising(ValueError(SECRET)), 500),
    (raising(KeyError(SECRET)), 500),
    (raising(OSError(errno.EIO, SECRET)), 500),
    (raising(RecursionError(SECRET)), 500),
    (raising(OSError(errno.ENOSPC, SECRET)), 507),
    (raising(OSError(errno.EDQUOT, SECRET)), 507),
    (full_database, 507),
    (raising(OverflowError(SECRET)), 400),
)


@pytest.mark.parametrize(("work", "status"), FAULTS)
def test_every_fault_is_answered_and_its_place_logged_under_the_same_id(
    service: Service, caplog: pytest.LogCaptureFixture, work: Callable[[], None], status: int
) -> None:
    with caplog.at_level(logging.DEBUG, "noarkit.server"):
        told_status, body = ask(service, work, json_errors=True)
    told = json.loads(body)
    assert (told_status, told["status"], sorted(told)) == (status, status, ["description", "errorId", "status"])
    assert SECRET not in body.decode()
    assert SECRET not in caplog.text
    assert (told["errorId"] in caplog.text) == (status >= 500)
    assert uuid.UUID(told["errorId"])
    if status >= 500:
        assert "POST boom" in caplog.text


def test_a_fault_is_plain_text_where_json_was_not_asked_for(service: Service) -> None:
    status, body = ask(service, raising(ValueError(SECRET)), json_errors=False)
    assert (status, body) == (500, b"unforeseen fault in the archive service")


def test_a_busy_database_is_503_and_can_be_tried_again(service: Service, tmp_path: Path) -> None:
    status, body = ask(service, lambda: busy_database(tmp_path / "busy.db"), json_errors=True)
    assert (status, json.loads(body)["description"]) == (503, "the archive is busy")


def test_an_answer_that_breaks_off_is_not_taken_for_whole(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(exchange: Exchange, caller: Caller, query: Mapping[str, str]) -> None:
        await exchange.begin_answer(200, [])
        await exchange.send_piece(b"half", more=True, idle_s=1)
        raise OSError(SECRET)

    app = ArchiveApp(service, service.identity, [], {("GET", "boom"): broken})
    with pytest.raises(OSError, match=SECRET):
        asyncio.run(exchange(app, token(service), "GET"))
    app.close()
    assert "GET boom: broke off its answer" in caplog.text
    assert SECRET not in caplog.text


def test_the_server_may_be_asked_whether_it_lives(service: Service) -> None:
    app = ArchiveApp(service, service.identity, [], {})
    sent: list[Message] = []
    asked = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> Message:
        return next(asked)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app({"type": "lifespan"}, receive, send))
    app.close()
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_packed_body_is_415_and_a_form_that_is_no_text_400(archive: Archive) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert archive.wire.call("POST", "query", b"\x1f\x8b", headers=headers).status == 415
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert archive.wire.call("POST", "/oauth2/token", b"grant_type=\xff", token="", headers=form).status == 400

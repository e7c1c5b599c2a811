"""Tokens: how they are asked for, when they are renewed, and that a storm of refusals renews once."""

from __future__ import annotations

import base64
import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs

import pytest

from noarkit.archive.answers import CallContext
from noarkit.archive.http import HttpArchive
from noarkit.archive.token import Credentials, Grant, Tokens, grant_of
from noarkit.archive.values import Query, Save, bytes_to_upload, stream_to_upload
from noarkit.errors import ArchiveAway, ArchiveFault, ArchiveStrange, NotLetIn
from noarkit.secrets import Secret
from tests.archive.scripted import Conversation, ScriptedServer, Step, answer, resets, settings_for
from tests.waiting import PATIENCE_S

PAGE: dict[str, object] = {"results": []}
REFUSED: dict[str, object] = {"errorId": "e", "description": "expired", "status": 401}


@dataclass
class Clock:
    """A clock that stands until it is set."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Source:
    """Grants one token after the other, or fails."""

    lifetime_s: float = 3600.0
    fault: Exception | None = None
    fetched: int = 0
    gate: threading.Event | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> Grant:
        with self.lock:
            self.fetched += 1
            number = self.fetched
        if self.gate:
            self.gate.wait(PATIENCE_S)
        if self.fault:
            raise self.fault
        return Grant(f"t{number}", self.lifetime_s)


def test_credentials_go_in_the_body(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(200, PAGE))
    archive.query(Query("Mappe"))
    (asked,) = server.token_requests
    assert asked.target == "/idp/oauth2/token"
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["integration"],
        "client_secret": ["not-for-logs"],
        "scope": ["openid"],
    }


def test_credentials_go_as_basic_where_told(server: ScriptedServer) -> None:
    server.then(answer(200, PAGE))
    credentials = Credentials("inte:gration", Secret("p%ss"), "basic", scope="")
    with HttpArchive(replace(settings_for(server.url), credentials=credentials)) as archive:
        archive.query(Query("Mappe"))
    (asked,) = server.token_requests
    assert asked.headers["authorization"] == "Basic " + base64.b64encode(b"inte%3Agration:p%25ss").decode()
    assert parse_qs(asked.body.decode()) == {"grant_type": ["client_credentials"]}


def test_a_token_is_renewed_a_minute_before_it_ends() -> None:
    clock, source = Clock(), Source()
    tokens = Tokens(source, clock)
    assert tokens.current() == b"Bearer t1"
    clock.now_s = 3539.9
    assert tokens.current() == b"Bearer t1"
    clock.now_s = 3540.0
    assert tokens.current() == b"Bearer t2"
    assert source.fetched == 2


def test_a_short_token_is_not_renewed_with_every_call() -> None:
    clock, source = Clock(), Source(lifetime_s=30.0)
    tokens = Tokens(source, clock)
    tokens.current()
    clock.now_s = 14.0
    assert tokens.current() == b"Bearer t1"
    clock.now_s = 15.0
    assert tokens.current() == b"Bearer t2"


def test_a_token_that_is_still_good_serves_while_the_token_service_is_away() -> None:
    clock, source = Clock(), Source()
    tokens = Tokens(source, clock)
    tokens.current()
    clock.now_s, source.fault = 3550.0, ArchiveAway(call="token")
    assert tokens.current() == b"Bearer t1"
    assert tokens.current() == b"Bearer t1"
    assert source.fetched == 2  # asked again only after a while
    clock.now_s = 3556.0
    assert tokens.current() == b"Bearer t1"
    assert source.fetched == 3
    clock.now_s = 3600.0
    with pytest.raises(ArchiveAway):
        tokens.current()


def test_eight_threads_that_need_a_token_fetch_one() -> None:
    gate = threading.Event()
    source = Source(gate=gate)
    tokens = Tokens(source, Clock())
    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(tokens.current) for _ in range(8)]
        gate.set()
        assert {one.result() for one in waiting} == {b"Bearer t1"}
    assert source.fetched == 1


def test_a_refused_renewal_is_shared_by_all_that_wait_for_it() -> None:
    started, gate = threading.Event(), threading.Event()

    @dataclass
    class Refusing:
        fetched: int = 0

        def __call__(self) -> Grant:
            self.fetched += 1
            started.set()
            gate.wait(PATIENCE_S)
            raise NotLetIn(call="token", status=401)

    source = Refusing()
    tokens = Tokens(source, Clock())
    arrived = threading.Semaphore(0)

    def one() -> bytes:
        arrived.release()
        return tokens.current()

    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(tokens.current)
        started.wait(PATIENCE_S)
        others = [threads.submit(one) for _ in range(7)]
        for _ in others:
            arrived.acquire(timeout=PATIENCE_S)
        time.sleep(0.05)  # for the last steps of those that have begun; too short only makes the test milder
        gate.set()
        for waiting in [first, *others]:
            with pytest.raises(NotLetIn):
                waiting.result()
    assert source.fetched < 8


def test_a_storm_of_refusals_renews_once(server: ScriptedServer) -> None:
    barrier = threading.Barrier(8)

    def step(conversation: Conversation) -> bool:
        if conversation.seen.headers["authorization"] == "Bearer token-1":
            barrier.wait(PATIENCE_S)  # all eight are refused for the same token
            return answer(401, REFUSED, {"WWW-Authenticate": "Bearer"})(conversation)
        return answer(200, PAGE)(conversation)

    server.then(step)
    with HttpArchive(settings_for(server.url)) as archive, ThreadPoolExecutor(8) as threads:
        assert len(list(threads.map(lambda _: archive.query(Query("Mappe")), range(8)))) == 8
    assert len(server.token_requests) == 2
    assert len(server.seen) == 16


def test_a_new_token_that_is_refused_too_ends_it(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(401, REFUSED))
    with pytest.raises(NotLetIn) as caught:
        archive.query(Query("Mappe"))
    assert caught.value.data["call"] == "query"
    assert (len(server.seen), len(server.token_requests)) == (2, 2)


def test_a_transaction_whose_token_is_refused_is_not_sent_twice(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(401, REFUSED), answer(200, {"saved": {}}))
    with pytest.raises(NotLetIn) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert (caught.value.data["renewed"], len(server.seen), len(server.token_requests)) == (True, 1, 2)
    assert archive.transaction([]) == {}
    assert server.seen[-1].headers["authorization"] == "Bearer token-2"


def test_an_upload_refused_for_its_token_is_read_anew(server: ScriptedServer, archive: HttpArchive) -> None:
    content = bytes(range(256)) * 1000
    server.then(answer(401, REFUSED), answer(200, {"id": "1"}))
    assert archive.upload(bytes_to_upload(content, "x")).id == "1"
    assert [seen.body for seen in server.seen] == [content, content]


def test_a_stream_that_is_gone_is_not_sent_empty_with_the_new_token(
    server: ScriptedServer, archive: HttpArchive
) -> None:
    server.then(answer(401, REFUSED), answer(200, {"id": "1"}))
    with pytest.raises(ArchiveAway, match="token-ended"):
        archive.upload(stream_to_upload(io.BytesIO(b"once"), "x"))
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 403])
def test_refused_credentials_end_it_before_the_call(server: ScriptedServer, archive: HttpArchive, status: int) -> None:
    server.token_steps = [answer(status, {"error": "invalid_client", "error_description": "unknown client"})]
    with pytest.raises(NotLetIn) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert caught.value.data["call"] == "token"
    assert caught.value.data["description"] == "unknown client"
    assert server.seen == []


@pytest.mark.parametrize(
    "step",
    [answer(500), answer(503, {}, {"Retry-After": "9"}), answer(429, {}, {"Retry-After": "9"}), resets],
)
def test_a_token_service_in_trouble_leaves_the_call_unsent(
    server: ScriptedServer, archive: HttpArchive, step: Step
) -> None:
    server.token_steps = [step]
    with pytest.raises(ArchiveAway) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert caught.value.data["call"] == "token"
    assert caught.value.data.get("retry_after_s") in (None, 9.0)
    assert not caught.value.fate_unknown
    assert server.seen == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>log in</html>",
        b"{}",
        b"[]",
        b'{"access_token":""}',
        b'{"access_token":"a\\nX-Evil: 1"}',
        b'{"access_token":7}',
    ],
)
def test_a_token_answer_without_a_token_is_strange(server: ScriptedServer, archive: HttpArchive, body: bytes) -> None:
    server.token_steps = [answer(200, body)]
    with pytest.raises(ArchiveStrange):
        archive.query(Query("Mappe"))
    assert server.seen == []


@pytest.mark.parametrize(("told", "lifetime_s"), [("120", 120), (90.5, 90.5), (None, 3600), ("soon", 3600), (-5, 0)])
def test_the_lifetime_is_read_however_it_is_told(told: object, lifetime_s: float) -> None:
    assert grant_of({"access_token": "t", "expires_in": told}, CallContext("token")).lifetime_s == lifetime_s


@pytest.mark.parametrize("status", [404, 405])
def test_the_other_documented_token_path_is_tried_before_giving_up_and_kept_to(
    server: ScriptedServer, status: int
) -> None:
    missing, grant = answer(status, b"no such page"), {"access_token": "t" * 40, "expires_in": 0}
    server.token_steps = [missing, answer(200, grant), answer(200, grant)]
    settings = settings_for(server.url)
    with HttpArchive(replace(settings, token_url=None)) as archive:
        for _ in range(2):
            server.then(answer(200, PAGE))
            archive.query(Query("Mappe"))
    assert [asked.target for asked in server.token_requests] == ["/idp/oauth2/token", "/oauth2/token", "/oauth2/token"]


def test_where_neither_token_path_is_there_the_first_is_told_of(server: ScriptedServer) -> None:
    server.token_steps = [answer(404, {"description": "first"}), answer(404, {"description": "second"})]
    with (
        HttpArchive(replace(settings_for(server.url), token_url=None)) as archive,
        pytest.raises(ArchiveFault) as caught,
    ):
        archive.query(Query("Mappe"))
    assert caught.value.data["description"] == "first"


def test_a_secret_that_is_refused_is_not_told_to_another_path(server: ScriptedServer) -> None:
    server.token_steps = [answer(401, {"error": "invalid_client"})]
    with HttpArchive(replace(settings_for(server.url), token_url=None)) as archive, pytest.raises(NotLetIn):
        archive.query(Query("Mappe"))
    assert len(server.token_requests) == 1

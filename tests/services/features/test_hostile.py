"""Messages by whoever finds the door of this service: none makes it fail, none that is not proven is kept, and a proof
is good for its own bytes, its own time and its own headers only."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noarkit.events import Event
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.receiver import MAX_BODY_BYTES, receiver
from noarkit.services.inbox.store import Inbox
from noarkit.services.settings import Connection

NOW = 1_767_225_600.0
SECRET, OLD, FOREIGN = "hook-secret-0123456789", "hook-secret-of-before-0123", "another-hook-secret-0123"
DOOR = "/features/main"
COUNT = 10_000 if os.environ.get("NOARKIT_DEEP") == "1" else 1_000


class Listening:
    """A door of the service, with what it tells and keeps."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.inbox = Inbox(folder / "inbox.db")
        self.told: list[Event] = []
        environment = {
            "HOME": str(folder),
            "NOARKIT_FEATURES_MAIN_WEBHOOK_SECRET": SECRET,
            "NOARKIT_FEATURES_MAIN_WEBHOOK_SECRET_OLD": OLD,
        }
        found = inbox_endpoints([Connection("features", "main", settings, environment)])
        app = receiver(found, self.inbox, self.told.append, now_s=lambda: NOW)
        self.client = TestClient(app, raise_server_exceptions=True)

    def post(self, body: bytes, headers: Mapping[str, str | bytes] | None = None, path: str = DOOR) -> int:
        """The status of the answer."""
        return self.client.post(path, content=body, headers=headers).status_code  # type: ignore[arg-type]  # bytes too

    @property
    def kept(self) -> int:
        """How many messages wait."""
        return dict(self.inbox.counts()).get("features:main", 0)


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Listening]:
    """A door with the settings that are usual."""
    found = Listening(tmp_path)
    yield found
    found.inbox.close()


def sealed(body: bytes, *, secret: str = SECRET, stamp: str = str(int(NOW * 1_000))) -> dict[str, str]:
    """The headers of a message that is proven."""
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Service-Request-Timestamp": stamp, "X-Service-Signature": f"v0={digest}"}


def change(name: str) -> bytes:
    """A configuration change as the service tells it."""
    event = {"eventName": "service::config_change", "metadata": {"type": "Gate", "name": name, "action": "updated"}}
    return json.dumps({"data": [event]}).encode()


def verification(code: object, **more: object) -> bytes:
    """What the service asks when a webhook is set up."""
    return json.dumps({"data": {"event": "url_verification", "verification_code": code, **more}}).encode()


def test_a_message_is_proven_in_seconds_or_milliseconds_and_by_the_secret_of_before(listening: Listening) -> None:
    for number, more in enumerate(
        [{}, {"stamp": str(int(NOW))}, {"secret": OLD}, {"stamp": str(int((NOW - 299) * 1_000))}]
    ):
        body = change(f"g{number}")
        assert listening.post(body, sealed(body, **more)) == 204
    assert listening.kept == 4
    assert [hint.ids for hint in listening.inbox.hints("features:main")] == [(f"Gate:g{one}",) for one in range(4)]


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: {},
        lambda body: sealed(body, secret=FOREIGN),
        lambda body: sealed(body + b" "),
        lambda body: sealed(json.dumps(json.loads(body), indent=1).encode()),
        lambda body: sealed(body, stamp=str(int((NOW - 301) * 1_000))),
        lambda body: sealed(body, stamp=str(int((NOW + 301) * 1_000))),
        lambda body: {**sealed(body), "X-Service-Request-Timestamp": str(int(NOW * 1_000) + 1)},
        lambda body: {**sealed(body), "X-Service-Request-Timestamp": ""},
        lambda body: {**sealed(body), "X-Service-Request-Timestamp": "-1767225600000"},
        lambda body: {**sealed(body), "X-Service-Request-Timestamp": "1.7672256e12"},
        lambda body: {**sealed(body), "X-Service-Request-Timestamp": "1" * 400},
        lambda body: {"X-Service-Signature": sealed(body)["X-Service-Signature"]},
        lambda body: {**sealed(body), "X-Service-Signature": sealed(body)["X-Service-Signature"][3:]},
        lambda body: {**sealed(body), "X-Service-Signature": "v1=" + sealed(body)["X-Service-Signature"][3:]},
        lambda body: {**sealed(body), "X-Service-Signature": sealed(body)["X-Service-Signature"][:-1]},
        lambda body: {**sealed(body), "X-Service-Signature": "v0="},
        lambda body: {**sealed(body), "X-Service-Signature": b"v0=\xff\xfe" * 40},
    ],
)
def test_a_proof_is_good_for_its_own_bytes_time_and_headers_only(listening: Listening, forge: object) -> None:
    body = change("g")
    assert listening.post(body, forge(body)) == 401  # type: ignore[operator]  # each of them is a function
    assert listening.kept == 0
    assert [event.name for event in listening.told] == ["webhook_refused"]


def test_a_replay_is_taken_and_kept_once(listening: Listening) -> None:
    body = change("g")
    headers = sealed(body)
    later = sealed(body, stamp=str(int(NOW) + 60))
    assert [listening.post(body, one) for one in (headers, headers, later)] == [204, 204, 204]
    assert listening.kept == 1


def test_the_names_of_the_headers_are_settings(tmp_path: Path) -> None:
    found = Listening(tmp_path, webhook_header="X-Own-Signature", webhook_timestamp_header="X-Own-Time")
    body = change("g")
    usual = sealed(body)
    own = {"X-Own-Signature": usual["X-Service-Signature"], "X-Own-Time": usual["X-Service-Request-Timestamp"]}
    assert [found.post(body, usual), found.post(body, own)] == [401, 204]
    found.inbox.close()


def test_only_the_short_code_is_given_back_when_a_webhook_is_set_up(listening: Listening) -> None:
    answer = listening.client.post(DOOR, content=verification("abc-123", note="<script>", more=["x" * 50]))
    assert (answer.status_code, answer.json()) == (200, {"verification_code": "abc-123"})
    assert answer.headers["content-type"] == "application/json"
    assert "script" not in answer.text
    bounded = verification("a" * 100)
    assert listening.post(bounded) == 200
    for code in ("a" * 101, "", None, 7, ["abc"], {"a": 1}, "blå", "a\nb", "a\x00b", "\u202e", True):
        assert listening.post(verification(code)) == 401, code
    assert listening.post(json.dumps([{"event": "url_verification", "verification_code": "a"}]).encode()) == 401
    assert listening.post(b'{"data":{"event":"url_verification","verification_code":"' + b"a" * 99) == 401
    assert listening.kept == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"7",
        b'"text"',
        b"[]",
        b"[" * 100_000,
        b'{"data":' * 5_000,
        b"\xff\xfe\x00",
        b'{"data": NaN}',
        b'{"data": [1, null, "x", [], {"metadata": 7}, {"metadata": {"name": 7}}]}',
        json.dumps({"data": [{"eventName": ["x"], "metadata": {"name": "n" * 10_000, "type": {"a": 1}}}]}).encode(),
        json.dumps([{"eventName": "service::gate_exposure", "userID": "u" * 500}] * 1_500).encode(),
        json.dumps({"eventName": "x" * 100_000, "metadata": {"name": "\ud800"}}).encode(),
    ],
    ids=range(14),
)
def test_what_is_proven_and_makes_no_sense_is_kept_as_a_hint_of_bounded_length(
    listening: Listening, body: bytes
) -> None:
    assert listening.post(body, sealed(body)) == 204
    (hint,) = listening.inbox.hints("features:main")
    assert len(hint.event) <= 200
    assert len(hint.ids) <= 1_000
    assert all(len(one) <= 200 for one in hint.ids)


def test_a_flood_of_hostile_messages_makes_nothing_fail_and_one_good_one_is_kept(listening: Listening) -> None:
    rolls = random.Random(11)
    good = change("g")
    stamps: list[str | bytes] = [
        str(int(NOW * 1_000)),
        str(int(NOW)),
        "",
        "0",
        "9" * 30,
        "NaN",
        "١٧٦٧٢٢٥٦٠٠".encode(),
        "v0:1:",
    ]
    bodies = [
        b"",
        b"{}",
        b"[" * 3_000,
        b"\xff\xfe",
        good,
        verification("a" * 101),
        verification({"a": 1}),
        b'{"data":[',
    ]
    paths = [DOOR, DOOR + "/", DOOR + "/..", "/features/other", "/", "/%00", DOOR + "?key=" + "x" * 500]
    seen = set()
    for _ in range(COUNT):
        body = rolls.choice(bodies) + bytes(rolls.randrange(256) for _ in range(rolls.randrange(1, 12)))
        signature = rolls.choice(["v0=" + "0" * 64, "v0=" + "f" * 63, "", "v0=", sealed(good)["X-Service-Signature"]])
        stamp = rolls.choice(stamps)
        headers: dict[str, str | bytes] = {"X-Service-Request-Timestamp": stamp, "X-Service-Signature": signature}
        seen.add(listening.post(body, headers, rolls.choice(paths)))
    assert seen == {401, 404}
    assert listening.post(b"x" * (MAX_BODY_BYTES + 1), sealed(b"")) == 413
    assert listening.kept == 0
    assert listening.post(good, sealed(good)) == 204
    assert listening.kept == 1
    told = repr([(event.name, dict(event.data)) for event in listening.told])
    assert SECRET not in told
    assert "v0=" not in told

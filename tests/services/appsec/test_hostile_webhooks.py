"""Webhooks of a security service: forged, replayed, written again, enormous and by the thousand. Nothing is kept but
what was signed or came in at a path that nobody guesses, and nothing makes the receiver fail."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noarkit.events import Event
from noarkit.secrets import Secret
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.hints import read
from noarkit.services.inbox.receiver import MAX_BODY_BYTES, receiver
from noarkit.services.inbox.store import Inbox
from noarkit.services.inbox.webhooks import Webhook, save_webhook
from noarkit.services.settings import Connection

KEY, OLD, TAIL = "whsec_test_0123456789abcdef", "the-secret-before-0123456789", "5f" * 24
SCAN = (
    b'{"scanId":"11111111-2222-3333-4444-555555555555","projectId":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",'
    b'"statusInfo":[{"name":"general","status":"Completed","details":""},{"name":"sast","status":"Completed",'
    b'"details":"","loc":1503}],"branch":"main","projectName":"test"}'
)
PROOF = "mvUjs6Co/raxy7nuCxToA6heZlGuFy9Ff1wL5cqLuwY="
SIGNED = {"x-webhook-event": "scan_failed", "x-webhook-signature": f"sha256={PROOF}"}


class Door:
    """A receiver with two doors of one connection: a signed one, and one at a path that nobody guesses."""

    def __init__(self, folder: Path) -> None:
        values = {"state": str(folder), "api_url": "https://api.example", "tenant": "t"}
        environment = {"NOARKIT_APPSEC_MAIN_WEBHOOK_SECRET": KEY, "NOARKIT_APPSEC_MAIN_WEBHOOK_SECRET_OLD": OLD}
        to = Connection("appsec", "main", values, {**environment, "HOME": str(folder)})
        save_webhook(to, Webhook("1", f"https://hooks.example.org/appsec/main/{TAIL}", ("scan_failed",), Secret(TAIL)))
        self.inbox = Inbox(folder / "inbox.db")
        self.heard: list[Event] = []
        self.client = TestClient(
            receiver(inbox_endpoints([to]), self.inbox, self.heard.append), raise_server_exceptions=True
        )

    def post(self, path: str, body: bytes, headers: dict[str, str] | dict[str, bytes]) -> int:
        """One message; what it was answered."""
        return self.client.post(path, content=body, headers=headers).status_code  # type: ignore[arg-type]  # bytes too

    @property
    def kept(self) -> int:
        """How many messages wait."""
        return sum(self.inbox.counts().values())


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """A receiver of its own."""
    found = Door(tmp_path)
    yield found
    found.inbox.close()


def signed(body: bytes, key: str = KEY) -> dict[str, str]:
    """The headers of a message that its service signed."""
    digest = base64.b64encode(hmac.new(key.encode(), body, hashlib.sha256).digest()).decode()
    return {"x-webhook-event": "scan_failed", "x-webhook-signature": f"sha256={digest}"}


def test_a_signed_message_is_kept_once_however_often_it_is_sent(door: Door) -> None:
    for _ in range(3):
        assert door.post("/appsec/main", SCAN, SIGNED) == 204
    assert door.kept == 1
    assert [event.data["fresh"] for event in door.heard] == [True, False, False]
    assert door.post("/appsec/main", SCAN + b" ", signed(SCAN + b" ", OLD)) == 204  # while one replaces another


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(json.loads(SCAN)).encode(),
        SCAN + b" ",
        SCAN.replace(b"1111", b"1112", 1),
        SCAN[:-1],
        b"",
        SCAN.decode().encode("utf-16"),
    ],
)
def test_a_message_that_was_written_again_is_refused(door: Door, body: bytes) -> None:
    assert door.post("/appsec/main", body, SIGNED) == 401
    assert door.kept == 0


@pytest.mark.parametrize(
    "shown",
    ["", "sha256=", "sha256", "=", "mvUjs6Co", "sha256=" + "A" * 44, f"sha1={PROOF}",
     "9" * 64, f"sha256={PROOF[:-1]}", "sha256=\xff\xfe", "sha256=" + "=" * 60_000],
)  # fmt: skip
def test_a_signature_that_is_none_is_refused(door: Door, shown: str) -> None:
    assert door.post("/appsec/main", SCAN, {"x-webhook-signature": shown.encode("latin-1")}) == 401


def test_a_message_without_a_signature_is_taken_at_the_unguessed_path_alone(door: Door) -> None:
    assert door.post(f"/appsec/main/{TAIL}", SCAN, {"x-webhook-event": "scan_failed"}) == 204
    assert door.post(f"/appsec/main/{TAIL[:-1]}e", SCAN, {}) == 404
    assert door.post(f"/appsec/main/{TAIL}/", SCAN, {}) == 404
    assert door.post("/appsec/main/", SCAN, {}) == 404
    assert door.post("/appsec/main", SCAN, {}) == 401
    assert door.kept == 1


@pytest.mark.parametrize(
    "body",
    [b"[]", b"null", b'"x"', b"1e999", b"[" * 60_000, b'{"scanId":{"a":1}}', b'{"scanId":' + b"9" * 5_000 + b"}",
     b'{"statusInfo":"\\ud800"}', b'{"ID":"' + b"x" * 900_000 + b'"}', b"\xff\xfe\x00", b'{"scanId":true,"ID":null}'],
)  # fmt: skip
def test_what_a_signed_message_holds_never_makes_the_receiver_fail(door: Door, body: bytes) -> None:
    assert door.post("/appsec/main", body, signed(body)) == 204
    (hint,) = door.inbox.hints("appsec:main")
    assert all(len(one) <= 200 for one in hint.ids)


def test_an_event_may_come_under_a_header_of_the_services_own_name() -> None:
    assert read("appsec", {"x-webhook-event": "scan_failed"}, SCAN)[0] == "scan_failed"
    assert read("appsec", {"x-own-webhook-event": "scan_partial"}, SCAN) == (
        "scan_partial",
        ("11111111-2222-3333-4444-555555555555",),
    )
    assert read("appsec", {}, b'{"ID":"p-1"}') == ("", ("p-1",))


def test_thousands_of_hostile_messages_leave_nothing_and_one_good_one_gets_through(door: Door) -> None:
    rolls = random.Random(11)
    shown = ["", "sha256=", "sha256=AAAA", "\x7f", "ÿ" * 50, SIGNED["x-webhook-signature"], "9" * 64]
    paths = ["/appsec/main", "/appsec", "/", "/appsec/main/x", "/appsec/%6dain", "/../appsec/main", "/a" * 900]
    bodies = [b"", b"{}", b"[" * 3_000, b"\xff\xfe", SCAN, SCAN * 50]
    count = 10_000 if os.environ.get("NOARKIT_DEEP") else 400
    met: Counter[int] = Counter()
    for _ in range(count):
        body = rolls.choice(bodies) + bytes(rolls.randrange(256) for _ in range(1 + rolls.randrange(12)))
        headers = {"x-webhook-signature": rolls.choice(shown).encode("latin-1"), "x-webhook-event": b"scan_failed"}
        met[door.post(rolls.choice(paths), body, headers)] += 1
    assert set(met) == {401, 404}
    assert door.post("/appsec/main", b"x" * (MAX_BODY_BYTES + 1), SIGNED) == 413
    assert door.kept == 0
    assert door.post("/appsec/main", SCAN, SIGNED) == 204
    assert door.kept == 1

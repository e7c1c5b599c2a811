"""Webhooks: signatures by their vectors, replays, floods of hostile messages, and an inbox that loses nothing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noarkit.secrets import Secret
from noarkit.services.inbox.hints import read, verification
from noarkit.services.inbox.receiver import MAX_BODY_BYTES, InboxEndpoint, receiver
from noarkit.services.inbox.signatures import Seal, prove
from noarkit.services.inbox.store import Inbox

NOW = 1_767_225_600.0
SPEND = Secret("whsec_bm9hcms1LWNvbm5lY3Rvci10ZXN0LWtleS0zMmJ5dGU=")
JOB = (
    b'{"data":{"companyId":"b5fdaec1-1b43-4b62-996a-b0471c3bb336","createdAt":"2026-01-01T00:00:00Z",'
    b'"createdBy":"e3118b03-691c-4bd4-944e-1a9c1f1031b7","expiresIn":3600,"id":"b4c4d068-ebbe-45b7-b562-2f16f0deb8b9",'
    b'"numberOfItems":1,"status":"pending"},"eventId":"a257a31e-e8a6-4c36-a98d-451250e5b5c4",'
    b'"eventType":"v1.export-job.created"}'
)
JOB_HEADERS = {
    "webhook-id": "msg_2f0c7d1e9a4b4c7f8e5d6a3b",
    "webhook-timestamp": "1767225600",
    "webhook-signature": "v1,EzulwXT0JDcglI+P5GaKaiIiVc1xWTJklhjmMt2iMi8=",
}
STANDARD = Seal("standard", (SPEND,))
SHORT = Secret("whsec_test_0123456789abcdef")
BODY = Seal("body", (SHORT,), "x-webhook-signature")
STAMPED = Seal("stamped", (SHORT,), "x-service-signature", "x-service-request-timestamp")
TOKEN = Seal("token", (Secret("t" * 32),))
SCAN = (
    b'{"scanId":"11111111-2222-3333-4444-555555555555","projectId":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",'
    b'"statusInfo":[{"name":"general","status":"Completed","details":""},{"name":"sast","status":"Completed",'
    b'"details":"","loc":1503}],"branch":"main","projectName":"test"}'
)
CHANGE = '{"data":[{"eventName":"%s::config_change","metadata":{"name":"blåbær_gate","action":"updated"}}]}\n'


def test_the_standard_vectors_are_proven() -> None:
    assert hashlib.sha256(JOB).hexdigest() == "8f037b689db7e24e8181302c5b444eec92193488fc83f8835c155ce227d359b5"
    proof = prove(STANDARD, JOB_HEADERS, JOB, NOW)
    assert (proof.reason, proof.id) == ("", JOB_HEADERS["webhook-id"])
    public = Seal("standard", (Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),))
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert prove(public, headers, b'{"test": 2432232314}', 1_614_265_330).reason == ""


def test_the_vector_of_a_signed_body_is_proven_in_base64_and_hex() -> None:
    assert len(SCAN) == 266
    for shown in (
        "sha256=mvUjs6Co/raxy7nuCxToA6heZlGuFy9Ff1wL5cqLuwY=",
        "9af523b3a0a8feb6b1cbb9ee0b14e803a85e6651ae172f457f5c0be5ca8bbb06",
        "sha256=9AF523B3A0A8FEB6B1CBB9EE0B14E803A85E6651AE172F457F5C0BE5CA8BBB06",
    ):
        assert prove(BODY, {"x-webhook-signature": shown}, SCAN, NOW).reason == ""
    assert prove(BODY, {"x-webhook-signature": shown}, SCAN + b" ", NOW).reason == "signature"


def test_a_stamped_signature_is_over_the_raw_bytes() -> None:
    body = (CHANGE % "service").encode()
    stamp = "1709660061500"
    digest = hmac.new(SHORT.reveal().encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    headers = {"x-service-signature": "v0=" + digest, "x-service-request-timestamp": stamp}
    assert prove(STAMPED, headers, body, 1_709_660_061).reason == ""
    again = json.dumps(json.loads(body)).encode()
    assert prove(STAMPED, headers, again, 1_709_660_061).reason == "signature"
    assert prove(STAMPED, headers, body, 1_709_660_061 + 301).reason == "stale"


@pytest.mark.parametrize("shift", [-299, 299])
def test_a_clock_may_differ_by_five_minutes(shift: int) -> None:
    assert prove(STANDARD, JOB_HEADERS, JOB, NOW + shift).reason == ""
    assert prove(STANDARD, JOB_HEADERS, JOB, NOW + shift * 301 / 299).reason == "stale"


def test_several_signatures_and_several_secrets_are_good_while_one_replaces_another() -> None:
    two = JOB_HEADERS | {"webhook-signature": "v1,AAAA v1a,BBBB " + JOB_HEADERS["webhook-signature"]}
    assert prove(Seal("standard", (Secret("whsec_AAAA"), SPEND)), two, JOB, NOW).reason == ""
    assert prove(Seal("standard", (Secret("whsec_AAAA"),)), two, JOB, NOW).reason == "signature"


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-signature": ""},
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,,"},
        {"webhook-signature": "v1,é"},
        {"webhook-signature": ", , ,"},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "-1"},
        {"webhook-timestamp": "9" * 40},
        {"webhook-timestamp": "१७६७२२५६००"},
        {"webhook-id": ""},
        {"webhook-id": "x" * 300},
    ],
)
def test_malformed_headers_are_refused_and_never_fail(change: dict[str, str]) -> None:
    assert prove(STANDARD, JOB_HEADERS | change, JOB, NOW).reason


def test_6_a_body_that_was_written_anew_is_another_and_bytes_that_are_no_text_are_proven_and_tell_nothing() -> None:
    again = json.dumps(json.loads(JOB), sort_keys=True).encode()
    assert prove(STANDARD, JOB_HEADERS, again, NOW).reason == "signature"
    key = base64.b64decode(SPEND.reveal().removeprefix("whsec_"))
    for body in (b"\xff\xfe\x00", b"", b"[" * 100_000, b'{"eventType": 7, "data": [1, {"id": null}]}'):
        signed = f"{JOB_HEADERS['webhook-id']}.{JOB_HEADERS['webhook-timestamp']}.".encode() + body
        shown = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert prove(STANDARD, JOB_HEADERS | {"webhook-signature": shown}, body, NOW).reason == ""
        assert read("spend", {}, body) == ("", ())


def test_a_channel_is_known_by_its_token() -> None:
    message = {"module": "Deals", "ids": ["1", "2"], "operation": "update", "server_time": 1, "token": "t" * 32}
    first = prove(TOKEN, {}, json.dumps(message).encode(), NOW)
    assert first.reason == ""
    assert prove(TOKEN, {}, json.dumps(message, indent=1).encode(), NOW).id == first.id
    wrong: tuple[object, ...] = ({**message, "token": "x"}, {**message, "token": None}, [], "x", {"token": ["t" * 32]})
    for bad in wrong:
        assert prove(TOKEN, {}, json.dumps(bad).encode(), NOW).reason == "signature"
    assert read("crm", {}, json.dumps(message).encode()) == ("Deals.update", ("1", "2"))


def test_what_a_message_tells_is_read_from_every_shape() -> None:
    assert read("spend", {}, JOB) == ("v1.export-job.created", ("b4c4d068-ebbe-45b7-b562-2f16f0deb8b9",))
    assert read("appsec", {}, SCAN)[1] == ("11111111-2222-3333-4444-555555555555",)
    event = {"eventName": "x::config_change", "metadata": {"type": "Gate", "name": "g"}}
    for shape in ({"data": [event]}, [event], event):
        assert read("features", {}, json.dumps(shape).encode()) == ("x::config_change", ("Gate:g",))
    assert verification(b'{"data":{"event":"url_verification","verification_code":"abc"}}') == "abc"
    assert verification(b'{"data":{"event":"url_verification","verification_code":"' + b"a" * 200 + b'"}}') == ""


def doors() -> dict[str, InboxEndpoint]:
    """One door for each scheme."""
    seals = {"/spend": STANDARD, "/appsec": BODY, "/features": STAMPED, "/crm": TOKEN}
    return {path: InboxEndpoint(f"{path[1:]}:main", path, seal) for path, seal in seals.items()}


def test_hostile_messages_raise_nothing_and_one_good_one_is_kept(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    client = TestClient(receiver(doors(), inbox, now_s=lambda: NOW), raise_server_exceptions=True)
    rolls = random.Random(7)
    bodies = [b"", b"{}", b"[" * 5_000, b"\xff\xfe\x00", b'{"token": {"a": 1}}', b'{"ids": [' + b"1," * 50, JOB, SCAN]
    paths = ["/spend", "/appsec", "/features", "/crm", "/nobody", "/spend/../crm", "/%00", "/" + "a" * 2_000]
    values = ["", "v1,", "sha256=", "v0=", "\x7f", "1767225600", "1e9", "null", "v1,AAAA v1,AAAA", "ÿ" * 50]
    names = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature", "x-service-signature"]
    names += ["x-service-request-timestamp", "content-type"]
    seen = set()
    for _ in range(300):  # ten thousand go to the command itself
        headers = {name: rolls.choice(values).encode("latin-1", "replace") for name in rolls.sample(names, 4)}
        body = rolls.choice(bodies) + bytes(rolls.randrange(256) for _ in range(rolls.randrange(20)))
        seen.add(client.post(rolls.choice(paths), content=body, headers=headers).status_code)  # type: ignore[arg-type]  # bytes
    assert seen <= {401, 404}
    assert client.post("/spend", content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert dict(inbox.counts()) == {}
    assert client.post("/spend", content=JOB, headers=JOB_HEADERS).status_code == 204
    assert client.post("/spend", content=JOB, headers=JOB_HEADERS).status_code == 204  # a replay is taken, once
    assert dict(inbox.counts()) == {"spend:main": 1}
    inbox.close()


def test_a_service_that_sets_up_a_webhook_gets_its_code_back(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    client = TestClient(receiver(doors(), inbox))
    asked = b'{"data":{"event":"url_verification","verification_code":"abc-123"}}'
    assert client.post("/features", content=asked).json() == {"verification_code": "abc-123"}
    assert client.post("/spend", content=asked).status_code == 401
    inbox.close()


def test_hints_wait_until_they_are_taken(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    for number in range(3):
        assert inbox.add("crm:main", f"m{number}", "Deals.update", (str(number),), NOW)
    assert not inbox.add("crm:main", "m1", "Deals.update", ("1",), NOW)
    found = list(inbox.hints("crm:main"))
    assert [hint.ids for hint in found] == [("0",), ("1",), ("2",)]
    assert inbox.take("crm:main", found[1].number, NOW) == 2
    assert [hint.ids for hint in inbox.hints("crm:main")] == [("2",)]
    assert not inbox.add("crm:main", "m0", "Deals.update", ("0",), NOW)  # a replay of what was taken
    inbox.take("crm:main", found[2].number, NOW + 8 * 86_400)
    assert inbox.add("crm:main", "m0", "Deals.update", ("0",), NOW + 8 * 86_400)
    inbox.close()


KILLED = """
import sys
from pathlib import Path
from noarkit.services.inbox.store import Inbox
inbox = Inbox(Path(sys.argv[1]))
for number in range(10_000):
    inbox.add("crm:main", f"m{number}", "e", (str(number),), 0.0)
    print(number, flush=True)
"""


def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        answered = [int(running.stdout.readline()) for _ in range(40)]
        running.send_signal(signal.SIGKILL)
    inbox = Inbox(path)
    kept = {hint.ids[0] for hint in inbox.hints("crm:main")}
    assert {str(number) for number in answered} <= kept
    inbox.close()


def test_signatures_are_made_with_the_key_as_the_standard_has_it() -> None:
    key = base64.b64decode(SPEND.reveal().removeprefix("whsec_"))
    assert key == b"noark5-connector-test-key-32byte"

"""Messages from the service: proven over their raw bytes, kept once, and believed no further than a hint."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path

from starlette.testclient import TestClient

from noarkit.secrets import Secret
from noarkit.services.features import write_calls
from noarkit.services.features.service import Features
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.hints import read as read_hint
from noarkit.services.inbox.receiver import receiver
from noarkit.services.inbox.signatures import Seal, prove
from noarkit.services.inbox.store import Inbox
from tests.services.features.asking import connected
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing
from tests.waiting import PATIENCE_S


def vectors(reference: Path) -> list[tuple[bytes, str]]:
    """Messages and their signatures as the reference has them, of one secret and one time."""
    told_ = (reference / "appsec-and-features.md").read_text("utf-8")
    found = re.findall(r"`(\{\"data\":\[\{.*)`\s+→ `(v0=[0-9a-f]{64})`", told_)
    return [(body.replace("⏎", "\n").encode(), signature) for body, signature in found]


def test_messages_of_the_reference_are_proven_and_others_are_not(reference: Path) -> None:
    known = vectors(reference)
    assert len(known) == 2
    seal = Seal(
        "stamped",
        (Secret("another-secret-0123"), Secret("whsec_test_0123456789abcdef")),
        "x-service-signature",
        "x-service-request-timestamp",
    )
    for body, signature in known:
        headers = {"x-service-signature": signature, "x-service-request-timestamp": "1709660061500"}
        assert prove(seal, headers, body, 1_709_660_061.5).reason == ""
        assert prove(seal, headers, body, 1_709_660_061.5 + 301).reason == "stale"
        again = json.dumps(json.loads(body)).encode()
        assert prove(seal, headers, again, 1_709_660_061.5).reason == "signature"


def test_a_webhook_is_set_up_and_changes_are_told_signed_and_kept_once(held: Standing, tmp_path: Path) -> None:
    kept = Inbox(tmp_path / "inbox.db")
    to = held.connection()
    (door,) = inbox_endpoints([to]).values()
    came = threading.Event()

    with TestClient(receiver({door.path: door}, kept)) as listening:

        def answer(asked: Asked) -> Told:
            found = [listening.post(door.path, content=asked.body, headers=dict(asked.headers)) for _ in range(2)]
            if "verification_code" not in found[0].text:
                came.set()
            return Told(found[0].status_code, found[0].content)

        with serving(answer) as service:
            assert held.control("webhook", url=service.url + door.path)["verified"] is True
            with connected(held, tmp_path) as made:
                write_calls.create(made.calls, "gates", {"name": "blaabaer_gate"})
                assert came.wait(PATIENCE_S)
                write_calls.delete(made.calls, "gates", "blaabaer_gate")
        hints = list(kept.hints(to.full_name))
        assert hints[0].event.endswith("::config_change")
        assert hints[0].ids == ("Gate:blaabaer_gate",)
        assert len({hint.number for hint in hints}) == len(hints) <= 2
        for forged in (b"[]", b"{", b'{"data":[{"eventName":"x"}]}'):
            headers = {"X-Service-Signature": "v0=00", "X-Service-Request-Timestamp": str(int(time.time()))}
            assert listening.post(door.path, content=forged, headers=headers).status_code == 401
    kept.close()


def test_exposures_come_as_a_bare_list_and_only_what_they_are_about_is_kept(held: Standing, features: Features) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def answer(asked: Asked) -> Told:
        told_ = json.loads(asked.body)
        if isinstance(told_, dict):
            return told({"verification_code": told_["data"]["verification_code"]})
        heard.append(asked)
        came.set()
        return told({})

    with serving(answer) as service:
        held.control("webhook", url=service.url)
        user = {"userID": "u1", "email": "kari@etaten.example"}
        write_calls.check(features, "g1", user)  # leaves none behind
        write_calls.check(features, "g2", user, with_exposure=True)
        assert came.wait(PATIENCE_S)
    assert b'"g2"' in heard[0].body
    assert json.loads(heard[0].body)[0]["user"] == user
    (door,) = inbox_endpoints([held.connection()]).values()
    assert prove(door.seal, heard[0].headers, heard[0].body, time.time()).reason == ""
    event, ids = read_hint("features", heard[0].headers, heard[0].body)
    assert (event, ids) == ("service::gate_exposure", ())

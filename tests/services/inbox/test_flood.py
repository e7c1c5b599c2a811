"""`noarkit listen` as a process of its own, against floods: hostile messages over raw sockets, replays, malformed HTTP,
and a kill in the middle of good ones. No input gives a 5xx, and what was answered is kept once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from noarkit.services.inbox.store import Inbox, inbox_place
from tests.cli.elsewhere import environment
from tests.ports import free_port
from tests.waiting import PATIENCE_S

HOSTILE = 10_000
GOOD = 150
KEY = b"noark5-connector-test-key-32byte"
TOKEN = "t0ken-of-a-channel-0123456789abcdef"
SECRETS = {
    "NOARKIT_SPEND_MAIN_WEBHOOK_SECRET": "whsec_" + base64.b64encode(KEY).decode(),
    "NOARKIT_CRM_MAIN_WEBHOOK_SECRET": TOKEN,
    "NOARKIT_CRM_MAIN_WEBHOOK_PATH": "/crm",
    "NOARKIT_APPSEC_MAIN_WEBHOOK_SECRET": "a-secret-of-scans-0123",
    "NOARKIT_FEATURES_MAIN_WEBHOOK_SECRET": "a-secret-of-gates-0123",
}
NAMES = ("spend:main", "crm:main", "appsec:main", "features:main")
PATHS = ("/spend/main", "/crm", "/appsec/main", "/features/main", "/nobody", "/spend/../crm", "/%00", "/" + "a" * 2_000)
BODIES = (
    b"", b"{}", b"[" * 5_000, b"\xff\xfe\x00", b'{"token": {"a": 1}}', b'{"token": null, "ids": 7}', b"null", b"1e999",
    b'{"ids": [' + b"1," * 50, b'{"token": "\\ud800"}', b'{"data": {"event": "url_verification"}}', b'"' + b"x" * 3_000,
)  # fmt: skip
VALUES = (
    b"", b"v1,", b"v1,,", b"sha256=", b"v0=", b"1767225600", b"1e9", b"-1", b"\xff" * 50, b"v1,AAAA v1a,BBBB", b"\t",
)  # fmt: skip
HEADERS = (
    "webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature", "x-service-signature",
    "x-service-request-timestamp", "content-type", "x-webhook-event",
)  # fmt: skip


@contextmanager
def listening(home: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The command, once its port answers."""
    command = [sys.executable, "-m", "noarkit", "listen", *NAMES, "--port", str(port)]
    with (home / "listen.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment(home) | SECRETS, stdout=log, stderr=log)
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.02)
        assert process.poll() is None, (home / "listen.log").read_text()
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def post(path: str, body: bytes, headers: Mapping[str, bytes]) -> bytes:
    """A message as it goes over the wire."""
    lines = [f"POST {path} HTTP/1.1".encode(), b"host: a", b"content-length: %d" % len(body)]
    lines += [name.encode() + b": " + value for name, value in headers.items()]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def statuses(port: int, messages: Iterable[bytes], at_once: int = 50) -> Iterator[int]:
    """The status of each answer. One connection, kept; many messages are on their way at once."""
    waiting = iter(messages)
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        while batch := list(itertools.islice(waiting, at_once)):
            line.sendall(b"".join(batch))
            found, left = 0, b""
            while found < len(batch):
                block = line.recv(1 << 16)
                if not block:
                    return
                left += block
                answers = re.findall(rb"HTTP/1\.1 (\d{3}) ", left)
                yield from (int(one) for one in answers)
                found += len(answers)
                left = left[-11:] if not left[-11:].startswith(b"HTTP/1.1 ") else b""


def hostile(rolls: random.Random) -> bytes:
    """A message that nobody should believe."""
    headers = {name: rolls.choice(VALUES) for name in rolls.sample(HEADERS, 4)}
    return post(rolls.choice(PATHS), rolls.choice(BODIES) + rolls.randbytes(rolls.randrange(20)), headers)


def signed(number: int) -> bytes:
    """A message as the spend service signs it now."""
    body = json.dumps({"data": {"id": f"job-{number}"}, "eventType": "v1.export-job.created"}).encode()
    stamp = str(int(time.time()))
    digest = hmac.new(KEY, f"msg-{number}.{stamp}.".encode() + body, hashlib.sha256).digest()
    told = {"webhook-id": f"msg-{number}", "webhook-timestamp": stamp}
    headers = {name: value.encode() for name, value in told.items()}
    return post("/spend/main", body, headers | {"webhook-signature": b"v1," + base64.b64encode(digest)})


def kept(home: Path, connection: str = "spend:main") -> list[str]:
    """What the inbox holds for a connection."""
    with closing(Inbox(inbox_place(environment(home)))) as inbox:
        return [one for hint in inbox.hints(connection) for one in hint.ids]


def test_a_flood_of_hostile_messages_gives_no_5xx_and_good_ones_among_them_are_kept_once(tmp_path: Path) -> None:
    rolls, port = random.Random(7), free_port()
    # every hundredth is good, and each of those comes five times
    messages = (signed(place // 100 % 5) if place % 100 == 0 else hostile(rolls) for place in range(HOSTILE))
    with listening(tmp_path, port) as process:
        seen = Counter(statuses(port, messages))
        assert sum(seen.values()) == HOSTILE
        assert set(seen) <= {204, 401, 404}, seen
        assert seen[204] == len(range(0, HOSTILE, 100))
        assert list(statuses(port, [post("/spend/main", b"x" * (1024 * 1024 + 1), {})])) == [413]
        assert list(statuses(port, [signed(4)])) == [204]
        assert process.poll() is None
    assert sorted(kept(tmp_path)) == [f"job-{number}" for number in range(5)]
    for other in NAMES[1:]:
        assert kept(tmp_path, other) == []
    told = (tmp_path / "listen.log").read_text()
    assert not [secret for secret in SECRETS.values() if len(secret) > 10 and secret in told]
    assert "Traceback" not in told


MALFORMED = (
    b"\r\n\r\n",
    b"\x00" * 100,
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST",
    b"POST /crm HTTP/1.1\r\nhost: a\r\nwebhook-id: \x7f\r\n\r\n",
    b"POST /crm HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    b"POST /crm HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\ncontent-length: 20\r\n\r\n12345678901234567890",
    b"POST /crm HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /crm HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\nshort",
    b"POST /crm HTTP/1.1\r\n" + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
)


def test_what_is_no_http_at_all_is_let_go_and_the_next_message_is_taken(tmp_path: Path) -> None:
    port = free_port()
    with listening(tmp_path, port) as process:
        for bad in MALFORMED:
            with socket.create_connection(("127.0.0.1", port), 10) as line, suppress(OSError):
                line.sendall(bad)
                line.shutdown(socket.SHUT_WR)
                answer = b""
                while block := line.recv(4_096):
                    answer += block
                assert not re.match(rb"HTTP/1\.1 5", answer), (bad[:50], answer[:100])
        assert list(statuses(port, [signed(1)])) == [204]
        assert process.poll() is None
    assert kept(tmp_path) == ["job-1"]
    assert "Traceback" not in (tmp_path / "listen.log").read_text()


def test_killed_in_a_flood_of_good_messages_each_that_was_answered_is_kept_and_none_comes_twice(
    tmp_path: Path,
) -> None:
    port, answered = free_port(), 0
    with listening(tmp_path, port) as process, suppress(OSError):
        for status in statuses(port, (signed(number) for number in range(GOOD)), at_once=1):
            assert status == 204
            answered += 1
            if answered == GOOD // 2:
                process.send_signal(signal.SIGKILL)
    assert answered >= GOOD // 2
    first = kept(tmp_path)
    assert first[:answered] == [f"job-{number}" for number in range(answered)]
    with listening(tmp_path, port):  # the service sends all of it again
        assert set(statuses(port, (signed(number) for number in range(GOOD)))) == {204}
        assert set(statuses(port, (signed(number) for number in range(GOOD)))) == {204}
    assert sorted(kept(tmp_path)) == sorted(f"job-{number}" for number in range(GOOD))

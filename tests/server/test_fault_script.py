"""The fault script: each kind does what it says, at the calls it names."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault
from noarkit.server.fault_script import read_script
from tests.server.conftest import Archive, serving
from tests.server.wire import BASE, Reply
from tests.waiting import PATIENCE_S, came

LISTS = "code-lists?field=skjerming"
PUT = ("PUT", "code-lists/skjerming/{}", {"name": "Name {}"})

Troubled = Callable[[str], Archive]


@pytest.fixture
def troubled(tmp_path: Path) -> Iterator[Troubled]:
    """Makes an archive with a fault script."""
    blocks = []

    def make(script: str) -> Archive:
        path = tmp_path / "faults.toml"
        path.write_text(script, "utf-8")
        block = serving(tmp_path / "archive", faults=path)
        blocks.append(block)
        return block.__enter__()

    yield make
    for block in blocks:
        block.__exit__(None, None, None)


def put(archive: Archive, code: str) -> Reply:
    return archive.wire.call("PUT", f"code-lists/skjerming/{code}", {"name": f"Name {code}"})


def codes(archive: Archive) -> str:
    return archive.wire.call("GET", LISTS).body.decode()


def fired(archive: Archive) -> list[dict[str, object]]:
    return [json.loads(line) for line in (archive.data_dir / "faults.log").read_text().splitlines()]


def test_rules_fire_at_the_calls_they_count_and_say_so(troubled: Troubled) -> None:
    archive = troubled(
        """
        [[rule]]
        call = "GET code-lists"
        kind = "refuse"
        nth = [1, 3]
        status = 503
        [[rule]]
        call = "GET *"
        kind = "refuse"
        every = 5
        times = 1
        status = 500
        """
    )
    statuses = [archive.wire.call("GET", LISTS).status for _ in range(11)]
    assert statuses == [503, 200, 503, 200, 500, 200, 200, 200, 200, 200, 200]
    assert fired(archive) == [
        {"rule": 1, "kind": "refuse", "call": "GET code-lists", "count": 1},
        {"rule": 1, "kind": "refuse", "call": "GET code-lists", "count": 3},
        {"rule": 2, "kind": "refuse", "call": "GET code-lists", "count": 5},
    ]


@pytest.mark.parametrize("status", [401, 409, 429, 500, 503])
def test_refuse_answers_and_serves_nothing(troubled: Troubled, status: int) -> None:
    archive = troubled(f'[[rule]]\ncall = "PUT *"\nkind = "refuse"\nnth = 1\nstatus = {status}\nretry_after = 7')
    reply = put(archive, "A")
    assert (reply.status, reply.headers["retry-after"]) == (status, "7")
    assert '"A"' not in codes(archive)
    assert put(archive, "A").status == 200


@pytest.mark.parametrize(("kind", "stands"), [("reset", False), ("commit-reset", True)])
def test_a_reset_loses_the_answer_before_or_after_the_commit(troubled: Troubled, kind: str, stands: bool) -> None:
    archive = troubled(f'[[rule]]\ncall = "PUT *"\nkind = "{kind}"\nnth = 1')
    with pytest.raises(ConnectionResetError):
        put(archive, "A")
    assert ('"A"' in codes(archive)) is stands


def test_a_commit_that_fails_stands(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "PUT *"\nkind = "commit-fail"\nstatus = 500')
    assert put(archive, "A").status == 500
    assert '"A"' in codes(archive)


def test_a_late_commit_comes_after_its_answer(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "PUT *"\nkind = "late-commit"\nstatus = 503\nseconds = 0.3')
    assert put(archive, "A").status == 503
    assert '"A"' not in codes(archive)
    assert came(lambda: '"A"' in codes(archive))


def test_a_commit_may_be_late_whoever_is_still_there(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "PUT *"\nkind = "delay-commit"\nseconds = 0.3')
    connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {archive.wire.token}", "Content-Type": "application/json"}
    began = time.monotonic()
    connection.request("PUT", f"{BASE}/code-lists/skjerming/A", b'{"name": "Name A"}', headers)
    time.sleep(0.05)  # so that the request is there before its client is gone
    connection.close()
    assert '"A"' not in codes(archive) or time.monotonic() - began > 0.3  # a busy machine asks later than that
    assert came(lambda: '"A"' in codes(archive))


def test_a_late_commit_may_come_without_any_answer(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "PUT *"\nkind = "late-commit"\nstatus = 0\nseconds = 0.3')
    connection = http.client.HTTPConnection(archive.wire.host, archive.wire.port, timeout=0.1)
    headers = {"Authorization": f"Bearer {archive.wire.token}", "Content-Type": "application/json"}
    began = time.monotonic()
    connection.request("PUT", f"{BASE}/code-lists/skjerming/A", b'{"name": "Name A"}', headers)
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    assert '"A"' not in codes(archive) or time.monotonic() - began > 0.3
    assert came(lambda: '"A"' in codes(archive))


@pytest.mark.parametrize("kind", ["delay", "delay-answer", "delay-commit"])
def test_a_delay_comes_before_or_after_the_commit(troubled: Troubled, kind: str) -> None:
    archive = troubled(f'[[rule]]\ncall = "PUT *"\nkind = "{kind}"\nseconds = 0.3')
    began = time.monotonic()
    assert put(archive, "A").status == 200
    assert time.monotonic() - began >= 0.3


def test_an_answer_trickles(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "GET code-lists"\nkind = "trickle"\nbytes = 400\nseconds = 0.02')
    began = time.monotonic()
    reply = archive.wire.call("GET", LISTS)
    assert reply.json()["results"]
    assert time.monotonic() - began >= 0.02 * (len(reply.body) // 400)


def test_an_answer_is_cut(troubled: Troubled) -> None:
    archive = troubled('[[rule]]\ncall = "GET code-lists"\nkind = "cut"')
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        archive.wire.call("GET", LISTS)


def test_a_bit_flips_on_the_way_or_in_the_store(troubled: Troubled) -> None:
    archive = troubled(
        """
        [[rule]]
        call = "GET download"
        kind = "flip-answer"
        nth = 1
        [[rule]]
        call = "POST upload"
        kind = "flip-stored"
        nth = 2
        """
    )
    first, second = (str(archive.wire.upload(b"%d" % at * 1000).json()["id"]) for at in (1, 2))
    wrong, right = (archive.wire.call("GET", f"download?id={first}").body for _ in range(2))
    assert (len(wrong), wrong != b"1" * 1000, right) == (1000, True, b"1" * 1000)
    stored = archive.wire.call("GET", f"download?id={second}").body
    assert sum(one != other for one, other in zip(stored, b"2" * 1000, strict=True)) == 1


def test_json_scripts_are_read_and_bad_ones_refused(tmp_path: Path) -> None:
    good = tmp_path / "faults.json"
    good.write_text('{"rule": [{"call": "*", "kind": "delay", "seconds": 1, "nth": 2}]}')
    assert read_script(good)[0].nth == (2,)
    for at, bad in enumerate(
        ("", "[[rule]]\nkind='delay'", "[[rule]]\ncall='*'\nkind='x'", "[[rule]]\ncall='*'\nkind='cut'\nevery='a'")
    ):
        path = tmp_path / f"{at}.toml"
        path.write_text(bad)
        with pytest.raises(ConfigFault):
            read_script(path)

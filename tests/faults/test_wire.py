"""A real load over a wire on which everything goes wrong that can: answers lost, late, refused, slow."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.world import World
from tests.waiting import PATIENCE_S

PROTECTIONS = {"guard and uuids": (True, "admin"), "settling alone": (False, "plain")}
SCRIPTS: dict[str, list[dict[str, object]]] = {
    "answers lost": [
        {"call": "POST transaction", "kind": "commit-reset", "nth": [7, 12]},
        {"call": "POST transaction", "kind": "commit-fail", "status": 500, "nth": 9},
        {"call": "POST transaction", "kind": "commit-fail", "status": 503, "nth": 11},
        {"call": "POST transaction", "kind": "cut", "nth": 14},
        {"call": "POST transaction", "kind": "reset", "nth": [8, 15]},
        {"call": "POST upload", "kind": "commit-reset", "every": 9},
        {"call": "POST query", "kind": "cut", "every": 11},
    ],
    "late and refused": [
        {"call": "POST transaction", "kind": "late-commit", "status": 500, "seconds": 0.3, "nth": 7},
        {"call": "POST transaction", "kind": "late-commit", "status": 503, "seconds": 0.2, "nth": 10},
        {"call": "POST transaction", "kind": "refuse", "status": 409, "nth": [8, 13]},
        {"call": "POST transaction", "kind": "refuse", "status": 401, "nth": 9},
        {"call": "POST transaction", "kind": "refuse", "status": 429, "nth": 12},
        {"call": "POST upload", "kind": "refuse", "status": 401, "every": 7},
        {"call": "POST query", "kind": "trickle", "bytes": 400, "seconds": 0.002, "every": 8},
        {"call": "POST upload", "kind": "delay", "seconds": 0.05, "every": 10},
    ],
}


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_whatever_the_wire_does_each_key_arrives_once(script: str, protection: str, world: MakeWorld) -> None:
    honours_versions, account = PROTECTIONS[protection]
    here = world(90, honours_versions=honours_versions, account=account)
    rules = SCRIPTS[script]
    here.serve(*rules)
    end = here.until_done(patience_s=3.0, chunk_actions=40, deadline_s=1.5)
    here.check(end)
    fired = [json.loads(line)["rule"] for line in (here.archive / "faults.log").read_text().splitlines()]
    assert set(fired) == set(range(1, len(rules) + 1)), "some trouble never came"


def test_a_token_that_ends_again_and_again_in_the_middle_of_uploads_loses_nothing(world: MakeWorld) -> None:
    here = world(30)
    (here.archive / "server.toml").write_text("token_ttl_s = 1\n")
    here.serve({"call": "POST upload", "kind": "refuse", "status": 401, "every": 4})
    end = here.load(pause_s=0.05)
    assert end["exit"] == 0, (end, here.log())
    here.check(end)


def test_an_account_that_is_let_in_no_more_stops_the_run_and_is_let_in_later(world: MakeWorld) -> None:
    here = world(30)
    here.serve({"call": "POST upload", "kind": "refuse", "status": 401, "nth": list(range(5, 200))})
    assert here.load()["exit"] == 6
    here.stop()
    here.serve()
    here.check(here.until_done())


def test_a_terminated_run_drains_and_goes_on_later(world: MakeWorld) -> None:
    here = world(60)
    here.serve()
    command = here.start(pause_s=0.02)
    command.until_event("chunk_done")
    os.kill(command.process.pid, signal.SIGTERM)
    end = command.end()
    assert (end["exit"], end["state"], end["in_doubt"]) == (143, "paused", 0), (end, here.log())
    again = here.start()
    assert again.until_event("chunk_done") is not None
    assert again.events("in_doubt") == []
    here.check(again.end())


def test_a_second_coordinator_is_told_who_holds_the_run_and_takes_over_at_once_when_it_is_killed(
    world: MakeWorld,
) -> None:
    here = world(60)
    here.serve()
    first = here.start(pause_s=1.0)  # so slow that it is at work until it is killed, however busy the machine is
    first.until_event("shard_started", 2)
    second = here.load()
    assert (second["exit"], second["code"]) == (9, "F403")
    data = second["data"]
    assert isinstance(data, dict)
    assert str(data["owner"]).startswith(f"process {first.process.pid} on ")
    waiting = here.start(pause_s=0.0)
    assert first.kill()
    assert here.load()["exit"] in (0, 9)
    waiting.end()
    here.check(here.until_done())


def test_the_lock_of_a_killed_coordinator_is_free_before_anyone_can_ask(world: MakeWorld) -> None:
    here = world(60)
    here.serve()
    for _ in range(2):
        first = here.start(pause_s=0.05)
        first.until_event("shard_started", 2)
        assert first.kill()
        third = here.start()
        assert third.until_event("preflight") is not None, (third.lines, here.log())
        third.kill()
    here.check(here.until_done())


@contextmanager
def flipping(world: World, marker: bytes) -> Iterator[int]:
    """A wire in front of the archive that changes one bit of the first upload in which `marker` passes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=_relay_all, args=(listener, world.port, marker), daemon=True)
        thread.start()
        yield port
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE_S)


def _relay_all(listener: socket.socket, port: int, marker: bytes) -> None:
    threads = []
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for source, target, flip in ((client, server, marker), (server, client, b"")):
                threads.append(threading.Thread(target=_relay, args=(source, target, flip), daemon=True))
                threads[-1].start()
    for thread in threads:
        thread.join(PATIENCE_S)


def _relay(source: socket.socket, target: socket.socket, marker: bytes) -> None:
    with closing(source), suppress(OSError):
        while block := source.recv(65536):
            if marker and marker in block:
                at = block.index(marker) + len(marker) - 1
                block = block[:at] + bytes([block[at] ^ 1]) + block[at + 1 :]
            target.sendall(block)
        target.shutdown(socket.SHUT_WR)


def test_a_bit_that_flips_on_the_wire_is_named_and_never_taken_for_good(world: MakeWorld) -> None:
    here = world(12)
    here.serve()
    key = "folder000/file0007.bin"
    with flipping(here, here.contents[key][:20]) as port:
        end = here.load(url=f"http://127.0.0.1:{port}/rms/api/public", workers=0)
    stopped = [line for line in here.commands[-1].events("shard_stopped") if line.get("code") == "F314"]
    assert end["exit"] == 7, (end, here.log())
    assert [line["key"] for line in stopped] == [f"{key}#v"]
    end = here.load(verify=True)
    (verified,) = here.commands[-1].events("verified")
    assert verified["good"] is False
    assert verified["findings"] == [["V232", f"{key}#v"], ["V302", f"{key}#v"]]

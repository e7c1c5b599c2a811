"""What the service manager is told, over a real socket: READY, STATUS, WATCHDOG, STOPPING."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.config import OperationsConfig
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.operations.job import Job
from noarkit.operations.systemd import service_manager
from noarkit.operations.watch import Operations, WatchDeps
from noarkit.words.texts import texts
from tests.operations.watching import datagrams, received, scan, script
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    with datagrams(tmp_path / "notify") as opened:
        yield opened


def states(messages: list[bytes]) -> list[str]:
    """The names and values of messages, without their words for people."""
    lines = [line for message in messages for line in message.decode().splitlines()]
    return [line for line in lines if not line.startswith("STATUS=")]


def watched(listener: socket.socket, *, silence_s: float, serves: bool = False, limit_s: float = 0.3) -> Operations:
    """A command that a service manager watches."""
    environment = {"NOTIFY_SOCKET": str(listener.getsockname()), "WATCHDOG_USEC": str(int(limit_s * 1e6))}

    def refuse(fault: NoarkitError) -> None:
        raise fault

    deps = WatchDeps(texts("en"), environment, refuse)
    return Operations(OperationsConfig(silence_s=silence_s), Job("ingest", "run", time.time()), deps, serves=serves)


def wait_for(listener: socket.socket, word: bytes) -> bytes:
    """The first message with a word in it."""
    while word not in (message := listener.recv(4096)):
        pass
    return message


def test_a_command_says_that_it_is_ready_and_that_it_stops(tmp_path: Path, listener: socket.socket) -> None:
    (tmp_path / "source").mkdir()
    assert scan(tmp_path / "source", NOTIFY_SOCKET=str(tmp_path / "notify")) == 0
    messages = received(listener)
    assert states(messages) == ["READY=1", "STOPPING=1"]
    assert b"STATUS=scan source" in messages[0] and b"STATUS=ended with exit code 0" in messages[-1]


def test_a_command_below_a_script_does_not_end_the_service(tmp_path: Path, listener: socket.socket) -> None:
    (tmp_path / "source").mkdir()
    assert scan(tmp_path / "source", NOTIFY_SOCKET=str(tmp_path / "notify"), SYSTEMD_EXEC_PID="1") == 0
    assert states(received(listener)) == ["READY=1"]


def test_a_command_that_a_start_hook_stops_never_was_ready(tmp_path: Path, listener: socket.socket) -> None:
    hook = script(tmp_path / "no.py", "raise SystemExit(1)")
    assert scan(tmp_path, "--hook", "start", hook, NOTIFY_SOCKET=str(tmp_path / "notify")) == 2
    assert states(received(listener)) == ["STOPPING=1"]


def test_a_command_that_a_signal_stops_says_so_in_words(listener: socket.socket) -> None:
    operations = watched(listener, silence_s=1000.0)
    operations.stopping()
    assert received(listener) == [f"STOPPING=1\nSTATUS={texts('en').say('run.stopping')}".encode()]


def test_an_abstract_socket_is_one_too() -> None:
    name = f"noarkit-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + name)
        manager = service_manager({"NOTIFY_SOCKET": "@" + name})
        assert manager is not None and manager.notify(STATUS="two\nlines", READY="1")
        assert listener.recv(100) == b"STATUS=two lines\nREADY=1"


def test_a_socket_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    assert scan(tmp_path / "source", NOTIFY_SOCKET=str(tmp_path / "gone")) == 0
    assert service_manager({}) is None and service_manager({"NOTIFY_SOCKET": "relative"}) is None


def test_signs_of_life_end_with_the_events(listener: socket.socket) -> None:
    operations = watched(listener, silence_s=1.5)
    operations.begin()
    wait_for(listener, b"WATCHDOG=1")
    time.sleep(1.8)  # nothing happens for longer than may be
    received(listener)
    time.sleep(0.5)
    assert "WATCHDOG=1" not in states(received(listener))
    operations.on_event(Event("load_began", {"objects": 9, "done": 2, "bytes": 0, "bytes_done": 0}))
    wait_for(listener, b"WATCHDOG=1")
    assert b"2 of 9" in wait_for(listener, b"STATUS=ingest run:")
    operations.end(0, "done", {})


def test_a_server_lives_by_its_loop(listener: socket.socket) -> None:
    operations = watched(listener, silence_s=1000.0, serves=True)
    operations.begin()
    assert "READY=1" not in states(received(listener))
    operations.ready()
    wait_for(listener, b"READY=1")
    time.sleep(0.5)
    received(listener)
    time.sleep(0.4)
    assert "WATCHDOG=1" not in states(received(listener)), "its loop does not turn"
    ends = time.monotonic() + PATIENCE_S
    while "WATCHDOG=1" not in states(received(listener)):
        assert time.monotonic() < ends
        operations.alive()
        time.sleep(0.02)
    operations.end(0, "done", {})


def test_a_watchdog_for_another_process_hears_nothing() -> None:
    manager = service_manager({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"})
    assert manager is not None and manager.watchdog_s is None
    mine = service_manager({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": str(os.getpid())})
    assert mine is not None and mine.watchdog_s == 1.0


def test_a_served_archive_is_ready_alive_and_stops(tmp_path: Path, listener: socket.socket) -> None:
    limit_s = 0.9
    environment = {
        **{"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        **{"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": str(int(limit_s * 1e6))},
    }
    words = [sys.executable, "-m", "noarkit", "serve", "--data", str(tmp_path / "archive"), "--port", "0"]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(listener, b"READY=1")
        assert (tmp_path / "archive" / "serving.json").exists()
        began_s = time.monotonic()
        while time.monotonic() - began_s < 2.2 * limit_s:  # its first sign of life is not its last
            wait_for(listener, b"WATCHDOG=1")
        received(listener)
        wait_for(listener, b"WATCHDOG=1")
        process.send_signal(signal.SIGTERM)
        wait_for(listener, b"STOPPING=1")
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()

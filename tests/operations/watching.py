"""What tests of operations share: a command that is watched, and those who listen to it."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.waiting import PATIENCE_S


def needs(program: str) -> str:
    """Where a program is; the test is left out where it is not."""
    place = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if place is None:
        pytest.skip(f"no {program} here: scripts/operations-tools installs it")
    return place


def scan(folder: Path, *options: str, **environment: str) -> int:
    """A short command that is watched: it reads a folder, and ends with 0, or with 8 where there is no folder."""
    return main(["scan", str(folder), *options], {"HOME": "/nonexistent", **environment})


def script(place: Path, code: str) -> str:
    """The command of a hook that is written in Python."""
    place.write_text(code, "utf-8")
    return f"{sys.executable} {place}"


def recorder(place: Path, record: Path, then: str = "") -> str:
    """A hook that writes down what it is given, and what of its environment could be a secret or a voice of ours."""
    code = (
        "import json, os, sys\n"
        "names = ('NOARKIT_', 'NOTIFY_', 'WATCHDOG_', 'CREDENTIALS_')\n"
        "seen = sorted(name for name in os.environ if name.startswith(names) or 'SECRET' in name)\n"
        f"with open({str(record)!r}, 'a') as file:\n"
        "    for line in sys.stdin:\n"
        "        file.write(json.dumps({**json.loads(line), 'environment': seen}) + '\\n')\n"
        f"{then}\n"
    )
    return script(place, code)


def records(place: Path) -> list[dict[str, object]]:
    """What a recorder wrote down."""
    return [json.loads(line) for line in place.read_text("utf-8").splitlines()] if place.exists() else []


@contextmanager
def datagrams(place: Path) -> Iterator[socket.socket]:
    """A socket that listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(place))
        listener.settimeout(PATIENCE_S)
        yield listener


def received(listener: socket.socket) -> list[bytes]:
    """What has come in so far."""
    messages: list[bytes] = []
    listener.setblocking(False)
    while True:
        try:
            messages.append(listener.recv(65536))
        except BlockingIOError:
            listener.settimeout(PATIENCE_S)
            return messages


@contextmanager
def collected(place: Path) -> Iterator[list[bytes]]:
    """What comes to a socket at a path, read while it comes: a socket that nobody reads takes some ten messages."""
    messages: list[bytes] = []
    with datagrams(place) as listener:

        def read() -> None:
            listener.settimeout(None)
            while (message := listener.recv(65536)) != b"":
                messages.append(message)

        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        yield messages
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", str(place))
        reading.join(PATIENCE_S)


def faults_in(lines: str) -> list[dict[str, object]]:
    """The faults among lines of --json."""
    events = [json.loads(line) for line in lines.splitlines()]
    return [event for event in events if event["event"] == "fault"]


def summary_in(lines: str) -> dict[str, object]:
    """The last line of --json."""
    last: dict[str, object] = json.loads(lines.splitlines()[-1])
    assert last["event"] == "summary"
    return last

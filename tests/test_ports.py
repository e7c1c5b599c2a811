"""A port that was given is nobody else's: of no other process of the tests, and of no connection that asks for any."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import ports
from tests.ports import free_port

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
ASK = "from tests.ports import free_port; print(*(free_port() for _ in range(300)))"


def test_a_port_is_given_once_and_can_be_listened_on() -> None:
    given = [free_port() for _ in range(50)]
    assert len(set(given)) == 50
    with socket.create_server(("127.0.0.1", given[0])) as server:
        assert server.getsockname()[1] == given[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="claims that end with their process are of Linux")
def test_processes_are_given_different_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {free_port() for _ in range(300)}
    command = [sys.executable, "-c", ASK]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    given = [process.communicate()[0].split() for process in asked]
    assert [len(each) for each in given] == [300, 300]
    assert not mine & set(map(int, given[0])) and not mine & set(map(int, given[1]))


def test_a_port_that_is_listened_on_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as server:
        taken = server.getsockname()[1]
        with ExitStack() as claim:
            assert not ports._is_free(taken, claim)


@pytest.mark.skipif(not RANGE.exists(), reason="the system does not tell which ports it gives")
def test_no_connection_is_given_one_of_them() -> None:
    least, _ = map(int, RANGE.read_text().split())
    assert least >= ports._MOST

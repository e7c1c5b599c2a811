"""What was given up on does not reach the archive afterwards: the system would go on sending it for minutes."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from noarkit.archive.stream import BrokenExchange, Patience, Stream, open_stream
from tests.waiting import PATIENCE_S

REQUEST = bytes(400_000)
"""More than the other side takes before it reads, less than the system takes from us at once."""

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux tells what is on its way")


@pytest.fixture
def archive() -> Iterator[socket.socket]:
    """One that accepts a connection and reads nothing of it yet."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener


def opened(archive: socket.socket, patience: Patience) -> Stream:
    """A stream to it."""
    host, port = archive.getsockname()
    stream = open_stream(host, port, patience, time.monotonic)
    stream.begin()
    return stream


def connected(archive: socket.socket, patience: Patience) -> Stream:
    """A stream to it, on which the request has been sent as far as we can tell."""
    stream = opened(archive, patience)
    stream.send(REQUEST)
    return stream


def arrived(archive: socket.socket) -> int:
    """How many bytes it can read until the end."""
    count = 0
    with closing(archive.accept()[0]) as accepted, suppress(ConnectionResetError):
        accepted.settimeout(PATIENCE_S)
        while block := accepted.recv(65536):
            count += len(block)
    return count


def test_a_request_that_is_given_up_does_not_arrive_later(archive: socket.socket) -> None:
    stream = connected(archive, Patience(5.0, 30.0, 0.2))
    with pytest.raises(BrokenExchange) as given_up:
        stream.receive(100)
    assert (given_up.value.reason, given_up.value.detail) == ("lost", "timeout")
    stream.close()
    assert arrived(archive) < len(REQUEST)


def test_a_request_of_a_process_that_was_killed_does_not_arrive_later(archive: socket.socket) -> None:
    said, saying = os.pipe()
    child = os.fork()
    if child == 0:
        connected(archive, Patience())
        os.write(saying, b"sent")
        signal.pause()
    assert os.read(said, 4) == b"sent"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert arrived(archive) < len(REQUEST)


def test_the_system_gives_up_what_nobody_takes_as_soon_as_we_would(archive: socket.socket) -> None:
    with closing(connected(archive, Patience(5.0, 0.5, 50.0))) as stream, pytest.raises(BrokenExchange) as given_up:
        stream.receive(100)
    assert (given_up.value.reason, given_up.value.detail) == ("lost", "reset")  # not «timeout», after 50 s
    assert arrived(archive) < len(REQUEST)


def test_a_connection_whose_request_was_taken_ends_in_order(archive: socket.socket) -> None:
    stream = opened(archive, Patience())
    stream.send(b"asked")
    with closing(archive.accept()[0]) as accepted:
        accepted.settimeout(PATIENCE_S)
        assert accepted.recv(100) == b"asked"
        accepted.sendall(b"answered")
        assert stream.receive(100) == b"answered"
        stream.close()
        assert accepted.recv(100) == b""  # no reset

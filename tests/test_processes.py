"""What is told of processes while they come and go: never a fault, and nothing of what has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.processes import (
    IS_TOLD,
    all_processes,
    children,
    command_line,
    environment_of,
    family,
    have_ended,
    is_alive,
    process_of,
    running_with,
)
from tests.waiting import came

pytestmark = pytest.mark.skipif(not IS_TOLD, reason="the system does not tell what processes do")
SIGN = f"4713.{os.getpid()}"
PARENT = "import subprocess, sys; subprocess.run(['sleep', sys.argv[1]])"


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a child that sleeps."""
    with subprocess.Popen([sys.executable, "-c", PARENT, SIGN], start_new_session=True) as process:
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def test_a_family_is_told_with_its_lines_and_ends_as_one(parent: subprocess.Popen[bytes]) -> None:
    assert came(lambda: len(running_with(SIGN)) == 2 and command_line(running_with(SIGN)[-1]).startswith(b"sleep"))
    below = children(parent.pid)
    assert family(parent.pid) == [parent.pid, *below] and len(below) == 1
    assert f"sleep\0{SIGN}\0".encode() == command_line(below[0])
    assert b"PATH=" in environment_of(below[0])
    assert parent.pid in children(os.getpid()) and below[0] in family(os.getpid())
    told = process_of(below[0])
    assert told is not None and (told.parent, told.session) == (parent.pid, parent.pid)
    os.killpg(parent.pid, signal.SIGKILL)
    assert have_ended([parent.pid, *below])


def test_of_a_process_that_has_ended_nothing_is_told() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(process.pid)
    process.kill()
    assert have_ended([process.pid])
    assert not is_alive(process.pid) and command_line(process.pid) == b"", "it was not waited for"
    process.communicate()
    assert family(process.pid) == children(process.pid) == []
    assert (process_of(process.pid), environment_of(process.pid)) == (None, b"")


def test_processes_that_end_while_they_are_looked_at_are_no_fault() -> None:
    ended = threading.Event()

    def begin_and_end() -> None:
        while not ended.is_set():
            subprocess.run(["true"], check=True)

    thread = threading.Thread(target=begin_and_end)
    thread.start()
    try:
        looks = [[(command_line(each.pid), environment_of(each.pid)) for each in all_processes()] for _ in range(20)]
    finally:
        ended.set()
        thread.join()
    assert all(looks)

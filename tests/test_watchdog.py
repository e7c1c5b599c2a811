"""Work that does not get on is ended; work that does is left alone, however long it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.processes import IS_TOLD, running_with
from tests.waiting import PATIENCE_S, came
from tests.watchdog import Bounds, Standstill, watched

needs_processes = pytest.mark.skipif(not IS_TOLD, reason="the system does not tell what processes do")
SIGN = f"4714.{os.getpid()}"
SPINS = "while True: pass"
WAITS = "import sys; sys.stdin.read()"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"


def ended(bounds: Bounds, *line: str) -> str:
    """Why a program was ended that never gets on."""
    command = [sys.executable, "-c", *line]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE) as process,
        watched(process.pid, lambda: None, bounds) as watchdog,
    ):
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
    return watchdog.struck


@needs_processes
@pytest.mark.parametrize("line", [(SPINS,), (PARENT, SPINS)])
def test_what_takes_processor_time_and_does_not_get_on_is_ended(line: tuple[str, ...]) -> None:
    assert "s of a processor and did not get on" in ended(Bounds(0.5), *line, SIGN)
    assert came(lambda: not running_with(SIGN)), "nothing that it started lives on"


@needs_processes
def test_what_does_nothing_is_ended() -> None:
    assert ended(Bounds(60.0, idle_s=1.0), WAITS) == "did nothing for 1.2 s"


def test_work_that_gets_on_may_take_any_time() -> None:
    standstill = Standstill(Bounds(2.0, idle_s=10.0), 0, 0.0)
    assert [standstill.look(number, number * 1.9, 9.0) for number in range(1, 100)] == [""] * 99
    assert standstill.look(99, 200.0, 1.0) == "took 11.9 s of a processor and did not get on"
    assert standstill.look(100, 300.0, 1.0) == ""


def test_work_that_waits_for_a_processor_is_not_idle() -> None:
    standstill = Standstill(Bounds(100.0, idle_s=10.0), 0, 0.0)
    assert [standstill.look(0, number * 0.6, 9.0) for number in range(1, 100)] == [""] * 99
    assert standstill.look(0, 59.5, 9.0) == ""
    assert standstill.look(0, 59.6, 2.0) == "did nothing for 11.0 s"


def test_the_time_of_a_child_that_nobody_waited_for_is_not_forgotten() -> None:
    standstill = Standstill(Bounds(2.0), 0, 0.0)
    assert [standstill.look(0, spent_s, 1.0) for spent_s in (1.5, 0.1, 0.5)] == [""] * 3
    assert standstill.look(0, 0.7, 1.0) == "took 2.1 s of a processor and did not get on"

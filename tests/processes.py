"""What Linux tells of processes, to tests that look for one, watch it or wait for its end.

A process may end at any moment, also while it is looked at: what has ended is told as nothing, never as a fault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import came

PROC = Path("/proc")
IS_TOLD = sys.platform.startswith("linux")
"""True where the system tells about processes."""
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK") if IS_TOLD else 1


@dataclass(frozen=True)
class Process:
    """A process at one moment. `processor_s` has that of its children who have ended and were waited for."""

    pid: int
    parent: int
    session: int
    state: str
    processor_s: float


def process_of(pid: int) -> Process | None:
    """What there is to say of a process; None where it has ended, and was waited for."""
    with suppress(OSError):
        state, *fields = (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        ticks = sum(map(int, fields[10:14]))
        return Process(pid, int(fields[0]), int(fields[2]), state, ticks / _TICKS_A_SECOND)
    return None


def all_processes() -> Iterator[Process]:
    """All of this machine."""
    for name in os.listdir(PROC):  # noqa: PTH208  # names alone
        if name.isdecimal() and (process := process_of(int(name))) is not None:
            yield process


def is_alive(pid: int) -> bool:
    """True until a process has ended, whether it was waited for or not."""
    process = process_of(pid)
    return process is not None and process.state not in ("Z", "X")


def children(pid: int) -> list[int]:
    """Those that a process has started and not waited for, and those it was left."""
    return [process.pid for process in all_processes() if process.parent == pid]


def family(pid: int) -> list[int]:
    """A process and all that came from it, parents first, as far as they still are."""
    below: dict[int, list[int]] = {}
    for process in all_processes():
        below.setdefault(process.parent, []).append(process.pid)
        if process.pid == pid:
            below.setdefault(0, []).append(pid)
    members = [pid] if pid in below.get(0, ()) else []
    for member in members:
        members += below.get(member, [])
    return members


def processor_s(pid: int) -> float:
    """The processor time of a family so far."""
    return sum(process.processor_s for process in map(process_of, family(pid)) if process is not None)


def command_line(pid: int) -> bytes:
    """The words of a command, each with a zero behind it; nothing where it has ended."""
    return _content(pid, "cmdline")


def environment_of(pid: int) -> bytes:
    """The environment that a process began with; nothing where it has ended or is somebody else's."""
    return _content(pid, "environ")


def running_with(*signs: str) -> list[int]:
    """The processes, but for this one, in whose command line all of the signs stand."""
    wanted = [os.fsencode(sign) for sign in signs]
    others = (process.pid for process in all_processes() if process.pid != os.getpid())
    return [pid for pid in others if all(sign in command_line(pid) for sign in wanted)]


def have_ended(pids: Iterable[int]) -> bool:
    """Waits until processes have ended; False where one lives on."""
    watched = list(pids)
    return came(lambda: not any(map(is_alive, watched)))


def _content(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / name).read_bytes()
    return b""

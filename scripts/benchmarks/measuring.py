"""What a stretch of work cost, and what others took of the machine meanwhile. Linux alone, by /proc.

    meter = Meter()
    …
    print(meter.cost().text())     elapsed 12.3 s; processor: ours 9.1 s, children 3.2 s, server 4.0 s; …

Processor time is told apart by who took it: this process, its children and theirs, and servers among these (the
embedded archive, stand-ins). What is left of the machine's busy time was taken by others.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

QUIET_PER_CORE = 0.5
"""More than this, taken by others of each core, and a figure is of a machine that was not quiet."""
_SERVERS = (b"noarkit.embedded", b"noarkit.server", b"standin")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds: elapsed, and of the processor; `others_per_core` is what others kept busy of each core, in the mean."""

    elapsed_s: float
    ours_s: float
    children_s: float
    server_s: float
    load_before: float
    others_per_core: float

    @property
    def processor_s(self) -> float:
        """All that the work took."""
        return self.ours_s + self.children_s + self.server_s

    @property
    def is_quiet(self) -> bool:
        """True if others took so little that elapsed time says something."""
        return self.others_per_core <= QUIET_PER_CORE

    def text(self) -> str:
        """All of it, in one line."""
        return (
            f"elapsed {self.elapsed_s:.1f} s; processor: ours {self.ours_s:.1f} s, children {self.children_s:.1f} s,"
            f" server {self.server_s:.1f} s; load before {self.load_before:.1f}, others {self.others_per_core:.2f}"
            f" a core: {'quiet' if self.is_quiet else 'not quiet'}"
        )


class Meter:
    """Measures from when it is made, or from the last call of `cost`."""

    def __init__(self) -> None:
        self._servers: dict[int, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True, name="meter").start()
        self._begin()

    def cost(self) -> Cost:
        """What was used since; the next call begins here."""
        elapsed = time.perf_counter() - self._began
        now = os.times()
        ours = now.user + now.system - self._times.user - self._times.system
        reaped = now.children_user + now.children_system - self._times.children_user - self._times.children_system
        descendants = max(0.0, reaped + self._look() - self._descendants)
        with self._lock:
            server = sum(seconds - self._servers_before.get(pid, 0.0) for pid, seconds in self._servers.items())
        busy = _busy_s() - self._busy
        others = max(0.0, busy - ours - descendants) / max(elapsed, 0.01) / (os.cpu_count() or 1)
        cost = Cost(elapsed, ours, max(0.0, descendants - server), min(server, descendants), self._load, others)
        self._begin()
        return cost

    def _begin(self) -> None:
        self._load = os.getloadavg()[0]
        self._busy = _busy_s()
        self._descendants = self._look()
        with self._lock:
            self._servers_before = dict(self._servers)
        self._times = os.times()
        self._began = time.perf_counter()

    def _look(self) -> float:
        """The processor time of all descendants that live; remembers that of servers, which may end any time."""
        total = 0.0
        for pid, seconds in _descendants(os.getpid()).items():
            total += seconds
            if _is_server(pid):
                with self._lock:
                    self._servers[pid] = seconds
        return total

    def _watch(self) -> None:
        while True:
            time.sleep(_EVERY_S)
            self._look()


def _descendants(root: int) -> dict[int, float]:
    """The processes below `root`, with the seconds of each and of the children it has waited for."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # the name of a program may hold spaces and brackets; what follows its last bracket is fixed
            fields = Path(entry.path, "stat").read_bytes().rpartition(b") ")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(entry.name)] = int(fields[1])
        seconds[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: seconds[pid] for pid in below - {root}}


def _is_server(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return any(name in command for name in _SERVERS)


def _busy_s() -> float:
    """Seconds that all cores together were not idle, what a hypervisor took for others among them."""
    user, nice, system, _idle, _waiting, irq, soft_irq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft_irq + steal) / _TICKS

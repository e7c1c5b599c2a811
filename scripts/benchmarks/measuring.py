"""What a stretch of work cost, and what others took of the machine meanwhile. Linux alone, by /proc.

    meter = Meter()
    …
    print(meter.cost().text())     elapsed 12.3 s; processor: ours 9.1 s, children 3.2 s, server 4.0 s; …

Processor time is told apart by who took it: the process that is measured, its children and theirs, and servers among
these (the embedded archive, stand-ins). What is left of the machine's busy time was taken by others.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from noarkit.safe.children import OUR_THREADS

QUIET_PER_CORE = 0.5
"""More than this, taken by others of each core, and a figure is of a machine that was not quiet."""
_SERVERS = (b"noarkit.embedded", b"noarkit.server", b"standin")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds: elapsed, and of the processor; `others_per_core` is what others kept busy of each core, in the mean.

    `load_during` is the highest load while it lasted, what was measured counted in.
    """

    elapsed_s: float
    ours_s: float
    children_s: float
    server_s: float
    load_before: float
    load_during: float
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
            f" server {self.server_s:.1f} s; load before {self.load_before:.1f}, during {self.load_during:.1f},"
            f" others {self.others_per_core:.2f} a core: {'quiet' if self.is_quiet else 'not quiet'}"
        )


class Meter:
    """Measures from when it is made, or from the last call of `cost`: this process, or another that it started."""

    def __init__(self, root: int | None = None, *, every_s: float = _EVERY_S) -> None:
        self._root = os.getpid() if root is None else root
        self._every_s = every_s
        self._servers: dict[int, float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name=f"{OUR_THREADS}meter").start()
        self._begin()

    def cost(self) -> Cost:
        """What was used since; the next call begins here."""
        elapsed = time.perf_counter() - self._began
        own_s, reaped_s = _own_seconds(self._root)
        ours = own_s - self._own_s
        descendants = max(0.0, reaped_s - self._reaped_s + self._look() - self._descendants)
        with self._lock:
            server = sum(seconds - self._servers_before.get(pid, 0.0) for pid, seconds in self._servers.items())
            load_during = max(self._load_during, os.getloadavg()[0])
        busy = _busy_s() - self._busy
        others = max(0.0, busy - ours - descendants) / max(elapsed, 0.01) / (os.cpu_count() or 1)
        server = min(server, descendants)
        cost = Cost(elapsed, ours, descendants - server, server, self._load, load_during, others)
        self._begin()
        return cost

    def peak_mb(self) -> float:
        """The most memory that all processes held at once since it was made, in MiB: the peak of each of those that
        lived at one moment, so that what they share counts for each."""
        self._look()
        return self._peak_kb / 1024

    def close(self) -> None:
        """Ends the watching."""
        self._ended.set()

    def _begin(self) -> None:
        self._load = self._load_during = os.getloadavg()[0]
        self._peak_kb = 0
        self._busy = _busy_s()
        self._descendants = self._look()
        with self._lock:
            self._servers_before = dict(self._servers)
        self._own_s, self._reaped_s = _own_seconds(self._root)
        self._began = time.perf_counter()

    def _look(self) -> float:
        """The processor time of all descendants that live; remembers that of servers, which may end any time."""
        total, memory_kb = 0.0, _peak_kb(self._root)
        for pid, seconds in _descendants(self._root).items():
            total += seconds
            memory_kb += _peak_kb(pid)
            if _is_server(pid):
                with self._lock:
                    self._servers[pid] = seconds
        with self._lock:
            self._peak_kb = max(self._peak_kb, memory_kb)
            self._load_during = max(self._load_during, os.getloadavg()[0])
        return total

    def _watch(self) -> None:
        while not self._ended.wait(self._every_s):
            self._look()


def _own_seconds(root: int) -> tuple[float, float]:
    """The processor time of a process, and that of its children that it waited for."""
    if root == os.getpid():
        times = os.times()
        return times.user + times.system, times.children_user + times.children_system
    fields = _stat(Path(f"/proc/{root}/stat"))
    return sum(map(int, fields[11:13])) / _TICKS, sum(map(int, fields[13:15])) / _TICKS


def _stat(path: Path) -> list[bytes]:
    """The fields of a process behind its name, which may hold spaces and brackets itself."""
    return path.read_bytes().rpartition(b") ")[2].split()


def _descendants(root: int) -> dict[int, float]:
    """The processes below `root`, with the seconds of each and of the children it has waited for."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = _stat(Path(entry.path, "stat"))
        except OSError:
            continue  # it has ended
        parents[int(entry.name)] = int(fields[1])
        seconds[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: seconds[pid] for pid in below - {root}}


def _peak_kb(pid: int) -> int:
    """The peak resident memory of a process; 0 for one that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    _, name, value = status.partition(b"VmHWM:")
    return int(value.split(None, 1)[0]) if name else 0


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

"""Runs one command under limits, and outlives it: what it started is killed with it, whoever asked for it dies or not.

A script of its own that needs nothing but the standard library: `python -I -S keeper.py`. Its standard input brings one
line of JSON (`Errand`) and then stays open; once it closes, whoever asked is gone, and everything is killed. Its
standard output gives one line of JSON (`Account`).

Processes are found by their descent: Linux makes the keeper the parent of every orphan below it, so that a child which
left its group and session is found as well. Elsewhere the session's group is killed, and that is all there is.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

assert sys.platform != "win32"  # noqa: S101  # where it is never started: `errand` has its own way there

import resource  # noqa: E402  # not on every system

if TYPE_CHECKING:
    from noarkit.safe.errand import Account, Errand

MOST_OUTPUT = 64 * 1024
"""How much of what the command says is kept, of its beginning and of its end each."""

_TICK_S = 0.1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)
"""By us or by Python; a command would inherit that."""

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Tail:
    """The beginning and the end of what a pipe brings."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, block: bytes) -> None:
        room = MOST_OUTPUT - len(self.head)
        self.head += block[:room]
        self.tail += block[room:]
        del self.tail[:-MOST_OUTPUT]

    def text(self) -> str:
        return bytes(self.head + self.tail).decode("utf-8", "replace")


def children_of(process: int) -> list[int]:
    """The processes that one has started and that are still there, or their corpses."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208  # pathlib would double the start-up
            with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:  # noqa: PTH123
                children += map(int, file.read().split())
    return children


def descendants() -> Iterator[int]:
    """Every process below this one, parents first."""
    waiting = children_of(os.getpid())
    while waiting:
        process = waiting.pop(0)
        yield process
        waiting += children_of(process)


def usage_of(process: int) -> tuple[float, int, int]:
    """Seconds of CPU, bytes in memory and bytes of address space of one process; zeros where it is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0.0, 0, 0
    seconds = (int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])) / _TICKS_PER_S
    return seconds, int(fields[21]) * _PAGE_BYTES, int(fields[20])


def bytes_below(folders: list[str]) -> int:
    """The bytes of the files below some folders; links are not followed."""
    total = 0
    waiting = list(folders)
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


class Keeper:
    """One command under way."""

    def __init__(self, errand: Errand) -> None:
        self.errand = errand
        self.stopped: str | None = None
        self.began = self.progressed = time.monotonic()
        self.cpu_at_progress = 0.0
        self.files = 0
        self.reaped_cpu_s = self.peak_cpu_s = 0.0
        self.peak_bytes = self.peak_virtual = 0
        self.exit_code: int | None = None
        self.pipes: dict[int, Tail] = {}
        self.next_look = 0.0

    def start(self) -> None:
        readers, writers = zip(os.pipe(), os.pipe(), strict=True)
        self.main = os.fork()
        if not self.main:
            self._become_the_command(writers)
        for descriptor in writers:
            os.close(descriptor)
        self.out, self.err = Tail(), Tail()
        self.pipes = dict(zip(readers, (self.out, self.err), strict=True))

    def _become_the_command(self, writers: tuple[int, ...]) -> None:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDONLY)
            for source, target in zip((null, *writers), (0, 1, 2), strict=True):
                os.dup2(source, target)
            os.closerange(3, 256)
            os.chdir(self.errand["folder"])
            for number in _IGNORED:
                signal.signal(number, signal.SIG_DFL)
            self._limit()
            if self.errand["user"] is not None:
                os.setgroups([])
                os.setgid(self.errand["user"])
                os.setuid(self.errand["user"])
            call_prctl(_PR_SET_NO_NEW_PRIVS, 1)
            os.execvpe(self.errand["command"][0], self.errand["command"], self.errand["environment"])  # noqa: S606
        except BaseException as error:  # noqa: BLE001  # nothing may go on as a second keeper
            os.write(2, f"{error}\n".encode("utf-8", "replace"))
        os._exit(127)

    def _limit(self) -> None:
        errand = self.errand
        processor_s = int(errand["cpu_s"] * errand["most_files"]) + 2
        for kind, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, errand["memory_bytes"]),
            (resource.RLIMIT_FSIZE, errand["output_bytes"]),
            (resource.RLIMIT_CPU, processor_s),
            (resource.RLIMIT_NOFILE, 1024),
        ):
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with contextlib.suppress(ValueError, OSError):  # macOS knows no limit on address space
                resource.setrlimit(kind, (most, most))
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
            file.write("900")  # where memory runs out, this goes first

    def run(self) -> None:
        """Watches until the command is done, then ends whatever it left behind."""
        while self.exit_code is None:
            ready, _, _ = select.select([0, *self.pipes], [], [], _TICK_S)
            for descriptor in ready:
                block = os.read(descriptor, 65536) if descriptor else os.read(0, 1)
                if block and descriptor:
                    self.pipes[descriptor].add(block)
                elif not block and not descriptor:
                    self.stop("asker-gone")
                elif not block:
                    del self.pipes[descriptor]
            if self.exit_code is None and time.monotonic() >= self.next_look:
                self._look()
            self._reap(os.WNOHANG)
        self._kill_all()
        self._drain()

    def _look(self) -> None:
        cpu, memory, running = self.reaped_cpu_s, 0, 0
        for process in descendants():
            seconds, resident, virtual = usage_of(process)
            cpu, memory, running = cpu + seconds, memory + resident, running + 1
            self.peak_virtual = max(self.peak_virtual, virtual)
        self.peak_cpu_s, self.peak_bytes = max(self.peak_cpu_s, cpu), max(self.peak_bytes, memory)
        now = time.monotonic()
        if self._has_progressed():
            self.progressed, self.cpu_at_progress = now, cpu
        errand = self.errand
        if memory > errand["memory_bytes"]:
            self.stop("memory")
        elif running > errand["processes"]:
            self.stop("processes")
        elif bytes_below(errand["counted"]) > errand["output_bytes"]:
            self.stop("output")
        elif cpu - self.cpu_at_progress > errand["cpu_s"]:
            self.stop("cpu")
        elif now - self.progressed > errand["wall_s"]:
            self.stop("wall")
        # a look costs some hundred microseconds: a fiftieth of the time at the most
        self.next_look = now + max(_TICK_S, 50 * (time.monotonic() - now))

    def _has_progressed(self) -> bool:
        if self.errand["progress"] is None:
            return False
        files = self.files
        with contextlib.suppress(OSError):
            self.files = max(self.files, len(os.listdir(self.errand["progress"])))  # noqa: PTH208
        return files < self.files <= self.errand["most_files"]

    def stop(self, why: str) -> None:
        """Ends the command with all it started, for a limit that was met."""
        self.stopped = self.stopped or why
        self._kill_all()

    def _kill_all(self) -> None:
        # whoever forks while others are killed is found in the next round
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.main, signal.SIGKILL)
        while processes := list(descendants()):
            for process in processes:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            self._reap(os.WNOHANG)
            time.sleep(0.002)
        self._reap(0)

    def _reap(self, how: int) -> None:
        while True:
            try:
                process, status, usage = os.wait4(-1, how)
            except ChildProcessError:
                return
            if not process:
                return
            self.reaped_cpu_s += usage.ru_utime + usage.ru_stime
            scale = 1 if sys.platform == "darwin" else 1024
            self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * scale)
            if process == self.main:
                self.exit_code = os.waitstatus_to_exitcode(status)

    def _drain(self) -> None:
        for descriptor, tail in self.pipes.items():
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while block := os.read(descriptor, 65536):
                    tail.add(block)

    def account(self) -> Account:
        """What is told in the end."""
        return {
            "exit_code": self.exit_code if self.exit_code is not None else -signal.SIGKILL,
            "stopped": self.stopped,
            "stdout": self.out.text(),
            "stderr": self.err.text(),
            "cpu_s": max(self.reaped_cpu_s, self.peak_cpu_s),
            "wall_s": time.monotonic() - self.began,
            "peak_bytes": self.peak_bytes,
            "peak_virtual_bytes": self.peak_virtual,
        }


def call_prctl(option: int, value: int) -> bool:
    """Asks the Linux kernel for a property of this process; False where there is no such kernel."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)


def main() -> None:
    """Reads the errand, runs it, tells of it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # whoever asked decides, by closing the pipe
    call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(0, 65536)
        if not block:
            return
        line += block
    errand: Any = json.loads(line)
    keeper = Keeper(errand)
    keeper.start()
    keeper.run()
    sys.stdout.write(json.dumps(keeper.account()) + "\n")


if __name__ == "__main__":
    main()

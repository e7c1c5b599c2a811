"""`python -m MODULE ...` in a process of its own that is there at once: forked where everything is imported already.

What is to be proven of a process that starts from nothing (its imports, its memory, closed streams) is no case for it.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
Stream = IO[str] | IO[bytes] | int | None
_LONGEST_S = 60.0
_PRELOADED = ("tests.faults.loader", "tests.faults.archive_server")


@functools.cache
def _forker(owner: int) -> socket.socket:
    """The process that forks, one for all tests of a process; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "tests.programs.forker", *_PRELOADED]
    with theirs:
        process = subprocess.Popen(command, cwd=ROOT, stdin=theirs.fileno(), stdout=DEVNULL, env=environment)

    def end() -> None:
        if os.getpid() == owner:
            ours.close()
            process.wait(_LONGEST_S)

    atexit.register(end)
    return ours


class Forked:
    """Like subprocess.Popen with text=True, for `python -m` and what the tests ask of a process."""

    def __init__(
        self,
        line: Sequence[object],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        new_session: bool = False,
    ) -> None:
        self.args = [str(word) for word in line]
        self.returncode: int | None = None
        self._theirs: list[int] = []
        taken, self.stdin = self._stream(stdin, 0)
        told_out, self.stdout = self._stream(stdout, 1)
        told_err, self.stderr = self._stream(stderr, 2)
        self._end, theirs = socket.socketpair()
        wanted = {"line": self.args, "cwd": str(cwd), "new_session": new_session}
        wanted["env"] = dict(os.environ if env is None else env)
        with theirs:
            fds = [theirs.fileno(), taken, told_out, told_err]
            socket.send_fds(_forker(os.getpid()), [json.dumps(wanted).encode()], fds)
        for fd in self._theirs:
            os.close(fd)
        self._told = self._end.makefile()
        self.pid = int(self._told.readline())

    def _stream(self, wanted: Stream, number: int) -> tuple[int, IO[str] | None]:
        """The other's end of a standard stream, and ours where it is a pipe."""
        if wanted is None:
            return number, None
        if wanted == DEVNULL:
            self._theirs.append(os.open(os.devnull, os.O_RDWR))
            return self._theirs[-1], None
        if wanted != PIPE:
            return wanted if isinstance(wanted, int) else wanted.fileno(), None
        reading, writing = os.pipe()
        theirs, ours = (reading, writing) if number == 0 else (writing, reading)
        self._theirs.append(theirs)
        return theirs, os.fdopen(ours, "w" if number == 0 else "r")

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None where the process still runs."""
        if self.returncode is None and select.select([self._end], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end."""
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._told.readline())
            self._told.close()
            self._end.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal, where the process still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it without warning."""
        self.send_signal(signal.SIGKILL)


def run_forked(
    line: Sequence[object], *, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = _LONGEST_S
) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run with capture_output=True and text=True."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = Forked(line, cwd=cwd, env=env, stdin=DEVNULL, stdout=out, stderr=err)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(process.args, code, out.read(), err.read())

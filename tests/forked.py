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
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from noarkit import embedded
from noarkit.safe.children import interpreter_environment
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[1]
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
END = b"end"
Stream = IO[str] | IO[bytes] | int | None
_Starter = Callable[[list[str], IO[bytes]], subprocess.Popen[bytes]]
_ASKING: dict[int, socket.socket] = {}
_SCRIPT = """#!/bin/sh
exec "{python}" -I -S "{program}" "$@"
"""
_start_from_nothing = embedded._start_child
_PRELOADED = ("tests.faults.loader", "tests.faults.archive_server")


def be_forked(asking: socket.socket) -> None:
    """This process was forked itself: what it has forked, embedded archives too, it asks of the same process."""
    _ASKING[os.getpid()] = asking
    vars(embedded)["_start_child"] = _starter(os.getpid())


def _forker(owner: int) -> socket.socket:
    return _ASKING.get(owner) or _begin_forker(owner)


@functools.cache
def _begin_forker(owner: int) -> socket.socket:
    """The process that forks, one for all tests of a process; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "tests.programs.forker", str(ours.fileno()), *_PRELOADED]
    with theirs:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=theirs.fileno(), stdout=DEVNULL, env=environment, pass_fds=(ours.fileno(),)
        )

    def end() -> None:
        if os.getpid() == owner:
            ours.send(END)
            process.wait(PATIENCE_S)
            ours.close()

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
        umask: int | None = None,
        namespace: str = "",
    ) -> None:
        self.args = [str(word) for word in line]
        self.returncode: int | None = None
        self._theirs: list[int] = []
        taken, self.stdin = self._stream(stdin, 0)
        told_out, self.stdout = self._stream(stdout, 1)
        told_err, self.stderr = self._stream(stderr, 2)
        self._end, theirs = socket.socketpair()
        wanted: dict[str, object] = {"line": self.args, "cwd": str(cwd), "new_session": new_session, "umask": umask}
        wanted["namespace"] = namespace
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
            with suppress(ProcessLookupError):  # it may end between the two, as for subprocess.Popen
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it without warning."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def forked_archives() -> Iterator[None]:
    """Embedded archives that this process starts meanwhile are forked; those of other processes start from nothing.

    They are processes as ever, on the same pipes; what is left out is that an interpreter imports what the forker has.
    """
    with _started_by(_starter(os.getpid())):
        yield


def _starter(owner: int) -> _Starter:
    def start_child(arguments: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        if os.getpid() != owner:
            return _start_from_nothing(arguments, log)
        line = ["noarkit.embedded", *arguments]
        env = interpreter_environment()
        child = Forked(
            line, cwd=Path.cwd(), env=env, stdin=PIPE, stdout=PIPE, stderr=log, new_session=True, umask=0o077
        )
        return cast(subprocess.Popen[bytes], child)  # it is used alike

    return start_child


@contextmanager
def archives_from_nothing() -> Iterator[None]:
    """Within `forked_archives`: embedded archives start as they do outside of tests."""
    with _started_by(_start_from_nothing):
        yield


@contextmanager
def _started_by(starter: _Starter) -> Iterator[None]:
    before, vars(embedded)["_start_child"] = embedded._start_child, starter
    try:
        yield
    finally:
        vars(embedded)["_start_child"] = before


def run_forked(
    line: Sequence[object], *, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = PATIENCE_S
) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run with capture_output=True and text=True. What noarkit writes with --json is as declared."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = Forked(line, cwd=cwd, env=env, stdin=DEVNULL, stdout=out, stderr=err)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        err.seek(0)
        done = subprocess.CompletedProcess(process.args, code, out.read(), err.read())
    words = [str(word) for word in line]
    if words[0] == "noarkit" and "--json" in words:
        from tests.closed_events import hold_output

        hold_output(done.stdout, " ".join(words))
    return done


@contextmanager
def forked_noarkit(folder: Path) -> Iterator[dict[str, str]]:
    """What the environment of a script must have so that its `noarkit` is forked; its other programs start as ever."""
    script = folder / "noarkit"
    program = ROOT / "tests" / "programs" / "forked_noarkit.py"
    script.write_text(_SCRIPT.format(python=sys.executable, program=program))
    script.chmod(0o755)
    _forker(os.getpid())
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as asked:
        name = str(Path(place, "asked"))
        asked.bind(name)
        asked.listen()
        threading.Thread(target=_answer_all, args=(asked,), name="forked-noarkit").start()
        try:
            path = os.pathsep.join((str(folder), str(Path(sys.executable).parent), os.environ["PATH"]))
            yield {"PATH": path, "NOARKIT_TEST_FORKER": name}
        finally:
            asked.shutdown(socket.SHUT_RDWR)


def _answer_all(asked: socket.socket) -> None:
    """Until nobody can ask any more."""
    with suppress(OSError):
        while True:
            connection, _ = asked.accept()
            threading.Thread(target=_answer, args=(connection,), name="forked-noarkit").start()


def _answer(connection: socket.socket) -> None:
    """Forks for one script, tells it the process id, and the exit code when there is one."""
    with connection:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        with connection.makefile("rb") as told:
            parts = told.read(int.from_bytes(size, "big")).split(b"\0")
        cwd, count, *rest = (os.fsdecode(part) for part in parts[:-1])
        words, env = rest[: int(count)], dict(pair.split("=", 1) for pair in rest[int(count) :])
        taken, out, err = streams
        process = Forked(["noarkit", *words], cwd=Path(cwd), env=env, stdin=taken, stdout=out, stderr=err)
        for stream in streams:
            os.close(stream)
        with suppress(BrokenPipeError):
            connection.sendall(f"{process.pid}\n".encode())
            code = process.wait()
            connection.sendall(f"{code}\n".encode())

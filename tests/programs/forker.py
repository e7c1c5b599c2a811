"""A process that has noarkit imported and forks for every program it is asked for: a start takes milliseconds.

What it forks is a process of its own like any: with its own arguments, environment, folder and standard streams, and
with an end of its own. tests/forked.py asks; each request brings a socket that is told the process id and the end.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
import traceback
import warnings
from contextlib import suppress
from typing import Any

import noarkit.cli
from tests import forked
from tests.faults.network import be_machine

_MOST_BYTES = 1 << 20
_FDS = 4  # the socket for the end, and the three standard streams
_MORE = ("noarkit.api", "noarkit.server.run", "noarkit.loading.engines.processes", "noarkit.extraction.workers")


def preload() -> None:
    """Imports what the programs would."""
    for module in pkgutil.iter_modules(noarkit.cli.__path__, "noarkit.cli."):
        importlib.import_module(module.name)
    for name in (*_MORE, *sys.argv[2:]):
        importlib.import_module(name)
    gc.freeze()


class Forker:
    """Forks for requests, and tells how what it forked ended."""

    def __init__(self, control: socket.socket, asking: socket.socket) -> None:
        self._control = control
        self._asking = asking  # the other end: whatever is forked may ask too
        self._ends: dict[int, socket.socket] = {}
        self._woken, waking = socket.socketpair()
        self._waking = waking
        for end in (self._woken, waking):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno())

    def serve(self) -> None:
        """Until the tests end, or are told so; then what is left is killed."""
        tests = os.pidfd_open(os.getppid())
        with selectors.DefaultSelector() as ready:
            ready.register(tests, selectors.EVENT_READ)
            ready.register(self._control, selectors.EVENT_READ)
            ready.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is self._woken:
                        self._reap()
                    elif key.fileobj == tests or not self._fork():
                        return self._end_all()

    def _reap(self) -> None:
        self._woken.recv(4096)
        for pid in list(self._ends):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                with suppress(BrokenPipeError), self._ends.pop(pid) as end:
                    end.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def _fork(self) -> bool:
        message, ancillary, _, _ = self._control.recvmsg(_MOST_BYTES, socket.CMSG_SPACE(_FDS * 4))
        if message in (b"", forked.END):
            return False
        fds = array.array("i", ancillary[0][2])
        end = socket.socket(fileno=fds[0])
        child = os.fork()
        if child == 0:
            self._let_go(end)
            forked.be_forked(self._asking)
            _become(json.loads(message), list(fds[1:]))
        for fd in fds[1:]:
            os.close(fd)
        self._ends[child] = end
        with suppress(BrokenPipeError):
            end.sendall(f"{child}\n".encode())
        return True

    def _let_go(self, *more: socket.socket) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for own in (self._control, self._woken, self._waking, *self._ends.values(), *more):
            own.close()

    def _end_all(self) -> None:
        for pid in self._ends:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become(told: dict[str, Any], streams: list[int]) -> None:
    """The forked process: never goes back into the code of its parent."""
    code = 1
    try:
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
            os.close(fd)
        if told["new_session"]:
            os.setsid()
        if told.get("umask") is not None:
            os.umask(told["umask"])
        _open_streams()
        if told.get("namespace"):
            be_machine(told["namespace"])
        os.chdir(told["cwd"])
        places = told["env"].get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:1] = [told["cwd"], *(place for place in places if place and place not in sys.path)]
        os.environ.clear()
        os.environ.update(told["env"])
        tempfile.tempdir = None
        warnings.simplefilter("ignore", RuntimeWarning)  # that a module is run which is imported already
        program, *sys.argv[1:] = told["line"]
        code = _run(program)
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does when a program ends
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _open_streams() -> None:
    """The parent's were opened over other files, and know what those could."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # until its process ends
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115  # as above
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115  # as above


def _run(program: str) -> int:
    """A module, a file, or code after `-c`."""
    try:
        if program == "-c":
            code = sys.argv.pop(1)
            sys.argv[0] = "-c"
            exec(compile(code, "<string>", "exec"), sys.modules["__main__"].__dict__)  # noqa: S102  # as `python -c` does
        elif program.endswith(".py"):
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException:  # noqa: BLE001  # what the interpreter would do
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    preload()
    others = socket.socket(fileno=int(sys.argv[1]))
    others.set_inheritable(False)
    Forker(socket.socket(fileno=0), others).serve()

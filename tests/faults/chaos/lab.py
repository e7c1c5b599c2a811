"""Where schedules are tried: an archive in a process of its own, a proxy before it, and the client, here or a child."""

from __future__ import annotations

import ctypes
import http.client
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.model.own_marks import MARKER_TITLE
from noarkit.server.areas import open_service
from noarkit.server.clients import ClientsFile
from tests.faults.chaos.client import Job, Result
from tests.faults.chaos.clock import PROCESS, really_sleep
from tests.faults.chaos.count import RawClient
from tests.faults.chaos.proxy import Proxy
from tests.faults.chaos.schedules import Mode
from tests.loading.journey import add_plain_account
from tests.processes import children
from tests.waiting import PATIENCE_S
from tests.watchdog import Bounds, watched

ROOT = Path(__file__).resolve().parents[3]
_TRIALS_AN_ARCHIVE = 100
_STOPPED_S = 100.0
_BOUNDS = Bounds(processor_s=120.0)  # of one call of the client, which takes a second or two


def make_template(folder: Path) -> Path:
    """An archive that was started once."""
    service = open_service(folder / "template")
    add_plain_account(service)
    service.close()
    return folder / "template"


@dataclass
class Lab:
    """One mode's archive and proxy; close() ends what was started."""

    mode: Mode
    template: Path
    folder: Path
    trials: int = 0
    lost_workers: int = 0
    _offset_s: ctypes.c_double = field(init=False)
    _server: subprocess.Popen[str] | None = None
    _child: multiprocessing.process.BaseProcess | None = None
    proxy: Proxy = field(init=False)
    raw: RawClient = field(init=False)
    secret: str = field(init=False)

    def __post_init__(self) -> None:
        self._children = multiprocessing.get_context("forkserver")
        self._children.set_forkserver_preload(["tests.faults.chaos.nursery"])
        self._offset_s = self._children.Value("d", 0.0, lock=False)
        PROCESS.share(self._offset_s)

    def next_trial(self) -> str:
        """Makes ready for a trial, in an archive that is not too large to count; a name that no other trial has."""
        if self._server is None or self.trials % _TRIALS_AN_ARCHIVE == 0:
            self.close()
            self._start()
        self.trials += 1
        return f"trial {self.trials}"

    def _start(self) -> None:
        archive = self.folder / "archive"
        shutil.copytree(self.template, archive)
        (archive / "server.toml").write_text(self.mode.settings)
        command = [sys.executable, "-m", "tests.faults.archive_server", str(archive), "127.0.0.1", "0"]
        self._server = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._server.stdout is not None
        url = self._server.stdout.readline().strip()
        port = int(url.split("/")[2].rpartition(":")[2])
        self.proxy = Proxy(port, PROCESS, self.mode.token_ttl_s)
        self.proxy.client_process = self._strike_child
        self.proxy.worker_at, self.proxy.lose_worker = self._worker_at, self._lose_worker
        accounts = ClientsFile(archive / "clients.toml").current().accounts
        self.secret = accounts[self.mode.account].secret
        self.raw = RawClient(port, "admin", accounts["admin"].secret)
        # a first run makes it; so that every trial counts the same calls, none is the first
        self.raw.save("Klassifikasjonssystem", tittel=MARKER_TITLE)

    def close(self) -> None:
        """Ends proxy and archive."""
        if self._server is None:
            return
        self.proxy.close()
        self.raw.close()
        for pipe in (self._server.stdin, self._server.stdout):
            if pipe is not None:
                pipe.close()
        self._server.kill()
        self._server.wait()
        self._server = None
        shutil.rmtree(self.folder / "archive")

    def in_child(self, act: Callable[[Job], Result], job: Job) -> Result:
        """Has a child do something that may be killed meanwhile."""
        ours, theirs = self._children.Pipe(duplex=False)
        self._child = self._children.Process(target=_child, args=(act, job, theirs, self._offset_s))
        self._child.start()
        theirs.close()
        assert self._child.pid is not None
        result = Result(137, "killed")
        with closing(ours), watched(self._child.pid, lambda: 0, _BOUNDS) as watchdog, suppress(EOFError):
            result = ours.recv()
        self._child.kill()
        self._child.join()
        return Result(1, "crash", crash=f"The client {watchdog.struck}.") if watchdog.struck else result

    def _worker_at(self, port: int) -> int:
        """The worker whose end of a connection has that port; 0 where it is the child's own, or nobody's any more."""
        child = self._child
        if child is None or child.pid is None:
            return 0
        socket = _socket_at(port)
        # A worker has its parent's connections too, so that the parent is asked first.
        if socket is None or _has_open(child.pid, socket):
            return 0
        return next((worker for worker in children(child.pid) if _has_open(worker, socket)), 0)

    def _lose_worker(self, worker: int) -> None:
        if worker:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
                self.lost_workers += 1

    def _strike_child(self, what: str) -> None:
        child = self._child
        if child is None or child.pid is None or not child.is_alive():
            return
        if what == "kill":
            child.kill()
            return
        pid = child.pid
        with suppress(ProcessLookupError):  # it ended between being asked and being struck
            os.kill(pid, signal.SIGSTOP)
        PROCESS.advance(_STOPPED_S)

        def go_on() -> None:
            really_sleep(0.1)
            with suppress(ProcessLookupError):
                if child.is_alive():
                    os.kill(pid, signal.SIGCONT)

        threading.Thread(target=go_on, daemon=True).start()


def _child(act: Callable[[Job], Result], job: Job, results: object, offset_s: ctypes.c_double) -> None:
    def slept() -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", job.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/chaos-slept")
            connection.getresponse().read()

    PROCESS.share(offset_s, slept)
    results.send(act(job))  # type: ignore[attr-defined]  # a Connection, whose class has no public name


def _socket_at(port: int) -> str | None:
    """How Linux names the socket of this machine that has that local port and is connected."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *more = line.split()
        if int(local.rpartition(":")[2], 16) == port and state == "01":
            return f"socket:[{more[5]}]"
    return None


def _has_open(pid: int, socket: str) -> bool:
    """True if a process has a socket open."""
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) == socket:
                    return True
    return False


def work_folder() -> Path:
    """A folder for short-lived files, in memory where there is such a place: nothing here is to survive a power cut."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="noarkit-chaos-", dir=memory if memory.is_dir() else None))

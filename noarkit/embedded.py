"""The embedded archive for a run: started as a child process, joined where it runs already, stopped when done.

The child dies with its parent, however the parent ends: it reads a pipe that only the parent holds open, and asks Linux
to be told. What a command needs to talk to it is in `EmbeddedArchive`; the rest of the toolkit sees an archive like
any.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from noarkit.errors import ArchiveAway, ConfigFault, DiskFull, NoarkitError, RunLocked, UsageFault
from noarkit.safe.children import child_environment
from noarkit.safe.disk import fault_of_disk
from noarkit.secrets import Secret

CLIENT_ID = "integration"

_START_S = 30.0
_STOP_S = 40.0
_PR_SET_PDEATHSIG = 1
_WITH_PARENT = "--with-parent"
_FAULTS: dict[str, type[NoarkitError]] = {kind.code: kind for kind in (ConfigFault, DiskFull, RunLocked, UsageFault)}


@dataclass(slots=True)
class _House:
    """What the threads of this process share of one folder: the service that one of them started, and who uses it."""

    door: threading.Lock = field(default_factory=threading.Lock)
    child: subprocess.Popen[bytes] | None = None
    users: int = 0


# A process is the parent of its services, whichever thread started them: the last to leave ends one, not the first.
_HOUSES: dict[Path, _House] = {}
_HOUSES_DOOR = threading.Lock()


@dataclass(slots=True)
class EmbeddedArchive:
    """A running embedded archive. `started` where this was the first to need it; the last that lets it go ends it."""

    data_dir: Path
    url: str
    token_url: str
    client_id: str
    client_secret: Secret
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _house: _House | None = field(default=None, repr=False)

    @property
    def started(self) -> bool:
        """True where this process started it; False where it was joined."""
        return self._child is not None

    @property
    def gone(self) -> bool:
        """True where its process has ended, so that nothing of what it was asked can still happen."""
        return self._child is not None and self._child.poll() is not None

    def stop(self) -> None:
        """Ends it in order, where this process started it and no other thread needs it; a joined one goes on."""
        house, self._house = self._house, None
        if house is None:
            return
        with house.door:
            house.users -= 1
            if not house.users and house.child is not None:
                _stop(house.child)
                house.child = None

    def __enter__(self) -> EmbeddedArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def open_embedded(data_dir: Path, client_id: str = CLIENT_ID, *, join_s: float = 10.0) -> EmbeddedArchive:
    """The archive in `data_dir`, running: joined where another process serves it, started (and made) otherwise.

    Raises RunLocked where another process holds the folder and does not serve it within `join_s`, ConfigFault where the
    folder's settings or clients cannot be used, ArchiveAway where the service does not come up.
    """
    data_dir = data_dir.absolute()
    with _HOUSES_DOOR:
        house = _HOUSES.setdefault(data_dir.resolve(), _House())
    with house.door:
        if house.child is not None and house.child.poll() is not None:
            _stop(house.child)  # it ended unasked; whoever used it has been told by its calls
            house.child = None
        archive = _joined(data_dir, client_id) or _start(data_dir, client_id, join_s)
        house.child = house.child or archive._child
        house.users += 1
        archive._house = house
    return archive


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Lets go of the pipe, which ends the service in order."""
    if child.stdin is not None and not child.stdin.closed:
        child.stdin.close()
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _joined(data_dir: Path, client_id: str) -> EmbeddedArchive | None:
    from noarkit.server.run import SERVING_FILE

    try:
        told = json.loads((data_dir / SERVING_FILE).read_text("utf-8"))
        parts = urlsplit(told["url"])
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=2.0):
            pass
        os.kill(told["pid"], 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _handle(data_dir, client_id, told, None)


def _start(data_dir: Path, client_id: str, join_s: float) -> EmbeddedArchive:
    data_dir.mkdir(parents=True, exist_ok=True)
    # the signal tells of the end of the thread that starts the child; only the main thread lives as long as the process
    main = threading.current_thread() is threading.main_thread()
    command = [sys.executable, "-m", "noarkit.embedded", str(data_dir), *([_WITH_PARENT] if main else [])]
    with (data_dir / "server.log").open("ab") as log:
        child = subprocess.Popen(  # noqa: S603  # our own module, in our own interpreter
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            umask=0o077,  # titles and documents are for the owner of the archive alone
            env=child_environment(),
        )
    told = _first_line(child)
    if told is None or "url" not in told:
        _end(child)
        return _or_joined(data_dir, client_id, told or {}, join_s)
    return _handle(data_dir, client_id, told, child)


def _or_joined(data_dir: Path, client_id: str, told: dict[str, object], join_s: float) -> EmbeddedArchive:
    """What to do where the child did not come up: join who was quicker, or say why."""
    kind, data = _FAULTS.get(str(told.get("code")), ArchiveAway), told.get("data")
    fault = (
        kind(**data) if isinstance(data, dict) else ArchiveAway(call="start", description=f"see {data_dir}/server.log")
    )
    if not isinstance(fault, RunLocked):
        raise fault
    ends = time.monotonic() + join_s
    while time.monotonic() < ends:
        joined = _joined(data_dir, client_id)
        if joined is not None:
            return joined
        time.sleep(0.1)
    raise fault


def _handle(
    data_dir: Path, client_id: str, told: dict[str, object], child: subprocess.Popen[bytes] | None
) -> EmbeddedArchive:
    from noarkit.server.clients import ClientsFile

    try:
        account = ClientsFile(Path(str(told["clients"]))).current().accounts.get(client_id)
        if account is None:
            raise ConfigFault(where=str(told["clients"]), why=f"there is no client {client_id}")
    except ConfigFault:
        if child is not None:
            _end(child)
        raise
    return EmbeddedArchive(data_dir, str(told["url"]), str(told["token_url"]), client_id, Secret(account.secret), child)


def _first_line(child: subprocess.Popen[bytes]) -> dict[str, object] | None:
    """What the child says once it serves, or why it does not; None where it says nothing in time."""
    timer = threading.Timer(_START_S, child.kill)
    timer.start()
    try:
        line = child.stdout.readline() if child.stdout is not None else b""
    finally:
        timer.cancel()
        timer.join()
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def _serve_for_parent(arguments: list[str]) -> int:
    """The child: serves until its parent lets go of the pipe, and says so on its output in one line of JSON."""
    from noarkit.server.run import Address, ServingInfo, serve

    if _WITH_PARENT in arguments and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    stopping = threading.Event()

    def watch() -> None:
        # a bare read: a buffered one would hold a lock that the interpreter wants at its end
        while os.read(0, 1024):
            pass
        stopping.set()

    def ready(told: ServingInfo) -> None:
        _say({"url": told.url, "token_url": told.token_url, "clients": str(told.clients)})

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
    try:
        serve(Path(arguments[0]), Address(port=0), ready=ready, stop_event=stopping)
    except NoarkitError as fault:
        return _say_why(fault)
    except (OSError, sqlite3.Error) as error:
        disk = fault_of_disk(error)
        if disk is None:
            raise
        return _say_why(disk)
    return 0


def _say_why(fault: NoarkitError) -> int:
    _say({"code": fault.code, "data": {name: str(value) for name, value in fault.data.items()}})
    return fault.exit_code


def _say(told: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(_serve_for_parent(sys.argv[1:]))

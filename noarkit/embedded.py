"""The embedded archive for a run: started as a child process, joined where it runs already, stopped when done.

The child dies with its parent, however the parent ends: it reads a pipe that only the parent holds open, and asks Linux
to be told. What a command needs to talk to it is in `EmbeddedArchive`; the rest of the toolkit sees an archive like
any.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, ClassVar
from urllib.parse import urlsplit

from noarkit.errors import ArchiveAway, ConfigFault, DiskFull, NoarkitError, RunLocked, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.results import HIDDEN, Result, json_field
from noarkit.safe.children import die_with_parent, interpreter_command, interpreter_environment
from noarkit.safe.disk import fault_of_disk
from noarkit.safe.signals import is_running, own_session, wait_for_end_of
from noarkit.secrets import Secret
from noarkit.wings import require_wing

EVENTS: EventFields = {
    "archive_checked": {"rows": "count", "files": "count", "bytes": "count"},
    "archive_copied": {"files": "count", "bytes": "count"},
}

CLIENT_ID = "integration"

_START_S = 30.0
_STOP_S = 40.0
_LOCKED_S = 0.2
_WITH_PARENT = "--with-parent"
_FAULTS: dict[str, type[NoarkitError]] = {kind.code: kind for kind in (ConfigFault, DiskFull, RunLocked, UsageFault)}


@dataclass(slots=True)
class _SharedService:
    """The service of one folder, shared by the threads of this process: its child process and the number of users."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    child: subprocess.Popen[bytes] | None = None
    users: int = 0

    def stop_unused(self) -> None:
        """Stops the child that nobody uses; the caller holds the lock."""
        if not self.users and self.child is not None:
            _stop(self.child)
            self.child = None


# A process is the parent of its services, whichever thread started them: the last to leave ends one, not the first.
_SERVICES: dict[Path, _SharedService] = {}
_keepers = 0
_SERVICES_LOCK = threading.Lock()


@dataclass(slots=True)
class EmbeddedArchive:
    """A running embedded archive. `was_started` where this was the first to need it; the last that lets it
    go ends it."""

    data_dir: Path
    url: str
    token_url: str
    client_id: str
    client_secret: Secret
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _service: _SharedService | None = field(default=None, repr=False)
    _may_be_kept: bool = True

    @property
    def was_started(self) -> bool:
        """True if this process started it; False if it was joined."""
        return self._child is not None

    @property
    def has_ended(self) -> bool:
        """True if its process has ended, so that no call can take effect any more."""
        return self._child is not None and self._child.poll() is not None

    def stop(self) -> None:
        """Stops the service, where this process started it and no other thread uses it; a joined one goes on."""
        house, self._service = self._service, None
        if house is None:
            return
        with house.lock:
            house.users -= 1
            if not (_keepers and self._may_be_kept):
                house.stop_unused()

    def __enter__(self) -> EmbeddedArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextmanager
def keep_services() -> Iterator[None]:
    """Services that are started within the block run on until its end, for whoever opens the same folder again.

    For work of several steps, each of which opens the archive: it is started once.
    """
    global _keepers
    with _SERVICES_LOCK:
        _keepers += 1
    try:
        yield
    finally:
        with _SERVICES_LOCK:
            _keepers -= 1
            services = () if _keepers else tuple(_SERVICES.values())
        for service in services:
            with service.lock:
                service.stop_unused()


@dataclass(frozen=True, slots=True)
class ArchiveCheck(Result):
    """What was checked of an archive folder, and what was wrong: each flaw with its kind, where it is, and a detail.

    `flaw_count` counts those too that are not among `flaws`; `is_backup` is True for a backup that nobody served yet.
    """

    EVENT: ClassVar = "archive_check"

    rows: int
    files: int
    bytes: int
    flaw_count: int = field(metadata=json_field("flaws"))
    is_backup: bool = field(metadata=json_field("backup"))
    flaws: tuple[tuple[str, str, str], ...] = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class BackupResult(Result):
    """A finished and checked backup; `copied` and `linked` say how its contents came there in this call."""

    EVENT: ClassVar = "backup"

    folder: Path = field(metadata=json_field("target"))
    rows: int
    files: int
    bytes: int
    copied: int
    linked: int


def check_archive(data_dir: Path, emit: Listener) -> ArchiveCheck:
    """Checks every row and every file of an archive folder, which may be served meanwhile. Raises `UsageFault`."""
    require_wing("server")
    from noarkit.server.safekeeping.integrity import FolderCheck, check_folder

    def progress(step: FolderCheck) -> None:
        emit(Event("archive_checked", {"rows": step.rows, "files": step.files, "bytes": step.bytes}))

    check = check_folder(data_dir, progress)
    flaws = tuple((flaw.kind, flaw.where, flaw.detail) for flaw in check.flaws)
    return ArchiveCheck(check.rows, check.files, check.bytes, check.flaw_count, check.is_backup, flaws)


def back_up_archive(
    data_dir: Path, target: Path, previous: Path | None, now_s: Callable[[], float], emit: Listener
) -> BackupResult:
    """Backs an archive folder up, which may be served meanwhile. Raises as the function of the server."""
    require_wing("server")
    from noarkit.server.safekeeping.backup import CopyProgress, back_up
    from noarkit.server.safekeeping.integrity import FolderCheck

    def progress(step: CopyProgress | FolderCheck) -> None:
        if isinstance(step, FolderCheck):
            emit(Event("archive_checked", {"rows": step.rows, "files": step.files, "bytes": step.bytes}))
        else:
            emit(Event("archive_copied", {"files": step.copied + step.linked, "bytes": step.bytes}))

    backup = back_up(data_dir, target, previous=previous, now_s=now_s, progress=progress)
    return BackupResult(backup.folder, backup.rows, backup.files, backup.bytes, backup.copied, backup.linked)


def starter_codes() -> dict[str, frozenset[str]]:
    """The codes of each code list in an archive that is yet to be made."""
    require_wing("server")
    from noarkit.server import starter_codes as lists

    return lists.starter_codes()


def open_embedded(
    data_dir: Path, client_id: str = CLIENT_ID, *, join_s: float = 10.0, may_be_kept: bool = True
) -> EmbeddedArchive:
    """The archive in `data_dir`, running: joined where another process serves it, started (and made) otherwise.

    Raises RunLocked where another process holds the folder and does not serve it within `join_s`, ConfigFault where the
    folder's settings or clients cannot be used, ArchiveAway where the service does not come up.
    """
    require_wing("server")
    data_dir = data_dir.absolute()
    with _SERVICES_LOCK:
        house = _SERVICES.setdefault(data_dir.resolve(), _SharedService())
    with house.lock:
        if house.child is not None and house.child.poll() is not None:
            _stop(house.child)  # it ended unasked; whoever used it has been told by its calls
            house.child = None
        archive = _join_or_start(data_dir, client_id, join_s)
        if not house.users:
            archive._child = archive._child or house.child  # one that was kept is as good as started
        house.child = house.child or archive._child
        house.users += 1
        archive._service, archive._may_be_kept = house, may_be_kept
    return archive


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Lets go of the pipe, which ends the service in order."""
    if child.stdin is not None and not child.stdin.closed:
        child.stdin.close()
    try:
        _wait_for_end(child, _STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _wait_for_end(child: subprocess.Popen[bytes], patience_s: float) -> None:
    """Waits for the end of a child and reaps it. Raises `subprocess.TimeoutExpired`."""
    ends = time.monotonic() + patience_s
    if child.poll() is None:
        wait_for_end_of(child.pid, patience_s)
    child.wait(max(0.0, ends - time.monotonic()))


def _join(data_dir: Path, client_id: str) -> EmbeddedArchive | None:
    from noarkit.server import SERVING_FILE

    try:
        serving = json.loads((data_dir / SERVING_FILE).read_text("utf-8"))
        parts = urlsplit(serving["url"])
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=2.0):
            pass
        if not all(is_running(pid) for pid in (serving["pid"], serving.get("starter")) if pid):
            return None  # one whose starter is gone ends in this moment
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _handle(data_dir, client_id, serving, None)


def _join_or_start(data_dir: Path, client_id: str, join_s: float) -> EmbeddedArchive:
    """Joins the service of a process that started it first, or starts one. A service that is about to end is waited
    for."""
    ends = time.monotonic() + join_s
    while True:
        archive = _join(data_dir, client_id)
        if archive is not None:
            return archive
        try:
            return _start(data_dir, client_id)
        except RunLocked:
            if time.monotonic() >= ends:
                raise
            time.sleep(_LOCKED_S)


def _start(data_dir: Path, client_id: str) -> EmbeddedArchive:
    data_dir.mkdir(parents=True, exist_ok=True)
    # the signal tells of the end of the thread that starts the child; only the main thread lives as long as the process
    main = threading.current_thread() is threading.main_thread()
    with (data_dir / "server.log").open("ab") as log:
        child = _start_child([str(data_dir), str(os.getpid()), *([_WITH_PARENT] if main else [])], log)
    message = _first_line(child)
    if message is None or "url" not in message:
        _kill_child(child)
        raise _fault_of_start(data_dir, message or {})
    return _handle(data_dir, client_id, message, child)


def _start_child(arguments: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  # our own module, in our own interpreter
        interpreter_command("-m", "noarkit.embedded", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        **own_session(),
        umask=0o077,  # titles and documents are for the owner of the archive alone
        env=interpreter_environment(),
    )


def _fault_of_start(data_dir: Path, message: dict[str, object]) -> NoarkitError:
    """Builds the fault of a child that does not serve."""
    kind, data = _FAULTS.get(str(message.get("code")), ArchiveAway), message.get("data")
    if isinstance(data, dict):
        return kind(**data)
    return ArchiveAway(call="start", description=f"see {data_dir}/server.log")


def _handle(
    data_dir: Path, client_id: str, message: dict[str, object], child: subprocess.Popen[bytes] | None
) -> EmbeddedArchive:
    from noarkit.server.clients import ClientsFile

    try:
        account = ClientsFile(Path(str(message["clients"]))).current().accounts.get(client_id)
        if account is None:
            raise ConfigFault(where=str(message["clients"]), why=f"there is no client {client_id}")
    except ConfigFault:
        if child is not None:
            _kill_child(child)
        raise
    return EmbeddedArchive(
        data_dir, str(message["url"]), str(message["token_url"]), client_id, Secret(account.secret), child
    )


def _first_line(child: subprocess.Popen[bytes]) -> dict[str, object] | None:
    """What the child says once it serves, or why it does not; None if it says nothing in time."""
    timer = threading.Timer(_START_S, child.kill)
    timer.start()
    try:
        line = child.stdout.readline() if child.stdout is not None else b""
    finally:
        timer.cancel()
        timer.join()
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _kill_child(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def _serve_for_parent(arguments: list[str]) -> int:
    """The child: serves until its parent lets go of the pipe, and says so on its output in one line of JSON."""
    from noarkit.server.run import Address, ServingInfo, serve

    if _WITH_PARENT in arguments:
        die_with_parent(signal.SIGTERM)
    stop_event = threading.Event()

    def watch() -> None:
        # a bare read: a buffered one would hold a lock that the interpreter wants at its end
        while os.read(0, 1024):
            pass
        stop_event.set()

    def ready(serving: ServingInfo) -> None:
        _report({"url": serving.url, "token_url": serving.token_url, "clients": str(serving.clients)})

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
    try:
        serve(Path(arguments[0]), Address(port=0), ready=ready, stop_event=stop_event, starter_pid=int(arguments[1]))
    except NoarkitError as fault:
        return _report_fault(fault)
    except (OSError, sqlite3.Error) as error:
        disk = fault_of_disk(error)
        if disk is None:
            raise
        return _report_fault(disk)
    return 0


def _report_fault(fault: NoarkitError) -> int:
    _report({"code": fault.code, "data": {name: str(value) for name, value in fault.data.items()}})
    return fault.exit_code


def _report(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(_serve_for_parent(sys.argv[1:]))

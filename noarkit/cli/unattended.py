"""What `noarkit doctor --run RUN --until TIME` looks at the evening before: everything that a night alone needs."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from noarkit.api import origins
from noarkit.api.destination import destination
from noarkit.cli.console import size
from noarkit.cli.options import Session
from noarkit.config import Config
from noarkit.errors import ConfigFault, DiskFull, NoarkitError, SecretFault, SourceGone
from noarkit.loading.engines.assembly import progress
from noarkit.loading.engines.limits import parse_until
from noarkit.loading.folder import RunFolder
from noarkit.safe.certificates import certificates_end
from noarkit.safe.owners import is_open_to_others
from noarkit.service_names import is_connection_name
from noarkit.wings import require_wing

State = Literal["ok", "note", "fault", "skipped"]

_JOURNAL_BYTES = 1_000  # of journal, lists and report, for each object of a plan
_STORED_BYTES = 4_000  # of an embedded archive's database, for each object
_LEAST_LEFT = timedelta(days=30)
_SHARED = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "ceph", "glusterfs"})
_CLOCK_ERROR = 5


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one step found: its sentence `doctor.<key>`, how it is, and the fault where there is one."""

    key: str
    state: State = "ok"
    data: Mapping[str, object] = field(default_factory=dict)
    fault: NoarkitError | None = None


def unattended_checks(session: Session, config: Config, run: Path | None, until: str | None) -> Iterator[CheckResult]:
    """All that can be said without asking the archive."""
    now = datetime.now(UTC)
    ends = parse_until(until, now, ZoneInfo(config.zone)) if until else None
    if ends is not None:
        hours, minutes = divmod(int((ends - now).total_seconds()) // 60, 60)
        yield CheckResult(
            "window", data={"ends": ends.isoformat(timespec="minutes"), "hours": hours, "minutes": minutes}
        )
    yield from _check_certificates(config, now, ends)
    yield from _check_key_mode(config)
    secret = config.archive.client_secret
    if (run or until) and secret is not None and secret.kind == "env":
        yield CheckResult("secret-seen", "note", {"variable": secret.value[0]})
    if (run or until) and _is_clock_adrift():
        yield CheckResult("clock-adrift", "note")
    if run is not None:
        yield from _check_run(session, config, RunFolder(run))


def _check_run(session: Session, config: Config, run: RunFolder) -> Iterator[CheckResult]:
    """The plan, its folder, its room and its source."""
    try:
        run.open_graph().close()
        counts = progress(run)
    except NoarkitError as fault:
        yield CheckResult("plan", "fault", fault=fault)
        return
    objects = _number(counts["objects"]) - _number(counts["done"])
    size_bytes = _number(counts["bytes"]) - _number(counts["bytes_done"])
    yield CheckResult("plan", data={"objects": objects, "size": size(size_bytes), "size_bytes": size_bytes})
    owner = run.owner()
    if owner is not None:
        yield CheckResult("run-held", "note", {"owner": owner})
    yield from _check_writable(run.path)
    yield _check_disk_space(run.path, objects * _JOURNAL_BYTES)
    folder = destination(config, session.environment, run.remembered_archive()).embedded
    if folder is not None:
        there = next(place for place in (folder, *folder.parents) if place.exists())
        yield _check_disk_space(there, size_bytes + objects * _STORED_BYTES)
    yield from _check_source(session, config, run)


def _check_source(session: Session, config: Config, run: RunFolder) -> Iterator[CheckResult]:
    identity = origins.source_of(run)
    try:
        if is_connection_name(identity.where):
            require_wing("services")
            from noarkit.services.source import find_connection

            match = find_connection(identity.where, config, session.environment, datetime.now(UTC))
            if match is not None:
                yield from _check_writable(match.to.state_folder())
        else:
            origins.source_at(identity.where, None)
        if os.path.lexists(identity.where) and not os.access(identity.where, os.R_OK):
            raise SourceGone(where=identity.where, why="EACCES")
    except NoarkitError as fault:
        yield CheckResult("source", "fault", fault=fault)
        return
    except OSError as error:
        why = errno.errorcode.get(error.errno or 0, "unreadable")
        yield CheckResult("source", "fault", fault=SourceGone(where=identity.where, why=why))
        return
    yield CheckResult("source", data={"where": identity.where})
    if os.access(identity.where, os.W_OK):
        yield CheckResult("source-writable", "note", {"where": identity.where})


def _check_writable(folder: Path) -> Iterator[CheckResult]:
    """Checks that a folder can be written to, and is on a local disk."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fault = ConfigFault(where=str(folder), why=error.strerror or "not-writable")
        yield CheckResult("written", "fault", fault=fault)
        return
    kind = _file_system(folder)
    if kind in _SHARED:
        yield CheckResult("shared", "note", {"where": str(folder), "kind": kind})
    else:
        yield CheckResult("written", data={"where": str(folder)})


def _check_disk_space(folder: Path, needed_bytes: int) -> CheckResult:
    free = shutil.disk_usage(folder).free
    amounts = {"needed": size(needed_bytes), "free": size(free), "needed_bytes": needed_bytes, "free_bytes": free}
    data = {**amounts, "where": str(folder)}
    if free > needed_bytes:
        return CheckResult("room", data=data)
    return CheckResult("room-short", "fault", data, DiskFull(where=str(folder)))


def _check_certificates(config: Config, now: datetime, ends: datetime | None) -> Iterator[CheckResult]:
    """Our own certificate, and those of the authorities we trust."""
    for path in (config.archive.tls.cert, config.archive.tls.ca):
        if path is None:
            continue
        try:
            end = certificates_end(path)
        except (OSError, ValueError) as error:
            why = "unreadable" if isinstance(error, OSError) else "not-a-certificate"
            yield CheckResult("certificate", "fault", fault=ConfigFault(where=str(path), why=why))
            continue
        if end is None:
            continue
        data = {"path": str(path), "days": max((end - now).days, 0), "ends": end.isoformat(timespec="minutes")}
        if end <= (ends or now) and path == config.archive.tls.cert:
            fault = ConfigFault(where=str(path), why="certificate-ended")
            yield CheckResult("certificate-ends", "fault", data, fault)
        else:
            soon = end - now < _LEAST_LEFT
            yield CheckResult("certificate-soon" if soon else "certificate", "note" if soon else "ok", data)


def _check_key_mode(config: Config) -> Iterator[CheckResult]:
    """A key of our own that others may read."""
    key = config.archive.tls.key
    with suppress(OSError):
        if key is not None and is_open_to_others(key.stat()):
            mode = f"{key.stat().st_mode & 0o777:04o}"
            yield CheckResult("key-open", "fault", fault=SecretFault(where=str(key), why="secret-open", mode=mode))


def _is_clock_adrift() -> bool:
    """True if the system says that nothing keeps its clock right."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) == _CLOCK_ERROR)
    except (AttributeError, OSError):
        return False


def _file_system(folder: Path) -> str:
    """The kind of file system that a folder lies on, where the system tells."""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    mounts = {Path(parts[1]): parts[2] for line in lines if len(parts := line.split(" ")) > 2}
    real_path = folder.resolve()
    return next((mounts[place] for place in (real_path, *real_path.parents) if place in mounts), "")


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0

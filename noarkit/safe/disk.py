"""Tells a full disk, and a place that must not be written to, from every other fault, whoever raised it."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import DiskFull, JournalFault, NoarkitError, UsageFault, causes

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_LITTLE_BYTES = 128 * 1024
_KEPT_FREE_BYTES = 1024 * 1024 * 1024
# what SQLite says of shared memory, of a quota, and of a journal that it cannot begin
_PERHAPS_FULL = ("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")
_PERHAPS_READ_ONLY = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")


def is_full(error: BaseException, folder: Path) -> bool:
    """True if a fault of the system or of SQLite, met while writing in `folder`, comes from want of room."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    name = _name(error)
    return name == "SQLITE_FULL" or (name.startswith(_PERHAPS_FULL) and not _has_room(folder))


def is_not_writable(error: BaseException, folder: Path) -> bool:
    """True if a fault of SQLite comes from a folder or file system that we must not write to."""
    return _name(error).startswith(_PERHAPS_READ_ONLY) and folder.is_dir() and not may_write_in(folder)


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Turns the errors of SQLite in a block that works on the file `path` into ours: `DiskFull` if there is no room,
    `UsageFault` if it must not be written to, else `JournalFault`."""
    try:
        yield
    except sqlite3.Error as cause:
        if is_full(cause, path.parent):
            raise DiskFull(where=str(path)) from cause
        if is_not_writable(cause, path.parent):
            raise UsageFault(what="not-writable", where=str(path.parent)) from cause
        raise JournalFault(where=str(path), why=str(cause)) from cause


def fault_of_disk(error: BaseException) -> NoarkitError | None:
    """Turns any other error into `DiskFull`, or `UsageFault` for a read-only disk; None if it is about neither."""
    disk_full = next((cause for cause in causes(error) if isinstance(cause, DiskFull)), None)
    if disk_full is not None:  # closing what had no room may fail again, and says less
        return disk_full
    for cause in causes(error):
        if isinstance(cause, OSError) and cause.errno in _NO_ROOM:
            return DiskFull(where=_folder_of(cause))
        if _name(cause) == "SQLITE_FULL":  # a file of ours has its own door; what is left are unnamed ones
            return DiskFull(where=_temporary())
        if _name(cause).startswith(_PERHAPS_FULL) and not _has_room(Path(_temporary())):
            return DiskFull(where=_temporary())
    if isinstance(error, OSError) and error.errno in _NOT_WRITABLE and error.filename is not None:
        return UsageFault(what="not-writable", where=_folder_of(error))
    return None


def room_in(folder: Path) -> int:
    """How many bytes may be written in a folder for others' sake: what is free there, but for a twentieth of the disk
    (a gigabyte at most), which everybody else may need. A folder that does not exist yet is judged by its
    parent's disk."""
    usage = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.is_dir()))
    return max(0, usage.free - min(usage.total // 20, _KEPT_FREE_BYTES))


def _name(error: BaseException) -> str:
    return (getattr(error, "sqlite_errorname", "") or "") if isinstance(error, sqlite3.Error) else ""


def _folder_of(error: OSError) -> str:
    """The folder that a fault is about: the name of a file may tell more than a log shall hold."""
    filename = error.filename2 or error.filename
    if isinstance(filename, int) or filename is None:
        return _temporary()
    return str(Path(os.fsdecode(filename)).absolute().parent)


def _temporary() -> str:
    """Where the system, and SQLite, put temporary files: as they are told, whether there is room or not."""
    return os.environ.get("SQLITE_TMPDIR") or os.environ.get("TMPDIR") or tempfile.gettempdir()


def _has_room(folder: Path) -> bool:
    """True if a little more can be written there."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_LITTLE_BYTES))
    except OSError as error:
        return error.errno not in _NO_ROOM
    return True


def may_write_in(folder: Path) -> bool:
    """True if this process may make a file in a folder, by the rights that it has now."""
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)

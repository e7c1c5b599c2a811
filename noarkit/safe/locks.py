"""File locks that die with their process: one way to take them for the whole house.

    with held_lock(folder / "grant.lock"): ...              waits until the lock is free
    with claimed(run / "run.lock", where=str(run)): ...     RunLocked at once, naming the owner

A lock belongs to the open file: a process that is killed lets it go, and no file needs to be cleaned up.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import RunLocked
from noarkit.safe import atomic
from noarkit.safe.descriptors import open_descriptor, read_at, write_at

PRIVATE_MODE = 0o600
_OWNER_BYTES = 200
_LOCKED_BYTE = 0x7FFF_0000
_FOLDER_LOCK = ".noarkit.lock"
_NAP_S = 0.02
_FLAGS = os.O_RDWR | os.O_CREAT


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Locks an open file or folder if it is free; True if it is ours now."""
    if sys.platform == "win32":
        return _try_range(descriptor)
    import fcntl

    try:
        # flock and not lockf: POSIX record locks are lost as soon as the process closes any descriptor of the file,
        # even one that a library opened.
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def wait_for_lock(descriptor: int) -> None:
    """Locks an open file or folder as soon as it is free."""
    if sys.platform == "win32":
        while not _try_range(descriptor):
            time.sleep(_NAP_S)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _try_range(descriptor: int) -> bool:
    """Locks one byte that stands for the file, on Windows: one behind its end, for what is locked nobody else can read
    there. Such a lock is never shared."""
    if sys.platform != "win32":
        return False
    import msvcrt

    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)
    return True


@contextmanager
def held_folder_lock(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder for as long as the block lasts; waits for whoever holds it. No file is made for it,
    but on Windows, which opens no folders."""
    if sys.platform == "win32":
        with held_lock(folder / _FOLDER_LOCK):
            yield
        return
    descriptor = open_descriptor(folder)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def held_lock(path: Path, patience_s: float | None = None) -> Iterator[None]:
    """Holds the lock of a file for as long as the block lasts; waits for whoever holds it. The file is made private.

    With `patience_s` it waits no longer than that, and then goes on without the lock.
    """
    descriptor = open_descriptor(path, _FLAGS, PRIVATE_MODE)
    try:
        if patience_s is None:
            wait_for_lock(descriptor)
        else:
            ends_s = time.monotonic() + patience_s
            while not try_lock(descriptor) and time.monotonic() < ends_s:
                time.sleep(_NAP_S)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def claimed(path: Path, where: str) -> Iterator[None]:
    """Holds the lock of a file and writes its owner into it. Raises `RunLocked`, with the owner, where it is taken."""
    descriptor = open_descriptor(path, _FLAGS, PRIVATE_MODE)
    try:
        if not try_lock(descriptor):
            # Read without the lock: the owner may be writing just now, and a torn name in a message does no harm.
            owner = read_at(descriptor, _OWNER_BYTES, 0).decode("utf-8", "replace").strip()
            raise RunLocked(where=where, owner=owner)
        with atomic.no_room(path):
            # Only for people: whether the lock is held is asked of the system, never of this text, which outlives its
            # process.
            os.ftruncate(descriptor, 0)
            write_at(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        # Closing lets go. The file stays: deleting it would let two processes lock two files of one name.
        os.close(descriptor)

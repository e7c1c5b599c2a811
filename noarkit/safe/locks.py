"""File locks that die with their process: one way to take them for the whole house.

    with held_lock(folder / "grant.lock"): ...              waits until the lock is free
    with claimed(run / "run.lock", where=str(run)): ...     RunLocked at once, naming the owner

A lock belongs to the open file: a process that is killed lets it go, and no file needs to be cleaned up.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import RunLocked
from noarkit.safe import atomic

PRIVATE_MODE = 0o600
_OWNER_BYTES = 200
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Locks an open file or folder if it is free; True if it is ours now."""
    if sys.platform == "win32":
        import msvcrt

        try:
            # Windows locks ranges of bytes: the first one stands for the file.
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
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
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def held_lock(path: Path) -> Iterator[None]:
    """Holds the lock of a file for as long as the block lasts; waits for whoever holds it. The file is made private."""
    descriptor = os.open(path, _FLAGS, PRIVATE_MODE)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def claimed(path: Path, where: str) -> Iterator[None]:
    """Holds the lock of a file and writes its owner into it. Raises `RunLocked`, with the owner, where it is taken."""
    descriptor = os.open(path, _FLAGS, PRIVATE_MODE)
    try:
        if not try_lock(descriptor):
            # Read without the lock: the owner may be writing just now, and a torn name in a message does no harm.
            owner = os.pread(descriptor, _OWNER_BYTES, 0).decode("utf-8", "replace").strip()
            raise RunLocked(where=where, owner=owner)
        with atomic.no_room(path):
            # Only for people: whether the lock is held is asked of the system, never of this text, which outlives its
            # process.
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        # Closing lets go. The file stays: deleting it would let two processes lock two files of one name.
        os.close(descriptor)

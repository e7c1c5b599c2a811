"""Files by descriptor, in the same way on every system: their bytes as they are, and no child inherits one unasked.

Windows opens files as text unless it is told otherwise, so that line ends change under whoever reads or writes; it
reads at no place of a file but where it stands, and makes nothing durable that was opened for reading alone. Whoever
opens a file here, and reads it with `read_at`, need not know.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path

from noarkit.safe.windows import long_path

if sys.platform != "win32":
    import fcntl

NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe that stands where a file should must not wait for whoever writes to it."""
NO_TERMINAL: int = getattr(os, "O_NOCTTY", 0)
NO_TRACE: int = getattr(os, "O_NOATIME", 0)
"""The time of last access stays; only the owner of a file may ask for that."""
FOLDER: int = getattr(os, "O_DIRECTORY", 0)
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)

_AT_A_PLACE = threading.Lock()


def open_descriptor(path: Path | str | bytes, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """A descriptor of a file. Raises the system's own fault."""
    return os.open(long_path(path), flags | _ALWAYS, mode)


def open_below(name: bytes | str, flags: int, mode: int = 0o600, *, folder: int | None) -> int:
    """The same for a name in an open folder, where the system can do that."""
    return os.open(name, flags | _ALWAYS, mode, dir_fd=folder)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Up to `size` bytes from `offset` on; where the file stands does not matter, and stays."""
    if sys.platform == "win32":
        with _AT_A_PLACE:
            before = os.lseek(descriptor, 0, os.SEEK_CUR)
            try:
                os.lseek(descriptor, offset, os.SEEK_SET)
                return os.read(descriptor, size)
            finally:
                os.lseek(descriptor, before, os.SEEK_SET)
    else:
        return os.pread(descriptor, size, offset)


def write_at(descriptor: int, content: bytes, offset: int) -> None:
    """Writes bytes at `offset`; where the file stands does not matter, and stays."""
    if sys.platform == "win32":
        with _AT_A_PLACE:
            before = os.lseek(descriptor, 0, os.SEEK_CUR)
            try:
                os.lseek(descriptor, offset, os.SEEK_SET)
                write_all(descriptor, content)
            finally:
                os.lseek(descriptor, before, os.SEEK_SET)
    else:
        while content:
            count = os.pwrite(descriptor, content, offset)
            content, offset = content[count:], offset + count


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Writes all of it, where the file stands."""
    count = os.write(descriptor, content)
    while count < len(content):
        count += os.write(descriptor, memoryview(content)[count:])


def read_into(descriptor: int, room: memoryview) -> int:
    """Reads into `room` and returns how many bytes came; none at the end."""
    if sys.platform == "win32":
        block = os.read(descriptor, len(room))
        room[: len(block)] = block
        return len(block)
    return os.readv(descriptor, [room])


def flush_file(path: Path) -> None:
    """Returns once the bytes of a file are on the disk."""
    # Windows flushes only what was opened for writing
    descriptor = open_descriptor(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_file_system(path: Path) -> bool:
    """Returns once all that was written to the file system of `path` is on the disk; False where Linux is not there."""
    if sys.platform != "linux":
        return False
    import ctypes  # here alone, and children that copy files start the sooner without it

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = open_descriptor(path)
    try:
        if libc.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(descriptor)
    return True


def widen_pipe(descriptor: int, size_bytes: int) -> None:
    """Gives a pipe so much room for what waits in it, where the system can (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError):  # more than this user may have: the usual size will do
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size_bytes)


def set_mode(descriptor: int, mode: int) -> None:
    """Gives an open file these rights, whatever the umask says, where the system knows them."""
    if sys.platform != "win32":
        os.fchmod(descriptor, mode)


def keep_time(descriptor: int, modified_ns: int) -> None:
    """Gives a file that was written the time of its source, where the system can."""
    if os.utime in os.supports_fd:
        with suppress(OSError, OverflowError):  # a disk that knows no such time keeps the bytes all the same
            os.utime(descriptor, ns=(modified_ns, modified_ns))


def forget_pages(content: mmap.mmap, end: int) -> None:
    """Takes what was read up to `end` out of the memory of this process, where the system can."""
    if sys.platform != "win32":
        content.madvise(mmap.MADV_DONTNEED, 0, max(end - end % mmap.PAGESIZE, mmap.PAGESIZE))


def disk_bytes(status: os.stat_result) -> int:
    """How many bytes a file takes up on its disk; its length, where the system does not tell."""
    if sys.platform != "win32":
        return status.st_blocks * 512
    return status.st_size


def is_plain_file(descriptor: int) -> bool:
    """True if what was opened is a regular file."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)

"""Files and folders that appear whole or not at all, whatever happens while they are written.

A file is written under a temporary name in its own folder, synced, moved into place, and the folder is synced.
Left-over temporary names (after a power cut) begin with `.noarkit-` and end with `.part`; `sweep` removes them.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from noarkit.errors import DiskFull, UsageFault
from noarkit.safe.children import OUR_THREADS
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.disk import is_full
from noarkit.safe.owners import OTHERS
from noarkit.safe.side_files import open_side_file
from noarkit.safe.windows import long_path, while_open_elsewhere

_PREFIX = ".noarkit-"
_SUFFIX = ".part"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


@contextmanager
def open_atomic(path: Path, *, mode: int = 0o644, sync: bool = True, replace: bool = True) -> Iterator[BinaryIO]:
    """Yields a binary file whose content stands at `path` when the block ends without a fault, and nowhere otherwise.

    With `sync=False` the bytes are not forced to disk: for files of a folder that is synced as a whole. With
    `replace=False` an existing file is kept and `UsageFault` raised. No room raises `DiskFull`.
    """
    # In the same folder, for a rename is atomic only within one file system.
    part = path.parent / temporary_name()
    is_placed = False
    with no_room(path):
        try:
            # O_EXCL: never a file, or a link, that somebody has laid under this name.
            with os.fdopen(open_descriptor(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "w+b") as file:
                yield file
                file.flush()
                # Before the rename: else a power cut may leave the new name with an empty file. After it the folder is
                # synced too, for the name itself is an entry of the folder.
                if sync:
                    os.fsync(file.fileno())
            if replace:
                while_open_elsewhere(lambda: os.replace(long_path(part), long_path(path)))  # noqa: PTH105  # any length
                is_placed = True
            else:
                place_new(part, path)
            if sync:
                sync_folder(path.parent)
        finally:
            if not is_placed:
                while_open_elsewhere(lambda: part.unlink(missing_ok=True))


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644, sync: bool = True, replace: bool = True) -> None:
    """Writes `content` to `path`, whole or not at all."""
    with open_atomic(path, mode=mode, sync=sync, replace=replace) as file:
        file.write(content)


def write_text(path: Path, text: str, *, mode: int = 0o644, sync: bool = True, replace: bool = True) -> None:
    """Writes `text` to `path` in UTF-8, line ends as they stand, whole or not at all."""
    write_bytes(path, text.encode("utf-8"), mode=mode, sync=sync, replace=replace)


def append_line(path: Path, line: bytes, *, mode: int = 0o600, refused: int = OTHERS) -> None:
    """Adds a line to a file of lines, made where there is none, and returns when it is on the disk.

    A line that a crash left unfinished is ended first, so that it spoils no other. No room raises `DiskFull`, and what
    was written of the line is taken back. Raises `JournalFault` for a file that is not ours alone: `refused` are the
    rights that nobody else may have to it.
    """
    with no_room(path):
        descriptor = open_side_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode=mode, refused=refused)
        with os.fdopen(descriptor, "a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            ended = file.read(1) in (b"", b"\n")
            content = (b"" if ended else b"\n") + line + b"\n"
            try:
                if file.write(content) != len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):  # no file of that kind: the first fault is the one to tell
                    file.truncate(size)
                raise
        if size == 0:
            sync_folder(path.parent)


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yields an empty folder beside `target` that becomes `target` when the block ends without a fault.

    Everything in it is synced once, before the rename. Nothing that exists is ever replaced: `UsageFault` instead.
    """
    _refuse_existing(target)
    with no_room(target):
        part = target.parent / temporary_name()
        part.mkdir()
        try:
            yield part
            sync_tree(part)
            _refuse_existing(target)
            while_open_elsewhere(lambda: part.rename(target))
            sync_folder(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def temporary_name() -> str:
    """A name nobody else uses, that `sweep` knows."""
    return f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"


def sweep(folder: Path) -> int:
    """Removes what a power cut left in `folder` under temporary names, and says how many there were.

    Only for a folder that this process alone writes to: another's unfinished file looks the same.
    """
    # Names alone decide, so that nothing of the user's can be taken: nobody else writes this prefix with this ending.
    leftovers = [entry for entry in folder.iterdir() if is_temporary(entry.name)]
    for entry in leftovers:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    return len(leftovers)


def is_temporary(name: str) -> bool:
    """True for a name made by `temporary_name`."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def sync_folder(folder: Path) -> None:
    """Makes the names in `folder` durable, where the system can."""
    if sys.platform == "win32":
        return  # it has no such call
    descriptor = open_descriptor(folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def place_new(part: Path, path: Path, link: Callable[[Path, Path], None] = os.link) -> None:
    """Gives `part` the name `path`; `UsageFault` where that is taken. `link` makes a second name for a file."""
    try:
        # a second name is refused where it is taken, in one step; a rename would replace
        link(part, path)
    except FileExistsError as error:
        raise UsageFault(what="exists", where=str(path)) from error
    except OSError as error:
        # Some file systems (FAT, some network shares) have no hard links. Then the check and the rename are two steps,
        # which is the best there is.
        if error.errno not in _NO_LINKS:
            raise
        _refuse_existing(path)
        part.rename(path)


def begin_sync(platform: str = sys.platform) -> None:
    """Has what was written go to disk while other work is done, where one call does that for all; `sync_tree` then
    waits for little but what came after. It promises nothing itself."""
    if sys.platform != "win32" and platform == "linux":
        threading.Thread(target=os.sync, name=f"{OUR_THREADS}sync", daemon=True).start()


def sync_tree(folder: Path, platform: str = sys.platform) -> None:
    """Makes everything below `folder` durable."""
    if sys.platform != "win32" and platform == "linux":
        os.sync()  # one call for millions of files, and on Linux it waits until they are on disk
        return
    for place, _, names in os.walk(folder):
        for name in names:
            with Path(place, name).open("rb+") as file:
                os.fsync(file.fileno())
        sync_folder(Path(place))


@contextmanager
def no_room(path: Path) -> Iterator[None]:
    """Turns the system's ways to say «no room», and those of SQLite, into `DiskFull`."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if is_full(error, path.parent):
            raise DiskFull(where=str(path)) from error
        raise


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))

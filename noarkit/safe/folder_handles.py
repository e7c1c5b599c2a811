"""Folders that are held open, and what is in them reached by name, so that no path is longer than the system takes and
no folder can be swapped for a link on the way.

A handle is the descriptor of the folder. Windows opens no folders: there a handle is a number that bears the folder's
path, each step down is looked at before it is taken, and a link is refused as well, though in two steps instead of one.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from noarkit.safe.descriptors import FOLDER, NO_FOLLOW, open_below, open_descriptor
from noarkit.safe.windows import extended

BY_DESCRIPTOR = sys.platform != "win32"
_NO_DESCRIPTOR = 1 << 40
_LINKS = frozenset({0xA000000C, 0xA0000003})  # symbolic links, junctions


class _PathHandle(int):
    """A handle that bears a path."""

    path: str

    def __new__(cls, path: str) -> Self:
        handle = super().__new__(cls, _NO_DESCRIPTOR)
        handle.path = path
        return handle


def open_folder(path: Path | str | bytes, flags: int = 0) -> int:
    """A handle of a folder by its path. Raises the system's own fault."""
    if BY_DESCRIPTOR:
        return open_descriptor(path, os.O_RDONLY | FOLDER | flags)
    return _checked_folder(extended(os.fsdecode(path)), follow=not flags & NO_FOLLOW)


def open_folder_in(name: bytes | str, parent: int, flags: int = 0) -> int:
    """A handle of the folder `name` in another, no link. Raises the system's own fault."""
    if BY_DESCRIPTOR:
        return open_below(name, os.O_RDONLY | FOLDER | NO_FOLLOW | flags, folder=parent)
    return _checked_folder(path_in(name, parent), follow=False)


def open_file_in(name: bytes | str, parent: int, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """A descriptor of the file `name` in a folder. Raises the system's own fault."""
    if BY_DESCRIPTOR:
        return open_below(name, flags, mode, folder=parent)
    return open_descriptor(path_in(name, parent), flags, mode)


def make_folder_in(name: bytes | str, parent: int, mode: int = 0o777) -> None:
    """Makes the folder `name` in another."""
    if BY_DESCRIPTOR:
        os.mkdir(name, mode, dir_fd=parent)
    else:
        Path(path_in(name, parent)).mkdir(mode)


def remove_file_in(name: bytes | str, parent: int) -> None:
    """Takes the name of a file, or of a link, out of a folder."""
    if BY_DESCRIPTOR:
        os.unlink(name, dir_fd=parent)
    else:
        Path(path_in(name, parent)).unlink()


def flush(handle: int) -> None:
    """Returns once what was done to the names in a folder is on the disk, where the system can say that."""
    if not isinstance(handle, _PathHandle):
        os.fsync(handle)


def duplicate(handle: int) -> int:
    """The same folder once more, to be closed by itself."""
    return handle if isinstance(handle, _PathHandle) else os.dup(handle)


def close(handle: int) -> None:
    """Lets a folder, or a file, go."""
    if not isinstance(handle, _PathHandle):
        os.close(handle)


def status_of(handle: int) -> os.stat_result:
    """What the system says of an open folder."""
    return Path(handle.path).stat() if isinstance(handle, _PathHandle) else os.fstat(handle)


def status_in(name: bytes | str, parent: int, *, follow: bool = False) -> os.stat_result:
    """What the system says of the name in a folder, of a link itself unless it shall be followed."""
    if BY_DESCRIPTOR:
        return os.stat(name, dir_fd=parent, follow_symlinks=follow)
    return os.stat(path_in(name, parent), follow_symlinks=follow)  # noqa: PTH116  # as text, blanks at its end and all


def statuses_in(parent: int) -> Callable[[bytes], os.stat_result]:
    """The same for many names of one folder, links not followed."""
    if BY_DESCRIPTOR:
        return partial(os.stat, dir_fd=parent, follow_symlinks=False)
    return partial(status_in, parent=parent)


def may_read_in(name: bytes | str, parent: int) -> bool:
    """True if this process may read the file `name` in a folder."""
    if BY_DESCRIPTOR:
        return os.access(name, os.R_OK, dir_fd=parent, effective_ids=os.access in os.supports_effective_ids)
    return os.access(path_in(name, parent), os.R_OK)


@contextmanager
def entries_in(handle: int) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in a folder, as the system lists it."""
    with os.scandir(handle.path if isinstance(handle, _PathHandle) else handle) as entries:
        yield entries


def is_link(status: os.stat_result) -> bool:
    """True for a link of any kind, also the junctions of Windows."""
    if getattr(status, "st_reparse_tag", 0) in _LINKS:  # of Windows alone
        return True
    return stat.S_ISLNK(status.st_mode)


def is_junction(entry: os.DirEntry[str]) -> bool:
    """True for a folder of Windows that leads to another."""
    if sys.platform != "win32":
        return False
    return is_link(entry.stat(follow_symlinks=False))


def path_in(name: bytes | str, parent: int) -> str:
    """The path of a name in a folder, where the system opens no folders. A name that would lead elsewhere there (from
    another system, with a backslash or a colon) is told as one that does not exist."""
    text = os.fsdecode(name)
    if not text or text in (".", "..") or any(sign in text for sign in '/\\:*?"<>|'):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    assert isinstance(parent, _PathHandle)  # noqa: S101  # every folder here was opened above
    return os.path.join(parent.path, text)  # noqa: PTH118  # as text: a Path would drop what makes it literal


def _checked_folder(path: str, *, follow: bool) -> _PathHandle:
    status = os.stat(path, follow_symlinks=follow)  # noqa: PTH116  # as text, blanks at its end and all
    if not follow and is_link(status):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return _PathHandle(path)

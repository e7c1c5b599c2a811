"""Opening by descriptor: each step down is taken from the folder above it, and no link is ever followed unasked.

A path may be longer than the system's limit, and a folder swapped for a link between looking and opening is noticed.
Reading leaves no trace: where the system allows it, not even the time of last access.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import ItemChanged, ItemNotAFile, ItemUnreadable, ItemVanished, SourceFault, SourceGone
from noarkit.safe import folder_handles
from noarkit.safe.descriptors import NO_FOLLOW, NO_TERMINAL, NO_TRACE, NO_WAITING

_FILE = os.O_RDONLY | NO_WAITING | NO_TERMINAL

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN})
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def open_root(root: Path) -> int:
    """A descriptor of the root folder; here alone a link is followed. Raises `SourceGone`."""
    try:
        return _without_trace(lambda flags: folder_handles.open_folder(root, flags))
    except OSError as error:
        raise SourceGone(where=str(root), why=_why(error)) from error


def open_folder(name: bytes, parent: int) -> int:
    """A descriptor of the folder `name` in `parent`. Raises the system's own fault."""
    return _without_trace(lambda flags: folder_handles.open_folder_in(name, parent, flags))


def open_file(name: bytes, parent: int, *, key: str, follow: bool = False) -> int:
    """A descriptor of the regular file `name` in `parent`; devices and their like are looked at, never opened.

    `key` names it in faults. Raises `ItemNotAFile`, or the system's own fault.
    """
    _refuse_device(folder_handles.status_in(name, parent, follow=follow), key)
    how = _FILE if follow else _FILE | NO_FOLLOW
    descriptor = _without_trace(lambda flags: folder_handles.open_file_in(name, parent, how | flags))
    try:
        _refuse_device(os.fstat(descriptor), key)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def reach(root: int, steps: Iterable[bytes]) -> int:
    """A descriptor of the folder reached from `root` step by step. Raises the system's own fault."""
    here = folder_handles.duplicate(root)
    for step in steps:
        above = here
        try:
            here = open_folder(step, above)
        finally:
            folder_handles.close(above)
    return here


@contextmanager
def faults(key: str) -> Iterator[None]:
    """Turns the system's faults on one item into source faults. What is our own lack (descriptors, memory) stays."""
    try:
        yield
    except OSError as error:
        raise fault(key, error) from error


def fault(key: str, error: OSError) -> SourceFault:
    """The source fault that a fault of the system means; a lack of our own is raised as it is."""
    if error.errno in _OURS:
        raise error
    if error.errno in _GONE:
        return ItemVanished(key=key, why=_why(error))
    if error.errno == errno.ELOOP:
        return ItemChanged(key=key, why="became a link")
    return ItemUnreadable(key=key, why=_why(error))


def is_gone(error: OSError) -> bool:
    """True if the fault means that the thing is no longer there."""
    return error.errno in _GONE


def is_special_file(mode: int) -> bool:
    """True for devices, FIFOs and sockets."""
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _refuse_device(status: os.stat_result, key: str) -> None:
    if is_special_file(status.st_mode):
        raise ItemNotAFile(key=key, why=kind_of(status.st_mode))
    if folder_handles.is_link(status):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if stat.S_ISDIR(status.st_mode):
        raise ItemNotAFile(key=key, why="folder")


def kind_of(mode: int) -> str:
    """One word for what is no file."""
    kinds = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFBLK: "device", stat.S_IFCHR: "device"}
    return kinds.get(stat.S_IFMT(mode), "unknown")


def _without_trace(open_with: Callable[[int], int]) -> int:
    if NO_TRACE:
        try:
            return open_with(NO_TRACE)
        except PermissionError as error:
            if error.errno != errno.EPERM:
                raise
    # only an owner may ask for no trace
    return open_with(0)


def _why(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")

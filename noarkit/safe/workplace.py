"""Folders of our own among the system's temporary files. They go with whoever holds them; what a process that was
killed left behind goes when the next one makes its own.

A folder is held by a lock on itself, which dies with its process and the children it made by fork. Where the system has
no such locks, nobody else's folder is ever removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.safe.descriptors import FOLDER, NO_FOLLOW, open_descriptor
from noarkit.safe.locks import try_lock
from noarkit.safe.owners import is_own

_OURS = "noarkit-own-"
_COMING = "noarkit-new-"  # it bears its name once it is locked


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """An empty folder for the length of a block."""
    folder, lock = _create(purpose)
    try:
        yield folder
    finally:
        _remove_folder(folder, lock, os.getpid())


def folder_for_owner(owner: object, purpose: str) -> Path:
    """An empty folder for as long as its owner is there, in this process; a child made by fork leaves it be."""
    folder, lock = _create(purpose)
    weakref.finalize(owner, _remove_folder, folder, lock, os.getpid())
    return folder


def _create(purpose: str) -> tuple[Path, int]:
    home = Path(tempfile.gettempdir())
    sweep(home)
    temporary = Path(tempfile.mkdtemp(prefix=_COMING, dir=home))
    lock = open_descriptor(temporary) if sys.platform != "win32" else -1
    if lock >= 0:
        try_lock(lock)
    folder = temporary.with_name(f"{_OURS}{purpose}-{temporary.name.removeprefix(_COMING)}")
    temporary.rename(folder)
    return folder, lock


def _remove_folder(folder: Path, lock: int, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
    if lock >= 0:
        os.close(lock)


def sweep(home: Path) -> None:
    """Removes the folders of ours in which nobody works any more."""
    if sys.platform == "win32":
        return
    for folder in home.glob(f"{_OURS}*"):
        with contextlib.suppress(OSError):
            lock = open_descriptor(folder, os.O_RDONLY | FOLDER | NO_FOLLOW)
            try:
                status = os.fstat(lock)
                if stat.S_ISDIR(status.st_mode) and is_own(status) and try_lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)

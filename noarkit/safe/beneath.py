"""Opens and makes files below one folder, by name, without ever following a symbolic link on the way.

Checking a path first and opening it afterwards leaves a gap in which somebody can lay a link (a time-of-check race).
So each folder is opened from the descriptor of the one before it, with O_NOFOLLOW: «a/b/c» is openat(root, a),
openat(a, b), openat(b, c). The last folder is kept open, so names in the order of their folders cost one step each.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, Self

from noarkit.errors import UnsafePath
from noarkit.safe.paths import checked_parts, open_inside, open_without_trace, resolve_inside

_STEPS = os.open in os.supports_dir_fd and os.mkdir in os.supports_dir_fd
_CLOSED = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a FIFO that somebody put there must not wait for a writer for ever.
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | _CLOSED
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW | _CLOSED
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOSED


class ConfinedFolder:
    """The files below `root`. Not for several threads at once. What is made `private` its owner alone may read."""

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self._path = root
        self._root = self._folder = -1
        self._file_mode, self._folder_mode = (0o600, 0o700) if private else (0o644, 0o777)
        self._parts: tuple[str, ...] = ()
        if _STEPS:
            # The root itself may be a link: its name is ours or the user's own.
            self._root = self._folder = os.open(root, _FOLDER & ~_NOFOLLOW)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the folders that are kept open."""
        self._leave()
        if self._root >= 0:
            os.close(self._root)
            self._root = self._folder = -1

    def open(self, name: str) -> int:
        """A descriptor for reading; the system's own fault where there is no such file, or a link stands in the way."""
        parts = checked_parts(name)
        if not _STEPS:  # pragma: no cover  # other systems know no folder descriptors
            return os.open(resolve_inside(self._path, name), _READ)
        self._enter(parts[:-1], make=False)
        return os.open(parts[-1], _READ, dir_fd=self._folder)

    def open_file(self, name: str) -> BinaryIO:
        """A regular file, for reading; a folder, device or FIFO is `UnsafePath`, a link the system's own fault."""
        parts = checked_parts(name)
        if not _STEPS:  # pragma: no cover  # other systems know no folder descriptors
            return open_inside(self._path, name)
        self._enter(parts[:-1], make=False)
        descriptor = open_without_trace(parts[-1], self._folder)
        try:
            # Asked of the descriptor and not of the name, which may stand for something else by now.
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnsafePath(where=name, why="not-a-file")
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def create(self, name: str) -> int:
        """A descriptor of a new or emptied file, for writing; folders on the way are made."""
        parts = checked_parts(name)
        if not _STEPS:  # pragma: no cover  # other systems know no folder descriptors
            place = resolve_inside(self._path, name)
            place.parent.mkdir(mode=self._folder_mode, parents=True, exist_ok=True)
            return os.open(place, _WRITE, self._file_mode)
        self._enter(parts[:-1], make=True)
        return os.open(parts[-1], _WRITE, self._file_mode, dir_fd=self._folder)

    def _enter(self, parts: tuple[str, ...], *, make: bool) -> None:
        if parts == self._parts:
            return
        # Left first: if a step down fails, the kept folder must not be taken for the one of `_parts`.
        self._leave()
        folder = self._root
        try:
            for part in parts:
                deeper = _descend(folder, part, self._folder_mode if make else None)
                if folder != self._root:
                    os.close(folder)
                folder = deeper
        # O_DIRECTORY with O_NOFOLLOW gives this for a link, even one to a folder.
        except NotADirectoryError as error:
            if folder != self._root:
                os.close(folder)
            raise UnsafePath(where="/".join(parts), why="link") from error
        except OSError:
            if folder != self._root:
                os.close(folder)
            raise
        self._parts, self._folder = parts, folder

    def _leave(self) -> None:
        if self._folder not in (self._root, -1):
            os.close(self._folder)
        self._parts, self._folder = (), self._root


def _descend(folder: int, part: str, mode: int | None) -> int:
    """Goes one folder down; with a `mode` it is made where it is not there."""
    if mode is not None:
        # Whatever exists there is opened next without following it; if it is a link, that fails.
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, mode, dir_fd=folder)
    return os.open(part, _FOLDER, dir_fd=folder)

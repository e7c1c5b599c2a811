"""Opens and makes files below one folder, by name, without ever following a symbolic link on the way.

Checking a path first and opening it afterwards leaves a gap in which somebody can lay a link (a time-of-check race).
So each folder is opened from the descriptor of the one before it, with O_NOFOLLOW: «a/b/c» is openat(root, a),
openat(a, b), openat(b, c). The last folder is kept open, so names in the order of their folders cost one step each.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO, Self

from noarkit.errors import UnsafePath
from noarkit.safe import folder_handles
from noarkit.safe.descriptors import NO_FOLLOW, NO_TRACE, NO_WAITING, is_plain_file
from noarkit.safe.paths import checked_parts

_READ = os.O_RDONLY | NO_FOLLOW | NO_WAITING
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_FOLLOW


class ConfinedFolder:
    """The files below `root`. Not for several threads at once. What is made `private` its owner alone may read."""

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self._file_mode, self._folder_mode = (0o600, 0o700) if private else (0o644, 0o777)
        self._parts: tuple[str, ...] = ()
        self._root = self._folder = -1
        # The root itself may be a link: its name is ours or the user's own.
        self._root = self._folder = folder_handles.open_folder(root)

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
            folder_handles.close(self._root)
            self._root = self._folder = -1

    def open(self, name: str) -> int:
        """A descriptor for reading; the system's own fault where there is no such file, or a link stands in the way."""
        parts = checked_parts(name)
        self._enter(parts[:-1], make=False)
        return folder_handles.open_file_in(parts[-1], self._folder, _READ)

    def open_file(self, name: str) -> BinaryIO:
        """A regular file, for reading; a folder, device or FIFO is `UnsafePath`, a link the system's own fault."""
        parts = checked_parts(name)
        self._enter(parts[:-1], make=False)
        descriptor = open_in_without_trace(parts[-1], self._folder)
        try:
            # Asked of the descriptor and not of the name, which may stand for something else by now.
            if not is_plain_file(descriptor):
                raise UnsafePath(where=name, why="not-a-file")
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def create(self, name: str) -> int:
        """A descriptor of a new or emptied file, for writing; folders on the way are made."""
        parts = checked_parts(name)
        self._enter(parts[:-1], make=True)
        return folder_handles.open_file_in(parts[-1], self._folder, _WRITE, self._file_mode)

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
                    folder_handles.close(folder)
                folder = deeper
        # O_DIRECTORY with O_NOFOLLOW gives this for a link, even one to a folder.
        except NotADirectoryError as error:
            if folder != self._root:
                folder_handles.close(folder)
            raise UnsafePath(where="/".join(parts), why="link") from error
        except OSError:
            if folder != self._root:
                folder_handles.close(folder)
            raise
        self._parts, self._folder = parts, folder

    def _leave(self) -> None:
        if self._folder not in (self._root, -1):
            folder_handles.close(self._folder)
        self._parts, self._folder = (), self._root


def _descend(folder: int, part: str, mode: int | None) -> int:
    """Goes one folder down; with a `mode` it is made where it is not there."""
    if mode is not None:
        # Whatever exists there is opened next without following it; if it is a link, that fails.
        with contextlib.suppress(FileExistsError):
            folder_handles.make_folder_in(part, folder, mode)
    return folder_handles.open_folder_in(part, folder)


def open_in_without_trace(name: str, folder: int) -> int:
    """Opens a file of a folder for reading, and where the system allows it without changing the time of last access."""
    try:
        return folder_handles.open_file_in(name, folder, _READ | NO_TRACE)
    except PermissionError:  # pragma: no cover  # only an owner may ask for that, and root always
        return folder_handles.open_file_in(name, folder, _READ)

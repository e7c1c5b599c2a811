"""The one walk over the files of a package: links are never followed, and nothing is opened but a regular file.

A file is opened relative to the folder it was seen in, so that no link laid meanwhile leads elsewhere. Names that are
no text come as they are on disk (`os.fsencode` gives their bytes).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

EntryKind = Literal["file", "folder", "link", "other"]

_BENEATH = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# a pipe that took the place of a folder would keep whoever opens it waiting
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One name in a tree, relative to its root with `/`. It can be opened until the walk goes on."""

    name: str
    kind: EntryKind
    folder: int
    path: str

    def open(self) -> int:
        """A descriptor of the file, for reading; the system's own fault where it is gone, closed or a link now."""
        return os.open(self.path, _FLAGS, dir_fd=self.folder) if _BENEATH else os.open(self.path, _FLAGS)


def walk_tree(root: Path) -> Iterator[TreeEntry]:
    """Everything beneath `root`, a folder before what is in it; one that cannot be read, or is gone, as `other`."""
    yield from _walk(str(root), "", None, 0)


def is_file(descriptor: int) -> bool:
    """True if what was opened is a regular file."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _walk(path: str, above: str, parent: int | None, depth: int) -> Iterator[TreeEntry]:
    folder = os.open(path, _FOLDER_FLAGS, dir_fd=parent) if _BENEATH else -1
    folders: list[tuple[str, str]] = []
    try:
        with os.scandir(folder if _BENEATH else path) as entries:
            for entry in entries:
                name = above + entry.name
                kind = _kind(entry)
                tree_entry = TreeEntry(name, kind, folder, entry.name if _BENEATH else entry.path)
                if kind == "folder":
                    folders.append((entry.name if _BENEATH else entry.path, name))
                yield tree_entry
        for inner, name in folders:
            if depth >= MAX_DEPTH:
                yield TreeEntry(name, "other", folder, inner)
                continue
            try:
                yield from _walk(inner, name + "/", folder if _BENEATH else None, depth + 1)
            except OSError:
                yield TreeEntry(name, "other", folder, inner)
    finally:
        if _BENEATH:  # pragma: no branch  # where a system cannot, paths are opened whole
            os.close(folder)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return "folder" if entry.is_dir(follow_symlinks=False) else "other"

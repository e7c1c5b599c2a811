"""The one walk over the files of a package: links are never followed, and nothing is opened but a regular file.

A file is opened relative to the folder it was seen in, so that no link laid meanwhile leads elsewhere. Names that are
no text come as they are on disk (`os.fsencode` gives their bytes).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noarkit.safe import folder_handles
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING, is_plain_file
from noarkit.safe.folder_handles import is_junction

EntryKind = Literal["file", "folder", "link", "other"]

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
        return folder_handles.open_file_in(self.path, self.folder, os.O_RDONLY | NO_FOLLOW | NO_WAITING)

    def size(self) -> int:
        """How many bytes it has; the system's own fault where it is gone."""
        return folder_handles.status_in(self.path, self.folder).st_size


def walk_tree(root: Path) -> Iterator[TreeEntry]:
    """Everything beneath `root`, a folder before what is in it; one that cannot be read, or is gone, as `other`."""
    yield from _walk(str(root), "", None, 0)


def is_file(descriptor: int) -> bool:
    """True if what was opened is a regular file."""
    return is_plain_file(descriptor)


def _walk(path: str, above: str, parent: int | None, depth: int) -> Iterator[TreeEntry]:
    if parent is None:
        folder = folder_handles.open_folder(path, NO_FOLLOW)
    else:
        folder = folder_handles.open_folder_in(path, parent)
    folders: list[tuple[str, str]] = []
    try:
        with folder_handles.entries_in(folder) as entries:
            for entry in entries:
                name = above + entry.name
                kind = _kind(entry)
                if kind == "folder":
                    folders.append((entry.name, name))
                yield TreeEntry(name, kind, folder, entry.name)
        for inner, name in folders:
            if depth >= MAX_DEPTH:
                yield TreeEntry(name, "other", folder, inner)
                continue
            try:
                yield from _walk(inner, name + "/", folder, depth + 1)
            except OSError:
                yield TreeEntry(name, "other", folder, inner)
    finally:
        folder_handles.close(folder)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink() or is_junction(entry):
        return "link"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return "folder" if entry.is_dir(follow_symlinks=False) else "other"

"""Removes files of one folder by name, never through a link: what a link leads to is not touched, nor is the link.

The folder is opened once, without following a link, and every file is asked for and removed from its descriptor. So a
folder that somebody moves or replaces meanwhile costs nothing that lies elsewhere.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noarkit.errors import UnsafePath
from noarkit.results import JsonObject
from noarkit.safe import folder_handles
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING
from noarkit.safe.digest import HashingReader


@dataclass(frozen=True, slots=True)
class FileFacts(JsonObject):
    """A regular file: its name in the folder, its size, its sha256, and how many names it has in all."""

    name: str
    size_bytes: int
    sha256: str
    names: int = 1


class OpenFolder:
    """One folder that files are removed from. Raises `UnsafePath` for a link; `OSError` for what is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_symlink():
            raise UnsafePath(where=str(path), why="link")
        self._handle = folder_handles.open_folder(path, NO_FOLLOW)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the folder go."""
        folder_handles.close(self._handle)

    def names(self) -> list[str]:
        """The names of all that lies directly in the folder."""
        with folder_handles.entries_in(self._handle) as entries:
            return sorted(entry.name for entry in entries)

    def kind(self, name: str) -> str:
        """What stands under a name: `file`, `link`, `folder`, `other`, or nothing where there is nothing."""
        try:
            status = folder_handles.status_in(name, self._handle)
        except FileNotFoundError:
            return ""
        if folder_handles.is_link(status):
            return "link"
        if stat.S_ISREG(status.st_mode):
            return "file"
        return "folder" if stat.S_ISDIR(status.st_mode) else "other"

    def facts(self, name: str) -> FileFacts:
        """Size and sha256 of a regular file. Raises `UnsafePath` for anything else."""
        if self.kind(name) not in ("file", ""):
            raise UnsafePath(where=name, why="not-a-file")
        descriptor = folder_handles.open_file_in(name, self._handle, os.O_RDONLY | NO_FOLLOW | NO_WAITING)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):  # another stands there now
                raise UnsafePath(where=name, why="not-a-file")
            content = HashingReader(file)
            for _ in content:
                pass
        return FileFacts(name, content.size_bytes, content.hexdigest(), status.st_nlink)

    def remove(self, name: str) -> bool:
        """Removes a regular file; false where there is none under this name, or something else."""
        if self.kind(name) != "file":
            return False
        with suppress(FileNotFoundError):
            folder_handles.remove_file_in(name, self._handle)
        return True

    def sync(self) -> None:
        """Makes it durable that names are gone, where the system can."""
        folder_handles.flush(self._handle)

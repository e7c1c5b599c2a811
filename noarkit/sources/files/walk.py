"""Walks a tree of any size, depth and oddity, folder by folder, in an order that never changes.

In each folder the files come first, then the folders, both by the bytes of their names. What is held in memory is the
names of one folder, the names of folders still to visit on the way down, and a few dozen open descriptors.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from noarkit.graph.entity import SetAside, Skipped
from noarkit.safe import folder_handles
from noarkit.safe.secret_files import may_hold_secrets
from noarkit.sources.files import folders, policy
from noarkit.sources.files.file_filter import ANYONE_MAY_READ, FileFilter, Folder, FoundFile, folder_at, set_aside
from noarkit.sources.files.names import find_twins, key_of
from noarkit.sources.files.policy import FilePolicy

_MOST_OPEN = 48
_PLAIN = 0o170444
_PLAIN_FILE = stat.S_IFREG | ANYONE_MAY_READ


class EmptyFolder(NamedTuple):
    """A folder with nothing in it."""

    folder: Folder
    status: os.stat_result


WalkItem = FoundFile | EmptyFolder | SetAside | Skipped


@dataclass(slots=True)
class _Level:
    """One folder on the way down: its name, its descriptor while there are some to spare, and the folders to come."""

    name: bytes
    handle: int
    identity: tuple[int, int]
    waiting: list[bytes] = field(default_factory=list)


class Walk:
    """One walk from an open root, or a look at one file of it.

    `check_root` raises `SourceGone` where the root is no longer what it was.
    """

    def __init__(
        self,
        root: int,
        file_policy: FilePolicy,
        *,
        now: float,
        check_root: Callable[[], None],
        only: bytes | None = None,
    ) -> None:
        self._policy = file_policy
        self._check_root = check_root
        self._only = only
        self._filter = FileFilter(file_policy, now=now)
        self._levels = [_Level(b"", folder_handles.duplicate(root), _identity(folder_handles.status_of(root)))]

    def items(self) -> Iterator[WalkItem]:
        """Everything below the root, once. To be run once, to its end or until it is closed."""
        try:
            yield from self._list_folder()
            while self._levels:
                level = self._levels[-1]
                if level.waiting:
                    yield from self._go_down(level.waiting.pop())
                else:
                    self._leave()
            self._check_root()
        finally:
            while self._levels:
                self._leave()

    def _go_down(self, name: bytes) -> Iterator[WalkItem]:
        if reason := self._filter.unwanted(name):
            yield Skipped(self._folder_key(name), reason)
            return
        try:
            handle = folders.open_folder(name, self._handle(len(self._levels) - 1))
        except OSError as error:
            yield self._folder_fault(name, error)
            return
        identity = _identity(folder_handles.status_of(handle))
        if self._policy.file_systems == "stay" and identity[0] != self._levels[0].identity[0]:
            folder_handles.close(handle)
            yield Skipped(self._folder_key(name), policy.SKIPPED_FILE_SYSTEM)
            return
        self._levels.append(_Level(name, handle, identity))
        self._spare_descriptors()
        yield from self._list_folder()

    def _list_folder(self) -> Iterator[WalkItem]:
        """The files of the folder at hand; its folders are put by."""
        level = self._levels[-1]
        try:
            files, level.waiting = _listing(level.handle) if self._only is None else ([self._only], [])
        except OSError as error:
            yield self._folder_fault(None, error)
            return
        folder = self._folder(level, files)
        if files:
            yield from self._files(folder, level.waiting)
        elif not level.waiting and self._policy.empty_folders == "record" and folder.parts:
            yield EmptyFolder(folder, folder_handles.status_of(level.handle))
        level.waiting.sort(reverse=True)

    def _files(self, folder: Folder, waiting: list[bytes]) -> Iterator[WalkItem]:
        files = folder.names[0]
        doubles = find_twins(chain(files, waiting), chain(files, waiting))
        easy, status_of = self._filter.is_easy, folder_handles.statuses_in(folder.handle)
        for name in files:
            try:
                status = status_of(name)
            except OSError as error:
                yield set_aside(folders.fault(folder.key + key_of(name), error))
                continue
            if status.st_mode & _PLAIN == _PLAIN_FILE and easy and not may_hold_secrets(name):
                yield FoundFile(folder, name, status, doubles.get(name), False)
            elif stat.S_ISDIR(status.st_mode):
                waiting.append(name)
            else:
                yield self._filter.check(folder, name, status, twin=doubles.get(name))

    def _folder(self, level: _Level, files: list[bytes]) -> Folder:
        return folder_at(
            tuple(step.name for step in self._levels[1:]),
            level.handle,
            names=(files, level.waiting),
            foreign=level.identity[0] != self._levels[0].identity[0],
        )

    def _folder_key(self, name: bytes | None) -> str:
        steps = [step.name for step in self._levels[1:]]
        return "".join(key_of(step) + "/" for step in (steps if name is None else [*steps, name]))

    def _folder_fault(self, name: bytes | None, error: OSError) -> SetAside:
        self._check_root()
        return set_aside(folders.fault(self._folder_key(name) or "/", error))

    def _handle(self, depth: int) -> int:
        """The descriptor of a level, opened anew from the nearest one above where it had to be closed."""
        level = self._levels[depth]
        if level.handle >= 0:
            return level.handle
        start = next(above for above in range(depth - 1, -1, -1) if self._levels[above].handle >= 0)
        steps = (step.name for step in self._levels[start + 1 : depth + 1])
        handle = folders.reach(self._levels[start].handle, steps)
        if _identity(folder_handles.status_of(handle)) != level.identity:
            folder_handles.close(handle)
            raise FileNotFoundError(errno.ENOENT, "replaced by another folder")
        level.handle = handle
        return handle

    def _spare_descriptors(self) -> None:
        old = len(self._levels) - _MOST_OPEN
        if old > 0 and self._levels[old].handle >= 0:
            folder_handles.close(self._levels[old].handle)
            self._levels[old].handle = -1

    def _leave(self) -> None:
        level = self._levels.pop()
        if level.handle >= 0:
            with suppress(OSError):
                folder_handles.close(level.handle)


def _listing(handle: int) -> tuple[list[bytes], list[bytes]]:
    files: list[bytes] = []
    waiting: list[bytes] = []
    with folder_handles.entries_in(handle) as entries:
        for entry in entries:
            (waiting if entry.is_dir(follow_symlinks=False) else files).append(os.fsencode(entry.name))
    files.sort()
    return files, waiting


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino

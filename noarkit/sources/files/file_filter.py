"""Decides, by a name and what the system says of it, whether a file is taken; only what may hold secrets is opened."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import NamedTuple

from noarkit.errors import ItemNotAFile, ItemTooNew, ItemUnreadable, ItemVanished, SourceFault
from noarkit.graph.entity import SetAside, Skipped
from noarkit.safe import folder_handles
from noarkit.safe.descriptors import NO_WAITING
from noarkit.safe.secret_files import is_secret_file
from noarkit.sources.files import folders, policy
from noarkit.sources.files.name_patterns import compile_patterns
from noarkit.sources.files.names import SYSTEM_NAMES, key_of, text_of
from noarkit.sources.files.policy import FilePolicy

ANYONE_MAY_READ = 0o444


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder the walk stands in; `key` and `text` end with a slash but for the root, where they are empty."""

    key: str
    text: str
    steps: tuple[bytes, ...]
    parts: tuple[str, ...]
    handle: int
    names: tuple[list[bytes], list[bytes]]
    foreign: bool = False


def folder_at(
    steps: tuple[bytes, ...],
    handle: int,
    *,
    names: tuple[list[bytes], list[bytes]] | None = None,
    foreign: bool = False,
) -> Folder:
    """The folder that lies so many steps below the root, open as `handle`."""
    parts = tuple(map(text_of, steps))
    return Folder(
        key="".join(key_of(step) + "/" for step in steps),
        text="".join(part + "/" for part in parts),
        steps=steps,
        parts=parts,
        handle=handle,
        names=names or ([], []),
        foreign=foreign,
    )


class FoundFile(NamedTuple):
    """A file that may be taken (a tuple, since there are millions). The folder's handle is good until the next item.

    `twin` is None for a name of its own, else whether case alone tells it from another.
    """

    folder: Folder
    name: bytes
    status: os.stat_result
    twin: bool | None
    through_link: bool


class FileFilter:
    """The policy applied. `is_easy` is True if every readable regular file is taken."""

    def __init__(self, file_policy: FilePolicy, *, now: float) -> None:
        self._policy = file_policy
        self._now = now
        self._names_matter = file_policy.hidden == "skip" or file_policy.system == "skip"
        self._excludes = compile_patterns(file_policy.exclude)
        self._includes = compile_patterns(file_policy.include) if file_policy.include else None
        has_patterns = bool(file_policy.exclude or file_policy.include)
        self.is_easy = not self._names_matter and not file_policy.settle_s and not has_patterns

    def check(
        self,
        folder: Folder,
        name: bytes,
        status: os.stat_result,
        *,
        twin: bool | None = None,
        through_link: bool = False,
    ) -> FoundFile | SetAside | Skipped:
        """A file that is no folder: found, skipped by the policy or for its secrets, or set aside."""
        key = folder.key + key_of(name)
        if reason := self.unwanted(name) or self._left_out(folder, name):
            return Skipped(key, reason)
        mode = status.st_mode
        if stat.S_ISLNK(mode):
            return self._link(folder, name, key)
        if not stat.S_ISREG(mode):
            return set_aside(ItemNotAFile(key=key, why=folders.kind_of(mode)))
        if self._policy.settle_s and abs(self._now - status.st_mtime) < self._policy.settle_s:
            return set_aside(ItemTooNew(key=key, settle_s=self._policy.settle_s))
        if mode & ANYONE_MAY_READ != ANYONE_MAY_READ and not folder_handles.may_read_in(name, folder.handle):
            return set_aside(ItemUnreadable(key=key, why="EACCES"))
        if is_secret_file(name, lambda: _open(folder, name), look=through_link):
            return Skipped(key, policy.SKIPPED_SECRETS)
        return FoundFile(folder, name, status, twin, through_link)

    def unwanted(self, name: bytes) -> str | None:
        """Why the policy leaves out everything of this name; None if it does not."""
        if not self._names_matter:
            return None
        if self._policy.system == "skip" and name.lower() in SYSTEM_NAMES:
            return policy.SKIPPED_SYSTEM
        if self._policy.hidden == "skip" and name.startswith(b"."):
            return policy.SKIPPED_HIDDEN
        return None

    def _left_out(self, folder: Folder, name: bytes) -> str | None:
        """Why the patterns of names leave a file out; None if they take it."""
        if self._excludes(folder.text, text := text_of(name)):
            return policy.SKIPPED_EXCLUDED
        if self._includes is not None and not self._includes(folder.text, text):
            return policy.SKIPPED_NOT_INCLUDED
        return None

    def _link(self, folder: Folder, name: bytes, key: str) -> FoundFile | SetAside | Skipped:
        if self._policy.links == "skip":
            return Skipped(key, policy.SKIPPED_LINK)
        try:
            target = folder_handles.status_in(name, folder.handle, follow=True)
        except OSError as error:
            leads_nowhere = error.errno == errno.ELOOP
            return set_aside(ItemVanished(key=key, why="ELOOP") if leads_nowhere else folders.fault(key, error))
        if stat.S_ISDIR(target.st_mode):
            return Skipped(key, policy.SKIPPED_LINK_TO_FOLDER)
        return self.check(folder, name, target, through_link=True)


def _open(folder: Folder, name: bytes) -> int:
    return folder_handles.open_file_in(name, folder.handle, os.O_RDONLY | NO_WAITING)


def set_aside(fault: SourceFault) -> SetAside:
    """The item that a fault is about, set aside for it."""
    return SetAside(str(fault.data["key"]), fault.code, fault.data)

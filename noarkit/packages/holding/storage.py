"""Where the files of a package lie: in a folder, or in a zip or tar that is read without being unpacked to disk.

All names are relative to the package's own top folder. Everything goes through `safe`: links, devices, duplicates and
names that lead out never come this far.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import PackageFault, UnsafeMember
from noarkit.safe.digest import Readable
from noarkit.safe.paths import open_inside
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, Member, Picker, UnpackLimits, members


@dataclass(frozen=True, slots=True)
class Stored:
    """A file below the top folder; `odd` names what else it is (a link, a device), empty for a plain file."""

    name: str
    size_bytes: int
    odd: str = ""


class Storage(Protocol):
    """The files of a package. `folder` is where they can be opened by path, None for an archive file."""

    where: str
    folder: Path | None

    def files(self) -> Iterator[Stored]:
        """Every file; an odd one is told, or refused by the fault of its kind where it stands in an archive file."""
        ...

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file. `FileNotFoundError` where it is not there."""
        ...

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file with its bytes, in the order in which they lie; each is read before the next is asked for."""
        ...

    def close(self) -> None:
        """Lets everything go."""
        ...


def open_storage(path: Path, limits: UnpackLimits = LIMITS) -> Storage:
    """The files of a folder, zip or tar. Raises `PackageFault` where that is none, and whatever `safe` refuses."""
    if path.is_dir():
        return FolderStorage(path)
    try:
        return ArchiveStorage(path, limits)
    except OSError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error


class FolderStorage:
    """A package as a folder."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.folder: Path | None = path
        self._path = path

    def files(self) -> Iterator[Stored]:
        """Every file; links, devices and folders that cannot be read are told as odd."""
        for seen in walk_tree(self._path):
            if seen.kind == "folder":
                continue
            if seen.kind == "file":
                folder = seen.folder if seen.folder >= 0 else None
                yield Stored(seen.name, os.stat(seen.path, dir_fd=folder, follow_symlinks=False).st_size)
            else:
                yield Stored(seen.name, 0, "link" if seen.kind == "link" else "device")

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file."""
        return open_inside(self._path, name)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every plain file with its bytes."""
        for stored in self.files():
            if not stored.odd:
                with self.open(stored.name) as file:
                    yield stored.name, file

    def close(self) -> None:
        """Nothing is held."""


class ArchiveStorage:
    """A package in a zip or tar: all of it is judged once, then files are picked by name."""

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS) -> None:
        self.where = str(path)
        self.folder: Path | None = None
        self._path = path
        self._limits = limits
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("CREATE TABLE held (name TEXT PRIMARY KEY, size INTEGER, offset INTEGER) WITHOUT ROWID")
        self._picker: Picker | None = None
        try:
            self._top = self._judge()
            self._picker = Picker(path)
        except BaseException:
            self._db.close()
            raise

    def _judge(self) -> str:
        """Goes through all members once, and finds the one folder they lie in."""
        waiting: list[tuple[str, int, int | None]] = []
        top: str | None = None
        for member, _ in members(self._path, limits=self._limits):
            name = _as_text(member.name)
            first = name.split("/", 1)[0] if "/" in name else ""
            top = first if top is None else top
            if top != first or not first:
                raise PackageFault(where=self.where, why="no-single-top-folder")
            waiting.append((name[len(first) + 1 :], member.size_bytes, member.offset_bytes))
            if len(waiting) >= 5_000:
                self._keep(waiting)
        self._keep(waiting)
        return top or ""

    def _keep(self, waiting: list[tuple[str, int, int | None]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO held VALUES (?, ?, ?)", waiting)
        self._db.execute("COMMIT")
        waiting.clear()

    def files(self) -> Iterator[Stored]:
        """Every file."""
        for name, size in self._db.execute("SELECT name, size FROM held ORDER BY name"):
            yield Stored(name, size)

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of one file; one at a time."""
        row = self._db.execute("SELECT size, offset FROM held WHERE name = ?", (name,)).fetchone()
        if row is None or self._picker is None:
            raise FileNotFoundError(name)
        member = Member((self._top, *name.split("/")), row[0], None, row[1])
        with self._picker.open(member) as content:
            yield content

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file with its bytes, in one go."""
        for member, content in members(self._path, limits=self._limits):
            yield "/".join(member.parts[1:]), content

    def close(self) -> None:
        """Lets the archive file go."""
        if self._picker is not None:
            self._picker.close()
        self._db.close()


def _as_text(name: str) -> str:
    try:
        os.fsencode(name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsafeMember(where=name, why="not-utf-8") from error
    return name

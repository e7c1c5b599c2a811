"""Where the files of an archive stand: in a ZIP, read without unpacking it, or in a folder.

A ZIP is judged whole before anything of it is read (`safe.unpack`): links, twins, overlaps, ways out and bombs are
refused by their faults. Names are kept in a temporary database, however many there are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from noarkit.errors import PackageFault, UnsafePath
from noarkit.safe.beneath import Beneath
from noarkit.safe.digest import Readable
from noarkit.safe.paths import checked_parts
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, Member, Picker, UnpackLimits, members


class Place(Protocol):
    """The files of one archive."""

    def size_of(self, name: str) -> int | None:
        """How large a file is; None where there is none."""
        ...

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a file. Raises `PackageFault` where there is none."""
        ...

    def names(self) -> Iterator[str]:
        """Every file, in order of name."""
        ...

    def close(self) -> None:
        """Lets it go."""
        ...


class ZipPlace:
    """The files of a ZIP."""

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("CREATE TABLE files (name TEXT PRIMARY KEY, size INTEGER) WITHOUT ROWID")
        try:
            for member, _ in members(path, limits=limits):
                self._db.execute("INSERT INTO files VALUES (?, ?)", (member.name, member.size_bytes))
            self._picker = Picker(path)
        except BaseException:
            self._db.close()
            raise

    def size_of(self, name: str) -> int | None:
        """How large a file is; None where there is none."""
        row = self._db.execute("SELECT size FROM files WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a file."""
        size = self.size_of(name)
        if size is None:
            raise PackageFault(where=name, why="not-there")
        return self._picker.open(Member(tuple(name.split("/")), size, None))

    def names(self) -> Iterator[str]:
        """Every file, in order of name."""
        for (name,) in self._db.execute("SELECT name FROM files ORDER BY name"):
            yield name

    def close(self) -> None:
        """Lets it go."""
        self._picker.close()
        self._db.close()


class FolderPlace:
    """The files below a folder; no link is followed on the way."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._home = Beneath(root)

    def size_of(self, name: str) -> int | None:
        """How large a file is; None where there is none."""
        try:
            descriptor = self._home.open(name)
        except (FileNotFoundError, IsADirectoryError):
            return None
        except OSError as error:
            raise UnsafePath(where=name, why="unresolvable") from error
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of a file."""
        try:
            descriptor = self._home.open(name)
        except FileNotFoundError as error:
            raise PackageFault(where=name, why="not-there") from error
        except OSError as error:
            raise UnsafePath(where=name, why="unresolvable") from error
        with os.fdopen(descriptor, "rb") as file:
            yield file

    def names(self) -> Iterator[str]:
        """Every file, as the walk meets them."""
        for seen in walk_tree(self._root):
            if seen.kind == "file":
                yield seen.name

    def close(self) -> None:
        """Lets it go."""
        self._home.close()


def named(source: Readable, name: str) -> BinaryIO:
    """The bytes as `safe.xml` wants them: with the name that faults will tell."""
    return cast("BinaryIO", _Named(source, name))  # only `read` and `name` are asked of it


class _Named:
    def __init__(self, source: Readable, name: str) -> None:
        self._source = source
        self.name = name

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        return self._source.read(size)


def is_plain(name: str) -> bool:
    """True for a name that may be looked up at all."""
    try:
        return "/".join(checked_parts(name)) == name
    except UnsafePath:
        return False

"""Where the files of an archive stand: in a ZIP, read without unpacking it, or in a folder.

A ZIP is judged whole before anything of it is read (`safe.unpack`): links, twins, overlaps, ways out and bombs are
refused by their faults. Names are kept in a temporary database, however many there are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from noarkit.errors import PackageFault, UnsafePath
from noarkit.events import Listener, ignore_event
from noarkit.forms.siard.spec import METADATA
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.digest import Readable
from noarkit.safe.paths import checked_parts
from noarkit.safe.scratch import scratch
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, Member, Picker, UnpackLimits, stream_members
from noarkit.safe.zipped import Packing, entries


class Place(Protocol):
    """The files of one archive."""

    def size_of(self, name: str) -> int | None:
        """How large a file is; None if there is none."""
        ...

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a file. Raises `PackageFault` where there is none."""
        ...

    def names(self) -> Iterator[str]:
        """Every file, in order of name."""
        ...

    def folders(self) -> Iterator[str]:
        """Every folder that stands by itself."""
        ...

    def find_similar(self, name: str) -> list[str]:
        """Files whose last part is called the same but for its ending and the size of its letters, in order."""
        ...

    def close(self) -> None:
        """Lets it go."""
        ...


class ZipPlace:
    """The files of a ZIP. Several may be open at once. Where everything lies in one folder, as in an archive that was
    unpacked and zipped again, names begin below it, and `wrapped_in` names it."""

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS, emit: Listener = ignore_event) -> None:
        self._path = path
        self._last = _FilesByStem(self.names)
        self._db = scratch()
        self._db.execute(f"CREATE TABLE files (name TEXT, {', '.join(_FACTS)})")
        try:
            self._db.execute("BEGIN")
            self._db.executemany(
                _INSERT, (_row(member) for member, _ in stream_members(path, limits=limits, emit=emit))
            )
            self._db.execute("CREATE UNIQUE INDEX files_name ON files (name)")  # names were judged, and are sorted once
            self.wrapped_in = self._unwrap()
            self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise

    def _unwrap(self) -> str:
        """Takes the one folder that everything lies in off the names; says which, or nothing where there is none."""
        first, last = self._db.execute("SELECT min(name), max(name) FROM files").fetchone()
        folder, slash, _ = (first or "").partition("/")
        above = f"{folder}/"
        if not slash or folder == "header" or not last.startswith(above) or self.member(above + METADATA) is None:
            return ""
        self._db.execute("UPDATE files SET name = substr(name, ?)", (len(above) + 1,))
        return folder

    def size_of(self, name: str) -> int | None:
        """How large a file is; None if there is none."""
        member = self.member(name)
        return None if member is None else member.size_bytes

    def member(self, name: str) -> Member | None:
        """A file as the ZIP tells of it."""
        row = self._db.execute("SELECT * FROM files WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        name, size, spelt, *packing = row
        return Member(tuple(name.split("/")), size, None, None, Packing(*packing), spelt)

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of a file."""
        member = self.member(name)
        if member is None:
            raise PackageFault(where=name, why="not-there")
        with closing(Picker(self._path)) as picker, picker.open(member) as content:
            yield content

    def folders(self) -> Iterator[str]:
        """Every folder that has a line of its own."""
        return (name for name, _ in self._folders())

    def header_at(self) -> int | None:
        """Where the header begins: what stands before is what a message digest is over."""
        (first,) = self._db.execute("SELECT min(header_at) FROM files WHERE name LIKE 'header/%'").fetchone()
        folders = [place for name, place in self._folders() if name.startswith("header")]
        return min((place for place in (first, *folders) if place is not None), default=None)

    def metadata_at(self) -> int | None:
        """Where the metadata begin: some writers take the header to begin there."""
        (first,) = self._db.execute("SELECT header_at FROM files WHERE name = 'header/metadata.xml'").fetchone() or (
            None,
        )
        return first if first is None else int(first)

    def methods(self) -> Iterator[tuple[str, int]]:
        """Files that are neither stored nor deflated, with the number of what packed them."""
        yield from self._db.execute("SELECT name, method FROM files WHERE method NOT IN (0, 8) ORDER BY name")

    def _folders(self) -> Iterator[tuple[str, int]]:
        with self._path.open("rb") as file:
            for entry in entries(file):
                name = entry.name.strip("/")
                if entry.is_folder and self.wrapped_in:
                    name = name.removeprefix(self.wrapped_in).strip("/")
                if entry.is_folder and name:
                    yield name, entry.packing.header_at

    def names(self) -> Iterator[str]:
        """Every file, in order of name."""
        for (name,) in self._db.execute("SELECT name FROM files ORDER BY name"):
            yield name

    def find_similar(self, name: str) -> list[str]:
        """Files whose last part is called the same but for its ending and the size of its letters, in order."""
        return self._last.find_similar(name)

    def close(self) -> None:
        """Lets it go."""
        self._last.close()
        self._db.close()


_FACTS = ("size", "spelt", "header_at", "method", "packed", "crc")
_INSERT = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)"


def _row(member: Member) -> tuple[object, ...]:
    packing = member.packing
    if packing is None:  # no zip is without
        raise PackageFault(where=member.name, why="not-there")
    facts = (packing.header_at, packing.method, packing.packed_bytes, packing.crc)
    return member.name, member.size_bytes, member.spelt, *facts


class FolderPlace:
    """The files below a folder; no link is followed on the way."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._home = ConfinedFolder(root)
        self._last = _FilesByStem(self.names)

    def size_of(self, name: str) -> int | None:
        """How large a file is; None if there is none."""
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
        for entry in walk_tree(self._root):
            if entry.kind == "file":
                yield entry.name

    def folders(self) -> Iterator[str]:
        """Every folder."""
        for entry in walk_tree(self._root):
            if entry.kind == "folder":
                yield entry.name

    def find_similar(self, name: str) -> list[str]:
        """Files whose last part is called the same but for its ending and the size of its letters, in order."""
        return self._last.find_similar(name)

    def close(self) -> None:
        """Lets it go."""
        self._last.close()
        self._home.close()


class _FilesByStem:
    """Files by the last parts of their names, in a temporary database that is made when it is first asked."""

    def __init__(self, names: Callable[[], Iterator[str]]) -> None:
        self._names = names
        self._db: sqlite3.Connection | None = None

    def find_similar(self, name: str) -> list[str]:
        """The files, in order."""
        if self._db is None:
            self._db = scratch()
            self._db.execute("CREATE TABLE last (stem TEXT, name TEXT, PRIMARY KEY (stem, name)) WITHOUT ROWID")
            self._db.execute("BEGIN")
            rows = ((_stem(file_name), file_name) for file_name in self._names())
            self._db.executemany("INSERT OR IGNORE INTO last VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        query = "SELECT name FROM last WHERE stem = ? ORDER BY name LIMIT 1000"
        return [match for (match,) in self._db.execute(query, (_stem(name),))]

    def close(self) -> None:
        """Forgets them."""
        if self._db is not None:
            self._db.close()


def _stem(name: str) -> str:
    return name.rpartition("/")[2].partition(".")[0].casefold()


def with_name(source: Readable, name: str) -> BinaryIO:
    """The bytes as `safe.xml` wants them: with the name that faults will tell."""
    return cast("BinaryIO", _NamedReader(source, name))  # only `read` and `name` are asked of it


class _NamedReader:
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

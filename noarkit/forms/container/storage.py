"""Where the files of a package lie: in a folder, or in a zip or tar that is read without being unpacked to disk.

All names are relative to the package's own top folder. Everything goes through `safe`: links, devices, duplicates and
names that lead out never come this far.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import PackageFault, UnsafeMember, UnsafePath
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.digests import stamp_of
from noarkit.safe.archive_names import guessed_encoding
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.digest import Readable
from noarkit.safe.keys import key_of
from noarkit.safe.paths import open_inside
from noarkit.safe.scratch import scratch
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, Member, Picker, UnpackLimits, form_of, members, stream_members
from noarkit.safe.zipped import Packing


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file below the top folder; `odd` names what else it is (a link, a device), empty for a plain file."""

    name: str
    size_bytes: int
    odd: str = ""


class Storage(Protocol):
    """The files of a package. `folder` is where they can be opened by path, None for an archive file, whose `stamp` is
    the same as long as nobody touches it."""

    where: str
    folder: Path | None
    stamp: str

    def files(self) -> Iterator[StoredFile]:
        """Every file; an odd one is told, or refused by the fault of its kind where it stands in an archive file."""
        ...

    def files_in_order(self) -> Iterator[StoredFile]:
        """The same in the order in which they lie, so that whoever opens one after the other need never go back."""
        ...

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file. `FileNotFoundError` where it is not there."""
        ...

    def member(self, name: str) -> Member | None:
        """How a file lies in an archive file; None if it is not there, or lies in a folder."""
        ...

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file with its bytes, in the order in which they lie; each is read before the next is asked for."""
        ...

    def close(self) -> None:
        """Lets everything go."""
        ...


def open_storage(
    path: Path, limits: UnpackLimits = LIMITS, *, top: bool = True, twins: bool = False, emit: Listener = ignore_event
) -> FolderStorage | ArchiveStorage:
    """The files of a folder, zip or tar. Raises `PackageFault` where that is none, and whatever `safe` refuses.

    What is packed must lie in one `top` folder, which is no part of the names; where it need not, it may.
    `twins` allows names that only some system takes for one.
    """
    if path.is_dir():
        return FolderStorage(path)
    try:
        return ArchiveStorage(path, limits, top=top, twins=twins, emit=emit)
    except OSError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error


@contextmanager
def open_member(picker: Picker | None, member: Member | None, name: str) -> Iterator[Readable]:
    """The bytes of a file that was looked up. Raises `FileNotFoundError` where it is not there."""
    if picker is None or member is None:
        raise FileNotFoundError(name)
    with picker.open(member) as content:
        yield content


class FolderStorage:
    """A package as a folder."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.folder: Path | None = path
        self.stamp = ""
        self._path = path
        self._openers = threading.local()
        self._opened: list[ConfinedFolder] = []

    def files(self) -> Iterator[StoredFile]:
        """Every file; links, devices and folders that cannot be read are told as odd."""
        for entry in walk_tree(self._path):
            if entry.kind == "folder":
                continue
            if entry.kind == "file":
                yield StoredFile(entry.name, entry.size())
            else:
                yield StoredFile(entry.name, 0, "link" if entry.kind == "link" else "device")

    def files_in_order(self) -> Iterator[StoredFile]:
        """The same."""
        return self.files()

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file. Names in the order of their folders cost one step each."""
        opener: ConfinedFolder | None = getattr(self._openers, "opener", None)
        if opener is None:
            opener = self._openers.opener = ConfinedFolder(self._path)
            self._opened.append(opener)
        try:
            return opener.open_file(name)
        except (UnsafePath, OSError):  # a link within the package is followed, any other fault told by this one
            return open_inside(self._path, name)

    def member(self, name: str) -> None:
        """Nothing: it lies in a folder."""

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every plain file with its bytes."""
        for entry in self.files():
            if not entry.odd:
                with self.open(entry.name) as file:
                    yield entry.name, file

    def close(self) -> None:
        """Closes the folders that were kept open."""
        while self._opened:
            self._opened.pop().close()
        self._openers = threading.local()


class ArchiveStorage:
    """A package in a zip or tar: all of it is judged once, then files are picked by name."""

    def __init__(
        self,
        path: Path,
        limits: UnpackLimits = LIMITS,
        *,
        top: bool = True,
        twins: bool = False,
        emit: Listener = ignore_event,
    ) -> None:
        self._twins = twins
        self.where = str(path)
        self.folder: Path | None = None
        self.stamp = stamp_of(path.stat())
        self._path = path
        self._limits = limits
        self._packed = form_of(path)
        self._db = scratch()
        self._db.execute(_MEMBERS_TABLE)
        self._top = ""
        self._picker: Picker | None = None
        try:
            self._index_members(must=top, emit=emit)
            self._picker = Picker(path)
        except BaseException:
            self._db.close()
            raise

    def _index_members(self, *, must: bool, emit: Listener) -> None:
        """Goes through all members once, and finds the one folder they lie in."""
        waiting: list[tuple[object, ...]] = []
        top: str | None = None
        for member, _ in stream_members(self._path, limits=self._limits, twins=self._twins, emit=emit):
            first = member.parts[0] if len(member.parts) > 1 else ""
            top = first if top in (None, first) else ""
            if must and not top:
                raise PackageFault(where=self.where, why="no-single-top-folder")
            waiting.append(_row(member))
            if len(waiting) >= 5_000:
                self._insert_batch(waiting)
        self._insert_batch(waiting)
        self._db.execute(_BY_NAME)
        self._top = f"{top}/" if top else ""

    def _insert_batch(self, waiting: list[tuple[object, ...]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO member VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", waiting)
        self._db.execute("COMMIT")
        waiting.clear()

    def files(self) -> Iterator[StoredFile]:
        """Every file."""
        skip = len(self._top)
        for name, size in self._db.execute("SELECT name, size FROM member ORDER BY name"):
            yield StoredFile(name[skip:], size)

    def files_in_order(self) -> Iterator[StoredFile]:
        """Every file from the first to the last."""
        skip = len(self._top)
        for name, size in self._db.execute("SELECT name, size FROM member ORDER BY coalesce(offset, header)"):
            yield StoredFile(name[skip:], size)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file; one at a time."""
        return open_member(self._picker, self.member(name), name)

    def member(self, name: str) -> Member | None:
        """How a file lies in the archive file; None if it is not there."""
        row = self._db.execute("SELECT * FROM member WHERE name = ?", (self._top + name,)).fetchone()
        return None if row is None else _member(row)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file with its bytes, in one go."""
        if self._packed == "zip":
            yield from self._zip_contents()
            return
        skip = 1 if self._top else 0
        for member, content in members(self._path, limits=self._limits, twins=self._twins):
            yield "/".join(member.parts[skip:]), content

    def _zip_contents(self) -> Iterator[tuple[str, Readable]]:
        """The same of a zip, whose directory need not be judged again."""
        skip = len(self._top)
        with closing(Picker(self._path)) as picker:
            for row in self._db.execute("SELECT * FROM member ORDER BY header"):
                member = _member(row)
                with picker.open(member) as content:
                    yield row[0][skip:], content

    def close(self) -> None:
        """Lets the archive file go."""
        if self._picker is not None:
            self._picker.close()
        self._db.close()


class SubfolderStorage:
    """A folder of a package as a package of its own; who closes it closes what it lies in."""

    def __init__(self, storage: Storage, folder: str) -> None:
        self.where = f"{storage.where}/{folder}"
        self.folder = storage.folder / folder if storage.folder is not None else None
        self.stamp = storage.stamp
        self._storage = storage
        self._above = folder + "/"

    @property
    def above(self) -> str:
        """What the names of its files begin with in the package it lies in."""
        return self._above

    def files(self) -> Iterator[StoredFile]:
        """Every file of the folder."""
        return self._below(self._storage.files())

    def files_in_order(self) -> Iterator[StoredFile]:
        """The same in the order in which they lie."""
        return self._below(self._storage.files_in_order())

    def _below(self, files: Iterator[StoredFile]) -> Iterator[StoredFile]:
        skip = len(self._above)
        for file in files:
            if file.name.startswith(self._above):
                yield StoredFile(file.name[skip:], file.size_bytes, file.odd)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file."""
        return self._storage.open(self._above + name)

    def member(self, name: str) -> Member | None:
        """How a file lies in the archive file; None if it is not there, or lies in a folder."""
        return self._storage.member(self._above + name)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file of the folder with its bytes."""
        for name, content in self._storage.contents():
            if name.startswith(self._above):
                yield name[len(self._above) :], content

    def close(self) -> None:
        """Lets the whole go."""
        self._storage.close()


_MEMBERS_TABLE = (
    "CREATE TABLE member (name TEXT, size INTEGER, offset INTEGER, header INTEGER, method INTEGER,"
    " packed INTEGER, crc INTEGER, spelt TEXT, modified REAL)"
)
# made when all is there: names come in any order, and are sorted once
_BY_NAME = "CREATE UNIQUE INDEX member_name ON member (name, size)"


def _row(member: Member) -> tuple[object, ...]:
    name, packing = _as_text(member.name), member.packing
    if packing is None:
        return name, member.size_bytes, member.offset_bytes, None, None, None, None, None, member.modified_s
    spelt = None if member.spelt == name else member.spelt
    lies = (packing.header_at, packing.method, packing.packed_bytes, packing.crc)
    return name, member.size_bytes, None, *lies, spelt, member.modified_s


def _member(row: tuple[str, int, int | None, int | None, int, int, int, str | None, float | None]) -> Member:
    name, size, offset, header, method, packed, crc, spelt, modified = row
    packing = None if header is None else Packing(header, method, packed, crc)
    return Member(tuple(name.split("/")), size, modified, offset, packing, spelt or name)


def _as_text(name: str) -> str:
    if name.isascii():  # as most are
        return name
    try:
        os.fsencode(name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsafeMember(
            where=key_of(os.fsencode(name)), why="name-not-utf-8", guess=guessed_encoding(name)
        ) from error
    return name

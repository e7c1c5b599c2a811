"""The files of a DIAS package where they lie: in a folder, or in a tar that is read without being unpacked to disk.

Tars of all makers are read: with `\\` in their names, with names in Latin-1, without a top folder, or with files beside
it. What is odd is remembered, for a validator to tell; what is hostile is refused by `safe`.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from noarkit.errors import PackageFault, UnsafeMember
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.digests import stamp_of
from noarkit.forms.container.storage import FolderStorage, Storage, StoredFile, open_member
from noarkit.forms.dias.spec import FOLDERS, METS
from noarkit.safe.digest import Readable
from noarkit.safe.paths import checked_parts
from noarkit.safe.scratch import scratch
from noarkit.safe.unpack import LIMITS, Member, Picker, UnpackLimits, form_of, stream_members

Oddity = Literal["backslash", "latin-1"]
_KEPT = 100
_BATCH = 5_000
# a tar whose folders have `/` and whose files have not
_MIXED = re.compile(rf"[^/\\]+/({'|'.join(FOLDERS)})\\")


class TarStorage:
    """A package in a tar: all of it is judged once, then files are picked by name. `top` is the folder they lie in."""

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS, emit: Listener = ignore_event) -> None:
        self.where = str(path)
        self.folder: Path | None = None
        self.stamp = stamp_of(path.stat())
        self.odd: list[tuple[str, Oddity]] = []
        self.packed = form_of(path) != "tar"
        self._path = path
        self._limits = limits
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE member (name TEXT PRIMARY KEY, size INTEGER, offset INTEGER, modified REAL) WITHOUT ROWID"
        )
        self._picker: Picker | None = None
        try:
            self.top = self._index_members(emit)
            self._picker = Picker(path)
        except BaseException:
            self._db.close()
            raise
        self._above = f"{self.top}/" if self.top else ""

    def _index_members(self, emit: Listener) -> str:
        """Goes through all members once, and finds the folder they lie in: the one that holds dias-mets.xml."""
        waiting: list[tuple[str, int, int | None, float | None]] = []
        tops: set[str] = set()
        with_mets: set[str] = set()
        for member, _ in stream_members(self._path, limits=self._limits, emit=emit):
            name, oddity = _decode_name(member)
            if oddity is not None and len(self.odd) < _KEPT:
                self.odd.append((name, oddity))
            first, _, tail = name.partition("/")
            if len(tops) < _KEPT:
                tops.add(first if tail else "")
            if tail == METS or name == METS:
                with_mets.add(first if tail else "")
            waiting.append((name, member.size_bytes, member.offset_bytes, member.modified_s))
            if len(waiting) >= _BATCH:
                self._insert_batch(waiting)
        self._insert_batch(waiting)
        if len(with_mets) == 1:
            return with_mets.pop()
        return tops.pop() if len(tops) == 1 else ""

    def _insert_batch(self, waiting: list[tuple[str, int, int | None, float | None]]) -> None:
        self._db.execute("BEGIN")
        try:
            self._db.executemany("INSERT INTO member VALUES (?, ?, ?, ?)", waiting)
        except sqlite3.IntegrityError as error:
            raise UnsafeMember(where=self.where, why="duplicate") from error
        self._db.execute("COMMIT")
        waiting.clear()

    def files(self) -> Iterator[StoredFile]:
        """Every file of the package, by name."""
        return self._ordered("name")

    def files_in_order(self) -> Iterator[StoredFile]:
        """The same in the order in which they lie."""
        return self._ordered("offset")

    def _ordered(self, column: str) -> Iterator[StoredFile]:
        return (StoredFile(name, size) for name, size, _ in self._rows(column))

    def _rows(self, column: str) -> Iterator[tuple[str, int, int]]:
        skip = len(self._above)
        which = "WHERE name >= ? AND name < ?" if self._above else ""
        query = f"SELECT name, size, offset FROM member {which} ORDER BY {column}"  # noqa: S608  # ours
        for name, size, offset in self._db.execute(query, self._span):
            yield name[skip:], size, offset

    def strays(self) -> Iterator[str]:
        """Files that lie beside the package's folder."""
        if self._above:
            yield from (
                name for (name,) in self._db.execute("SELECT name FROM member WHERE name < ? OR name >= ?", self._span)
            )

    @property
    def _span(self) -> tuple[str, ...]:
        return (self._above, f"{self.top}0") if self._above else ()  # «0» is the sign after «/»

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file; one at a time."""
        return open_member(self._picker, self.member(name), name)

    def member(self, name: str) -> Member | None:
        """How a file lies in the tar; None if it is not there."""
        row = self._db.execute(
            "SELECT size, offset, modified FROM member WHERE name = ?", (self._above + name,)
        ).fetchone()
        return None if row is None else Member(tuple((self._above + name).split("/")), row[0], row[2], row[1])

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file of the package with its bytes, in one go; no header is read a second time."""
        if self._picker is not None:
            for name, size, offset in self._rows("offset"):
                with self._picker.open(Member((name,), size, None, offset)) as content:
                    yield name, content

    def close(self) -> None:
        """Lets the tar go."""
        if self._picker is not None:
            self._picker.close()
        self._db.close()


def open_tar_storage(place: Path, limits: UnpackLimits = LIMITS, emit: Listener = ignore_event) -> Storage:
    """The files of a package in a folder or tar. Raises `PackageFault`, or whatever `safe` refuses."""
    if place.is_dir():
        return FolderStorage(place)
    try:
        form = form_of(place)
        if form is None or form == "zip":
            raise PackageFault(where=str(place), why="not-an-archive-file")
        return TarStorage(place, limits, emit)
    except OSError as error:
        raise PackageFault(where=str(place), why="not-there", detail=error.strerror) from error


@contextmanager
def open_required(storage: Storage, name: str) -> Iterator[Readable]:
    """The bytes of a file that must be there. `PackageFault` where it is not."""
    with ExitStack() as stack:
        try:
            content = stack.enter_context(storage.open(name))
        except FileNotFoundError as error:
            raise PackageFault(where=f"{storage.where}: {name}", why="not-there") from error
        yield content


def _decode_name(member: Member) -> tuple[str, Oddity | None]:
    """A member's name as others have it, and what is odd about it.

    A backslash stands for `/` where the writer had no other; in a name that has both it belongs to the name, as any
    letter does where files may be called so.
    """
    name = member.name
    if name.isascii() and "\\" not in name:
        return name, None
    raw = os.fsencode(name)
    odd: Oddity | None = None
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        name, odd = raw.decode("latin-1"), "latin-1"
    if "\\" in name and ("/" not in name or _MIXED.match(name)):
        name, odd = name.replace("\\", "/"), "backslash"
    return ("/".join(checked_parts(name)) if odd else name), odd

"""The one door for a path that a package, archive file or message names.

A name is judged by its letters first, then by where it leads on disk. It must stay inside its root, also through links,
and be a plain name on every system that may ever unpack it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from noarkit.errors import SourceGone, UnsafeMember, UnsafePath
from noarkit.safe.descriptors import NO_FOLLOW, NO_TRACE, NO_WAITING, open_descriptor

if TYPE_CHECKING:
    import sqlite3

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4096

_NUMBERED = re.compile(r"(.+?)(?:-(\d+))?(\.tar|\.zip)?", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?", re.IGNORECASE)
_NO_DEVICE = r"(?!(?i:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])\s*(?:[./]|\Z))"
_HARMLESS_PART = rf"{_NO_DEVICE}\w[\w -]{{0,49}}(?:\.[A-Za-z0-9]{{1,10}}){{0,3}}"
_HARMLESS = re.compile(rf"{_HARMLESS_PART}(?:/{_HARMLESS_PART}){{0,11}}")
"""Most names of most packages: no rule below could refuse them, and it is quicker to see that at once."""

_KEYS_AT_ONCE = 5_000

NameKind = Literal["file", "folder"]


def checked_parts(name: str) -> tuple[str, ...]:
    """The parts of a relative path written with `/`; `UnsafePath` where it is no plain way down from its root.

    Refused are: nothing at all, NUL, an absolute path, a drive, a UNC name, `..` (also behind a backslash), a name that
    is a device on some system, and names no disk can hold. A lone `.` and doubled or closing slashes mean nothing.
    """
    if _HARMLESS.fullmatch(name) is not None:
        return tuple(name.split("/"))
    _refuse_if("\0" in name, name, "nul")
    slashed = name.replace("\\", "/")
    _refuse_if(slashed.startswith("//"), name, "unc")
    _refuse_if(slashed.startswith("/"), name, "absolute")
    _refuse_if(_DRIVE.match(slashed) is not None, name, "drive")
    _refuse_if(".." in slashed.split("/"), name, "climbs")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    _refuse_if(not parts, name, "empty")
    for part in parts:
        _refuse_if(_DEVICE.fullmatch(part) is not None, name, "device-name")
        _refuse_if(len(os.fsencode(part)) > MAX_NAME_BYTES, name, "too-long")
    _refuse_if(len(os.fsencode(name)) > MAX_PATH_BYTES, name, "too-long")
    return parts


def is_plainly_safe(name: str) -> bool:
    """True for a path that no rule could have anything against; most are. False says nothing."""
    return _HARMLESS.fullmatch(name) is not None


def is_device(part: str) -> bool:
    """True for a name that is a device on some system, with whatever ending."""
    return _DEVICE.fullmatch(part) is not None


def has_file(folder: Path, name: str) -> bool:
    """True if a file stands at `name` below `folder`, as far as we may look; a folder that is closed to us has none.

    For finding out what a place is. Who reads it afterwards reports what could not be read.
    """
    try:
        return (folder / name).is_file()
    except OSError:
        return False


def has_folder(folder: Path, name: str) -> bool:
    """True if a folder stands at `name` below `folder`, as far as we may look."""
    try:
        return (folder / name).is_dir()
    except OSError:
        return False


def resolve_inside(root: Path, name: str) -> Path:
    """Where `name` leads under `root`, whether it exists or not; `UnsafePath` where that is outside.

    The answer has no links left in it, so that opening it cannot lead elsewhere.
    """
    parts = checked_parts(name)
    home = root.resolve()
    try:
        place = home.joinpath(*parts).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UnsafePath(where=name, why="unresolvable") from error
    _refuse_if(not place.is_relative_to(home) or place == home, name, "outside")
    _refuse_if(_is_link_loop(place), name, "unresolvable")  # newer Pythons leave such links as they are
    return place


def _is_link_loop(place: Path) -> bool:
    """True for links that lead to themselves."""
    try:
        return stat.S_ISLNK(place.lstat().st_mode)
    except OSError as error:
        return error.errno == errno.ELOOP


def open_inside(root: Path, name: str) -> BinaryIO:
    """Opens a regular file that `name` names under `root`, for reading; a folder, device or FIFO is `UnsafePath`.

    The last step does not follow a link that was laid between judging and opening. A file that is not there, or not
    ours to read, raises the system's own fault.
    """
    place = resolve_inside(root, name)
    descriptor = open_without_trace(place)
    try:
        _refuse_if(not stat.S_ISREG(os.fstat(descriptor).st_mode), name, "not-a-file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def open_without_trace(place: Path | str) -> int:
    """Opens for reading, and where the system allows it without changing the time of last access; a link is not
    followed."""
    flags = os.O_RDONLY | NO_FOLLOW | NO_WAITING
    try:
        return open_descriptor(place, flags | NO_TRACE)
    except PermissionError:  # pragma: no cover  # only an owner may ask for that, and root always
        return open_descriptor(place, flags)


def twin_key(name: str) -> str:
    """What some system would take for the same name: case, composition and closing dots or blanks aside."""
    if name.isascii():  # as most are
        folded = name.lower()
        if not folded.endswith((".", " ")) and "./" not in folded and " /" not in folded:
            return folded
    else:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "/".join(part.rstrip(". ") or part for part in folded.split("/"))


class Names:
    """Remembers the names of a package and refuses a second that is the same, or would be on some system.

    Names live in a temporary database, so that millions of them cost no memory. Where `twins` are allowed, only a name
    that is the same is refused: for what is read where it lies, and never written to a disk.
    """

    def __init__(self, *, twins: bool = False) -> None:
        self._key = str if twins else twin_key
        self._db = _temporary_table()
        self._db.execute("CREATE TABLE taken_name (key BLOB PRIMARY KEY, name BLOB, kind TEXT) WITHOUT ROWID")
        self._db.execute("BEGIN")
        self._last_folder: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def add(self, parts: tuple[str, ...], kind: NameKind = "file") -> None:
        """Takes a name and the folders above it; `UnsafeMember` for a duplicate, a twin, or a file used as a folder."""
        folder = parts[:-1]
        if folder != self._last_folder:
            for depth in range(1, len(parts)):
                self._add_one("/".join(parts[:depth]), "folder")
            self._last_folder = folder
        self._add_one("/".join(parts), kind)

    def _add_one(self, name: str, kind: NameKind) -> None:
        key = hashlib.blake2b(os.fsencode(self._key(name)), digest_size=16).digest()
        new = (key, os.fsencode(name), kind)
        if self._db.execute("INSERT OR IGNORE INTO taken_name VALUES (?, ?, ?)", new).rowcount == 1:
            return
        row = self._db.execute("SELECT name, kind FROM taken_name WHERE key = ?", (key,)).fetchone()
        earlier = os.fsdecode(row[0])
        if earlier != name:
            raise UnsafeMember(where=name, why="twin", other=earlier)
        if kind == "file" or row[1] == "file":
            raise UnsafeMember(where=name, why="duplicate", other=earlier)


def _temporary_table() -> sqlite3.Connection:
    from noarkit.safe.scratch import scratch  # children that copy files need none, and start the sooner

    return scratch()


class NameKeys:
    """Finds out whether a name stands twice, or would on some system, in one go at the end.

    It only says that this may be so; `Names` then says where. Each name costs a number in a temporary table, which is
    sorted once, so that names may come in any order. Where `twins` are allowed, only the same name counts.
    """

    def __init__(self, *, twins: bool = False) -> None:
        self._key = str if twins else twin_key
        self._db = _temporary_table()
        self._db.execute("CREATE TABLE taken_name (key INTEGER, what)")
        self._db.execute("BEGIN")
        self._waiting: list[tuple[int, int | str]] = []
        self._folders: set[str] = set()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def add(self, parts: tuple[str, ...], kind: NameKind = "file") -> None:
        """Takes a name and the folders above it."""
        name = "/".join(parts)
        above = name.rpartition("/")[0]
        if above and above not in self._folders:
            self._add_folders(parts[:-1])
        if kind == "folder":
            self._add_folders(parts)
            return
        self._count += 1
        self._waiting.append((hash(self._key(name)), self._count))
        if len(self._waiting) >= _KEYS_AT_ONCE:
            self._keep()

    def may_repeat(self) -> bool:
        """False if every name is another, on every system: a file among others, a folder spelt in one way."""
        self._keep()
        query = "SELECT 1 FROM taken_name GROUP BY key HAVING min(what) IS NOT max(what) LIMIT 1"
        return self._db.execute(query).fetchone() is not None

    def _add_folders(self, parts: tuple[str, ...]) -> None:
        if len(self._folders) >= _KEYS_AT_ONCE:
            self._folders.clear()  # what is told again is the same again
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            self._folders.add(folder)
            self._waiting.append((hash(self._key(folder)), folder))

    def _keep(self) -> None:
        self._db.executemany("INSERT INTO taken_name VALUES (?, ?)", self._waiting)
        self._waiting.clear()


def _refuse_if(wrong: bool, name: str, why: str) -> None:
    if wrong:
        raise UnsafePath(where=name, why=why)


def without_climbs(path: Path) -> Path:
    """The path whole and without `..`, for a place that is named so; links that it climbs out of are followed, and no
    others."""
    parts = path.absolute().parts
    if ".." not in parts:
        return path
    last = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:last])), *parts[last:])


def shown_path(path: Path) -> Path:
    """The path as people are shown it: without `..` behind a name. What climbs out of no folder that it names stays as
    it is; the rest is told from where they are, if it is below that, else whole."""
    names = [part != ".." for part in path.parts]
    if names == sorted(names):
        return path
    return from_here(without_climbs(path))


def from_here(path: Path) -> Path:
    """A place below this folder as a person here would write it; any other as it is."""
    here = Path.cwd()
    return path.relative_to(here) if path != here and path.is_relative_to(here) else path


def require_existing(where: str) -> None:
    """`SourceGone` for a path at which there is nothing, with what stands beside it and is named nearly so."""
    if not os.path.lexists(where):
        raise missing_path_fault(where)


def missing_path_fault(where: str) -> SourceGone:
    """What is said of a path that is not there, by whichever command it was given to."""
    return SourceGone(where=where, why="ENOENT", path=where, proposal=_similar_name(Path(where)))


def _similar_name(path: Path) -> str | None:
    try:
        names = [entry.name for entry in path.absolute().parent.iterdir()]
    except OSError:
        return None
    import difflib  # seldom, and not in a child that copies files

    nearest = difflib.get_close_matches(path.name, names, n=1)
    return str(path.with_name(nearest[0])) if nearest else None


def numbered_name(name: str) -> tuple[str, int, str]:
    """A name without its number, the number, and the ending of a packed file: the first of a name bears none.

    >>> numbered_name("package-2.tar"), numbered_name("run")
    (('package', 2, '.tar'), ('run', 1, ''))
    """
    match = _NUMBERED.fullmatch(name)
    return (name, 1, "") if match is None else (match[1], int(match[2] or 1), match[3] or "")

"""SQLite files as they lie: read in place where nothing is being written to them, else from a copy of ours.

A file with a -wal or -journal beside it is in use: opening it would write beside it (-shm, -wal) or roll it back. So it
is copied with what belongs to it to a folder of ours, which is removed when the process that made it ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from noarkit.errors import DiskFull, SourceAway, SourceDenied, SourceGone
from noarkit.safe.signals import is_running

BESIDE = ("-wal", "-journal")
_COPIES = "sqlite"
_TRIES = 20
_PAUSE_S = 0.1
_BLOCK_BYTES = 1024 * 1024

FileStates = tuple[tuple[int, int, int, int] | None, ...]


def is_in_use(file: Path) -> bool:
    """True if something lies beside the file that SQLite would act upon."""
    return any(_size(beside) > 0 for beside in _companion_files(file))


def file_states(file: Path) -> FileStates:
    """What the file and its companions look like from outside: it changes with every write."""
    return tuple(_file_state(path) for path in (file, *_companion_files(file)))


def digest_of_file(file: Path) -> str:
    """A checksum of the sizes and times of the file and its companions; empty where there is no file. It changes with
    every write, and not where the file is moved."""
    sizes_and_times = [(size, modified_ns) for _, size, modified_ns, _ in filter(None, file_states(file)) if size]
    return sha256(repr(sizes_and_times).encode()).hexdigest() if sizes_and_times else ""


class LocalCopy:
    """A copy of a file in use, taken whole: no write came between its parts. It lies in `home`, the folder of a run."""

    def __init__(self, file: Path, home: Path | None = None, *, sleep_s: Callable[[float], None] = time.sleep) -> None:
        folder = _folder_in(home)
        self.path = Path(folder) / "copy.db"
        self._remove = weakref.finalize(self, _remove, folder, os.getpid())
        try:
            self._take(file, sleep_s)
        except BaseException:
            self._remove()
            raise

    def close(self) -> None:
        """Removes it."""
        self._remove()

    def _take(self, file: Path, sleep_s: Callable[[float], None]) -> None:
        for _ in range(_TRIES):
            before = file_states(file)
            try:
                _copy(file, self.path)
                for suffix, beside in zip(BESIDE, _companion_files(file), strict=True):
                    target = Path(f"{self.path}{suffix}")
                    target.unlink(missing_ok=True)
                    if _size(beside) > 0:
                        _copy(beside, target)
            except FileNotFoundError as error:
                if not file.exists():
                    raise SourceGone(where=str(file), why="ENOENT") from error
                continue  # a companion went meanwhile
            except PermissionError as error:
                raise SourceDenied(where=str(file), why="EACCES") from error
            except OSError as error:
                raise DiskFull(where=str(self.path)) from error
            if file_states(file) == before:
                return
            sleep_s(_PAUSE_S)
        raise SourceAway(where=str(file), why="database-busy")


def sqlite_uri(file: Path, copy: LocalCopy | None) -> str:
    """What SQLite opens: the copy, or the file itself as one that nobody writes to. Raises `SourceGone`."""
    if copy is not None:
        return copy.path.as_uri()
    if not file.is_file():
        raise SourceGone(where=str(file), why="ENOENT")
    return f"{file.as_uri()}?immutable=1&mode=ro"


def _folder_in(home: Path | None) -> str:
    """A folder for a copy; what a process that is gone left of its own is removed."""
    if home is None:
        return tempfile.mkdtemp(prefix="noarkit-sqlite-")
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in home.glob(f"{_COPIES}-*"):
        if not _is_alive(old.name.split("-")[1]):
            shutil.rmtree(old, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{_COPIES}-{os.getpid()}-", dir=home)


def _is_alive(pid: str) -> bool:
    return pid.isdecimal() and is_running(int(pid))


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as old, target.open("wb") as new:
        shutil.copyfileobj(old, new, _BLOCK_BYTES)


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:  # a child of ours still shares it
        shutil.rmtree(folder, ignore_errors=True)


def _companion_files(file: Path) -> tuple[Path, ...]:
    return tuple(Path(f"{file}{suffix}") for suffix in BESIDE)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _file_state(path: Path) -> tuple[int, int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

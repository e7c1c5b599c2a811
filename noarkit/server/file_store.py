"""The content-addressed file store: files named by their SHA-256, under DIR/files/ab/.

A file is written under a temporary name and renamed. An existing file of that name is compared byte for byte and kept,
so that a durable file is never replaced. Nothing is durable before `make_durable` (or `IncomingFile.place`, for large
files) has returned.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from noarkit.safe.atomic import sync_folder
from noarkit.safe.descriptors import flush_file, flush_file_system, open_descriptor, write_all

# From so many files on, one flush of the whole file system is cheaper than one of each file and its folders.
_FLUSH_ALL_FROM = 9
_BLOCK_BYTES = 1024 * 1024


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


def content_path(root: Path, sha256: str) -> Path:
    """The path of a content in the store in `root`, whether it exists or not."""
    return Path(_content_name(root, sha256))


def _content_name(root: Path, sha256: str) -> str:
    return f"{root}/{sha256[:2]}/{sha256}"


class IncomingFile:
    """A large file on its way in: write() its blocks in order, then close() and place(), or give_up()."""

    def __init__(self, store: FileStore, path: Path) -> None:
        self._store = store
        self._path = path
        self._file = path.open("wb", buffering=0)
        self._digest: _Digest = hashlib.sha256()
        self.size_bytes = 0

    def write(self, blocks: Sequence[bytes]) -> None:
        """Hashes and writes blocks; meant for a thread."""
        for block in blocks:
            self._digest.update(block)
            view = memoryview(block)
            while view:
                view = view[self._file.write(view) :]
            self.size_bytes += len(block)

    def flush(self) -> None:
        """Flushes the blocks written so far, so that close() has less to flush; meant for a thread."""
        os.fsync(self._file.fileno())

    def close(self) -> str:
        """Makes the bytes durable; returns their SHA-256."""
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()

    def place(self) -> None:
        """Gives the content its name, durably."""
        sha256 = self._digest.hexdigest()
        self._store.place(str(self._path), sha256)
        self._store.make_durable([sha256])

    def discard(self) -> None:
        """Forgets what came, unless it was placed."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class FileStore:
    """The files of one archive folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._numbers = itertools.count(1)
        incoming = root / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        for leftover in incoming.iterdir():
            leftover.unlink()
        self._incoming = str(incoming)

    def path(self, sha256: str) -> Path:
        """The path of a content, whether it exists or not."""
        return content_path(self._root, sha256)

    def write(self, content: bytes) -> str:
        """Writes a small content under a temporary name, to be placed; returns that name."""
        path = self._temporary()
        # bare names and descriptors: this is the one place where the cost of Path and file objects can be felt
        descriptor = open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(descriptor, content)
        finally:
            os.close(descriptor)
        return path

    def begin(self) -> IncomingFile:
        """A large file begins to come in."""
        return IncomingFile(self, Path(self._temporary()))

    def place(self, temporary: str, sha256: str) -> None:
        """Renames a whole temporary file to its name, unless the same content stands there already."""
        name = _content_name(self._root, sha256)
        if os.access(name, os.F_OK) and _have_same_content(Path(name), Path(temporary)):
            Path(temporary).unlink()
            return
        try:
            os.rename(temporary, name)  # noqa: PTH104  # a hot path, see write()
        except FileNotFoundError:
            Path(name).parent.mkdir(exist_ok=True)
            Path(temporary).rename(name)

    def make_durable(self, contents: Collection[str]) -> None:
        """Returns when the contents and their names survive a loss of power. Raises FileNotFoundError."""
        if len(contents) >= _FLUSH_ALL_FROM:
            for sha256 in contents:
                self.path(sha256).stat()
            if flush_file_system(self._root):
                return
        folders: set[Path] = set()
        for sha256 in contents:
            path = self.path(sha256)
            flush_file(path)
            folders |= {path.parent, self._root}
        for folder in folders:
            sync_folder(folder)

    def remove(self, sha256: str) -> None:
        """Removes a content, if it is there."""
        self.path(sha256).unlink(missing_ok=True)

    def contents(self) -> Iterator[Path]:
        """Every content in the store."""
        for folder in self._root.iterdir():
            if len(folder.name) == 2:
                yield from folder.iterdir()

    def _temporary(self) -> str:
        return f"{self._incoming}/{next(self._numbers)}"


def _have_same_content(path: Path, other_path: Path) -> bool:
    if path.stat().st_size != other_path.stat().st_size:
        return False
    with path.open("rb") as first, other_path.open("rb") as second:
        while block := first.read(_BLOCK_BYTES):
            if block != second.read(_BLOCK_BYTES):
                return False
    return True

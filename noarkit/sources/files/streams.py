"""The bytes of a file, mail or attachment, watched: what changes between plan and last byte is told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from noarkit.documents import mail, outlook
from noarkit.errors import ItemChanged, SourceFault, UnsafePath
from noarkit.graph.entity import Content
from noarkit.safe import folder_handles
from noarkit.safe.descriptors import read_at
from noarkit.sources.files import folders
from noarkit.sources.files.names import path_of

WITHIN = "//"  # parts a file's key from a place within the file; no path has it, since no name is empty


class FileStream:
    """An open file, or the span of it that a mail takes up."""

    def __init__(self, descriptor: int, parent: int, name: bytes, *, key: str, follow: bool) -> None:
        self._descriptor = descriptor
        self._parent = parent
        self._name = name
        self._key = key
        self._follow = follow
        self._before = os.fstat(descriptor)
        self._at, self._end = 0, -1

    @property
    def status(self) -> os.stat_result:
        """What the system said of the file when it was opened."""
        return self._before

    def limit(self, offset: int, length: int) -> None:
        """Narrows the stream to a span."""
        self._at, self._end = offset, offset + length

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, all that is left for a negative size; empty at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1024 * 1024), b""))
        length = size if self._end < 0 else min(size, self._end - self._at)
        with folders.faults(self._key):
            block = read_at(self._descriptor, length, self._at) if length > 0 else b""
        self._at += len(block)
        return block

    def begins_with(self, signature: bytes) -> bool:
        """True if the stream, from where it stands, begins with these bytes; nothing is read from it."""
        with folders.faults(self._key):
            return read_at(self._descriptor, len(signature), self._at) == signature

    def as_file(self) -> IO[bytes]:
        """The whole file, to be read in any order and closed by whoever asks."""
        return os.fdopen(os.dup(self._descriptor), "rb")

    def still_the_same(self) -> bool:
        """True if the file is as it was when opened, and still the one that its name leads to."""
        try:
            now = os.fstat(self._descriptor)
            path_status = folder_handles.status_in(self._name, self._parent, follow=self._follow)
        except OSError:
            return False
        return _file_state(self._before) == _file_state(now) == _file_state(path_status)


class PartStream:
    """An attachment, taken from its mail into memory."""

    def __init__(self, payload: bytes, mail_file: FileStream) -> None:
        self._payload = BytesIO(payload)
        self._mail_file = mail_file

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        return self._payload.read(size)

    def still_the_same(self) -> bool:
        """As of the file that holds the mail."""
        return self._mail_file.still_the_same()


@contextmanager
def open_content(
    root: Path, content: Content, *, follow: bool, mail_limit_bytes: int
) -> Iterator[FileStream | PartStream]:
    """The stream of a content of the tree at `root`.

    Raises `SourceGone`, `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`, or `ItemChanged` where size or time are not
    as planned. Faults raised inside the block pass untouched.
    """
    key, *within = content.locator.split(WITHIN)
    *steps, name = _path(key).split(b"/")
    home = folders.open_root(root)
    descriptor = parent = -1
    try:
        with folders.faults(key):
            parent = folders.reach(home, steps)
            descriptor = folders.open_file(name, parent, key=key, follow=follow)
        file = FileStream(descriptor, parent, name, key=key, follow=follow)
        _compare(content, file.status, key, is_whole=not within)
        yield _within(file, within, content, mail_limit_bytes) if within else file
    finally:
        for handle in (home, parent, descriptor):
            if handle >= 0:
                folder_handles.close(handle)


def _path(key: str) -> bytes:
    try:
        return path_of(key)
    except ValueError as error:
        raise UnsafePath(where=key, why="escape") from error


def _within(file: FileStream, within: list[str], content: Content, limit_bytes: int) -> FileStream | PartStream:
    """`OFFSET+LENGTH` is a mail of a mailbox; `part/N` an attachment of the mail at hand."""
    length = file.status.st_size
    for step in within:
        kind, _, number = step.partition("/")
        if kind != "part":
            offset, _, extent = step.partition("+")
            length = int(extent)
            file.limit(int(offset), length)
            continue
        if length > limit_bytes:
            raise ItemChanged(key=content.locator, why="size")
        payload = _part(file, int(number))
        if payload is None or (content.size_bytes is not None and len(payload) != content.size_bytes):
            raise ItemChanged(key=content.locator, why="content")
        return PartStream(payload, file)
    return file


def _part(file: FileStream, number: int) -> bytes | None:
    """An attachment of the mail at hand, in whichever of the two forms it is written."""
    if not file.begins_with(outlook.SIGNATURE):
        return mail.read_attachment(file.read(), number)
    with file.as_file() as mail_file:
        return outlook.read_message_part(mail_file, number)


def _compare(content: Content, status: os.stat_result, key: str, *, is_whole: bool) -> None:
    fault: SourceFault | None = None
    if is_whole and content.size_bytes is not None and status.st_size != content.size_bytes:
        fault = ItemChanged(key=key, why="size", planned=content.size_bytes, found=status.st_size)
    elif content.modified_ns is not None and status.st_mtime_ns != content.modified_ns:
        fault = ItemChanged(key=key, why="time", planned=content.modified_ns, found=status.st_mtime_ns)
    if fault is not None:
        raise fault


def _file_state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

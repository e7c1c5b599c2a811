"""The bytes of the files of a package that a plan was made from: held to size, time and checksum as the plan has them.

A locator is `algorithm:checksum:` and the file's name in a folder, or where it lies in an archive file.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from noarkit.errors import ItemChanged, ItemUnreadable, ItemVanished, PackageFault
from noarkit.forms.container.locators import MemberReader, MemberStream
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.fixity import BY_METS, Fixity, checked
from noarkit.sources.files.names import key_of
from noarkit.sources.files.streams import open_content


class PackageContents:
    """The files of the package at `path`, a folder or an archive file."""

    def __init__(self, path: Path, states_as: str = BY_METS) -> None:
        self._path = path
        self._states_as = states_as
        self._located = None if path.is_dir() else MemberReader(path)
        if self._located is not None:
            weakref.finalize(self, self._located.close)

    def modified_ns(self, name: str) -> int:
        """When a file was last written to; in an archive file, when that was. Raises `ItemVanished`."""
        if self._located is not None:
            return self._located.modified_ns()
        try:
            # names come from a walk that follows no link
            return os.stat(f"{self._path}/{name}", follow_symlinks=False).st_mtime_ns  # noqa: PTH116  # hot: no path of its own
        except OSError as error:
            raise ItemVanished(key=name) from error

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a content by its locator. Raises `SourceGone`, `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithm, checksum, place = content.locator.split(":", 2)
        if self._located is not None:
            with self._located.open(place) as source:
                stream = MemberStream(source, self._located, content.modified_ns)
                yield checked(stream, Fixity(algorithm, checksum, by=self._states_as))
            return
        with open_named(self._path, content, place) as file:
            yield checked(file, Fixity(algorithm, checksum, by=self._states_as))


@contextmanager
def open_named(folder: Path, content: Content, name: str) -> Iterator[ContentStream]:
    """A content in a folder by its name there; no link is followed."""
    plain = replace(content, locator=key_of(os.fsencode(name)))
    with open_content(folder, plain, follow=False, mail_limit_bytes=0) as file:
        yield file


class FileBytes:
    """An open file as a stream. Raises `ItemChanged` where size or time are not as the content has them."""

    def __init__(self, file: BinaryIO, content: Content) -> None:
        self._file = file
        self._content = content
        if not self.still_the_same():
            raise ItemChanged(key=content.locator, why="time")

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise ItemUnreadable(key=self._content.locator, why=str(error.strerror)) from error

    def still_the_same(self) -> bool:
        """True where size and time are as planned, as far as the plan has them."""
        status = os.fstat(self._file.fileno())
        content = self._content
        return content.size_bytes in (None, status.st_size) and content.modified_ns in (None, status.st_mtime_ns)


def refuse_damaged(place: Path, names: Iterable[str]) -> None:
    """Raises `PackageFault` for the first file of a package's own metadata that a checksum contradicts."""
    for name in names:
        raise PackageFault(where=f"{place}: {name}", why="damaged-source", despite="--despite-damage")

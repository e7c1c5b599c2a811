"""The bytes of a bag's files, held against what was planned."""

from __future__ import annotations

import os
from typing import BinaryIO

from noarkit.errors import ItemChanged, ItemUnreadable
from noarkit.graph.entity import Content


class FileBytes:
    """A file of a bag that is a folder. Raises `ItemChanged` where it is not as it was planned."""

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
        """True where size and time are as planned."""
        status = os.fstat(self._file.fileno())
        content = self._content
        return content.size_bytes in (None, status.st_size) and content.modified_ns in (None, status.st_mtime_ns)

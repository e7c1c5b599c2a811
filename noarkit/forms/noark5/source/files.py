"""The document files of an extract: found by the names that the XML gives them, opened once and checked on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from noarkit.errors import ItemChanged, ItemUnreadable, ItemVanished, SourceFault, UnsafePath
from noarkit.forms.noark5.read.entities import Untakable
from noarkit.forms.noark5.source.around import files_around
from noarkit.forms.noark5.spec import DOCUMENT_FOLDERS
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.fixity import BY_EXTRACT, Fixity, checked, sha256_stated
from noarkit.safe.paths import checked_parts, open_inside

_PLAIN_PATH = re.compile(r"(?:[a-z0-9_-]+/)*[a-z0-9-]{6,80}(?:\.[a-z0-9]{1,5})?")
ALGORITHMS = {"MD5": "md5", "SHA1": "sha1", "SHA224": "sha224", "SHA384": "sha384", "SHA512": "sha512"}


class DocumentFiles:
    """The files below the root of an extract."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = str(root)

    def content(self, path: str, sha256: str | None, algorithm: str, checksum: str) -> Content:
        """The file that the XML names; `\\` is taken for `/`, and a name may lack its folder. Raises Untakable."""
        if _PLAIN_PATH.fullmatch(path):  # as most are: nothing to judge
            parts: tuple[str, ...] = tuple(path.split("/"))
        else:
            try:
                parts = checked_parts(path.replace("\\", "/").removeprefix("./"))
            except UnsafePath as fault:
                raise Untakable(fault.code, **fault.data) from None
        for folder in ("", *DOCUMENT_FOLDERS):
            name = "/".join((folder, *parts) if folder else parts)
            try:
                status = os.stat(f"{self._base}/{name}")  # noqa: PTH116  # hot: a path of its own costs more than the call
            except OSError:
                continue
            old = ALGORITHMS.get(algorithm) if sha256 is None and checksum else None
            locator = f"{old}:{checksum}:{name}" if old else f"::{name}"
            return Content(locator, parts[-1], status.st_size, status.st_mtime_ns, sha256)
        raise Untakable(ItemVanished.code, key=path)

    def around(self) -> Iterator[str]:
        """The files of the package that the extract lies in, which are none of its own."""
        return files_around(self.root)

    def is_damaged(self, content: Content) -> bool:
        """True if its bytes cannot be read, or are not what its checksum says."""
        return is_damaged(self.open, content)

    def file(self, name: str) -> BinaryIO:
        """A file by its name."""
        return open_inside(self.root, name)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a content by its locator. Raises ItemVanished, ItemUnreadable, ItemChanged."""
        algorithm, checksum, name = content.locator.split(":", 2)
        try:
            file = open_inside(self.root, name)
        except FileNotFoundError as error:
            raise ItemVanished(key=name) from error
        except (OSError, UnsafePath) as error:
            raise ItemUnreadable(key=name, why=str(getattr(error, "strerror", None) or error)) from error
        with file:
            stream = DocumentStream(file, content)
            stream.check()
            yield checked(stream, Fixity(algorithm, checksum, by=BY_EXTRACT))


def is_damaged(open_content: Callable[[Content], AbstractContextManager[ContentStream]], content: Content) -> bool:
    """Reads a content through: True if that cannot be done, or it is not what its checksum says."""
    try:
        with open_content(content) as stream:
            return not checked(stream, *sha256_stated(content.sha256, BY_EXTRACT)).read_through().still_the_same()
    except SourceFault:
        return True


class DocumentStream:
    """The bytes of a document as long as its file is the one that was planned."""

    def __init__(self, file: BinaryIO, content: Content) -> None:
        self._file = file
        self._content = content

    def check(self) -> None:
        """ItemChanged where the file is not as it was when the plan was made."""
        status = os.fstat(self._file.fileno())
        if self._content.size_bytes not in (None, status.st_size):
            raise ItemChanged(key=self._content.locator, why="size")
        if self._content.modified_ns not in (None, status.st_mtime_ns):
            raise ItemChanged(key=self._content.locator, why="time")

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise ItemUnreadable(key=self._content.locator, why=str(error.strerror)) from error

    def still_the_same(self) -> bool:
        """True if size and time are as planned."""
        try:
            self.check()
        except ItemChanged:
            return False
        return True

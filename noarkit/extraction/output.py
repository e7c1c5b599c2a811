"""Files of the package while they are written: hashed as they pass, whole or not there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from noarkit.safe.atomic import open_atomic


class Hashed:
    """A file that is written to; `sha256` is that of all that was, once it is closed.

    A thread of its own hashes: it needs no lock while it does, so that a second core is put to use.
    """

    def __init__(self, file: BinaryIO, hashing: ThreadPoolExecutor) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._hashing = hashing
        self._last: Future[None] | None = None

    def write(self, block: bytes) -> None:
        """Writes a block."""
        self._last = self._hashing.submit(self._hash.update, block)
        self._file.write(block)

    @property
    def sha256(self) -> str:
        """The sha256, in lower-case hexadecimal."""
        if self._last is not None:
            self._last.result()
        return self._hash.hexdigest()


@contextmanager
def hashed(path: Path) -> Iterator[Hashed]:
    """A file that appears whole when the block ends; the package is synced as a whole, so it is not here."""
    with ThreadPoolExecutor(1, thread_name_prefix="noarkit-hash") as hashing, open_atomic(path, sync=False) as file:
        yield Hashed(file, hashing)

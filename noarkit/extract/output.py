"""Files of the package while they are written: hashed as they pass, whole or not there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from noarkit.safe.atomic import writing


class Hashed:
    """A file that is written to; `sha256` is that of all that was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, block: bytes) -> None:
        """Writes a block."""
        self._hash.update(block)
        self._file.write(block)

    @property
    def sha256(self) -> str:
        """The sha256, in lower-case hexadecimal."""
        return self._hash.hexdigest()


@contextmanager
def hashed(path: Path) -> Iterator[Hashed]:
    """A file that appears whole when the block ends; the package is synced as a whole, so it is not here."""
    with writing(path, sync=False) as file:
        yield Hashed(file)

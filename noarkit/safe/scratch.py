"""Tables on disk that are nobody else's: as large as they must be, and gone with whoever holds them."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import BinaryIO, cast

_CACHE_KIB = 2_048


class ScratchConnection(sqlite3.Connection):
    """A connection that nobody needs to close, for it has no file that it could leave half written."""

    def __del__(self) -> None:
        self.close()


def scratch(cache_kib: int = _CACHE_KIB) -> sqlite3.Connection:
    """An empty database without a name. It keeps `cache_kib` in memory, and nothing of it can be undone.

    Whoever writes much begins a transaction first; threads may share it where one alone uses it at a time.
    """
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=ScratchConnection)
    for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{cache_kib}", "temp_store=FILE"):
        database.execute(f"PRAGMA {pragma}")
    return database


def nameless_file(folder: Path | None = None) -> BinaryIO:
    """A file for bytes that nobody else needs; it is gone when it is closed."""
    return cast("BinaryIO", tempfile.TemporaryFile(dir=folder))  # Windows wraps it, and hands everything on

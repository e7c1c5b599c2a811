"""The bytes of copies: a file each, named by its sha256, and durable in its place before any row tells of it."""

from __future__ import annotations

import os
from pathlib import Path

from noarkit.errors import JournalFault
from noarkit.safe import atomic
from noarkit.safe.fixity import BY_COPIES, differences_of_file, sha256_stated

OBJECTS = "objects"


def object_path(folder: Path, sha256: str) -> Path:
    """Where the bytes with a sha256 lie in a folder of copies."""
    return folder / OBJECTS / sha256[:2] / sha256


def place_object(folder: Path, product: Path, sha256: str) -> None:
    """Moves `product` to its place, durably. Raises `JournalFault` for other bytes, and `DiskFull`."""
    path = object_path(folder, sha256)
    with atomic.no_room(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with product.open("rb+") as file:
            # before the rename: else a power cut may leave a name without its bytes
            os.fsync(file.fileno())
        if differences_of_file(product, *sha256_stated(sha256, BY_COPIES)):
            raise JournalFault(where=str(product), why="copy-changed")
        product.chmod(0o600)
        product.replace(path)
        atomic.sync_folder(path.parent)
        atomic.sync_folder(path.parent.parent)

"""Proves a folder of copies: every object against its name, every row against its object, and no object too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.copies.objects import OBJECTS, object_path
from noarkit.copies.store import CopyStore
from noarkit.results import Result, json_field, json_value
from noarkit.safe.fixity import BY_COPIES, differences_of_file, sha256_stated


@dataclass(frozen=True, slots=True)
class CheckCopiesResult(Result):
    """What a check found: `missing` and `changed` are sha256 of copies, `unknown` counts files without a row."""

    EVENT: ClassVar = "copies_checked"

    copies: str
    objects: int
    bytes: int
    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unknown: int = 0
    sealed_by: str = field(default="", metadata=json_field(optional=True))
    """The fingerprint of the key whose seal was proven; empty where none was asked for."""

    @property
    @json_value()
    def good(self) -> bool:
        """True where every copy is there, as it was made."""
        return not (self.missing or self.changed)


def check_store(store: CopyStore) -> CheckCopiesResult:
    """Reads every copy once."""
    missing: list[str] = []
    changed: list[str] = []
    total = 0
    wanted: set[str] = set()
    for sha256, size in store.objects():
        wanted.add(sha256)
        path = object_path(store.folder, sha256)
        if not path.is_file():
            missing.append(sha256)
        elif path.stat().st_size != size or differences_of_file(path, *sha256_stated(sha256, BY_COPIES)):
            changed.append(sha256)
        else:
            total += size
    unknown = sum(1 for path in _files(store.folder / OBJECTS) if path.name not in wanted)
    return CheckCopiesResult(str(store.folder), len(wanted), total, missing, changed, unknown)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else iter(())

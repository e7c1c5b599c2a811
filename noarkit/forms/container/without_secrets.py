"""The files of a place without those that hold secrets of noarkit: these go into no package, catalogue or plan."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.container.storage import Storage, StoredFile
from noarkit.safe.digest import Readable
from noarkit.safe.secret_files import may_hold_secrets, reads_secrets
from noarkit.safe.unpack import Member


def secret_names(storage: Storage) -> frozenset[str]:
    """The names of the files that hold secrets."""
    candidates = [file.name for file in storage.files_in_order() if not file.odd and _may(file.name)]
    return frozenset(name for name in candidates if _is_secret(storage, name))


def without_secrets(storage: Storage) -> tuple[Storage, frozenset[str]]:
    """The storage without its secrets, and their names; most have none."""
    names = secret_names(storage)
    return (_StorageWithout(storage, names) if names else storage), names


def _may(name: str) -> bool:
    return may_hold_secrets(os.fsencode(name.rpartition("/")[2]))


def _is_secret(storage: Storage, name: str) -> bool:
    try:
        with storage.open(name) as file:
            return reads_secrets(os.fsencode(name.rpartition("/")[2]), file)
    except (OSError, PackageFault, HostileInput):
        return False  # whoever reads it will say why it cannot be read


class _StorageWithout:
    """A storage without some of its files."""

    def __init__(self, storage: Storage, names: frozenset[str]) -> None:
        self.where, self.folder, self.stamp = storage.where, storage.folder, storage.stamp
        self._storage = storage
        self._names = names

    def files(self) -> Iterator[StoredFile]:
        """Every file that is left."""
        return (file for file in self._storage.files() if file.name not in self._names)

    def files_in_order(self) -> Iterator[StoredFile]:
        """The same in the order in which they lie."""
        return (file for file in self._storage.files_in_order() if file.name not in self._names)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file."""
        if name in self._names:
            raise FileNotFoundError(name)
        return self._storage.open(name)

    def member(self, name: str) -> Member | None:
        """How a file lies in an archive file."""
        return None if name in self._names else self._storage.member(name)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file that is left, with its bytes."""
        return ((name, content) for name, content in self._storage.contents() if name not in self._names)

    def close(self) -> None:
        """Lets everything go."""
        self._storage.close()

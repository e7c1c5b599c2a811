"""Reads a DIAS package where it lies, in a tar or unpacked: what it says of itself, and its files, proven on the way.

    with open_dias(Path("delivery")) as package:
        package.prove_seal()
        for entry in package.entries():
            with package.open(entry.name) as content:
                ...

A package that is not what it must be is refused at its first fault; `noarkit.validate` tells all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from noarkit.errors import PackageFault
from noarkit.forms.container.storage import Storage
from noarkit.forms.dias.read.info import is_info, read_info
from noarkit.forms.dias.read.inventory import Entry, Inventory
from noarkit.forms.dias.read.located import LocatedPackage, locate
from noarkit.forms.dias.read.tar_storage import open_required, open_tar_storage
from noarkit.forms.dias.spec import CHECKSUM_TYPES, METS, may_be_absent, paths_of
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem, MetsReader
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_METS, Fixity, checked, differences_of_file
from noarkit.safe.unpack import LIMITS, UnpackLimits


class DiasPackage:
    """An open package. Close it, or use it in a `with`."""

    def __init__(self, located: LocatedPackage, storage: Storage, inventory: Inventory, header: MetsHeader) -> None:
        self.located = located
        self.header = header
        self.storage = storage
        self._inventory = inventory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets everything go."""
        self._inventory.close()
        self.storage.close()

    def entries(self) -> Iterator[Entry]:
        """Every file that dias-mets.xml lists, by name."""
        return self._inventory.entries()

    def missing(self) -> Iterator[str]:
        """Files that dias-mets.xml lists, and that are not there."""
        return self._inventory.missing()

    def unlisted(self) -> Iterator[str]:
        """Files that dias-mets.xml does not list."""
        return self._inventory.unlisted()

    def size_of(self, name: str) -> int | None:
        """How large a file is; None where it is not there."""
        return self._inventory.files.size_of(name)

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of a file; `PackageFault` at their end where they are not those that dias-mets.xml lists."""
        entry = self._inventory.entry(name)
        if entry is None:
            raise PackageFault(where=f"{self.storage.where}: {name}", why="not-listed")
        with self.storage.open(name) as content:
            yield _VerifiedContent(content, entry, self.storage.where)

    def contents(self) -> Iterator[tuple[Entry, Readable]]:
        """Every listed file with its bytes, in the order in which they lie: the fast way through a tar."""
        for name, content in self.storage.contents():
            entry = self._inventory.entry(name)
            if entry is not None:
                yield entry, _VerifiedContent(content, entry, self.storage.where)

    def prove_seal(self) -> None:
        """Raises `PackageFault` where the submission description is missing, or seals another tar."""
        description = self.located.description
        if description is None:
            raise PackageFault(where=self.storage.where, why="not-sealed")
        _, files = read_description(description)
        sealed = [file for file in files if is_tar_entry(file, self.located.place.name)]
        if not self.located.is_tar or not sealed:
            raise PackageFault(where=str(description), why="not-sealed")
        for file in sealed:
            statement = Fixity(CHECKSUM_TYPES.get(file.checksum_type.upper(), ""), file.checksum, by=BY_METS)
            size_matches = statement.has_checksum and file.size_bytes == self.located.place.stat().st_size
            if not size_matches or differences_of_file(self.located.place, statement):
                raise PackageFault(where=str(self.located.place), why="not-sealed")


def original_names(storage: Storage) -> Iterator[tuple[str, str]]:
    """What the METS of a package tells as the original names of files, by the names that it may mean. Raises
    `PackageFault`, and what `safe` refuses."""
    with open_required(storage, METS) as file:
        for mets_file in MetsReader(file, f"{storage.where}: {METS}").files():
            if mets_file.original_name:
                yield from ((path, mets_file.original_name) for path in paths_of(mets_file.href))


def open_dias(path: Path, *, limits: UnpackLimits = LIMITS, complete: bool = True) -> DiasPackage:
    """Opens the package at a path. Raises `PackageFault`, or what `safe` refuses.

    A listed file that is not there is a fault too, where the package must be `complete`; where it need not, one without
    a METS lists nothing.
    """
    located = locate(path)
    with ExitStack() as stack:
        storage = open_tar_storage(located.place, limits)
        stack.callback(storage.close)
        inventory = Inventory()
        stack.callback(inventory.close)
        inventory.add_present(storage.files())
        header = MetsHeader()
        if complete or inventory.files.has(METS):
            header = _read_mets(storage, inventory, complete=complete)
        stack.pop_all()
    return DiasPackage(located, storage, inventory, header)


def _read_mets(storage: Storage, inventory: Inventory, *, complete: bool) -> MetsHeader:
    with open_required(storage, METS) as file:
        reader = MetsReader(file, f"{storage.where}: {METS}")
        for mets_file in reader.files():
            presence, name = inventory.match_listed(mets_file)
            if presence in ("found", "twice") or (presence == "missing" and may_be_absent(reader.header.type, name)):
                continue
            inventory.add_missing(name)
            if complete:
                raise PackageFault(where=f"{storage.where}: {name}", why="not-there", line=mets_file.line)
    return reader.header


def read_description(path: Path) -> tuple[MetsHeader, list[MetsItem]]:
    """What a submission description says, and the few files that it seals."""
    with path.open("rb") as file:
        if is_info(file.read(_HEAD_BYTES)):
            return read_info(path)
        file.seek(0)
        reader = MetsReader(file, str(path))
        files: list[MetsItem] = []
        for mets_file in reader.files():
            if len(files) >= _MOST_SEALED:
                raise PackageFault(where=str(path), why="too-large", line=mets_file.line)
            files.append(mets_file)
    return reader.header, files


_HEAD_BYTES = 4096
_MOST_SEALED = 10_000


def is_tar_entry(mets_file: MetsItem, name: str = "") -> bool:
    """True if a file of the description is the tar: by its name, or by its ending alone, for tars are renamed."""
    paths = list(paths_of(mets_file.href))
    return any(path == name or (path.lower().endswith(".tar") and "/" not in path) for path in paths)


class _VerifiedContent:
    """Gives bytes, and refuses to end where they are not the ones that were listed."""

    def __init__(self, source: Readable, entry: Entry, where: str) -> None:
        self._entry = entry
        self._where = where
        algorithm = CHECKSUM_TYPES.get(entry.checksum_type.upper(), "")
        self._source = checked(source, Fixity(algorithm, entry.checksum, by=BY_METS))

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes. `PackageFault` at the end where they were not what was listed."""
        block = self._source.read(size)
        if (not block and size != 0) or size < 0:
            self._verify()
        return block

    def _verify(self) -> None:
        entry = self._entry
        if self._source.differences() or entry.listed_bytes not in (None, self._source.size_bytes):
            raise PackageFault(where=f"{self._where}: {entry.name}", why="not-as-listed")

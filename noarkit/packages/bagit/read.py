"""Reads a bag where it lies: its metadata, its files with their checksums, and their bytes, one by one.

    with open_bag(Path("delivery.tar")) as bag:
        for entry in bag.entries():
            with bag.open(entry.name) as content:
                ...

A bag that is not what it must be is refused at its first fault; `noarkit.validate` tells all of them.
"""

from __future__ import annotations

import hashlib
import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noarkit.errors import HostileInput, PackageFault, UnsafePath
from noarkit.events import Listener, nobody
from noarkit.packages.bagit.inventory import Inventory
from noarkit.packages.bagit.names import ORIGINAL_NAMES
from noarkit.packages.bagit.spec import (
    DECLARATION,
    FETCH,
    MAX_LINE,
    PAYLOAD,
    Declared,
    Hole,
    Listed,
    Wrong,
    digest_letters,
    hash_name,
    is_text,
    manifest_of,
    read_declaration,
    read_fetch,
    read_info,
    read_manifest,
)
from noarkit.packages.holding.names import OriginalNames
from noarkit.packages.holding.storage import Storage, Stored, open_storage
from noarkit.safe.digest import BLOCK_BYTES, Readable, buffered
from noarkit.safe.portable import is_portable_name_of
from noarkit.safe.unpack import LIMITS, Member, UnpackLimits, listed

_MOST_DECLARATION = 4096
_IN_ONE = PAYLOAD + "/"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that is there: its file, and its algorithm as the file's name has it."""

    name: str
    algorithm: str


@dataclass(frozen=True, slots=True)
class BagEntry:
    """A payload file. `name` is its path below `data/`; `size_bytes` is None for one that `fetch.txt` promises."""

    name: str
    size_bytes: int | None
    digests: Mapping[str, str]


class Bag:
    """An open bag. Close it, or use it in a `with`."""

    def __init__(self, storage: Storage, declared: Declared) -> None:
        self._storage = storage
        self.declared = declared
        self.where = storage.where
        self.info: tuple[tuple[str, str], ...] = ()
        self.manifests: tuple[Manifest, ...] = ()
        self._inventory: Inventory | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets everything go."""
        if self._inventory is not None:
            self._inventory.close()
        self._storage.close()

    @property
    def packed(self) -> bool:
        """True for a bag in a zip or tar."""
        return self._storage.folder is None

    def value(self, label: str) -> str | None:
        """The first value of a label of `bag-info.txt`, whatever its case."""
        wanted = label.casefold()
        return next((value for name, value in self.info if name.casefold() == wanted), None)

    def entries(self, *, whole: bool = True) -> Iterator[BagEntry]:
        """Every payload file that the manifests list. `PackageFault` for one neither there nor promised, unless the bag
        need not be `whole`."""
        inventory = self._whole()
        if whole:
            for name in inventory.missing(promised=False):
                raise PackageFault(where=f"{self.where}: {name}", why="not-there")
        for pair in inventory.listed():
            digests = {
                manifest.algorithm: digest
                for manifest, digest in zip(self.manifests, pair.digests, strict=True)
                if digest is not None
            }
            yield BagEntry(pair.name.removeprefix(_IN_ONE), None if pair.size_bytes < 0 else pair.size_bytes, digests)

    def unlisted(self) -> Iterator[str]:
        """Payload files that are there and that no manifest lists, by their paths below `data/`."""
        yield from (name.removeprefix(_IN_ONE) for name in self._whole().unlisted())

    def unlistable(self) -> Iterator[str]:
        """Payload files whose names are no text, by their paths below `data/`: no manifest can list them."""
        names = (stored.name for stored in payload_files(self._storage))
        yield from (name.removeprefix(_IN_ONE) for name in names if not is_text(name))

    def stored(self, name: str) -> tuple[str, Member | None]:
        """Where the file of an entry lies: its path below the top folder, and how in an archive file."""
        found = self._whole().find(_IN_ONE + name)
        stored = found.stored if found is not None else _IN_ONE + name
        return stored, self._storage.member(stored)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a payload file, by the name of its entry; from an archive file one at a time."""
        found = self._whole().find(_IN_ONE + name)
        if found is None:
            raise PackageFault(where=f"{self.where}: {name}", why="not-there")
        return self._storage.open(found.stored)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every payload file with its bytes, in the order in which they lie: the fast way through a packed bag."""
        inventory = self._whole()
        for stored, content in self._storage.contents():
            expected = inventory.expected(stored) if stored.startswith(_IN_ONE) else None
            if expected is not None:
                yield expected.name.removeprefix(_IN_ONE), content

    def original_names(self) -> OriginalNames:
        """What its files were called before they went into it. Close it."""
        return OriginalNames(read_names(self._storage, self.declared))

    def tag_files(self) -> Iterator[Stored]:
        """Every file that is no payload."""
        yield from (stored for stored in self._storage.files() if not stored.name.startswith(_IN_ONE))

    def open_tag(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a tag file."""
        return self._storage.open(name)

    def tag_member(self, name: str) -> Member | None:
        """How a tag file lies in an archive file; None in a folder."""
        return self._storage.member(name)

    def holes(self) -> Iterator[Hole]:
        """What `fetch.txt` promises."""
        for hole in fetch_lines(self._storage, self.declared):
            if isinstance(hole, Wrong):
                raise _fault(self.where, FETCH, hole)
            yield hole

    def _whole(self) -> Inventory:
        if self._inventory is None:
            self._inventory = _inventory(self._storage, self.declared, self.manifests)
        return self._inventory


def open_bag(
    path: Path, *, limits: UnpackLimits = LIMITS, storage: Storage | None = None, tell: Listener = nobody
) -> Bag:
    """Opens a bag in a folder, zip or tar, of any version. Raises `PackageFault`, or what `safe` refuses.

    `storage` are its files where they are open already; they are closed with the bag.
    """
    with ExitStack() as stack:
        storage = storage or open_storage(path, limits, twins=True, tell=tell)
        stack.callback(storage.close)
        declared = declaration(storage)
        if isinstance(declared, Wrong):
            raise _fault(storage.where, DECLARATION, declared)
        bag = Bag(storage, declared)
        bag.info = tuple(_info(storage, declared))
        bag.manifests = payload_manifests(storage)
        if not bag.manifests:
            raise PackageFault(where=storage.where, why="no-manifest")
        stack.pop_all()
    return bag


def bag_info(storage: Storage) -> tuple[tuple[str, str], ...]:
    """What bag-info.txt says, in its order; nothing where its bag cannot be read, which is told by who reads it."""
    try:
        declared = declaration(storage)
        return () if isinstance(declared, Wrong) else tuple(_info(storage, declared))
    except (PackageFault, HostileInput):
        return ()


def contradicted(bag: Bag) -> Iterator[str]:
    """Tag files that are not there, or not what the tag manifests say; and the payload where nothing of it is listed.

    Payload files are held against their own checksums one by one, by whoever reads them.
    """
    storage, declared = bag._storage, bag.declared
    for name in top_files(storage):
        algorithm, tags = manifest_of(name) or ("", False)
        known = hash_name(algorithm) if tags else None
        for line in manifest_lines(storage, Manifest(name, algorithm), declared, tags=True) if known else ():
            if isinstance(line, Wrong):
                yield name
            elif not _is_so(storage, line, known or ""):
                yield line.name
    if next(bag.entries(whole=False), None) is None and next(bag.unlisted(), None) is not None:
        yield bag.manifests[0].name


def _is_so(storage: Storage, line: Listed, known: str) -> bool:
    running = hashlib.new(known, usedforsecurity=False)
    try:
        with storage.open(line.name) as file:
            while block := file.read(BLOCK_BYTES):
                running.update(block)
    except FileNotFoundError:
        return False
    return running.hexdigest() == line.digest


def looks_like_bag(path: Path) -> bool:
    """True for a folder, zip or tar with `bagit.txt` in its top folder. Reads no more than it must."""
    if path.is_dir():
        return (path / DECLARATION).is_file()
    for seen, (member, _) in enumerate(listed(path)):
        if len(member.parts) == 2 and member.parts[1] == DECLARATION:
            return True
        if seen > 1_000_000 and member.parts[1:2] == (PAYLOAD,):
            return False
    return False


def declaration(storage: Storage) -> Declared | Wrong:
    """What `bagit.txt` of a package says."""
    try:
        with storage.open(DECLARATION) as file:
            content = read_at_most(file, _MOST_DECLARATION)
    except FileNotFoundError:
        return Wrong(0, "missing")
    return read_declaration(content) if len(content) < _MOST_DECLARATION else Wrong(1, "malformed")


def read_at_most(file: Readable, size: int) -> bytes:
    """The first bytes of a file, however few it gives at a time."""
    whole = bytearray()
    while len(whole) < size and (block := file.read(size - len(whole))):
        whole += block
    return bytes(whole)


def payload_manifests(storage: Storage) -> tuple[Manifest, ...]:
    """The payload manifests that are there and that can be used here."""
    found = []
    for name in top_files(storage):
        known = manifest_of(name)
        if known and not known[1] and hash_name(known[0]):
            found.append(Manifest(name, known[0]))
    return tuple(found)


def top_files(storage: Storage) -> list[str]:
    """The names of the files in the top folder itself."""
    if storage.folder is not None:
        return sorted(entry.name for entry in storage.folder.iterdir() if entry.is_file() and not entry.is_symlink())
    return sorted(stored.name for stored in storage.files() if "/" not in stored.name)


@contextmanager
def tag_lines(storage: Storage, name: str, declared: Declared) -> Iterator[Iterator[tuple[int, str]]]:
    """The numbered lines of a tag file; endless lines and letters of another encoding are `PackageFault`."""
    with (
        storage.open(name) as file,
        io.TextIOWrapper(buffered(file), encoding=declared.encoding, newline=None) as text,
    ):
        yield _numbered(text, f"{storage.where}: {name}")


def _numbered(text: io.TextIOWrapper, where: str) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        while line := text.readline(MAX_LINE):
            number += 1
            if len(line) >= MAX_LINE:
                raise PackageFault(where=where, why="endless-line", line=number)
            if number == 1 and line.startswith("\ufeff"):
                raise PackageFault(where=where, why="byte-order-mark", line=1)
            yield number, line.removesuffix("\n")
    except UnicodeError as error:
        raise PackageFault(where=where, why="wrong-encoding", line=number + 1) from error


def info_lines(storage: Storage, declared: Declared) -> Iterator[tuple[int, str, str] | Wrong]:
    """The entries of the metadata file, none where there is no such file."""
    try:
        with tag_lines(storage, declared.info_name, declared) as lines:
            yield from read_info(lines)
    except FileNotFoundError:
        return


def manifest_lines(
    storage: Storage, manifest: Manifest, declared: Declared, *, tags: bool = False
) -> Iterator[Listed | Wrong]:
    """The lines of a manifest."""
    known = hash_name(manifest.algorithm)
    letters = digest_letters(known) if known else None
    with tag_lines(storage, manifest.name, declared) as lines:
        yield from read_manifest(lines, declared, letters, tags=tags)


def fetch_lines(storage: Storage, declared: Declared) -> Iterator[Hole | Wrong]:
    """The lines of `fetch.txt`, none where there is no such file."""
    try:
        with tag_lines(storage, FETCH, declared) as lines:
            yield from read_fetch(lines, declared)
    except FileNotFoundError:
        return


def read_names(storage: Storage, declared: Declared) -> Iterator[tuple[str, str]]:
    """What the tag file tells, where there is one: paths below `data/` with the keys of their original paths.

    A line that does not follow the rule by which names are made is nothing that we wrote, and tells nothing.
    """
    try:
        with tag_lines(storage, ORIGINAL_NAMES, declared) as lines:
            for _, line in lines:
                name, _, key = line.rstrip("\r\n").partition("\t")
                if key and is_portable_name_of(key, name):
                    yield name, key
    except (FileNotFoundError, PackageFault):
        return  # a tag file that cannot be read tells nothing; its checksum is the validator's


def payload_files(storage: Storage) -> Iterator[Stored]:
    """Every file below `data/`."""
    yield from (stored for stored in storage.files() if stored.name.startswith(_IN_ONE))


def _info(storage: Storage, declared: Declared) -> Iterator[tuple[str, str]]:
    for entry in info_lines(storage, declared):
        if isinstance(entry, Wrong):
            raise _fault(storage.where, declared.info_name, entry)
        yield entry[1], entry[2]


def _inventory(storage: Storage, declared: Declared, manifests: Iterable[Manifest]) -> Inventory:
    known = tuple(manifests)
    inventory = Inventory(len(known))
    try:
        for column, manifest in enumerate(known):
            for line in inventory.take_manifest(column, manifest_lines(storage, manifest, declared)):
                harmless = isinstance(line, Wrong) and line.why == "listed-alike" and declared.version != "1.0"
                if isinstance(line, Wrong) and not harmless:
                    raise _fault(storage.where, manifest.name, line)
        inventory.take_present(_plain(payload_files(storage), storage.where))
        for wrong in inventory.take_promised(fetch_lines(storage, declared)):
            raise _fault(storage.where, FETCH, wrong)
        deque(inventory.match(), maxlen=0)
    except BaseException:
        inventory.close()
        raise
    return inventory


def _plain(files: Iterable[Stored], where: str) -> Iterator[Stored]:
    """Files whose names are text; a link or device in a bag is refused."""
    for stored in files:
        if stored.odd:
            raise PackageFault(where=f"{where}: {stored.name}", why=stored.odd)
        if is_text(stored.name):
            yield stored


def _fault(where: str, file: str, wrong: Wrong) -> PackageFault | HostileInput:
    if wrong.why.startswith("path:"):
        return UnsafePath(where=f"{where}: {file}: {wrong.detail}", why=wrong.why.removeprefix("path:"))
    return PackageFault(where=f"{where}: {file}", why=wrong.why, line=wrong.line, detail=wrong.detail)

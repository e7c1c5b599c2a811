"""Reads a bag where it lies: its metadata, its files with their checksums, and their bytes, one by one.

    with open_bag(Path("delivery.tar")) as bag:
        for entry in bag.entries():
            with bag.open(entry.name) as content:
                ...

A bag that is not what it must be is refused at its first fault; `noarkit.validate` tells all of them.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noarkit.errors import HostileInput, PackageFault, UnsafePath
from noarkit.events import Listener, ignore_event
from noarkit.forms.bagit.inventory import Inventory
from noarkit.forms.bagit.names import ORIGINAL_NAMES
from noarkit.forms.bagit.spec import (
    DECLARATION,
    FETCH,
    MAX_LINE,
    PAYLOAD,
    BadLine,
    Declaration,
    Hole,
    ManifestLine,
    digest_letters,
    hash_name,
    is_text,
    manifest_of,
    read_declaration,
    read_fetch,
    read_info,
    read_manifest,
)
from noarkit.forms.container.names import OriginalNames
from noarkit.forms.container.storage import Storage, StoredFile, open_storage
from noarkit.safe.digest import Readable, buffered
from noarkit.safe.fixity import BY_MANIFEST, Fixity, checked
from noarkit.safe.portable import is_portable_name_of
from noarkit.safe.unpack import LIMITS, Member, UnpackLimits, stream_members

_MOST_DECLARATION = 4096
_PAYLOAD_PREFIX = PAYLOAD + "/"


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

    def __init__(self, storage: Storage, bagit_txt: Declaration) -> None:
        self._storage = storage
        self.declaration = bagit_txt
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
        folded_label = label.casefold()
        return next((value for name, value in self.info if name.casefold() == folded_label), None)

    def entries(self, *, complete: bool = True) -> Iterator[BagEntry]:
        """Every payload file that the manifests list. `PackageFault` for one neither there nor promised, unless the bag
        need not be `complete`."""
        inventory = self._load_inventory()
        if complete:
            for name in inventory.missing(promised=False):
                raise PackageFault(where=f"{self.where}: {name}", why="not-there")
        for pair in inventory.listed_files():
            digests = {
                manifest.algorithm: digest
                for manifest, digest in zip(self.manifests, pair.digests, strict=True)
                if digest is not None
            }
            yield BagEntry(
                pair.name.removeprefix(_PAYLOAD_PREFIX), None if pair.size_bytes < 0 else pair.size_bytes, digests
            )

    def unlisted(self) -> Iterator[str]:
        """Payload files that are there and that no manifest lists, by their paths below `data/`."""
        yield from (name.removeprefix(_PAYLOAD_PREFIX) for name in self._load_inventory().unlisted())

    def unlistable(self) -> Iterator[str]:
        """Payload files whose names are no text, by their paths below `data/`: no manifest can list them."""
        names = (file.name for file in payload_files(self._storage))
        yield from (name.removeprefix(_PAYLOAD_PREFIX) for name in names if not is_text(name))

    def locate(self, name: str) -> tuple[str, Member | None]:
        """Where the file of an entry lies: its path below the top folder, and how in an archive file."""
        pair = self._load_inventory().find(_PAYLOAD_PREFIX + name)
        stored_name = pair.stored_name if pair is not None else _PAYLOAD_PREFIX + name
        return stored_name, self._storage.member(stored_name)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a payload file, by the name of its entry; from an archive file one at a time."""
        pair = self._load_inventory().find(_PAYLOAD_PREFIX + name)
        if pair is None:
            raise PackageFault(where=f"{self.where}: {name}", why="not-there")
        return self._storage.open(pair.stored_name)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every payload file with its bytes, in the order in which they lie: the fast way through a packed bag."""
        inventory = self._load_inventory()
        for stored_name, content in self._storage.contents():
            expected = inventory.expected(stored_name) if stored_name.startswith(_PAYLOAD_PREFIX) else None
            if expected is not None:
                yield expected.name.removeprefix(_PAYLOAD_PREFIX), content

    def original_names(self) -> OriginalNames:
        """What its files were called before they went into it. Close it."""
        return OriginalNames(read_names(self._storage, self.declaration))

    def tag_files(self) -> Iterator[StoredFile]:
        """Every file that is no payload."""
        yield from (file for file in self._storage.files() if not file.name.startswith(_PAYLOAD_PREFIX))

    def open_tag(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a tag file."""
        return self._storage.open(name)

    def tag_member(self, name: str) -> Member | None:
        """How a tag file lies in an archive file; None in a folder."""
        return self._storage.member(name)

    def _load_inventory(self) -> Inventory:
        if self._inventory is None:
            self._inventory = _inventory(self._storage, self.declaration, self.manifests)
        return self._inventory


def open_bag(
    path: Path, *, limits: UnpackLimits = LIMITS, storage: Storage | None = None, emit: Listener = ignore_event
) -> Bag:
    """Opens a bag in a folder, zip or tar, of any version. Raises `PackageFault`, or what `safe` refuses.

    `storage` are its files where they are open already; they are closed with the bag.
    """
    with ExitStack() as stack:
        storage = storage or open_storage(path, limits, twins=True, emit=emit)
        stack.callback(storage.close)
        bagit_txt = load_declaration(storage)
        if isinstance(bagit_txt, BadLine):
            raise _fault(storage.where, DECLARATION, bagit_txt)
        bag = Bag(storage, bagit_txt)
        bag.info = tuple(_info(storage, bagit_txt))
        bag.manifests = payload_manifests(storage)
        if not bag.manifests:
            raise PackageFault(where=storage.where, why="no-manifest")
        stack.pop_all()
    return bag


def bag_info(storage: Storage) -> tuple[tuple[str, str], ...]:
    """What bag-info.txt says, in its order; nothing where its bag cannot be read, which is told by who reads it."""
    try:
        bagit_txt = load_declaration(storage)
        return () if isinstance(bagit_txt, BadLine) else tuple(_info(storage, bagit_txt))
    except (PackageFault, HostileInput):
        return ()


def contradicted_files(bag: Bag) -> Iterator[str]:
    """Tag files that are not there, or not what the tag manifests say; and the payload where nothing of it is listed.

    Payload files are held against their own checksums one by one, by whoever reads them.
    """
    storage, bagit_txt = bag._storage, bag.declaration
    for name in top_files(storage):
        algorithm, tags = manifest_of(name) or ("", False)
        hashlib_name = hash_name(algorithm) if tags else None
        for line in manifest_lines(storage, Manifest(name, algorithm), bagit_txt, tags=True) if hashlib_name else ():
            if isinstance(line, BadLine):
                yield name
            elif not _digest_matches(storage, line, hashlib_name or ""):
                yield line.name
    if next(bag.entries(complete=False), None) is None and next(bag.unlisted(), None) is not None:
        yield bag.manifests[0].name


def _digest_matches(storage: Storage, line: ManifestLine, hashlib_name: str) -> bool:
    try:
        with storage.open(line.name) as file:
            statement = Fixity(hashlib_name, line.digest, by=BY_MANIFEST)
            return not checked(file, statement).read_through().differences()
    except FileNotFoundError:
        return False


def looks_like_bag(path: Path) -> bool:
    """True for a folder, zip or tar with `bagit.txt` in its top folder. Reads no more than it must."""
    if path.is_dir():
        return (path / DECLARATION).is_file()
    for index, (member, _) in enumerate(stream_members(path)):
        if len(member.parts) == 2 and member.parts[1] == DECLARATION:
            return True
        if index > 1_000_000 and member.parts[1:2] == (PAYLOAD,):
            return False
    return False


def load_declaration(storage: Storage) -> Declaration | BadLine:
    """What `bagit.txt` of a package says."""
    try:
        with storage.open(DECLARATION) as file:
            content = read_at_most(file, _MOST_DECLARATION)
    except FileNotFoundError:
        return BadLine(0, "missing")
    return read_declaration(content) if len(content) < _MOST_DECLARATION else BadLine(1, "malformed")


def read_at_most(file: Readable, size: int) -> bytes:
    """The first bytes of a file, however few it gives at a time."""
    content = bytearray()
    while len(content) < size and (block := file.read(size - len(content))):
        content += block
    return bytes(content)


def payload_manifests(storage: Storage) -> tuple[Manifest, ...]:
    """The payload manifests that are there and that can be used here."""
    manifests = []
    for name in top_files(storage):
        name_parts = manifest_of(name)
        if name_parts and not name_parts[1] and hash_name(name_parts[0]):
            manifests.append(Manifest(name, name_parts[0]))
    return tuple(manifests)


def top_files(storage: Storage) -> list[str]:
    """The names of the files in the top folder itself."""
    if storage.folder is not None:
        return sorted(entry.name for entry in storage.folder.iterdir() if entry.is_file() and not entry.is_symlink())
    return sorted(file.name for file in storage.files() if "/" not in file.name)


@contextmanager
def tag_lines(storage: Storage, name: str, bagit_txt: Declaration) -> Iterator[Iterator[tuple[int, str]]]:
    """The numbered lines of a tag file; endless lines and letters of another encoding are `PackageFault`."""
    with (
        storage.open(name) as file,
        io.TextIOWrapper(buffered(file), encoding=bagit_txt.encoding, newline=None) as text,
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


def info_lines(storage: Storage, bagit_txt: Declaration) -> Iterator[tuple[int, str, str] | BadLine]:
    """The entries of the metadata file, none where there is no such file."""
    try:
        with tag_lines(storage, bagit_txt.info_name, bagit_txt) as lines:
            yield from read_info(lines)
    except FileNotFoundError:
        return


def manifest_lines(
    storage: Storage, manifest: Manifest, bagit_txt: Declaration, *, tags: bool = False
) -> Iterator[ManifestLine | BadLine]:
    """The lines of a manifest."""
    hashlib_name = hash_name(manifest.algorithm)
    letters = digest_letters(hashlib_name) if hashlib_name else None
    with tag_lines(storage, manifest.name, bagit_txt) as lines:
        yield from read_manifest(lines, bagit_txt, letters, tags=tags)


def fetch_lines(storage: Storage, bagit_txt: Declaration) -> Iterator[Hole | BadLine]:
    """The lines of `fetch.txt`, none where there is no such file."""
    try:
        with tag_lines(storage, FETCH, bagit_txt) as lines:
            yield from read_fetch(lines, bagit_txt)
    except FileNotFoundError:
        return


def read_names(storage: Storage, bagit_txt: Declaration) -> Iterator[tuple[str, str]]:
    """What the tag file tells, where there is one: paths below `data/` with the keys of their original paths.

    A line that does not follow the rule by which names are made is nothing that we wrote, and tells nothing.
    """
    try:
        with tag_lines(storage, ORIGINAL_NAMES, bagit_txt) as lines:
            for _, line in lines:
                name, _, key = line.rstrip("\r\n").partition("\t")
                if key and is_portable_name_of(key, name):
                    yield name, key
    except (FileNotFoundError, PackageFault):
        return  # a tag file that cannot be read tells nothing; its checksum is the validator's


def payload_files(storage: Storage) -> Iterator[StoredFile]:
    """Every file below `data/`."""
    yield from (file for file in storage.files() if file.name.startswith(_PAYLOAD_PREFIX))


def _info(storage: Storage, bagit_txt: Declaration) -> Iterator[tuple[str, str]]:
    for entry in info_lines(storage, bagit_txt):
        if isinstance(entry, BadLine):
            raise _fault(storage.where, bagit_txt.info_name, entry)
        yield entry[1], entry[2]


def _inventory(storage: Storage, bagit_txt: Declaration, manifests: Iterable[Manifest]) -> Inventory:
    manifest_list = tuple(manifests)
    inventory = Inventory(len(manifest_list))
    try:
        for column, manifest in enumerate(manifest_list):
            for line in inventory.take_manifest(column, manifest_lines(storage, manifest, bagit_txt)):
                harmless = isinstance(line, BadLine) and line.why == "listed-alike" and bagit_txt.version != "1.0"
                if isinstance(line, BadLine) and not harmless:
                    raise _fault(storage.where, manifest.name, line)
        inventory.take_present(_plain_files(payload_files(storage), storage.where))
        for wrong in inventory.take_promised(fetch_lines(storage, bagit_txt)):
            raise _fault(storage.where, FETCH, wrong)
        deque(inventory.match(), maxlen=0)
    except BaseException:
        inventory.close()
        raise
    return inventory


def _plain_files(files: Iterable[StoredFile], where: str) -> Iterator[StoredFile]:
    """Files whose names are text; a link or device in a bag is refused."""
    for file in files:
        if file.odd:
            raise PackageFault(where=f"{where}: {file.name}", why=file.odd)
        if is_text(file.name):
            yield file


def _fault(where: str, file: str, wrong: BadLine) -> PackageFault | HostileInput:
    if wrong.why.startswith("path:"):
        return UnsafePath(where=f"{where}: {file}: {wrong.detail}", why=wrong.why.removeprefix("path:"))
    return PackageFault(where=f"{where}: {file}", why=wrong.why, line=wrong.line, detail=wrong.detail)

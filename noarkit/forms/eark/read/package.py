"""Opens an E-ARK package of any version, in a folder, zip or tar, without unpacking it, and tells what it holds.

    with open_eark(Path("delivery.zip")) as package:
        for part in package.representations:
            for entry in package.files(part.name):
                with package.open(entry.name) as content: ...

What the METS of the package and of its representations list, and what is there, are brought together in a temporary
database: a million files cost no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noarkit.errors import PackageFault, UnsafeMember
from noarkit.forms.container.storage import Storage, StoredFile, open_storage
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.hrefs import ResolvedHref
from noarkit.forms.eark.read.inventory import Entry, Inventory, representation_folder
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsReader
from noarkit.forms.metadata.premis_objects import PremisObject, read_objects
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.unpack import LIMITS, Member, UnpackLimits

__all__ = ["EarkPackage", "Entry", "Part", "is_eark", "open_eark"]

_OWNER = b"OWNERID"
_MAX_DOCUMENTS = 100_000
_KIND_OF_TYPE = {"SIP": "sip", "AIP": "aip", "DIP": "dip", "AIU": "aip", "AIC": "aip"}


@dataclass(frozen=True, slots=True)
class Part:
    """A representation. `name` is its folder's, with the folders above `representations` where there are any."""

    name: str
    folder: str
    heading: MetsHeader | None
    content_type: str = ""
    other_content_type: str = ""

    @property
    def label(self) -> str:
        """What it is called."""
        return (self.heading.label if self.heading else "") or self.name


def open_eark(path: Path, limits: UnpackLimits = LIMITS) -> EarkPackage:
    """Opens a package. Raises `PackageFault` where it is none, or its METS cannot be read, and what `safe` refuses."""
    storage = open_storage(path, limits)
    try:
        return EarkPackage(storage)
    except BaseException:
        storage.close()
        raise


def original_names(storage: Storage) -> Iterator[tuple[str, str]]:
    """What the METS of a package tell as the original names of files, by their names in it. Raises `PackageFault`, and
    what `safe` refuses."""
    if not any(_has_owner_ids(storage, name) for name in _mets_of(storage)):
        return  # as most; all of a package is much to read
    package = EarkPackage(storage)
    try:
        for entry in package.files():
            if entry.original_name and not entry.why:
                yield entry.name, entry.original_name
    finally:
        package._inventory.close()


def _mets_of(storage: Storage) -> list[str]:
    return [file.name for file in storage.files() if file.name.rpartition("/")[2] == spec.METS_FILE]


def _has_owner_ids(storage: Storage, name: str) -> bool:
    with storage.open(name) as file:
        last = b""
        while block := file.read(BLOCK_BYTES):
            if _OWNER in last + block:
                return True
            last = block[-len(_OWNER) :]
    return False


def is_eark(path: Path) -> bool:
    """Whether a folder is the top of a package: a METS lies directly in it."""
    return (path / spec.METS_FILE).is_file()


class EarkPackage:
    """An open package."""

    def __init__(self, storage: Storage) -> None:
        self.where = storage.where
        self._storage = storage
        self._inventory = Inventory()
        self.documents: dict[str, MetsHeader] = {}
        try:
            self._inventory.add_present(_plain_files(storage))
            if self._inventory.find(spec.METS_FILE) is None:
                raise PackageFault(where=self.where, why="eark-without-mets")
            self._read_all()
            self.representations = tuple(self._parts())
            self._folders = {"": "", **{part.name: part.folder for part in self.representations}}
        except BaseException:
            self._inventory.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the package go."""
        self._inventory.close()
        self._storage.close()

    def forget(self) -> None:
        """Lets go of what was read, and leaves the storage open to whoever gave it."""
        self._inventory.close()

    @property
    def root(self) -> MetsHeader:
        """The heading of the package's own METS."""
        return self.documents[spec.METS_FILE]

    @property
    def kind(self) -> str:
        """`sip`, `aip` or `dip`; empty if nothing says so."""
        package_type = self.root.package_type or self.root.type
        return _KIND_OF_TYPE.get(package_type.upper(), "")

    @property
    def version(self) -> str:
        """The version that the profile names; empty if it names none."""
        return spec.version_of_profile(self.root.profile) or ""

    def files(self, representation: str | None = None) -> Iterator[Entry]:
        """What is listed as a file: all of it, of one representation, or of the package itself with ``""``.

        METS themselves are no files of this kind. What is listed and cannot be had is told with its `why`. Raises
        `KeyError` for a representation there is not.
        """
        return self._inventory.entries("file", None if representation is None else self._folder(representation))

    def metadata(self, representation: str | None = None) -> Iterator[Entry]:
        """What is listed as metadata: all of it, of one representation, or of the package itself with ``""``."""
        folder = None if representation is None else self._folder(representation)
        return self._inventory.entries("metadata", folder)

    def present(self) -> Iterator[tuple[str, int]]:
        """Every file that is there, with its size."""
        return self._inventory.all_files()

    def unlisted(self) -> Iterator[str]:
        """What is there and listed nowhere, but the package's own METS."""
        return self._inventory.unlisted()

    def find(self, name: str) -> Entry | None:
        """What is listed of one file."""
        return self._inventory.entry(name)

    def resolve(self, href: str, folder: str) -> ResolvedHref:
        """The file that a reference leads to, seen from a folder (empty, or ending in `/`)."""
        return self._inventory.resolve(href, folder)

    def unlisted_below(self, folder: str) -> Iterator[tuple[str, int]]:
        """What is there below a folder and listed nowhere, with its size."""
        return self._inventory.unlisted_below(folder)

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of one file, by its stored name."""
        return self._storage.open(name)

    def size_of(self, name: str) -> int | None:
        """How large a file is; None if there is none."""
        return self._inventory.size_of(name)

    def member(self, name: str) -> Member | None:
        """Where a file lies in the archive file; None in a folder."""
        return self._storage.member(name)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every file with its bytes, in the order in which they lie."""
        return self._storage.contents()

    def premis(self, name: str) -> Iterator[PremisObject]:
        """The objects of a PREMIS file."""
        with self._storage.open(name) as source:
            yield from read_objects(source, f"{self.where}/{name}")

    def _folder(self, representation: str) -> str:
        return self._folders[representation]

    def _read_all(self) -> None:
        """Reads the package's METS, every METS that one of those read points to, and what representations have."""
        self._read([spec.METS_FILE])
        self._read(
            [name for folder in self._inventory.folders() if (name := self._inventory.find(folder + spec.METS_FILE))]
        )

    def _read(self, waiting: list[str]) -> None:
        while waiting:
            name = waiting.pop()
            if name in self.documents:
                continue
            if len(self.documents) >= _MAX_DOCUMENTS:
                raise PackageFault(where=self.where, why="eark-too-many-mets")
            waiting.extend(reversed(self._read_one(name)))

    def _read_one(self, name: str) -> list[str]:
        folder, further = _parent_folder(name), list[str]()
        with self._storage.open(name) as source:
            mets = MetsReader(source, f"{self.where}/{name}", (spec.METS,))
            for reference in mets.items():
                target = self._inventory.resolve(reference.href, folder)
                self._inventory.add_listed(name, reference, target)
                leads = not target.why and target.name.rpartition("/")[2].lower() == "mets.xml"
                if leads and (
                    reference.role == "pointer" or representation_folder(target.name) == _parent_folder(target.name)
                ):
                    further.append(target.name)
        self.documents[name] = mets.header
        self._inventory.flush_listed()
        self._inventory.mark_as_mets(name)
        return further

    def _parts(self) -> Iterator[Part]:
        """Representations: by their METS, and by the files that lie in their folders."""
        heading_by_folder: dict[str, MetsHeader | None] = {}
        for name, heading in self.documents.items():
            if representation_folder(name) == _parent_folder(name):
                heading_by_folder[_parent_folder(name)] = heading
        for folder in self._inventory.folders():
            heading_by_folder.setdefault(folder, None)
        for folder, part_heading in sorted(heading_by_folder.items()):
            above, _, last = folder.rstrip("/").rpartition("/")
            outer = above.rpartition("/")[0]
            content = self._inventory.content_of(folder)
            content_types = (
                (part_heading.content_type, part_heading.other_content_type)
                if part_heading and part_heading.content_type
                else content
            )
            yield Part(f"{outer}/{last}" if outer else last, folder, part_heading, *content_types)


def _plain_files(storage: Storage) -> Iterator[StoredFile]:
    """The files of a package. Raises `UnsafeMember` for a link or device."""
    for file in storage.files():
        if file.odd:
            raise UnsafeMember(where=file.name, why=file.odd)
        yield file


def _parent_folder(name: str) -> str:
    return name[: name.rfind("/") + 1]

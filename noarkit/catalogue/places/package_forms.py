"""What a package of each form tells of itself and of its files: E-ARK by its METS, DIAS by its METS and submission
description, bags by their manifests. A package whose lists cannot be read is told by what lies there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from noarkit.catalogue.places.package_files import ListedFile
from noarkit.catalogue.port import Json
from noarkit.errors import ItemNotAFile, ItemVanished, PackageFault
from noarkit.forms.bagit.read import Bag, open_bag
from noarkit.forms.bagit.spec import PAYLOAD, hash_name
from noarkit.forms.container.locators import locator_of
from noarkit.forms.container.storage import Storage, open_storage
from noarkit.forms.dias import spec as dias
from noarkit.forms.dias.read.package import DiasPackage, open_dias
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.eark.read.package import EarkPackage, Entry, open_eark
from noarkit.forms.eark.source.records import package_fields
from noarkit.forms.eark.spec import HASHES
from noarkit.safe.unpack import Member, form_of


@dataclass(frozen=True, slots=True)
class PackageView:
    """An open package: what it is called, what it tells of itself, its storage, and its files."""

    title: str
    fields: Mapping[str, Json]
    storage: Storage
    place: Path
    files: Iterator[ListedFile]
    beside: Path | None = None
    faults: list[PackageFault] = field(default_factory=list)


@contextmanager
def view_package(form: str, path: Path) -> Iterator[PackageView]:
    """The package of that form at a path, as far as it can be read. Raises what `safe` refuses, and `PackageFault`
    where not even its files can be listed."""
    opening = {"eark": _eark, "dias": _dias, "bagit": _bag}[form]
    with ExitStack() as stack:
        try:
            view = next(stack.enter_context(closing(opening(path))))
        except PackageFault as fault:
            storage = stack.enter_context(closing(_storage(path)))
            view = PackageView(path.name, {}, storage, path, present_files(storage), faults=[fault])
        yield view


def _storage(path: Path) -> Storage:
    return open_tar_storage(path) if path.is_file() and form_of(path) == "tar" else open_storage(path, top=False)


def _locator(name: str, member: Member | None, algorithm: str = "", checksum: str = "") -> str:
    """What `PackageContents` opens a file by; a SHA-256 is told beside it."""
    proof = f"{algorithm}:{checksum}" if algorithm and algorithm != "sha256" and checksum else ":"
    return f"{proof}:{name if member is None else locator_of(member)}"


def present_files(storage: Storage) -> Iterator[ListedFile]:
    """What lies in a package, whatever it lists."""
    for file in storage.files():
        odd = ItemNotAFile.code if file.odd else ""
        locator = "" if odd else _locator(file.name, storage.member(file.name))
        yield ListedFile(file.name, file.size_bytes, locator, fault=odd, listed=False)


def _eark(path: Path) -> Generator[PackageView]:
    with open_eark(path) as package:
        fields = {name: value for name, value in package_fields(package.root, {}).items() if value}
        fields |= {"form": f"E-ARK {package.kind.upper()}".strip(), "version": package.version}
        title = package.root.label or package.root.object_id or path.name
        yield PackageView(title, _json(fields), package._storage, path, _eark_files(package))


def _eark_files(package: EarkPackage) -> Iterator[ListedFile]:
    for entry in package.files():
        yield _eark_file(package, entry, metadata=False)
    for entry in package.metadata():
        yield _eark_file(package, entry, metadata=True)
    for name in package.documents:
        yield ListedFile(name, package.size_of(name), _locator(name, package.member(name)), metadata=True)
    for name in package.unlisted():
        yield ListedFile(name, package.size_of(name), _locator(name, package.member(name)), listed=False)


def _eark_file(package: EarkPackage, entry: Entry, *, metadata: bool) -> ListedFile:
    algorithm = HASHES.get(entry.checksum_type, "") if entry.checksum else ""
    is_there = not entry.why
    return ListedFile(
        name=entry.name or entry.href,
        size_bytes=package.size_of(entry.name) if is_there else entry.size_bytes,
        locator=_locator(entry.name, package.member(entry.name), algorithm, entry.checksum) if is_there else "",
        algorithm=algorithm,
        checksum=entry.checksum,
        media_type=entry.media_type,
        puid=entry.puid,
        created=entry.created,
        original_name=entry.original_name,
        fault="" if is_there else ItemVanished.code,
        metadata=metadata,
        digests=f"{algorithm}:{entry.checksum}" if algorithm else "",
    )


def _dias(path: Path) -> Generator[PackageView]:
    with open_dias(path, complete=False) as package:
        header = package.header
        fields = {name: value for name, value in asdict(header).items() if value} | {
            "form": f"DIAS {header.type}".strip()
        }
        title = header.label or dias.uuid_in(header.object_id) or package.located.place.name
        place, beside = package.located.place, package.located.description
        yield PackageView(title, _json(fields), package.storage, place, _dias_files(package), beside)


def _dias_files(package: DiasPackage) -> Iterator[ListedFile]:
    for entry in package.entries():
        algorithm = dias.CHECKSUM_TYPES.get(entry.checksum_type.upper(), "")
        locator = _locator(entry.name, package.storage.member(entry.name), algorithm, entry.checksum)
        yield ListedFile(
            *(entry.name, entry.size_bytes, locator, algorithm, entry.checksum),
            original_name=entry.owner_id,
            metadata=not entry.name.startswith(f"{dias.CONTENT}/"),
            digests=f"{algorithm}:{entry.checksum}" if algorithm else "",
        )
    for name in package.missing():
        yield ListedFile(name, None, "", fault=ItemVanished.code)
    for name in package.unlisted():
        is_metadata = not name.startswith(f"{dias.CONTENT}/")
        locator = _locator(name, package.storage.member(name))
        yield ListedFile(name, package.size_of(name), locator, metadata=is_metadata, listed=name == dias.METS)


def _bag(path: Path) -> Generator[PackageView]:
    with open_bag(path) as bag:
        fields: dict[str, Json] = {"form": f"BagIt {bag.declaration.version}".strip()}
        for label, value in bag.info:
            before = fields.get(label)
            fields[label] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
        yield PackageView(path.name, fields, bag._storage, path, _bag_files(bag))


def _bag_files(bag: Bag) -> Iterator[ListedFile]:
    for file in bag.tag_files():
        yield ListedFile(file.name, file.size_bytes, _locator(file.name, bag.tag_member(file.name)), metadata=True)
    for entry in bag.entries(complete=False):
        digests = {name: digest for label, digest in entry.digests.items() if (name := hash_name(label))}
        algorithm = "sha256" if "sha256" in digests else max(digests, key=lambda name: len(digests[name]), default="")
        checksum = digests.get(algorithm, "")
        stored, member = bag.locate(entry.name)
        is_there = entry.size_bytes is not None
        yield ListedFile(
            *(f"{PAYLOAD}/{entry.name}", entry.size_bytes),
            _locator(stored, member, algorithm, checksum) if is_there else "",
            *(algorithm, checksum),
            fault="" if is_there else ItemVanished.code,
            digests=" ".join(f"{name}:{digest}" for name, digest in digests.items()),
        )
    for name in bag.unlisted():
        stored, member = bag.locate(name)
        yield ListedFile(f"{PAYLOAD}/{name}", None, _locator(stored, member), listed=False)


def _json(values: object) -> dict[str, Json]:
    """Values of a heading, which are texts, numbers, lists and mappings of those."""
    plain = _plain(values)
    return plain if isinstance(plain, dict) else {}


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items() if entry not in ("", None, (), [])}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)

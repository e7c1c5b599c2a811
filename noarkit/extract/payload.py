"""What a place holds, whatever it is wrapped in: the files that are carried over when one form becomes another.

    with payload_of(Path("delivery.zip")) as payload:
        payload.parts        # one for each representation, or one
        payload.parts[0].files()

What is packed is read where it lies, file by file in the order in which they lie.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from noarkit.errors import HostileInput, PackageFault, TooLarge, UnsafeMember, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.left_out import left_out
from noarkit.extract.naming import Naming
from noarkit.packages.bagit.read import declaration, read_names
from noarkit.packages.bagit.spec import PAYLOAD, Declared
from noarkit.packages.dias.held import open_held
from noarkit.packages.dias.read import original_names as names_in_dias
from noarkit.packages.eark.read import original_names as names_in_eark
from noarkit.packages.forms import Found, look, look_as
from noarkit.packages.holding.building import Aside, File
from noarkit.packages.holding.located import locator_of
from noarkit.packages.holding.names import OriginalNames
from noarkit.packages.holding.storage import Below, FolderStorage, Storage, Stored, open_storage
from noarkit.packages.marks import Form
from noarkit.packages.noark5.held import extract_in
from noarkit.safe.atomic import no_room
from noarkit.safe.digest import copy_hashing
from noarkit.safe.keys import key_of
from noarkit.safe.paths import inside
from noarkit.safe.portable import portable_part
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.safe.workplace import own_folder
from noarkit.sources.files.folders import kind_of

Content = Literal["noark5", "siard", "files"]
_REPRESENTATIONS = "representations"
_DATA = "data"
_CONTENT = "content"
NOT_CARRIED = "not-carried"
FOLDER, LINK = "folder", "link"
_MOST_TOLD = 10_000
_KINDS_TOLD: Mapping[str, Literal["descriptive", "other", "documentation"]] = {
    "metadata/descriptive": "descriptive",
    "descriptive_metadata": "descriptive",
    "metadata/other": "other",
    "documentation": "documentation",
}
_TOLD = re.compile(
    r"(?:representations/(?P<part>[^/]+)/)?"
    r"(?P<kind>metadata/descriptive|descriptive_metadata|metadata/other|documentation)/(?P<name>.+(?<!\.xsd))",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together under a name. `files` may be asked for again. `where` is the place they lie in, of
    which `takes` says what belongs to them."""

    name: str
    content: Content
    files: Callable[[], Iterator[File]]
    where: str = ""
    takes: Callable[[str], bool] = bool  # every name is one
    naming: Naming | None = None

    @property
    def folder(self) -> str:
        """The name as a folder of a package may bear it."""
        return portable_part(self.name) if self.name else ""

    def called(self) -> Iterator[tuple[File, str]]:
        """Every file by the name that it has in the package, and with the key of its own where that differs."""
        naming = self.naming
        for file in self.files():
            told = naming.of(file[0]) if naming is not None else file[0]
            yield (told, *file[1:]), "" if told == file[0] else key_of(os.fsencode(file[0]))

    def covers(self, root: str, name: str) -> bool:
        """True where a file of the package at `root` is one of these, or holds them."""
        full = f"{root}/{name}"
        if not self.where.startswith(f"{root}/") and self.where != root:
            return name.endswith(".tar")  # they lie in an archive file of the package
        above = f"{self.where}/"
        return full.startswith(above) and self.takes(full.removeprefix(above))


@dataclass(frozen=True, slots=True)
class Told:
    """A file that describes what is carried: of which kind, and below which name. `part` is empty for all of it."""

    kind: Literal["descriptive", "other", "documentation"]
    part: str
    file: File


@dataclass(frozen=True, slots=True)
class Payload:
    """What is to be carried over. `form` is what it came in, `title` what the place is called; `told` are descriptions
    that other forms have a place for, too; `set_aside` is what stands in a folder and is no file, with its kind, and
    what stands in a package and belongs to nothing that it holds. `aside` is told of files that cannot be read."""

    form: Form
    title: str
    parts: tuple[Part, ...]
    whole: Part
    told: tuple[Told, ...] = ()
    set_aside: Mapping[str, str] = field(default_factory=dict)
    aside: Aside | None = None


@contextmanager
def payload_of(
    path: Path, limits: UnpackLimits = LIMITS, tell: Listener = nobody, *, form: Form | None = None
) -> Iterator[Payload]:
    """What lies at `path`: a folder, a file or a package of any form, or of `form` whatever it looks like. Raises
    `PackageFault`, `UsageFault`, or what `safe` refuses."""
    try:
        found = look(path, limits, tell=tell) if form is None else look_as(path, form, limits, tell=tell)
    except OSError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error
    if not path.is_dir() and not path.is_file():
        raise UsageFault(what="not-a-file", where=str(path))
    with ExitStack() as stack:
        if path.is_file() and found.form in ("plain", "siard"):
            kind: Content = "siard" if found.form == "siard" else "files"
            one = Part(_part_name(kind), kind, lambda: iter([(path.name, str(path), path.stat().st_size, "")]))
            yield Payload(found.form, path.stem or path.name, (one,), one)
            return
        if found.form == "siard":
            found = replace(found, form="plain")  # unpacked, it is a folder of files like any other
        storage = _storage(found, path, limits, tell)
        stack.callback(storage.close)
        if found.form == "plain":
            aside = dict(_no_files(storage))
            one = Part(_part_name("files"), "files", partial(_files, storage, lambda name: name not in aside))
            yield Payload("plain", found.root.name, (one,), one, set_aside=aside)
            return
        parts = tuple(_parts(found.form, storage, _Opening(stack, limits)))
        whole = _part("", "files", _wrapped(found, path, storage))
        covering = [partial(part.covers, storage.where) for part in parts]
        aside = dict.fromkeys(left_out(found.form, storage, covering), NOT_CARRIED)
        yield Payload(found.form, found.root.name, parts, whole, tuple(_told(found.form, storage)), aside)


def _storage(found: Found, path: Path, limits: UnpackLimits, tell: Listener) -> Storage:
    if found.form == "dias":
        return _dias_storage(found, path, limits)
    if found.packed is None:
        return FolderStorage(found.root)
    return open_storage(path, limits, top=False, twins=found.form == "bagit", tell=tell)


def _dias_storage(found: Found, path: Path, limits: UnpackLimits) -> Storage:
    """A DIAS package as its folder, its tar, or the tar that lies beside its description."""
    if found.packed is not None:
        return open_held(path, limits)
    if (found.root / "dias-mets.xml").is_file():
        return FolderStorage(found.root)
    if path.is_file():
        return open_held(path.with_suffix(".tar"), limits)
    tars = sorted(one for one in path.glob("*.tar") if one.with_suffix(".xml").is_file()) or sorted(path.glob("*.tar"))
    if len(tars) != 1:
        raise PackageFault(where=str(path), why="several-packages")
    return open_held(tars[0], limits)


def _wrapped(found: Found, path: Path, storage: Storage) -> Storage:
    """All of a package, as it goes into a bag. A DIAS package is its tar and its description, as they lie."""
    if found.form == "dias" and storage.folder is None and path.is_dir():
        return FolderStorage(path)
    return storage


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens an archive file that lies in a package, for as long as the payload is open."""

    stack: ExitStack
    limits: UnpackLimits
    depth: int = 0

    def deeper(self, where: str) -> _Opening:
        """The same, one package further in. Raises `TooLarge` where they lie in each other without end."""
        if self.depth >= self.limits.nesting:
            raise TooLarge(where=where, why="nesting", limit=self.limits.nesting)
        return replace(self, depth=self.depth + 1)

    def names(self, form: Form, storage: Storage) -> OriginalNames:
        """What a package of a form tells of the original names of its files; nothing where that cannot be read, which
        whoever judges the package tells."""
        try:
            found = OriginalNames(_told_names(form, storage))
        except (PackageFault, HostileInput):
            found = OriginalNames(())
        self.stack.callback(found.close)
        return found

    def tar(self, storage: Storage, name: str) -> Storage:
        """The files of a tar; one that is packed itself is laid in a folder of our own first."""
        if storage.folder is not None:
            path = inside(storage.folder, name)
        else:
            path = self.stack.enter_context(own_folder("dias")) / "package.tar"
            with storage.open(name) as content, no_room(path), path.open("xb") as file:
                copy_hashing(content, file)
        opened = open_held(path, self.limits)
        self.stack.callback(opened.close)
        return opened


def _told_names(form: Form, storage: Storage) -> Iterator[tuple[str, str]]:
    if form == "bagit":
        declared = declaration(storage)
        return read_names(storage, declared) if isinstance(declared, Declared) else iter(())
    return names_in_eark(storage) if form == "eark" else names_in_dias(storage)


def _parts(form: Form, storage: Storage, opening: _Opening) -> Iterator[Part]:
    if form == "bagit":
        yield from _inside(Below(storage, PAYLOAD), opening, opening.names(form, storage))
    elif form == "eark":
        yield from _representations(storage, opening)
    elif form == "dias":
        names = partial(opening.names(form, storage), above=f"{_CONTENT}/")
        yield from _inside(Below(storage, _CONTENT), opening, names)
    elif form == "noark5":
        yield _noark(storage)
    else:
        yield _part("", "files", storage)


def _inside(storage: Storage, opening: _Opening, names: Callable[[str], str]) -> Iterator[Part]:
    """What lies in a package that holds anything: an extract, another package, or files, which `names` tells the
    original names of."""
    near = {stored.name for stored in _near(storage)}
    if "dias-mets.xml" in near:
        yield from _parts("dias", storage, opening.deeper(storage.where))
    elif "METS.xml" in near:
        yield from _representations(storage, opening)
    elif {"arkivstruktur.xml", "arkivuttrekk.xml"} & near:
        yield _part("", "noark5", storage, names=names)
    elif tar := _sealed(near):
        yield from _parts("dias", opening.tar(storage, tar), opening.deeper(storage.where))
    elif folder := _only_folder(storage, near):
        yield from _inside(Below(storage, folder), opening.deeper(storage.where), _same)
    else:
        yield _part("", "files", storage, names=names)


def _sealed(names: set[str]) -> str | None:
    """The tar of a DIAS delivery: nothing lies there but it and the description of its name."""
    tar = next((name for name in names if name.endswith(".tar")), None)
    return tar if tar is not None and names == {tar, f"{tar.removesuffix('.tar')}.xml"} else None


def _only_folder(storage: Storage, names: set[str]) -> str | None:
    """The folder that holds everything, where a package lies in it."""
    first = next(iter(names), "").split("/", 1)[0]
    marks = {f"{first}/{mark}" for mark in ("METS.xml", "dias-mets.xml")}
    alone = all(stored.name.startswith(f"{first}/") for stored in storage.files())
    return first if alone and (_sealed(names) is not None or marks & names) else None


def _near(storage: Storage) -> Iterator[Stored]:
    return (stored for stored in storage.files() if stored.name.count("/") <= 1)


def _noark(storage: Storage) -> Part:
    extract = extract_in(storage) or storage
    return _part("", "noark5", extract)


def _representations(storage: Storage, opening: _Opening) -> Iterator[Part]:
    """The data of each representation, as the folders have it."""
    above: str | None = None
    names: dict[str, bool] = {}
    for stored in storage.files():
        steps = stored.name.split("/")
        if steps[0].casefold() == _REPRESENTATIONS and len(steps) > 2:
            above = steps[0]
            names[steps[1]] = names.get(steps[1], False) or (len(steps) > 3 and steps[2] == _DATA)
    originals = opening.names("eark", storage)
    if above is None:
        yield _part("", "files", storage, _is_content, originals)
        return
    for name, has_data in sorted(names.items()):
        inner = Below(storage, f"{above}/{name}")
        data = Below(storage, f"{above}/{name}/{_DATA}") if has_data else inner
        files = {stored.name for stored in _near(data)}
        kind: Content = "noark5" if {"arkivstruktur.xml", "arkivuttrekk.xml"} & files else "files"
        base = f"{above}/{name}/{_DATA}/" if has_data else f"{above}/{name}/"
        yield _part(name, kind, data, _any if has_data else _is_content, partial(originals, above=base))


def _told(form: Form, storage: Storage) -> Iterator[Told]:
    """Descriptions and documentation; few, however many files they describe."""
    if form not in ("eark", "dias"):
        return
    described = _files(storage, lambda name: _TOLD.fullmatch(name) is not None)
    for file in islice(described, _MOST_TOLD):
        found = _TOLD.fullmatch(file[0])
        if found is not None:
            yield Told(_KINDS_TOLD[found["kind"].lower()], found["part"] or "", (found["name"], *file[1:]))


def _any(name: str) -> bool:
    return True


def _is_content(name: str) -> bool:
    """What of a package without representations is no description of it."""
    top = name.split("/", 1)[0].casefold()
    return top not in ("mets.xml", "metadata", "schemas", "documentation")


def _same(name: str) -> str:
    return name


def _part(
    name: str,
    kind: Content,
    storage: Storage,
    wanted: Callable[[str], bool] = _any,
    names: Callable[[str], str] = _same,
) -> Part:
    files = partial(_files, storage, wanted, names)
    return Part(name or _part_name(kind), kind, files, storage.where, wanted)


def _no_files(storage: Storage) -> Iterator[tuple[str, str]]:
    """Links, pipes, sockets and devices of a folder, which have no content to carry over, and folders that cannot be
    read, with the kind of each."""
    if storage.folder is None:
        return
    for stored in storage.files():
        if stored.odd:
            mode = (storage.folder / stored.name).lstat().st_mode
            yield stored.name, FOLDER if stat.S_ISDIR(mode) else LINK if stat.S_ISLNK(mode) else kind_of(mode)


def _part_name(kind: Content) -> str:
    return {"noark5": "noark5", "siard": "database", "files": "files"}[kind]


def _files(storage: Storage, wanted: Callable[[str], bool], names: Callable[[str], str] = _same) -> Iterator[File]:
    """Every file by its original name, with where its bytes come from. Raises `UnsafeMember` for a link or device:
    packages hold none."""
    for stored in storage.laid():
        if not wanted(stored.name):
            continue
        if stored.odd:
            raise UnsafeMember(where=stored.name, why=stored.odd)
        if storage.folder is not None:
            yield names(stored.name), f"{storage.folder}/{stored.name}", stored.size_bytes, ""
        else:
            member = storage.member(stored.name)
            stamp = locator_of(member) if member is not None else ""
            yield names(stored.name), partial(storage.open, stored.name), stored.size_bytes, f"{storage.stamp}:{stamp}"

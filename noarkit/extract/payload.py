"""The payload of a package of any form, folder or file: the files that are carried over to another form.

    with payload_of(Path("delivery.zip")) as payload:
        payload.parts        # one for each representation, or one
        payload.parts[0].files()

What is packed is read where it lies, file by file in the order in which they lie.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from noarkit.errors import PackageFault, TooLarge, UnsafeMember, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.left_out import names_left_out
from noarkit.packages.bagit.spec import PAYLOAD
from noarkit.packages.dias.held import open_held
from noarkit.packages.forms import Found, look
from noarkit.packages.holding.building import File
from noarkit.packages.holding.located import locator_of
from noarkit.packages.holding.storage import Below, FolderStorage, Storage, Stored, open_storage
from noarkit.packages.marks import Form
from noarkit.packages.noark5.held import extract_in
from noarkit.safe.atomic import no_room
from noarkit.safe.digest import copy_hashing
from noarkit.safe.paths import inside
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.safe.workplace import own_folder
from noarkit.sources.files.folders import kind_of

Content = Literal["noark5", "siard", "files"]
_REPRESENTATIONS = "representations"
_DATA = "data"
_CONTENT = "content"
NOT_CARRIED = "not-carried"
_MOST_DESCRIPTIONS = 10_000
_DESCRIPTION_KINDS: Mapping[str, Literal["descriptive", "other", "documentation"]] = {
    "metadata/descriptive": "descriptive",
    "descriptive_metadata": "descriptive",
    "metadata/other": "other",
    "documentation": "documentation",
}
_DESCRIPTION = re.compile(
    r"(?:representations/(?P<part>[^/]+)/)?"
    r"(?P<kind>metadata/descriptive|descriptive_metadata|metadata/other|documentation)/(?P<name>.+(?<!\.xsd))",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together under a name. `files` may be asked for again. `location` is the place they lie in, of
    which `takes` says what belongs to them."""

    name: str
    content: Content
    files: Callable[[], Iterator[File]]
    location: str = ""
    takes: Callable[[str], bool] = bool  # every name is one

    def covers(self, root: str, name: str) -> bool:
        """True where a file of the package at `root` is one of these, or holds them."""
        full = f"{root}/{name}"
        if not self.location.startswith(f"{root}/") and self.location != root:
            return name.endswith(".tar")  # they lie in an archive file of the package
        above = f"{self.location}/"
        return full.startswith(above) and self.takes(full.removeprefix(above))


@dataclass(frozen=True, slots=True)
class Description:
    """A file that describes what is carried: of which kind, and below which name. `part` is empty for all of it."""

    kind: Literal["descriptive", "other", "documentation"]
    part: str
    file: File


@dataclass(frozen=True, slots=True)
class Payload:
    """What is to be carried over. `form` is what it came in, `title` what the place is called; `descriptions` are those
    that other forms have a place for, too; `set_aside` is what stands in a folder and is no file, with its kind, and
    what stands in a package and belongs to nothing that it holds."""

    form: Form
    title: str
    parts: tuple[Part, ...]
    whole: Part
    descriptions: tuple[Description, ...] = ()
    set_aside: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def payload_of(path: Path, limits: UnpackLimits = LIMITS, emit: Listener = nobody) -> Iterator[Payload]:
    """What lies at `path`: a folder, a file or a package of any form. Raises `PackageFault`, or what `safe` refuses."""
    try:
        look_result = look(path, limits, tell=emit)
    except OSError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error
    if not path.is_dir() and not path.is_file():
        raise UsageFault(what="not-a-file", where=str(path))
    with ExitStack() as stack:
        if path.is_file() and look_result.form in ("plain", "siard"):
            kind: Content = "siard" if look_result.form == "siard" else "files"
            single_part = Part(_part_name(kind), kind, lambda: iter([(path.name, str(path), path.stat().st_size, "")]))
            yield Payload(look_result.form, path.stem or path.name, (single_part,), single_part)
            return
        if look_result.form == "siard":
            look_result = replace(look_result, form="plain")  # unpacked, it is a folder of files like any other
        storage = _storage(look_result, path, limits, emit)
        stack.callback(storage.close)
        if look_result.form == "plain":
            aside = dict(_no_files(storage))
            single_part = Part(_part_name("files"), "files", partial(_files, storage, lambda name: name not in aside))
            yield Payload("plain", look_result.root.name, (single_part,), single_part, set_aside=aside)
            return
        parts = tuple(_parts(look_result.form, storage, _Opening(stack, limits)))
        whole = _part("", "files", _wrapped(look_result, path, storage))
        covering = [partial(part.covers, storage.where) for part in parts]
        aside = dict.fromkeys(names_left_out(look_result.form, storage, covering), NOT_CARRIED)
        yield Payload(
            look_result.form,
            look_result.root.name,
            parts,
            whole,
            tuple(_descriptions(look_result.form, storage)),
            aside,
        )


def _storage(look_result: Found, path: Path, limits: UnpackLimits, emit: Listener) -> Storage:
    if look_result.form == "dias":
        return _dias_storage(look_result, path, limits)
    return (
        FolderStorage(look_result.root)
        if look_result.packed is None
        else open_storage(path, limits, top=False, tell=emit)
    )


def _dias_storage(look_result: Found, path: Path, limits: UnpackLimits) -> Storage:
    """A DIAS package as its folder, its tar, or the tar that lies beside its description."""
    if look_result.packed is not None:
        return open_held(path, limits)
    if (look_result.root / "dias-mets.xml").is_file():
        return FolderStorage(look_result.root)
    if path.is_file():
        return open_held(path.with_suffix(".tar"), limits)
    tars = sorted(path_ for path_ in path.glob("*.tar") if path_.with_suffix(".xml").is_file()) or sorted(
        path.glob("*.tar")
    )
    if len(tars) != 1:
        raise PackageFault(where=str(path), why="several-packages")
    return open_held(tars[0], limits)


def _wrapped(look_result: Found, path: Path, storage: Storage) -> Storage:
    """All of a package, as it goes into a bag. A DIAS package is its tar and its description, as they lie."""
    if look_result.form == "dias" and storage.folder is None and path.is_dir():
        return FolderStorage(path)
    return storage


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens an archive file that lies in a package, for as long as the payload is open."""

    stack: ExitStack
    limits: UnpackLimits
    depth: int = 0

    def deeper(self, location: str) -> _Opening:
        """The same, one package further in. Raises `TooLarge` where they lie in each other without end."""
        if self.depth >= self.limits.nesting:
            raise TooLarge(where=location, why="nesting", limit=self.limits.nesting)
        return replace(self, depth=self.depth + 1)

    def tar(self, storage: Storage, name: str) -> Storage:
        """The files of a tar; one that is packed itself is laid in a folder of our own first."""
        if storage.folder is not None:
            path = inside(storage.folder, name)
        else:
            path = self.stack.enter_context(own_folder("dias")) / "package.tar"
            with storage.open(name) as content, no_room(path), path.open("xb") as file:
                copy_hashing(content, file)
        tar = open_held(path, self.limits)
        self.stack.callback(tar.close)
        return tar


def _parts(form: Form, storage: Storage, opening: _Opening) -> Iterator[Part]:
    if form == "bagit":
        yield from _inside(Below(storage, PAYLOAD), opening)
    elif form == "eark":
        yield from _representations(storage)
    elif form == "dias":
        yield from _inside(Below(storage, _CONTENT), opening)
    elif form == "noark5":
        yield _noark(storage)
    else:
        yield _part("", "files", storage)


def _inside(storage: Storage, opening: _Opening) -> Iterator[Part]:
    """What lies in a package that holds anything: an extract, another package, or files."""
    names = {stored.name for stored in _nearby_files(storage)}
    if "dias-mets.xml" in names:
        yield from _inside(Below(storage, _CONTENT), opening.deeper(storage.where))
    elif "METS.xml" in names:
        yield from _representations(storage)
    elif {"arkivstruktur.xml", "arkivuttrekk.xml"} & names:
        yield _part("", "noark5", storage)
    elif tar := _sealed_tar(names):
        yield from _parts("dias", opening.tar(storage, tar), opening.deeper(storage.where))
    elif folder := _only_folder(storage, names):
        yield from _inside(Below(storage, folder), opening.deeper(storage.where))
    else:
        yield _part("", "files", storage)


def _sealed_tar(names: set[str]) -> str | None:
    """The tar of a DIAS delivery, where it and the description of the same name are the only files."""
    tar = next((name for name in names if name.endswith(".tar")), None)
    return tar if tar is not None and names == {tar, f"{tar.removesuffix('.tar')}.xml"} else None


def _only_folder(storage: Storage, names: set[str]) -> str | None:
    """The only folder of a storage, where a package lies in it."""
    first = next(iter(names), "").split("/", 1)[0]
    marks = {f"{first}/{mark}" for mark in ("METS.xml", "dias-mets.xml")}
    alone = all(stored.name.startswith(f"{first}/") for stored in storage.files())
    return first if alone and (_sealed_tar(names) is not None or marks & names) else None


def _nearby_files(storage: Storage) -> Iterator[Stored]:
    return (stored for stored in storage.files() if stored.name.count("/") <= 1)


def _noark(storage: Storage) -> Part:
    extract = extract_in(storage) or storage
    return _part("", "noark5", extract)


def _representations(storage: Storage) -> Iterator[Part]:
    """The data of each representation, as the folders have it."""
    above: str | None = None
    names: dict[str, bool] = {}
    for stored in storage.files():
        steps = stored.name.split("/")
        if steps[0].casefold() == _REPRESENTATIONS and len(steps) > 2:
            above = steps[0]
            names[steps[1]] = names.get(steps[1], False) or (len(steps) > 3 and steps[2] == _DATA)
    if above is None:
        yield _part("", "files", storage, _is_content)
        return
    for name, has_data in sorted(names.items()):
        inner = Below(storage, f"{above}/{name}")
        data = Below(storage, f"{above}/{name}/{_DATA}") if has_data else inner
        files = {stored.name for stored in _nearby_files(data)}
        kind: Content = "noark5" if {"arkivstruktur.xml", "arkivuttrekk.xml"} & files else "files"
        yield _part(name, kind, data, _takes_any if has_data else _is_content)


def _descriptions(form: Form, storage: Storage) -> Iterator[Description]:
    """Descriptions and documentation; few, however many files they describe."""
    if form not in ("eark", "dias"):
        return
    described = _files(storage, lambda name: _DESCRIPTION.fullmatch(name) is not None)
    for file in islice(described, _MOST_DESCRIPTIONS):
        match = _DESCRIPTION.fullmatch(file[0])
        if match is not None:
            yield Description(
                _DESCRIPTION_KINDS[match["kind"].lower()], match["part"] or "", (match["name"], *file[1:])
            )


def _takes_any(name: str) -> bool:
    return True


def _is_content(name: str) -> bool:
    """True for content, as opposed to metadata, of a package without representations."""
    top = name.split("/", 1)[0].casefold()
    return top not in ("mets.xml", "metadata", "schemas", "documentation")


def _part(name: str, kind: Content, storage: Storage, takes: Callable[[str], bool] = _takes_any) -> Part:
    return Part(name or _part_name(kind), kind, partial(_files, storage, takes), storage.where, takes)


def _no_files(storage: Storage) -> Iterator[tuple[str, str]]:
    """Pipes, sockets and devices of a folder, which have no content to carry over, with the kind of each."""
    if storage.folder is None:
        return
    for stored in storage.files():
        if stored.odd and stored.odd != "link":
            mode = (storage.folder / stored.name).lstat().st_mode
            if not stat.S_ISDIR(mode):  # a folder that cannot be read may hold anything: that is for `_files` to refuse
                yield stored.name, kind_of(mode)


def _part_name(kind: Content) -> str:
    return {"noark5": "noark5", "siard": "database", "files": "files"}[kind]


def _files(storage: Storage, takes: Callable[[str], bool]) -> Iterator[File]:
    """Every file with where its bytes come from. Raises `UnsafeMember` for a link or device: packages hold none."""
    for stored in storage.laid():
        if not takes(stored.name):
            continue
        if stored.odd:
            raise UnsafeMember(where=stored.name, why=stored.odd)
        if storage.folder is not None:
            yield stored.name, f"{storage.folder}/{stored.name}", stored.size_bytes, ""
        else:
            member = storage.member(stored.name)
            stamp = locator_of(member) if member is not None else ""
            yield stored.name, partial(storage.open, stored.name), stored.size_bytes, f"{storage.stamp}:{stamp}"

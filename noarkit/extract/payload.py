"""What a place holds, whatever it is wrapped in: the files that are carried over when one form becomes another.

    with payload_of(Path("delivery.zip")) as payload:
        payload.parts        # one for each representation, or one
        payload.parts[0].files()

What is packed is read where it lies, file by file in the order in which they lie.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from noarkit.errors import HostileInput, PackageFault, TooLarge, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.left_out import left_out
from noarkit.extract.naming import Naming
from noarkit.extract.package_files import Facts, Names, files_in, no_facts
from noarkit.extract.stated import Layer, Statement, statement_of
from noarkit.packages.bagit.read import declaration, read_names
from noarkit.packages.bagit.spec import PAYLOAD, Declared
from noarkit.packages.dias.held import open_held
from noarkit.packages.dias.located import locate
from noarkit.packages.dias.read import original_names as names_in_dias
from noarkit.packages.eark.read import original_names as names_in_eark
from noarkit.packages.forms import Found, look, look_as
from noarkit.packages.holding.building import Aside, File
from noarkit.packages.holding.names import OriginalNames
from noarkit.packages.holding.storage import Below, FolderStorage, Storage, Stored, open_storage
from noarkit.packages.marks import Form
from noarkit.packages.metadata.model import FileFacts
from noarkit.packages.noark5.held import extract_in
from noarkit.packages.own_files import is_own_file
from noarkit.safe.atomic import no_room
from noarkit.safe.digest import copy_hashing
from noarkit.safe.keys import key_of, path_of
from noarkit.safe.paths import inside
from noarkit.safe.portable import portable_part
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.safe.workplace import own_folder
from noarkit.sources.files.folders import kind_of

Content = Literal["noark5", "siard", "files"]
_REPRESENTATIONS = "representations"
_DATA = "data"
_CONTENT = "content"
NOT_CARRIED, EMPTY_FOLDER = "not-carried", "empty-folder"
FOLDER, LINK = "folder", "link"
NO_STATEMENT = Statement()
_ROOT_MARKS: Mapping[Form, tuple[str, ...]] = {"bagit": ("bagit.txt",), "eark": ("METS.xml", "mets.xml", "Mets.xml")}
_AS_THEY_ARE = Names()


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together under a name. `files` may be asked for again. `where` is the place they lie in, of
    which `takes` says what belongs to them; `facts` are what is said of each by its name."""

    name: str
    content: Content
    files: Callable[[], Iterator[File]]
    where: str = ""
    takes: Callable[[str], bool] = bool  # every name is one
    storage: Storage | None = None
    facts: Facts = no_facts
    names: Names = _AS_THEY_ARE
    naming: Naming | None = None

    @property
    def folder(self) -> str:
        """The name as a folder of a package may bear it."""
        return portable_part(self.name) if self.name else ""

    def called(self) -> Iterator[tuple[File, FileFacts | None]]:
        """Every file by the name that it has in the package, with what is known of it."""
        for file in self.files():
            yield (self.naming.of(file[0]) if self.naming is not None else file[0], *file[1:]), self._known(file[0])

    def known(self, called: str) -> FileFacts | None:
        """What is known of a file by the name that it has in the package."""
        key = self.naming.original(called) if self.naming is not None else ""
        return self._known(os.fsdecode(path_of(key)) if key else called)

    def _known(self, original: str) -> FileFacts | None:
        told = self.facts(self.names.stored(original))
        if self.naming is None or self.naming.of(original) == original:
            return told
        return replace(told or FileFacts(), original_name=key_of(os.fsencode(original)))

    def covers(self, root: str, name: str) -> bool:
        """True where a file of the package at `root` is one of these, or holds them."""
        full = f"{root}/{name}"
        if self.where.startswith(f"{full}/"):
            return True  # it is the archive file in which they lie
        if not self.where.startswith(f"{root}/") and self.where != root:
            return name.endswith(".tar")  # they lie in an archive file of the package
        above = f"{self.where}/"
        return full.startswith(above) and self.takes(full.removeprefix(above))


@dataclass(frozen=True, slots=True)
class Payload:
    """What is to be carried over. `form` is what it came in, `title` what the place is called; `statement` is what it
    says of itself, with the documents that say it; `set_aside` is what stands in a folder and is no file, with its
    kind, and what stands in a package and belongs to nothing that it holds; `empty` are folders without anything.
    `aside` is told of files that cannot be read."""

    form: Form
    title: str
    parts: tuple[Part, ...]
    whole: Part
    statement: Statement = NO_STATEMENT
    set_aside: Mapping[str, str] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
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
            one = Part(_part_name("files"), "files", partial(files_in, storage, lambda name: name not in aside))
            yield Payload("plain", found.root.name, (one,), one, set_aside=aside, empty=_empty_folders(storage))
            return
        layers = [Layer(found.form, storage, _description(found, path))]
        opening = _Opening(stack, limits, layers)
        parts = tuple(_parts(found.form, storage, opening))
        statement = statement_of(layers, stack)
        parts = tuple(_knowing(part, layers[-1].storage, statement.facts) for part in parts)
        own = _names(opening.names("bagit", storage)) if found.form == "bagit" else _AS_THEY_ARE
        whole = _part("", "files", _wrapped(found, path, storage), names=own)
        covering = [partial(part.covers, storage.where) for part in parts]
        owning = [partial(_says_itself, layer, storage.where) for layer in layers[1:]]
        aside = dict.fromkeys(left_out(found.form, storage, [*covering, *owning]), NOT_CARRIED)
        empty = tuple(name for name in _empty_folders(storage) if any(covers(f"{name}/-") for covers in covering))
        yield Payload(found.form, found.root.name, parts, whole, statement, aside, empty)


def _says_itself(layer: Layer, root: str, name: str) -> bool:
    """True for a file that a package in the package at `root` says of itself: it goes along as a document."""
    full, above = f"{root}/{name}", f"{layer.storage.where}/"
    return full.startswith(above) and is_own_file(layer.form, full.removeprefix(above))


def _knowing(part: Part, root: Storage, facts: Facts) -> Part:
    """The part with what the package at `root` says of its files."""
    if part.storage is None:
        return part
    above = f"{part.where.removeprefix(root.where).lstrip('/')}/".lstrip("/")

    def known(name: str) -> FileFacts | None:
        return facts(above + name)

    return replace(part, files=partial(files_in, part.storage, part.takes, known, part.names.original), facts=known)


def _description(found: Found, path: Path) -> Path | None:
    """The submission description of a DIAS package."""
    return locate(path).description if found.form == "dias" else None


def _empty_folders(storage: Storage) -> tuple[str, ...]:
    """Folders in which nothing lies at all; forms that list files alone cannot hold them."""
    if storage.folder is None:
        return ()
    empty: set[str] = set()
    for seen in walk_tree(storage.folder):
        empty.discard(seen.name.rpartition("/")[0])
        if seen.kind == "folder":
            empty.add(seen.name)
        elif seen.kind == "other":
            empty.discard(seen.name)  # a folder that cannot be read may hold anything
    return tuple(sorted(empty))


def _storage(found: Found, path: Path, limits: UnpackLimits, tell: Listener) -> Storage:
    if found.form == "dias":
        return _dias_storage(found, path, limits)
    if found.packed is None:
        return FolderStorage(found.root)
    storage = open_storage(path, limits, top=False, twins=found.form == "bagit", tell=tell)
    marks = _ROOT_MARKS.get(found.form, ())
    if marks and not any(storage.member(mark) for mark in marks):
        storage.close()  # what lies beside the folder of the package belongs to nobody
        raise PackageFault(where=str(path), why="no-single-top-folder")
    return storage


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
    """All of a package, as it goes into a bag. A DIAS package is its tar and its description, as they lie; a bag its
    payload."""
    if found.form == "dias" and storage.folder is None and path.is_dir():
        return FolderStorage(path)
    return Below(storage, PAYLOAD) if found.form == "bagit" else storage


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens an archive file that lies in a package, for as long as the payload is open."""

    stack: ExitStack
    limits: UnpackLimits
    layers: list[Layer]
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

    def laid(self, storage: Storage, name: str) -> Path:
        """Where a file lies; one that is packed itself is laid in a folder of our own first."""
        if storage.folder is not None:
            return inside(storage.folder, name)
        path = self.stack.enter_context(own_folder("dias")) / f"package{Path(name).suffix}"
        with storage.open(name) as content, no_room(path), path.open("xb") as file:
            copy_hashing(content, file)
        return path

    def tar(self, storage: Storage, name: str) -> Storage:
        """The files of a tar."""
        opened = open_held(self.laid(storage, name), self.limits)
        self.stack.callback(opened.close)
        return opened


def _told_names(form: Form, storage: Storage) -> Iterator[tuple[str, str]]:
    if form == "bagit":
        declared = declaration(storage)
        return read_names(storage, declared) if isinstance(declared, Declared) else iter(())
    return names_in_eark(storage) if form == "eark" else names_in_dias(storage)


def _parts(form: Form, storage: Storage, opening: _Opening) -> Iterator[Part]:
    if form == "bagit":
        yield from _inside(Below(storage, PAYLOAD), opening, _names(opening.names(form, storage)))
    elif form == "eark":
        yield from _representations(storage, opening)
    elif form == "dias":
        names = _names(opening.names(form, storage), f"{_CONTENT}/")
        yield from _inside(Below(storage, _CONTENT), opening, names)
    elif form == "noark5":
        yield _noark(storage)
    else:
        yield _part("", "files", storage)


def _inside(storage: Storage, opening: _Opening, names: Names) -> Iterator[Part]:
    """What lies in a package that holds anything: an extract, another package, or files, which `names` tells the
    original names of."""
    near = {stored.name for stored in _near(storage)}
    if "dias-mets.xml" in near:
        opening.layers.append(Layer("dias", storage))
        yield from _parts("dias", storage, opening.deeper(storage.where))
    elif "METS.xml" in near:
        opening.layers.append(Layer("eark", storage))
        yield from _representations(storage, opening)
    elif {"arkivstruktur.xml", "arkivuttrekk.xml"} & near:
        yield _part("", "noark5", storage, names=names)
    elif tar := _sealed(near):
        opened = opening.tar(storage, tar)
        beside = opening.laid(storage, f"{tar.removesuffix('.tar')}.xml")
        opening.layers.append(Layer("dias", opened, beside))
        yield from _parts("dias", opened, opening.deeper(storage.where))
    elif folder := _only_folder(storage, near):
        yield from _inside(Below(storage, folder), opening.deeper(storage.where), _AS_THEY_ARE)
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
        yield _part("", "files", storage, _is_content, _names(originals))
        return
    for name, has_data in sorted(names.items()):
        inner = Below(storage, f"{above}/{name}")
        data = Below(storage, f"{above}/{name}/{_DATA}") if has_data else inner
        files = {stored.name for stored in _near(data)}
        kind: Content = "noark5" if {"arkivstruktur.xml", "arkivuttrekk.xml"} & files else "files"
        base = f"{above}/{name}/{_DATA}/" if has_data else f"{above}/{name}/"
        yield _part(name, kind, data, _any if has_data else _is_content, _names(originals, base))


def _any(name: str) -> bool:
    return True


def _is_content(name: str) -> bool:
    """What of a package without representations is no description of it."""
    top = name.split("/", 1)[0].casefold()
    return top not in ("mets.xml", "metadata", "schemas", "documentation")


def _names(found: OriginalNames, above: str = "") -> Names:
    return Names(partial(found, above=above), partial(found.stored, above=above))


def _part(
    name: str, kind: Content, storage: Storage, wanted: Callable[[str], bool] = _any, names: Names = _AS_THEY_ARE
) -> Part:
    files = partial(files_in, storage, wanted, names=names.original)
    return Part(name or _part_name(kind), kind, files, storage.where, wanted, storage, names=names)


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

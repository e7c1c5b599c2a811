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
from noarkit.events import Listener, ignore_event
from noarkit.extraction.left_out import left_out
from noarkit.extraction.naming import Naming
from noarkit.extraction.package_files import Facts, NameMapping, files_in, no_facts
from noarkit.extraction.statements import Layer, Statement, statement_of
from noarkit.forms.bagit.read import load_declaration, read_names
from noarkit.forms.bagit.spec import PAYLOAD, Declaration
from noarkit.forms.container.building import File, OnUnreadable
from noarkit.forms.container.names import OriginalNames
from noarkit.forms.container.storage import FolderStorage, Storage, StoredFile, SubfolderStorage, open_storage
from noarkit.forms.dias.read.located import locate
from noarkit.forms.dias.read.package import original_names as names_in_dias
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.eark.read.package import original_names as names_in_eark
from noarkit.forms.metadata.model import FileFacts
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.package_form import DetectedForm, FormName
from noarkit.forms.recognition import detect_form, detect_form_as
from noarkit.forms.registry import known_forms
from noarkit.safe.atomic import no_room
from noarkit.safe.digest import copy_hashing
from noarkit.safe.keys import key_of, path_of
from noarkit.safe.paths import resolve_inside
from noarkit.safe.portable import portable_part
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.safe.workplace import temporary_folder
from noarkit.sources.files.folders import kind_of

Content = Literal["noark5", "siard", "files"]
_REPRESENTATIONS = "representations"
_DATA = "data"
_CONTENT = "content"
NOT_CARRIED, EMPTY_FOLDER = "not-carried", "empty-folder"
FOLDER, LINK = "folder", "link"
NO_STATEMENT = Statement()
_ROOT_MARKS: Mapping[FormName, tuple[str, ...]] = {
    "bagit": ("bagit.txt",),
    "eark": ("METS.xml", "mets.xml", "Mets.xml"),
}
_SAME_NAMES = NameMapping()


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together under a name. `files` may be asked for again. `where` is the place they lie in, of
    which `takes` says what belongs to them; `facts` are what is said of each by its name."""

    name: str
    content: Content
    files: Callable[[], Iterator[File]]
    where: str = ""
    includes: Callable[[str], bool] = bool  # every name is one
    storage: Storage | None = None
    facts: Facts = no_facts
    names: NameMapping = _SAME_NAMES
    naming: Naming | None = None

    @property
    def folder(self) -> str:
        """The name as a folder of a package may bear it."""
        return portable_part(self.name) if self.name else ""

    def named_files(self) -> Iterator[tuple[File, FileFacts | None]]:
        """Every file by the name that it has in the package, with what is known of it."""
        for file in self.files():
            yield (
                (self.naming.of(file[0]) if self.naming is not None else file[0], *file[1:]),
                self._original_facts(file[0]),
            )

    def facts_of(self, new_name: str) -> FileFacts | None:
        """What is known of a file by the name that it has in the package."""
        key = self.naming.original(new_name) if self.naming is not None else ""
        return self._original_facts(os.fsdecode(path_of(key)) if key else new_name)

    def _original_facts(self, original: str) -> FileFacts | None:
        file_facts = self.facts(self.names.to_stored(original))
        if self.naming is None or self.naming.of(original) == original:
            return file_facts
        return replace(file_facts or FileFacts(), original_name=key_of(os.fsencode(original)))

    def covers(self, root: str, name: str) -> bool:
        """True where a file of the package at `root` is one of these, or holds them."""
        full = f"{root}/{name}"
        if self.where.startswith(f"{full}/"):
            return True  # it is the archive file in which they lie
        if not self.where.startswith(f"{root}/") and self.where != root:
            return name.endswith(".tar")  # they lie in an archive file of the package
        above = f"{self.where}/"
        return full.startswith(above) and self.includes(full.removeprefix(above))


@dataclass(frozen=True, slots=True)
class Payload:
    """What is to be carried over. `form` is what it came in, `title` what the place is called; `statement` is what it
    says of itself, with the documents that say it; `set_aside` is what stands in a folder and is no file, with its
    kind, and what stands in a package and belongs to nothing that it holds; `empty` are folders without anything.
    `aside` is told of files that cannot be read."""

    form: FormName
    title: str
    parts: tuple[Part, ...]
    whole_part: Part
    statement: Statement = NO_STATEMENT
    set_aside: Mapping[str, str] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    aside: OnUnreadable | None = None


@contextmanager
def payload_of(
    path: Path, limits: UnpackLimits = LIMITS, emit: Listener = ignore_event, *, form: FormName | None = None
) -> Iterator[Payload]:
    """What lies at `path`: a folder, a file or a package of any form, or of `form` whatever it looks like. Raises
    `PackageFault`, `UsageFault`, or what `safe` refuses."""
    try:
        detection = (
            detect_form(path, limits, emit=emit) if form is None else detect_form_as(path, form, limits, emit=emit)
        )
    except OSError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error
    if not path.is_dir() and not path.is_file():
        raise UsageFault(what="not-a-file", where=str(path))
    with ExitStack() as stack:
        if path.is_file() and detection.form in ("plain", "siard"):
            kind: Content = "siard" if detection.form == "siard" else "files"
            single_part = Part(_part_name(kind), kind, lambda: iter([(path.name, str(path), path.stat().st_size, "")]))
            yield Payload(detection.form, path.stem or path.name, (single_part,), single_part)
            return
        if detection.form == "siard":
            detection = replace(detection, form="plain")  # unpacked, it is a folder of files like any other
        storage = _storage(detection, path, limits, emit)
        stack.callback(storage.close)
        if detection.form == "plain":
            aside = dict(_not_files(storage))
            single_part = Part(_part_name("files"), "files", partial(files_in, storage, lambda name: name not in aside))
            yield Payload(
                "plain",
                detection.root.name,
                (single_part,),
                single_part,
                set_aside=aside,
                empty=_empty_folders(storage),
            )
            return
        layers = [Layer(detection.form, storage, _description(detection, path))]
        opener = _ArchiveOpener(stack, limits, layers)
        parts = tuple(_parts(detection.form, storage, opener))
        statement = statement_of(layers, stack)
        parts = tuple(_with_facts(part, layers[-1].storage, statement.facts) for part in parts)
        own = _names(opener.original_names("bagit", storage)) if detection.form == "bagit" else _SAME_NAMES
        whole_part = _part("", "files", _bag_content(detection, path, storage), names=own)
        covering = [partial(part.covers, storage.where) for part in parts]
        owning = [partial(_is_own_document, layer, storage.where) for layer in layers[1:]]
        aside = dict.fromkeys(left_out(detection.form, storage, [*covering, *owning]), NOT_CARRIED)
        empty = tuple(name for name in _empty_folders(storage) if any(covers(f"{name}/-") for covers in covering))
        yield Payload(detection.form, detection.root.name, parts, whole_part, statement, aside, empty)


def _is_own_document(layer: Layer, root: str, name: str) -> bool:
    """True for a file that a package in the package at `root` says of itself: it goes along as a document."""
    full, above = f"{root}/{name}", f"{layer.storage.where}/"
    form = known_forms().find(layer.form)
    if form is None or form.own_files is None or not full.startswith(above):
        return False
    return form.own_files.fullmatch(full.removeprefix(above)) is not None


def _with_facts(part: Part, root: Storage, facts: Facts) -> Part:
    """The part with what the package at `root` says of its files."""
    if part.storage is None:
        return part
    above = f"{part.where.removeprefix(root.where).lstrip('/')}/".lstrip("/")

    def facts_of(name: str) -> FileFacts | None:
        return facts(above + name)

    return replace(
        part, files=partial(files_in, part.storage, part.includes, facts_of, part.names.to_original), facts=facts_of
    )


def _description(detection: DetectedForm, path: Path) -> Path | None:
    """The submission description of a DIAS package."""
    return locate(path).description if detection.form == "dias" else None


def _empty_folders(storage: Storage) -> tuple[str, ...]:
    """Folders in which nothing lies at all; forms that list files alone cannot hold them."""
    if storage.folder is None:
        return ()
    empty: set[str] = set()
    for entry in walk_tree(storage.folder):
        empty.discard(entry.name.rpartition("/")[0])
        if entry.kind == "folder":
            empty.add(entry.name)
        elif entry.kind == "other":
            empty.discard(entry.name)  # a folder that cannot be read may hold anything
    return tuple(sorted(empty))


def _storage(detection: DetectedForm, path: Path, limits: UnpackLimits, emit: Listener) -> Storage:
    if detection.form == "dias":
        return _dias_storage(detection, path, limits)
    if detection.packed is None:
        return FolderStorage(detection.root)
    storage = open_storage(path, limits, top=False, twins=detection.form == "bagit", emit=emit)
    marker_files = _ROOT_MARKS.get(detection.form, ())
    if marker_files and not any(storage.member(mark) for mark in marker_files):
        storage.close()  # what lies beside the folder of the package belongs to nobody
        raise PackageFault(where=str(path), why="no-single-top-folder")
    return storage


def _dias_storage(detection: DetectedForm, path: Path, limits: UnpackLimits) -> Storage:
    """A DIAS package as its folder, its tar, or the tar that lies beside its description."""
    if detection.packed is not None:
        return open_tar_storage(path, limits)
    if (detection.root / "dias-mets.xml").is_file():
        return FolderStorage(detection.root)
    if path.is_file():
        return open_tar_storage(path.with_suffix(".tar"), limits)
    tars = sorted(tar_path for tar_path in path.glob("*.tar") if tar_path.with_suffix(".xml").is_file()) or sorted(
        path.glob("*.tar")
    )
    if len(tars) != 1:
        raise PackageFault(where=str(path), why="several-packages")
    return open_tar_storage(tars[0], limits)


def _bag_content(detection: DetectedForm, path: Path, storage: Storage) -> Storage:
    """All of a package, as it goes into a bag. A DIAS package is its tar and its description, as they lie; a bag its
    payload."""
    if detection.form == "dias" and storage.folder is None and path.is_dir():
        return FolderStorage(path)
    return SubfolderStorage(storage, PAYLOAD) if detection.form == "bagit" else storage


@dataclass(frozen=True, slots=True)
class _ArchiveOpener:
    """Opens an archive file that lies in a package, for as long as the payload is open."""

    stack: ExitStack
    limits: UnpackLimits
    layers: list[Layer]
    depth: int = 0

    def deeper(self, where: str) -> _ArchiveOpener:
        """The same, one package further in. Raises `TooLarge` where they lie in each other without end."""
        if self.depth >= self.limits.nesting:
            raise TooLarge(where=where, why="nesting", limit=self.limits.nesting)
        return replace(self, depth=self.depth + 1)

    def original_names(self, form: FormName, storage: Storage) -> OriginalNames:
        """What a package of a form tells of the original names of its files; nothing where that cannot be read, which
        whoever judges the package tells."""
        try:
            original_names = OriginalNames(_original_names(form, storage))
        except (PackageFault, HostileInput):
            original_names = OriginalNames(())
        self.stack.callback(original_names.close)
        return original_names

    def local_path(self, storage: Storage, name: str) -> Path:
        """Where a file lies; one that is packed itself is laid in a folder of our own first."""
        if storage.folder is not None:
            return resolve_inside(storage.folder, name)
        path = self.stack.enter_context(temporary_folder("dias")) / f"package{Path(name).suffix}"
        with storage.open(name) as content, no_room(path), path.open("xb") as file:
            copy_hashing(content, file)
        return path

    def open_tar(self, storage: Storage, name: str) -> Storage:
        """The files of a tar."""
        tar_storage = open_tar_storage(self.local_path(storage, name), self.limits)
        self.stack.callback(tar_storage.close)
        return tar_storage


def _original_names(form: FormName, storage: Storage) -> Iterator[tuple[str, str]]:
    if form == "bagit":
        bag_declaration = load_declaration(storage)
        return read_names(storage, bag_declaration) if isinstance(bag_declaration, Declaration) else iter(())
    return names_in_eark(storage) if form == "eark" else names_in_dias(storage)


def _parts(form: FormName, storage: Storage, opener: _ArchiveOpener) -> Iterator[Part]:
    if form == "bagit":
        yield from _inside(SubfolderStorage(storage, PAYLOAD), opener, _names(opener.original_names(form, storage)))
    elif form == "eark":
        yield from _representations(storage, opener)
    elif form == "dias":
        names = _names(opener.original_names(form, storage), f"{_CONTENT}/")
        yield from _inside(SubfolderStorage(storage, _CONTENT), opener, names)
    elif form == "noark5":
        yield _noark(storage)
    else:
        yield _part("", "files", storage)


def _inside(storage: Storage, opener: _ArchiveOpener, names: NameMapping) -> Iterator[Part]:
    """What lies in a package that holds anything: an extract, another package, or files, which `names` tells the
    original names of."""
    top_names = {file.name for file in _top_files(storage)}
    if "dias-mets.xml" in top_names:
        opener.layers.append(Layer("dias", storage))
        yield from _parts("dias", storage, opener.deeper(storage.where))
    elif "METS.xml" in top_names:
        opener.layers.append(Layer("eark", storage))
        yield from _representations(storage, opener)
    elif {"arkivstruktur.xml", "arkivuttrekk.xml"} & top_names:
        yield _part("", "noark5", storage, names=names)
    elif tar := _sealed(top_names):
        tar_storage = opener.open_tar(storage, tar)
        beside = opener.local_path(storage, f"{tar.removesuffix('.tar')}.xml")
        opener.layers.append(Layer("dias", tar_storage, beside))
        yield from _parts("dias", tar_storage, opener.deeper(storage.where))
    elif folder := _only_folder(storage, top_names):
        yield from _inside(SubfolderStorage(storage, folder), opener.deeper(storage.where), _SAME_NAMES)
    else:
        yield _part("", "files", storage, names=names)


def _sealed(names: set[str]) -> str | None:
    """The tar of a DIAS delivery: nothing lies there but it and the description of its name."""
    tar = next((name for name in names if name.endswith(".tar")), None)
    return tar if tar is not None and names == {tar, f"{tar.removesuffix('.tar')}.xml"} else None


def _only_folder(storage: Storage, names: set[str]) -> str | None:
    """The folder that holds everything, where a package lies in it."""
    first = next(iter(names), "").split("/", 1)[0]
    marker_paths = {f"{first}/{mark}" for mark in ("METS.xml", "dias-mets.xml")}
    alone = all(file.name.startswith(f"{first}/") for file in storage.files())
    return first if alone and (_sealed(names) is not None or marker_paths & names) else None


def _top_files(storage: Storage) -> Iterator[StoredFile]:
    return (file for file in storage.files() if file.name.count("/") <= 1)


def _noark(storage: Storage) -> Part:
    extract = find_extract_root(storage) or storage
    return _part("", "noark5", extract)


def _representations(storage: Storage, opener: _ArchiveOpener) -> Iterator[Part]:
    """The data of each representation, as the folders have it."""
    above: str | None = None
    names: dict[str, bool] = {}
    for file in storage.files():
        steps = file.name.split("/")
        if steps[0].casefold() == _REPRESENTATIONS and len(steps) > 2:
            above = steps[0]
            names[steps[1]] = names.get(steps[1], False) or (len(steps) > 3 and steps[2] == _DATA)
    originals = opener.original_names("eark", storage)
    if above is None:
        yield _part("", "files", storage, _is_content, _names(originals))
        return
    for name, has_data in sorted(names.items()):
        inner = SubfolderStorage(storage, f"{above}/{name}")
        data = SubfolderStorage(storage, f"{above}/{name}/{_DATA}") if has_data else inner
        files = {file.name for file in _top_files(data)}
        kind: Content = "noark5" if {"arkivstruktur.xml", "arkivuttrekk.xml"} & files else "files"
        base = f"{above}/{name}/{_DATA}/" if has_data else f"{above}/{name}/"
        yield _part(name, kind, data, _accept_all if has_data else _is_content, _names(originals, base))


def _accept_all(name: str) -> bool:
    return True


def _is_content(name: str) -> bool:
    """What of a package without representations is no description of it."""
    top = name.split("/", 1)[0].casefold()
    return top not in ("mets.xml", "metadata", "schemas", "documentation")


def _names(original_names: OriginalNames, above: str = "") -> NameMapping:
    return NameMapping(partial(original_names, above=above), partial(original_names.find_stored, above=above))


def _part(
    name: str,
    kind: Content,
    storage: Storage,
    includes: Callable[[str], bool] = _accept_all,
    names: NameMapping = _SAME_NAMES,
) -> Part:
    files = partial(files_in, storage, includes, names=names.to_original)
    return Part(name or _part_name(kind), kind, files, storage.where, includes, storage, names=names)


def _not_files(storage: Storage) -> Iterator[tuple[str, str]]:
    """Links, pipes, sockets and devices of a folder, which have no content to carry over, and folders that cannot be
    read, with the kind of each."""
    if storage.folder is None:
        return
    for file in storage.files():
        if file.odd:
            mode = (storage.folder / file.name).lstat().st_mode
            yield file.name, FOLDER if stat.S_ISDIR(mode) else LINK if stat.S_ISLNK(mode) else kind_of(mode)


def _part_name(kind: Content) -> str:
    return {"noark5": "noark5", "siard": "database", "files": "files"}[kind]

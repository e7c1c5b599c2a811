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
from noarkit.forms.container.building import File, OnUnreadable
from noarkit.forms.container.names import OriginalNames
from noarkit.forms.container.storage import FolderStorage, Storage, StoredFile, SubfolderStorage, open_storage
from noarkit.forms.container.without_secrets import without_secrets
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.metadata.derivations import Derivations
from noarkit.forms.metadata.model import FileFacts
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.package_form import PLAIN, DetectedForm, FormName, PackageForm
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
Role = Literal["", "originals", "copies", "access"]
_REPRESENTATIONS = "representations"
_DATA = "data"
_SEALED = "dias"
# what may lie in a package that holds anything, by the name of its mark
_INNER_MARKS: Mapping[FormName, str] = {_SEALED: "dias-mets.xml", "eark": "METS.xml"}
NOT_CARRIED, EMPTY_FOLDER, SECRETS = "not-carried", "empty-folder", "secrets"
FOLDER, LINK = "folder", "link"
NO_STATEMENT = Statement()
_SAME_NAMES = NameMapping()


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together under a name. `files` may be asked for again. `where` is the place they lie in, of
    which `includes` says what belongs to them; `facts` are what is said of each by its name. `role` is what they are to
    another part: the originals of copies, the copies, or copies to be read."""

    name: str
    content: Content
    files: Callable[[], Iterator[File]]
    where: str = ""
    includes: Callable[[str], bool] = bool  # every name is one
    storage: Storage | None = None
    facts: Facts = no_facts
    names: NameMapping = _SAME_NAMES
    naming: Naming | None = None
    role: Role = ""

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
        """True if a file of the package at `root` is one of these, or holds them."""
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
    `aside` is told of files that cannot be read. `derivations` say which files are copies of which others, by their
    paths in the new package."""

    form: FormName
    title: str
    parts: tuple[Part, ...]
    whole_part: Part
    statement: Statement = NO_STATEMENT
    set_aside: Mapping[str, str] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    aside: OnUnreadable | None = None
    derivations: Derivations | None = None


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
        package_form = known_forms().find(detection.form)
        if package_form is None or package_form.layout == "file":
            if path.is_file():
                yield _payload_of_file(path, detection.form)
                return
            # unpacked, it is a folder of files like any other
            detection, package_form = replace(detection, form=PLAIN), None
        storage, secrets = without_secrets(_storage(detection, path, limits, emit))
        stack.callback(storage.close)
        secret_files = dict.fromkeys(secrets, SECRETS)
        if package_form is None:
            aside = dict(_not_files(storage)) | secret_files
            single_part = Part(_part_name("files"), "files", partial(files_in, storage, lambda name: name not in aside))
            yield Payload(
                PLAIN,
                detection.root.name,
                (single_part,),
                single_part,
                set_aside=aside,
                empty=_empty_folders(storage),
            )
            return
        layers = [Layer(package_form.name, storage, _description(package_form, path))]
        opener = _ArchiveOpener(stack, limits, layers)
        parts = tuple(_parts(package_form, storage, opener))
        statement = statement_of(layers, stack)
        parts = tuple(_with_facts(part, layers[-1].storage, statement.facts) for part in parts)
        whole_part = _whole_part(package_form, path, storage, opener)
        covering = [partial(part.covers, storage.where) for part in parts]
        owning = [partial(_is_own_document, layer, storage.where) for layer in layers[1:]]
        aside = dict.fromkeys(left_out(detection.form, storage, [*covering, *owning]), NOT_CARRIED) | secret_files
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


def _payload_of_file(path: Path, form: FormName) -> Payload:
    """A single file, which is carried over as it is."""
    kind: Content = "files" if form == PLAIN else "siard"
    part = Part(_part_name(kind), kind, lambda: iter([(path.name, str(path), path.stat().st_size, "")]))
    return Payload(form, path.stem or path.name, (part,), part)


def _description(form: PackageForm, path: Path) -> Path | None:
    """The document that lies beside a package and describes it."""
    return form.description_of(path) if form.description_of is not None else None


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
    form = known_forms().find(detection.form)
    if form is not None and form.open_package is not None:
        return form.open_package(detection, path, limits)
    if detection.packed is None:
        return FolderStorage(detection.root)
    storage = open_storage(path, limits, top=False, twins=form is not None and form.holds_twins, emit=emit)
    if form is not None and form.sure and not any(storage.member(mark) for mark in form.marker_files):
        storage.close()  # what lies beside the folder of the package belongs to nobody
        raise PackageFault(where=str(path), why="no-single-top-folder")
    return storage


def _whole_part(form: PackageForm, path: Path, storage: Storage, opener: _ArchiveOpener) -> Part:
    """All of a package, as it goes into a bag. One that lies packed in a folder is all that lies there, as it lies; a
    bag its payload."""
    if form.takes_whole:
        names = _names(opener.original_names(form, storage), form.content)
        return _part("", "files", SubfolderStorage(storage, form.content.rstrip("/")), names=names)
    packed_in_folder = storage.folder is None and path.is_dir()
    return _part("", "files", without_secrets(FolderStorage(path))[0] if packed_in_folder else storage)


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

    def original_names(self, form: PackageForm, storage: Storage) -> OriginalNames:
        """What a package of a form tells of the original names of its files; nothing where that cannot be read, which
        whoever judges the package tells."""
        try:
            original_names = OriginalNames(form.original_names(storage) if form.original_names is not None else ())
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


def _parts(form: PackageForm, storage: Storage, opener: _ArchiveOpener) -> Iterator[Part]:
    if form.layout == "representations":
        yield from _representations(form, storage, opener)
    elif form.layout == "extract":
        yield _noark(storage)
    elif form.content:
        names = _names(opener.original_names(form, storage), form.content)
        yield from _inside(SubfolderStorage(storage, form.content.rstrip("/")), opener, names)
    else:
        yield _part("", "files", storage)


def _inside(storage: Storage, opener: _ArchiveOpener, names: NameMapping) -> Iterator[Part]:
    """What lies in a package that holds anything: an extract, another package, or files, which `names` tells the
    original names of."""
    top_names = {file.name for file in _top_files(storage)}
    if inner := next((name for name, mark in _INNER_MARKS.items() if mark in top_names), None):
        opener.layers.append(Layer(inner, storage))
        yield from _parts(known_forms().form(inner), storage, opener.deeper(storage.where))
    elif {"arkivstruktur.xml", "arkivuttrekk.xml"} & top_names:
        yield _part("", "noark5", storage, names=names)
    elif tar := _sealed(top_names):
        tar_storage = opener.open_tar(storage, tar)
        beside = opener.local_path(storage, f"{tar.removesuffix('.tar')}.xml")
        opener.layers.append(Layer(_SEALED, tar_storage, beside))
        yield from _parts(known_forms().form(_SEALED), tar_storage, opener.deeper(storage.where))
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
    marker_paths = {f"{first}/{mark}" for mark in _INNER_MARKS.values()}
    alone = all(file.name.startswith(f"{first}/") for file in storage.files())
    return first if alone and (_sealed(names) is not None or marker_paths & names) else None


def _top_files(storage: Storage) -> Iterator[StoredFile]:
    return (file for file in storage.files() if file.name.count("/") <= 1)


def _noark(storage: Storage) -> Part:
    extract = find_extract_root(storage) or storage
    return _part("", "noark5", extract)


def _representations(form: PackageForm, storage: Storage, opener: _ArchiveOpener) -> Iterator[Part]:
    """The data of each representation, as the folders have it."""
    above: str | None = None
    names: dict[str, bool] = {}
    for file in storage.files():
        steps = file.name.split("/")
        if steps[0].casefold() == _REPRESENTATIONS and len(steps) > 2:
            above = steps[0]
            names[steps[1]] = names.get(steps[1], False) or (len(steps) > 3 and steps[2] == _DATA)
    originals = opener.original_names(form, storage)
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

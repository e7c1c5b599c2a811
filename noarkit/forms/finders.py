"""Finds the source behind a path, URL or name, by looking.

Each kind of source brings a finder: it answers with a source where the place is one of its own, else None. Finders are
asked in order, the most particular first; the file tree, which any path is, comes last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from noarkit.errors import PackageFault, SourceGone, TooLarge, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.addml import KIND as ADDML
from noarkit.forms.addml import find_addml, reopen_addml
from noarkit.forms.bagit.source import KIND as BAG
from noarkit.forms.bagit.source import BagSource
from noarkit.forms.bagit.spec import PAYLOAD
from noarkit.forms.container.storage import FolderStorage, SubfolderStorage, open_storage
from noarkit.forms.dias.source import KIND as DIAS
from noarkit.forms.dias.source import DiasSource, find_dias
from noarkit.forms.eark.source import KIND as EARK
from noarkit.forms.eark.source import find_eark, reopen_eark
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.noark5.source import DEFAULT_ZONE, ExtractSource, find_extract
from noarkit.forms.noark5.source import KIND as EXTRACT
from noarkit.forms.recognition import detect_form
from noarkit.forms.sealed.read import refuse_sealed
from noarkit.forms.siard.source import KIND as SIARD
from noarkit.forms.siard.source import find_siard, reopen_siard
from noarkit.records import DESPITE_DAMAGE, OpenSource, Source, SourceIdentity, limits_of
from noarkit.safe.paths import missing_path_fault
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of, members
from noarkit.sources.database import KIND as DATABASE
from noarkit.sources.database import find_database, reopen_database
from noarkit.sources.files import FilePolicy, FileTree, outlook
from noarkit.sources.files.detect import HEAD_BYTES, looks_like_mail, looks_like_mailbox
from noarkit.sources.files.names import path_of
from noarkit.sources.reader import find_reader, reopen_reader

Finder = Callable[[str], Source | None]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_DEFAULT_POLICY = FilePolicy()


def opener(finders: Iterable[Finder]) -> OpenSource:
    """What opens any place that one of `finders` knows.

    It raises `SourceGone` for a path that is not there, and `UsageFault` for a URL or name that nobody knows.

    >>> open_source = opener([file_finder()])
    """
    candidates = tuple(finders)

    def open_source(where: str) -> Source:
        for find in candidates:
            source = find(where)
            if source is not None:
                return source
        if _SCHEME.match(where) and not os.path.lexists(where):
            raise UsageFault(what="unknown-source", where=where)
        raise missing_path_fault(where)

    return open_source


def file_finder(policy: FilePolicy = _DEFAULT_POLICY) -> Finder:
    """Finds folders and single files. A mailbox or mail that is named itself is read as mail, with its attachments."""

    def find(where: str) -> Source | None:
        path = Path(where)
        if path.is_dir():
            return FileTree(path, policy)
        if not path.exists():
            return None
        if not path.is_file():
            raise UsageFault(what="not-a-file", where=where)
        target = path.resolve()  # who names a link means what it leads to
        return FileTree(target, replace(policy, mail="parts") if _is_mail(target) else policy)

    return find


def open_source(
    where: str, kind: str | None = None, emit: Listener = ignore_event, limits: UnpackLimits = LIMITS
) -> Source:
    """The source at a path or URL, every policy as it stands: a database, an extract, a folder, a file, a mailbox; or
    what a reader that somebody registered finds there (`mine:PLACE`). A sealed bundle is none: `UsageFault`.

    `limits` say how an archive file is read. `kind`, one of `PLACES`, says what a path is to be read as, whatever it
    looks like: files, or a package of a form.
    """
    refuse_sealed(where)
    if kind is not None:
        return opener([partial(_find_kind, kind, limits=limits)])(where)
    return opener(
        [
            find_database,
            partial(find_package, emit=emit, limits=limits),
            _find_extract_below,
            find_reader,
            file_finder(),
        ]
    )(where)


def _find_kind(kind: str, where: str, limits: UnpackLimits = LIMITS) -> Source | None:
    """What a path is when read as this kind. Raises `UsageFault` where it cannot be."""
    path = Path(where)
    if not path.exists():
        return None
    source = PLACES[kind](where, limits) if kind in PLACES else None
    if source is None:
        raise UsageFault(what="not-this-kind", where=where, do=kind)
    return source


def reopen(identity: SourceIdentity) -> Source:
    """The source that a plan was made from, with the same policies. Raises `SourceGone`, `UsageFault`."""
    if identity.kind == EXTRACT:
        return _extract(identity)
    if identity.kind == DATABASE:
        return reopen_database(identity)
    if identity.kind == SIARD:
        return reopen_siard(identity)
    if identity.kind == ADDML:
        return reopen_addml(identity)
    if identity.kind == EARK:
        return reopen_eark(identity)
    if identity.kind == BAG:
        despite = identity.settings.get(DESPITE_DAMAGE) is True
        bag = BagSource(Path(identity.where), despite=despite, limits=limits_of(identity))
        return _require_present(bag, identity)
    if identity.kind == DIAS:
        return _require_present(DiasSource(Path(identity.where), limits_of(identity)), identity)
    if identity.kind != "files":
        return reopen_reader(identity)
    root = Path(os.fsdecode(b"/" + path_of(identity.where.strip("/")) if identity.where.strip("/") else b"/"))
    if not os.path.lexists(root):
        raise SourceGone(where=identity.where, why="ENOENT")
    policy_names = {policy_field.name for policy_field in fields(FilePolicy)}
    settings = {name: value for name, value in identity.settings.items() if name in policy_names}
    return FileTree(root, FilePolicy(**settings))  # type: ignore[arg-type]  # as its own settings() told them


def find_package(
    where: str, depth: int = 0, emit: Listener = ignore_event, limits: UnpackLimits = LIMITS
) -> Source | None:
    """The package at a path, in a folder or archive file, by the form that it has; None for plain files.

    What lies in a bag goes on to the reader of its form; `depth` says in how many bags it lies. Raises what `safe`
    refuses.
    """
    path = Path(where)
    if depth > LIMITS.nesting:
        raise TooLarge(where=where, why="nesting", limit=LIMITS.nesting)
    if not os.path.lexists(path):
        return None
    try:
        detection = detect_form(path, limits, emit=emit)
    except OSError:
        return None  # it is told by who reads it
    except PackageFault:
        if _holds_files(path):
            raise  # it would be one file, and nobody would be told of those it holds
        return None  # one file that is packed, like any other
    if detection.form == "bagit":
        return _in_bag(detection.root, depth, emit, limits)
    if depth == 0 and detection.form in ("plain", "noark5") and (addml := find_addml(str(detection.root))) is not None:
        return addml
    if detection.form == "siard":
        return find_siard(where)
    if detection.form == "dias":
        return find_dias(where, limits)
    if detection.form == "eark":
        return find_eark(str(detection.root), detection, limits)
    return find_extract(where, detection) if detection.form == "noark5" else None


def _find_extract_below(where: str) -> Source | None:
    """The extract somewhere in a folder, beside other things."""
    return find_extract(where) if Path(where).is_dir() else None


def _holds_files(path: Path) -> bool:
    """True for an archive file of files, be it broken or locked; false for one packed file that only looks like it."""
    if form_of(path) in ("zip", "tar"):
        return True
    try:
        return next(members(path), None) is not None
    except PackageFault:
        return False


def _in_bag(path: Path, depth: int, emit: Listener = ignore_event, limits: UnpackLimits = LIMITS) -> Source:
    """What lies in a bag."""
    if path.is_dir():
        inner = path / PAYLOAD
        inner_source = find_package(str(inner), depth + 1) if inner.is_dir() else None
        return inner_source or BagSource(path)
    storage = open_storage(path, limits, twins=True, emit=emit)
    if isinstance(storage, FolderStorage):
        return BagSource(path)
    try:
        has_extract = find_extract_root(SubfolderStorage(storage, PAYLOAD)) is not None
    except BaseException:
        storage.close()
        raise
    if not has_extract:
        return BagSource(path, storage, limits=limits)
    storage.close()
    return ExtractSource(path)


def _extract(identity: SourceIdentity) -> Source:
    zone = str(identity.settings.get("zone") or DEFAULT_ZONE)
    settings, accepted = identity.settings, identity.settings.get("accepted")
    source = ExtractSource(
        Path(identity.where),
        zone,
        take_incomplete=settings.get("take_incomplete") is True,
        carry=settings.get("carry") is not False,
        accepted=[str(name) for name in accepted] if isinstance(accepted, list) else (),
    )
    return _require_present(source, identity)


def _require_present(source: Source, identity: SourceIdentity) -> Source:
    if not os.path.lexists(identity.where):
        raise SourceGone(where=identity.where, why="ENOENT")
    return source


def _is_mail(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False  # the source will say why it cannot be read
    ext = path.suffix.lower().lstrip(".")
    if ext == "msg":
        return head.startswith(outlook.SIGNATURE)
    return looks_like_mailbox(head) or (ext == "eml" and looks_like_mail(head, ext))


PLACES: Mapping[str, Callable[[str, UnpackLimits], Source | None]] = {
    "files": lambda where, _: file_finder()(where),
    "noark5": lambda where, _: find_extract(where),
    "eark": lambda where, limits: find_eark(where, None, limits),
    "dias": find_dias,
    "bagit": lambda where, limits: _in_bag(Path(where), 0, limits=limits),
    "siard": lambda where, _: find_siard(where),
    "addml": lambda where, _: find_addml(where),
}
"""What a path can be said to be, whatever it looks like, and what reads it then."""

"""Finds the source behind a path, URL or name, by looking.

Each kind of source brings a finder: it answers with a source where the place is one of its own, else None. Finders are
asked in order, the most particular first; the file tree, which any path is, comes last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from noarkit.documents import outlook
from noarkit.documents.detect import HEAD_BYTES, looks_like_mail, looks_like_mailbox
from noarkit.errors import SourceGone, TooLarge, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.addml import find_addml, reopen_addml
from noarkit.forms.noark5.source import find_extract
from noarkit.forms.package_form import PLAIN, DetectedForm, SourcePlace
from noarkit.forms.recognition import detect_place, remnant_fault
from noarkit.forms.registry import FILES, FLAT_FILES, known_forms
from noarkit.records import OpenSource, Source, SourceIdentity
from noarkit.safe.paths import missing_path_fault
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.database import KIND as DATABASE
from noarkit.sources.database import find_database, reopen_database
from noarkit.sources.files.names import path_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from noarkit.sources.reader import find_reader, reopen_reader

Finder = Callable[[str], Source | None]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_DEFAULT_POLICY = FilePolicy()
# ADDML describes the documents of an extract too: only its flat files make a place a delivery of tables
_AROUND_FLAT_FILES = (PLAIN, "noark5")


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
    where: str,
    kind: str | None = None,
    emit: Listener = ignore_event,
    limits: UnpackLimits = LIMITS,
    *,
    detected: DetectedForm | None = None,
) -> Source:
    """The source at a path or URL, every policy as it stands: a database, an extract, a folder, a file, a mailbox; or
    what a reader that somebody registered finds there (`mine:PLACE`).

    `limits` say how an archive file is read. `kind` (`"files"`, or a form that the registry knows) says what a path is
    to be read as, whatever it looks like; `detected` is what a look at it told.
    """
    if kind is not None:
        return opener([partial(_find_kind, kind, limits=limits)])(where)
    return opener(
        [
            find_database,
            partial(find_package, emit=emit, limits=limits, detected=detected),
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
    form = known_forms().find(kind)
    if kind == FILES:
        source = file_finder()(where)
    elif kind == FLAT_FILES:
        source = find_addml(where)
    else:
        source = form.find_source(SourcePlace(where, limits=limits)) if form is not None else None
    if source is None:
        raise UsageFault(what="not-this-kind", where=where, do=kind)
    return source


def reopen(identity: SourceIdentity) -> Source:
    """The source that a plan was made from, with the same policies. Raises `SourceGone`, `UsageFault`."""
    if identity.kind == DATABASE:
        return reopen_database(identity)
    if identity.kind == FLAT_FILES:
        return reopen_addml(identity)
    if identity.kind != FILES:
        form = known_forms().form_of_source(identity.kind)
        return reopen_reader(identity) if form is None else form.reopen(identity)
    root = Path(os.fsdecode(b"/" + path_of(identity.where.strip("/")) if identity.where.strip("/") else b"/"))
    if not os.path.lexists(root):
        raise SourceGone(where=identity.where, why="ENOENT")
    policy_names = {policy_field.name for policy_field in fields(FilePolicy)}
    settings = {name: value for name, value in identity.settings.items() if name in policy_names}
    return FileTree(root, FilePolicy().with_settings(settings))


def find_package(
    where: str,
    depth: int = 0,
    emit: Listener = ignore_event,
    limits: UnpackLimits = LIMITS,
    *,
    detected: DetectedForm | None = None,
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
    detection = detected or detect_place(path, limits, emit=emit)
    if detection is None:
        return None
    if depth == 0 and detection.form in _AROUND_FLAT_FILES and (flat := find_addml(str(detection.root))) is not None:
        return flat
    if detection.lacks:
        raise remnant_fault(where, detection)
    form = known_forms().find(detection.form)
    return None if form is None else form.find_source(SourcePlace(where, detection, limits, emit, depth))


def _find_extract_below(where: str) -> Source | None:
    """The extract somewhere in a folder, beside other things."""
    return find_extract(where) if Path(where).is_dir() else None


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

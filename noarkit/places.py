"""What a place is, by looking, and which journey may take it: the one answer that every command asks for.

    place = recognise("delivery.zip")        Place(kind="package", form="eark", …)
    allow(place, "read")                     UsageFault for a run, PackageFault for a package that lacks its METS

A place *is* something; or it *was meant to be* something, and `missing` says what it lacks; or it is plain files.
What noarkit itself keeps (runs, archives, bundles, copies) is never a source of records by itself. Files with secrets
go nowhere, whatever a place is read as.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noarkit.documents.detect import HEAD_BYTES, MediaTypes
from noarkit.documents.office_type import office_type
from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.package_form import PLAIN, DetectedForm, FormName
from noarkit.forms.recognition import detect_place, remnant_fault
from noarkit.forms.registry import FILES
from noarkit.forms.sealed.read import is_sealed, sealed_source_fault
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import command_line
from noarkit.safe.paths import has_file, missing_path_fault
from noarkit.safe.secret_files import CLIENTS_FILE, is_secret_path
from noarkit.safe.unpack import LIMITS, UnpackLimits, damaged_archive
from noarkit.service_names import is_connection_name

PlaceKind = Literal[
    "run", "archive", "backup", "sealed", "copies", "secrets", "package", "database", "archived", "file", "folder",
    "connection", "address",
]  # fmt: skip
Journey = Literal["read", "convert", "validate", "look", "compare"]
"""What is asked of a place: its records, another package, its rules, a look into it, or how it differs."""

EMBEDDED = "embedded:"
ARCHIVE_FILE, LOGS_FILE, BACKUP_FILES = "archive.db", "logs.db", ("backup.json", "backup-unfinished")
"""What lies in the folder of an embedded archive, and in a backup of one."""
COPIES_FILE = "derive.db"
"""The list of a store of copies, which is a wing of the house: its name is known where it is absent."""
SQLITE_HEAD = b"SQLite format 3\0"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_REMARKS = ("database", "archived")
"""What a file is taken for is told where it could be taken for something else."""
_DOCUMENT_ZIP = re.compile(r"application/(?!zip$|x-zip|x-tar$|gzip$|x-gzip$|x-bzip2?$|x-xz$).+|image/.+")
_PACKED: frozenset[PlaceKind] = frozenset({"file", "archived"})
_OURS: frozenset[PlaceKind] = frozenset({"run", "archive", "backup", "sealed", "copies", "secrets"})


@dataclass(frozen=True, slots=True)
class Place:
    """What lies at a path or address. `form` is that of a package, `detected` how it was found; `missing` names what a
    place lacks that was meant to be this."""

    where: str
    kind: PlaceKind
    form: FormName = PLAIN
    missing: str = ""
    detected: DetectedForm | None = None

    @property
    def path(self) -> Path:
        """Where it lies."""
        return Path(self.where)

    @property
    def address(self) -> str:
        """What opens it: the URL of a database, the path of anything else."""
        return f"sqlite:///{self.path.absolute()}" if self.kind == "database" else self.where

    @property
    def is_ours(self) -> bool:
        """True for what noarkit itself keeps."""
        return self.kind in _OURS


def recognise(
    where: Path | str, limits: UnpackLimits = LIMITS, *, source_kind: str | None = None, emit: Listener = ignore_event
) -> Place:
    """What a place is. With a `source_kind` nobody looks which form it has.

    Raises `SourceGone` for a path that is not there, and what `safe` refuses of an archive file.
    """
    name = os.fspath(where)
    path = Path(name)
    if not os.path.lexists(path):
        if is_connection_name(name):
            return Place(name, "connection")
        if _ADDRESS.match(name):
            return Place(name, "archive" if is_archive_address(name) else "address")
        raise missing_path_fault(name)
    own = own_kind(path)
    if own is not None:
        return Place(name, own, missing=_missing_of_ours(path, own))
    if source_kind is not None:
        return Place(name, "folder" if path.is_dir() else "file")
    place = Place(name, "database") if is_sqlite(path) else _look(path, limits, emit)
    if place.kind in _REMARKS and not place.missing:
        emit(Event("remark", {"stream": "place", "why": f"{place.kind}-file"}))
    return place


def is_archive_address(name: str) -> bool:
    """True for the address of an archive, which no path can be."""
    return name.startswith((EMBEDDED, "http://", "https://"))


def own_kind(path: Path) -> PlaceKind | None:
    """What of noarkit's own lies at a path; None for anything else. Cheap, and nothing is raised."""
    if is_sealed(path):
        return "sealed"
    if not path.is_dir():
        return "secrets" if path.is_file() and is_secret_path(path) else None
    if is_run(path) or _is_unfinished_run(path):
        return "run"
    has_clients = has_file(path, CLIENTS_FILE) and is_secret_path(path / CLIENTS_FILE)
    if has_clients or (is_sqlite(path / ARCHIVE_FILE) and has_file(path, LOGS_FILE)):
        return "backup" if any(has_file(path, name) for name in BACKUP_FILES) else "archive"
    return "copies" if is_sqlite(path / COPIES_FILE) else None


def is_run(path: Path) -> bool:
    """True for a folder that holds a plan of ours; others have a plan.json too."""
    folder = RunFolder(path)
    if not folder.is_planned:
        return False
    return has_file(path, folder.graph.name) or has_file(path, folder.journal.name) or folder.has_frozen_plan


def is_sqlite(path: Path) -> bool:
    """True for a SQLite file."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except OSError:
        return False  # whoever reads it will say why it cannot be read


def allow(place: Place, journey: Journey, source_kind: str | None = None) -> None:
    """Raises `UsageFault` where a journey takes no place of this kind, with the command that does, and `PackageFault`
    for what was meant to be a package or archive file, with what it lacks.

    `source_kind` `"files"` reads anything as plain files, but for secrets and bundles.
    """
    if place.kind == "sealed":
        raise sealed_source_fault(place.where)
    is_packed = journey != "look" and place.kind in _PACKED
    if place.kind == "secrets" or (is_packed and is_secret_path(place.path, with_members=True)):
        raise UsageFault(what="place-secrets", where=place.where, do=shlex.join(command_line("help", "security")))
    if source_kind == FILES or (place.kind == "run" and journey == "look"):
        return
    if place.is_ours and os.path.lexists(place.path):
        raise UsageFault(what=f"place-{place.kind}", where=place.where, do=_remedy(place, journey))
    if place.kind == "database" and journey in ("convert", "validate", "compare"):
        command = command_line("convert", place.where, "--as", "siard", "-o", f"{place.path.stem}.siard")
        raise UsageFault(what="place-database", where=place.where, do=shlex.join(command))
    if place.missing and not (journey == "validate" and place.detected and place.detected.meant):
        raise _meant_fault(place)


def _remedy(place: Place, journey: Journey) -> str:
    """The command that takes what noarkit itself keeps."""
    where, path = place.where, place.path
    words: tuple[str, ...]
    if place.kind == "run":
        words = ("browse", where)
    elif place.kind == "copies":
        words = ("help", "copies")
    elif place.kind == "backup" or journey == "validate":
        words = ("serve", "--check", where)
    elif journey == "look":
        words = ("browse", f"{EMBEDDED}{where}")
    else:
        words = ("extract", "--archive", f"{EMBEDDED}{where}", "-o", f"{path.resolve().name}-extract")
    return shlex.join(command_line(*words))


def _meant_fault(place: Place) -> PackageFault:
    if place.detected is not None and place.detected.meant:
        return remnant_fault(place.where, place.detected)
    return PackageFault(where=place.where, why="meant-archive", detail=place.missing, kind=FILES)


def _is_unfinished_run(path: Path) -> bool:
    """True for what a planner left that was ended before its plan stood, or of which the plan was lost."""
    folder = RunFolder(path)
    return is_sqlite(folder.graph) and (has_file(path, folder.lock.name) or is_sqlite(folder.journal))


def _missing_of_ours(path: Path, kind: PlaceKind) -> str:
    if kind == "run":
        return "" if is_run(path) else RunFolder.PLAN
    return ARCHIVE_FILE if kind == "archive" and not has_file(path, ARCHIVE_FILE) else ""


def _look(path: Path, limits: UnpackLimits, emit: Listener) -> Place:
    """What form the files at a path have."""
    where = os.fspath(path)
    kind: PlaceKind = "folder" if path.is_dir() else "file"
    detected = detect_place(path, limits, emit=emit)
    if detected is None:
        return Place(where, kind)
    if detected.form != PLAIN:
        return Place(where, "package", detected.form, detected.lacks, detected)
    if detected.meant:
        return Place(where, "package", detected.meant, detected.lacks, detected)
    if kind == "file" and path.is_file() and (damage := damaged_archive(path)):
        return Place(where, "archived", missing=damage, detected=detected)
    is_archive = detected.packed is not None and not _is_document(path)
    return Place(where, "archived" if is_archive else kind, detected=detected)


def _is_document(path: Path) -> bool:
    """True for a document that is kept in a zip, as those of office programs are."""
    with path.open("rb") as file:
        head, descriptor = file.read(HEAD_BYTES), file.fileno()
        media_type = MediaTypes().of(head, path.suffix.lower().lstrip("."))
        return (
            _DOCUMENT_ZIP.fullmatch(media_type) is not None
            or office_type(descriptor, path.stat().st_size, head) is not None
        )

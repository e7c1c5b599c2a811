"""Backs an archive folder up while it may be served: a state that is consistent, checked before it gets its name.

    TARGET.unfinished    the databases, copied by SQLite's online backup, each in one transaction of its source
                         every content that the copied rows refer to, hashed while it is copied
                         the settings, then the manifest
                         a check of all of it, read again
    TARGET               the same folder, renamed

The rows come first, so every content they name was there. One that a later delete took away meanwhile makes the rows be
copied once more; what was copied already stays. The same call again goes on in the unfinished folder.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import ArchiveBusy, StoreDamaged, UsageFault
from noarkit.safe import atomic
from noarkit.safe.digest import copy_hashing, sha256_of
from noarkit.safe.locks import claimed
from noarkit.server import DATABASE_FILE, LOGS_FILE, STORE_FOLDER
from noarkit.server.file_store import content_path
from noarkit.server.safekeeping import manifest
from noarkit.server.safekeeping.integrity import FolderCheck, check_folder

UNFINISHED = ".unfinished"
_ROUNDS = 20
_PRIVATE_FOLDER, _PRIVATE = 0o700, 0o600


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup: its folder, and what is in it. `linked` contents are shared with the backup before it."""

    folder: Path
    rows: int
    files: int
    bytes: int
    copied: int
    linked: int


@dataclass(slots=True)
class CopyProgress:
    """The contents copied so far, those shared with an earlier backup, and all the bytes that passed."""

    copied: int = 0
    linked: int = 0
    bytes: int = 0


Listener = Callable[[CopyProgress | FolderCheck], None]


def back_up(
    source: Path,
    target: Path,
    *,
    previous: Path | None = None,
    now_s: Callable[[], float] = time.time,
    progress: Listener = lambda step: None,
) -> Backup:
    """Makes `target` a backup of the archive in `source`; contents that `previous`, an earlier one, has are hard links
    to its own where the file system can.

    Raises `UsageFault` where the target exists or lies in the source, or where the source is no archive,
    `StoreDamaged` where a row of the source has no content or another, `RunLocked`, `DiskFull`.
    """
    _refuse_wrong_places(source, target, previous)
    part = target.parent / f"{target.name}{UNFINISHED}"
    part.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    with atomic.no_room(part / DATABASE_FILE), claimed(part / manifest.UNFINISHED_FILE, str(part)):
        (part / STORE_FOLDER).mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        (part / manifest.BACKUP_FILE).unlink(missing_ok=True)
        (part / manifest.MANIFEST_FILE).unlink(missing_ok=True)
        steps = CopyProgress()
        _copy_rows_with_contents(source, part, previous, steps, progress)
        _copy_database(source, part, LOGS_FILE)
        for name in manifest.SETTINGS:
            if (source / name).exists():
                atomic.write_bytes(part / name, (source / name).read_bytes(), mode=_PRIVATE)
        _remove_surplus(part)
        manifest.write_manifest(part, {"made_at_s": round(now_s(), 3), "source": source.resolve().name})
        atomic.sync_tree(part)
        # The mark goes last but one: until then a folder that looks whole is not, for it was not checked.
        check = _check(part, progress)
        (part / manifest.UNFINISHED_FILE).unlink()
        if os.path.lexists(target):
            raise UsageFault(what="exists", where=str(target))
        part.rename(target)
        atomic.sync_folder(target.parent)
    return Backup(target, check.rows, check.files, check.bytes, steps.copied, steps.linked)


def _refuse_wrong_places(source: Path, target: Path, previous: Path | None) -> None:
    if not (source / DATABASE_FILE).is_file():
        raise UsageFault(what="no-archive-here", where=str(source))
    if (source / manifest.UNFINISHED_FILE).exists():
        raise UsageFault(what="backup-unfinished", where=str(source), do="noarkit backup DIR -o TARGET")
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    if target.resolve().is_relative_to(source.resolve()):
        raise UsageFault(what="backup-inside", where=str(target))
    if previous is not None and not manifest.is_backup(previous):
        raise UsageFault(what="no-backup", where=str(previous))


def _copy_rows_with_contents(
    source: Path, part: Path, previous: Path | None, steps: CopyProgress, progress: Listener
) -> None:
    for round_number in range(_ROUNDS):
        _copy_database(source, part, DATABASE_FILE)
        missing = ""
        for sha256 in _contents_of_rows(part):
            # Later rounds trust what this call has copied: it is all read again at the end.
            is_trusted = round_number > 0
            if not (_has_content(part, sha256, is_trusted) or _copy_content(source, part, sha256, previous, steps)):
                missing = sha256
            progress(steps)
        if not missing:
            return
        # Its rows may have been deleted after they were copied, and the content with them.
        if _is_stored(source, missing):
            where = content_path(source / STORE_FOLDER, missing)
            raise StoreDamaged(where=str(where), why="file-missing", count=1)
    raise ArchiveBusy(call="backup")


def _copy_database(source: Path, part: Path, name: str) -> None:
    """Copies a database as of one moment, whatever others write to it meanwhile."""
    path, copied = source / name, part / f"{name}.part"
    for leftover in part.glob(f"{name}.part*"):
        leftover.unlink()
    if not path.exists():
        return
    copied.touch(mode=_PRIVATE)
    with (
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)) as original,
        closing(sqlite3.connect(copied)) as copy,
    ):
        # All pages in one step: a step is one transaction of the source, and in WAL mode it blocks no writer.
        original.backup(copy, pages=-1)
        # One file that anybody can open, on a medium that cannot be written to as well.
        copy.execute("PRAGMA journal_mode = DELETE").fetchone()
    copied.replace(part / name)


def _contents_of_rows(part: Path) -> Iterator[str]:
    path = part / DATABASE_FILE
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as db:
        for (sha256,) in db.execute("SELECT DISTINCT sha256 FROM stored_file ORDER BY sha256"):
            yield str(sha256)


def _is_stored(folder: Path, sha256: str) -> bool:
    path = folder / DATABASE_FILE
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)) as db:
        return db.execute("SELECT 1 FROM stored_file WHERE sha256 = ? LIMIT 1", (sha256,)).fetchone() is not None


def _has_content(part: Path, sha256: str, is_trusted: bool) -> bool:
    """True for a content that is copied already, whole; where it is not trusted it is read."""
    path = content_path(part / STORE_FOLDER, sha256)
    return path.exists() and (is_trusted or sha256_of(path) == sha256)


def _copy_content(source: Path, part: Path, sha256: str, previous: Path | None, steps: CopyProgress) -> bool:
    """Copies a content; False where the source has it not. Raises `StoreDamaged`."""
    path, original_path = content_path(part / STORE_FOLDER, sha256), content_path(source / STORE_FOLDER, sha256)
    path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    # What an attempt before this one linked and found rotten comes from the archive.
    is_stale = path.exists()
    path.unlink(missing_ok=True)
    if previous is not None and not is_stale and _link(content_path(previous / STORE_FOLDER, sha256), path):
        steps.linked += 1
        return True
    try:
        with original_path.open("rb") as original, atomic.open_atomic(path, mode=_PRIVATE, sync=False) as copy:
            digest = copy_hashing(original, copy)
            if digest.sha256 != sha256:
                raise StoreDamaged(where=str(original_path), why="file-bytes", count=1)
    except FileNotFoundError:
        return False
    steps.copied += 1
    steps.bytes += digest.size_bytes
    return True


def _link(earlier: Path, path: Path) -> bool:
    """Gives a content of an earlier backup a second name; False where it cannot be. It is checked with all others."""
    try:
        os.link(earlier, path)
    except OSError:
        return False
    return True


def _remove_surplus(part: Path) -> None:
    """Removes what an attempt before this one copied and no row refers to any more, and what it left half copied."""
    path = part / DATABASE_FILE
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as db:
        for file in manifest.backup_files(part):
            if file.parent == part:
                is_known = file.name in manifest.BESIDE_STORE
            else:
                row = db.execute("SELECT 1 FROM stored_file WHERE sha256 = ? LIMIT 1", (file.name,)).fetchone()
                is_known = row is not None
            if not is_known:
                file.unlink()


def _check(part: Path, progress: Listener) -> FolderCheck:
    """Reads the copy again, whole. Raises `StoreDamaged`."""
    check = check_folder(part, progress, unfinished=True)
    if check.flaw_count:
        flaw = check.flaws[0]
        raise StoreDamaged(where=f"{part}/{flaw.where}", why=flaw.kind, count=check.flaw_count)
    return check

"""The manifest of a backup: a line for each file with its SHA-256, as `sha256sum -c` reads it, and `backup.json`.

`backup.json` is written last: a folder without it is no finished backup. An unfinished one bears a mark of its own, and
no archive is served from it. Once an archive is served from a backup the folder is a living archive, and its manifest
is laid aside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.safe import atomic
from noarkit.safe.digest import sha256_of
from noarkit.safe.secret_files import CLIENTS_FILE
from noarkit.server import DATABASE_FILE, LOGS_FILE, STORE_FOLDER

BACKUP_FILE = "backup.json"
MANIFEST_FILE = "manifest-sha256.txt"
UNFINISHED_FILE = "backup-unfinished"
RESTORED_FILE = "restored-from-backup.json"
SETTINGS = ("server.toml", CLIENTS_FILE)
BESIDE_STORE = frozenset({DATABASE_FILE, LOGS_FILE, *SETTINGS})
"""The files of a backup that are no contents."""
BACKUP_VERSION = 1
_PRIVATE = 0o600


def write_manifest(folder: Path, facts: Mapping[str, object]) -> None:
    """Hashes every file of a backup, and writes the manifest and then `backup.json`.

    A content bears its SHA-256 as its name, and was hashed when it was copied; it is not read again here.
    """
    with atomic.open_atomic(folder / MANIFEST_FILE, mode=_PRIVATE) as file:
        for path in backup_files(folder):
            if atomic.is_temporary(path.name):  # this file itself, while it is written
                continue
            name = path.relative_to(folder).as_posix()
            sha256 = path.name if name.startswith(f"{STORE_FOLDER}/") else sha256_of(path)
            file.write(f"{sha256}  {name}\n".encode())
    about = {"version": BACKUP_VERSION, **facts, "manifest_sha256": sha256_of(folder / MANIFEST_FILE)}
    atomic.write_text(folder / BACKUP_FILE, json.dumps(about, indent=1) + "\n", mode=_PRIVATE)


def backup_files(folder: Path) -> Iterator[Path]:
    """The files of a backup that its manifest is about, in an order that is always the same."""
    own = {MANIFEST_FILE, BACKUP_FILE, UNFINISHED_FILE}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.parent != folder or name not in own:
                yield path


def is_backup(folder: Path) -> bool:
    """True for a finished backup from which no archive was served yet."""
    return (folder / BACKUP_FILE).exists()


def read_facts(folder: Path) -> Mapping[str, object]:
    """What `backup.json` says. Raises `UsageFault` where it is not one of ours."""
    path = folder / BACKUP_FILE
    try:
        facts = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UsageFault(what="backup-unreadable", where=str(path)) from error
    if not isinstance(facts, dict) or facts.get("version") != BACKUP_VERSION:
        raise UsageFault(what="backup-unreadable", where=str(path))
    return facts


def read_lines(folder: Path) -> Iterator[tuple[str, str]]:
    """The checksum and the name of every file that the manifest lists; a line that is none has an empty name."""
    with (folder / MANIFEST_FILE).open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            sha256, _, name = line.rstrip("\n").partition("  ")
            yield sha256, name


def begin_service(folder: Path) -> None:
    """Makes a living archive of a backup, before it is served. Raises `UsageFault` for one that is not finished."""
    if (folder / UNFINISHED_FILE).exists():
        raise UsageFault(what="backup-unfinished", where=str(folder), do="noarkit backup DIR -o TARGET")
    if is_backup(folder):
        (folder / MANIFEST_FILE).unlink(missing_ok=True)
        (folder / BACKUP_FILE).replace(folder / RESTORED_FILE)
        atomic.sync_folder(folder)

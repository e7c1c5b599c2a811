"""Backs up an embedded archive while it serves, and checks one whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from noarkit.embedded import ArchiveCheck, BackupResult, back_up_archive
from noarkit.embedded import check_archive as check_folder
from noarkit.events import Listener, ignore_event
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.settings import Place


def backup(
    archive: Place,
    target: Place,
    *,
    previous: Place | None = None,
    now_s: Callable[[], float] = time.time,
    listener: Listener = ignore_event,
) -> BackupResult:
    """Backs up the embedded archive in a folder, which may be served and written to meanwhile.

    The backup is the state of one moment, with every file of it, and was read again and checked when it gets its name.
    What was begun lies in `"TARGET.unfinished"`; the same call again goes on there.

    Options:
        previous: an earlier backup; files that it has already become hard links to its own, where the disk can.
        now_s: the clock, in seconds since 1970.
        listener: is called with each event.

    Raises `UsageFault` where the folder holds no archive or the target exists, `StoreDamaged` where
    the archive lacks a file or has other bytes than it says, `RunLocked` and `DiskFull`.
    """
    with translate_sqlite_errors(Path(target)):
        return back_up_archive(
            Path(archive), Path(target), None if previous is None else Path(previous), now_s, listener
        )


def check_archive(archive: Place, *, listener: Listener = ignore_event) -> ArchiveCheck:
    """Checks an embedded archive or a backup of one: every row, every link, the hash of every file. Changes nothing.

    Options:
        listener: is called with each event.

    Raises `UsageFault` where the folder holds no archive, or a backup that is not finished.
    """
    return check_folder(Path(archive), listener)

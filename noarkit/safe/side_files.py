"""Files of ours beside what is worked on, in a folder where others may write as well.

Somebody else may have laid a link, a pipe or a file of theirs under the name that we are about to write to. It is
opened without following a link, and what was opened must be a plain file that is ours alone; else nothing is written.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from noarkit.errors import JournalFault
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING, open_descriptor
from noarkit.safe.owners import OTHERS, is_open_to_others, is_own

OTHERS_WRITE = 0o022
_IN_THE_WAY = frozenset({errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR})


def open_side_file(
    path: Path, flags: int = os.O_RDWR | os.O_APPEND, *, mode: int = 0o600, refused: int = OTHERS
) -> int:
    """Opens a file of ours and returns its descriptor; it is made where there is none and `flags` say so.

    `refused` are the rights that nobody may have to it. Raises `JournalFault` for what is not ours, and `OSError`.
    """
    try:
        descriptor = open_descriptor(path, flags | NO_FOLLOW | NO_WAITING, mode)
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise JournalFault(where=str(path), why="not-ours") from error
        raise
    if not _is_ours(os.fstat(descriptor), refused):
        os.close(descriptor)
        raise JournalFault(where=str(path), why="not-ours")
    return descriptor


def refuse_foreign(path: Path) -> None:
    """Raises `JournalFault` where something stands at `path` that is no file of ours alone."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return
    if not _is_ours(facts, OTHERS):
        raise JournalFault(where=str(path), why="not-ours")


def _is_ours(facts: os.stat_result, refused: int) -> bool:
    if stat.S_ISCHR(facts.st_mode):  # only the system's administrator can make a device
        return True
    is_alone = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and is_own(facts)
    return is_alone and not is_open_to_others(facts, refused)

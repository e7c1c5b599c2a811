"""Processes that tools leave behind: found by their parents, and ended."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from noarkit.safe.signals import kill, reap_children

_SUBREAPER = 36  # of prctl(2)
_PATIENCE_S = 5.0


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind, where the system can (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(root: int) -> list[int]:
    """The processes below one, children before theirs; none where the system does not tell."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = entry.read_text("utf-8", "replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    below = list(children.get(root, []))
    for process in below:
        below.extend(children.get(process, []))
    return below


def end_descendants(root: int, spared: Callable[[int], bool] = lambda _: False) -> int:
    """Ends every process below one and says how many there were: a tool may have forked what outlives it."""
    ended: set[int] = set()
    until = time.monotonic() + _PATIENCE_S
    while (left := [one for one in descendants(root) if not spared(one)]) and time.monotonic() < until:
        for process in left:
            kill(process)
        ended.update(left)
        _reap(root)
        time.sleep(0.005)
    _reap(root)
    return len(ended)


def _reap(root: int) -> None:
    """Takes leave of the children of this process that have ended."""
    if root == os.getpid():
        reap_children()

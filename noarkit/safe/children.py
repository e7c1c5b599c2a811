"""What child processes get from this one: when they may be made by fork, how they end with it, and how much of its
environment and its open files they keep.

A fork beside threads is none: what another thread holds just then (a lock of a library, the descriptor of a run's lock)
is held in the child for ever. Programs that are started need no secret of ours, so none is in their environment.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

_PR_SET_PDEATHSIG = 1

OUR_THREADS = "noarkit-"
"""How the names of our own threads begin: they hold nothing that a child of the same work would want."""

_OURS = re.compile(r"NOARKIT_|(NOTIFY_SOCKET|WATCHDOG_USEC|WATCHDOG_PID)\Z")
"""Our settings, and what the service manager gave us to speak for the service: no program that we start may."""
_SECRET = re.compile(
    r"SECRET|TOKEN|PASSW(OR)?D|API_?KEY|ACCESS_KEY|\AMYSQL_PWD\Z|\ACREDENTIALS_DIRECTORY\Z", re.IGNORECASE
)


class WorkerLost(Exception):
    """A worker was ended from outside: it is gone before it said that it is done, or before it answered."""


def may_fork() -> bool:
    """True if the system forks well and nobody's thread but this one is under way in this process."""
    return sys.platform.startswith("linux") and is_single_threaded()


def is_single_threaded() -> bool:
    """True if this thread and those of our own making are all there are."""
    here = threading.current_thread()
    return all(thread is here or thread.name.startswith(OUR_THREADS) for thread in threading.enumerate())


def die_with_parent(by: signal.Signals | None = None) -> None:
    """Asks Linux to end this process, or to signal it, when the thread that started it ends; elsewhere does nothing.

    A parent that died before this was called is not told any more: whoever knows its id compares it with `os.getppid`.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, by or signal.SIGKILL)


def close_inherited_files(own: int) -> None:
    """Closes every descriptor but `own` and the standard ones, in a child that Linux has forked.

    A copy of a run's lock that lives on in a child would keep the run locked after its owner is gone.
    """
    # /proc names what is open; closing all numbers up to the limit could take seconds
    highest = max((int(name) for name in os.listdir("/proc/self/fd")), default=2)  # noqa: PTH208  # names alone
    os.closerange(3, own)
    os.closerange(max(3, own + 1), highest + 1)


def child_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a program that needs no secret: without our settings, and without what sounds like one."""
    return {name: value for name, value in environment.items() if not (_OURS.match(name) or _SECRET.search(name))}


def foreign_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a program that fetches a secret, and may need one of its own for that: without ours."""
    return {name: value for name, value in environment.items() if not _OURS.match(name)}


def interpreter_command(*arguments: str) -> list[str]:
    """The command for modules of ours in an interpreter of their own, which takes none from the folder it starts in."""
    return [sys.executable, "-P", *arguments]


def interpreter_environment() -> dict[str, str]:
    """Its environment: as for a program that needs no secret, and modules are found where we find them.

    Where we look in the folder we were started in, it looks where this package lies.
    """
    home = str(Path(str(files("noarkit"))).parent)
    return {**child_environment(), "PYTHONPATH": os.pathsep.join(path or home for path in sys.path)}


def interpreter_folders() -> list[Path]:
    """The folders that it must be able to read beside those of the system: its own, its libraries' and ours."""
    places = [sys.prefix, sys.base_prefix, str(files("noarkit"))]
    places += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    folders = list(dict.fromkeys(Path(place).resolve() for place in places if Path(place).is_dir()))
    outside = [folder for folder in folders if not folder.is_relative_to("/usr")]
    return [
        folder for folder in outside if not any(folder != other and folder.is_relative_to(other) for other in outside)
    ]

"""What child processes get from this one: when they may be made by fork, and how much of the environment they see.

A fork beside threads is none: what another thread holds just then (a lock of a library, the descriptor of a run's lock)
is held in the child for ever. Programs that are started need no secret of ours, so none is in their environment.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Mapping

OUR_THREADS = "noarkit-"
"""How the names of our own threads begin: they hold nothing that a child of the same work would want."""

_OURS = re.compile(r"NOARKIT_")
_SECRET = re.compile(
    r"SECRET|TOKEN|PASSW(OR)?D|API_?KEY|ACCESS_KEY|\AMYSQL_PWD\Z|\ACREDENTIALS_DIRECTORY\Z", re.IGNORECASE
)


def may_fork() -> bool:
    """True if the system forks well and nobody's thread but this one is under way in this process."""
    return sys.platform.startswith("linux") and is_single_threaded()


def is_single_threaded() -> bool:
    """True if this thread and those of our own making are all there are."""
    here = threading.current_thread()
    return all(thread is here or thread.name.startswith(OUR_THREADS) for thread in threading.enumerate())


def child_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a program that needs no secret: without our settings, and without what sounds like one."""
    return {name: value for name, value in environment.items() if not (_OURS.match(name) or _SECRET.search(name))}


def foreign_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a program that fetches a secret, and may need one of its own for that: without ours."""
    return {name: value for name, value in environment.items() if not _OURS.match(name)}

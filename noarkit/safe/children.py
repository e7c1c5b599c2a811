"""Whether child processes may be made by fork. A fork beside threads is none: what another thread holds just then (a
lock of a library, the descriptor of a run's lock) is held in the child for ever.
"""

from __future__ import annotations

import sys
import threading

OUR_THREADS = "noarkit-"
"""How the names of our own threads begin: they hold nothing that a child of the same work would want."""


def may_fork() -> bool:
    """True where the system forks well and nobody's thread but this one is under way in this process."""
    return sys.platform.startswith("linux") and alone()


def alone() -> bool:
    """True where this thread and those of our own making are all there are."""
    here = threading.current_thread()
    return all(one is here or one.name.startswith(OUR_THREADS) for one in threading.enumerate())

"""How many processors this process may use: what the scheduler allows it, and what its container grants."""

from __future__ import annotations

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_processors(quota: Path = _QUOTA) -> int:
    """The number of processors that this process may keep busy, at least one.

    A machine may have 64 while a job scheduler pins the process to four, or a container grants it the time of two:
    more workers than that only wait for each other.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _granted(quota) or allowed))


def _granted(quota: Path) -> int | None:
    """The processors' worth of time that a container grants, rounded up; None if it sets no limit."""
    try:
        time_us, period_us = quota.read_text("ascii").split()
        return None if time_us == "max" else math.ceil(int(time_us) / int(period_us))
    except (OSError, ValueError, ZeroDivisionError):
        return None

"""What a process may use, set by itself before it reads what others wrote; and what it has used.

Linux keeps every limit, macOS all but that on memory. Windows has none of this kind: there whoever started the process
ends it when its time is over, and neither its memory nor the size of its files is limited.
"""

from __future__ import annotations

import mmap
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import os
    import resource

_GOES_FIRST = "900"


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits on the addresses of a process, its largest file, its processor time and its open files; None is none."""

    memory_bytes: int | None = None
    file_bytes: int | None = None
    processor_s: int | None = None
    files: int | None = None


def limit_process(limits: ProcessLimits, *, may_rise: bool = False) -> None:
    """Sets limits for this process, where the system has them; no memory of it is ever written to disk by a crash.

    Nothing lifts them again, unless they `may_rise`: then later ones may be higher.
    """
    if sys.platform != "win32":
        kinds = (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, limits.memory_bytes),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
            (resource.RLIMIT_CPU, limits.processor_s),
            (resource.RLIMIT_NOFILE, limits.files),
        )
        for kind, most in kinds:
            if most is None:
                continue
            hard = resource.getrlimit(kind)[1]
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with suppress(ValueError, OSError):  # macOS knows no limit on address space
                resource.setrlimit(kind, (soft, hard if may_rise else soft))


def go_first() -> None:
    """Where memory runs out, the system takes this process first (Linux)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_GOES_FIRST)


def yield_to_others() -> None:
    """Lets others have the processor first, where the system can."""
    if sys.platform != "win32":
        os.nice(10)


def own_memory_bytes() -> int:
    """The address space of this process; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * mmap.PAGESIZE
    except (OSError, ValueError):
        return 0


def peak_memory_bytes() -> int:
    """The most memory that this process has had at once; 0 where the system does not tell."""
    if sys.platform != "win32":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


def processor_s() -> float:
    """The processor time that this process has used."""
    return time.process_time()

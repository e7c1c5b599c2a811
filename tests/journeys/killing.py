"""Ends commands of these tests by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress


def end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Ends a command by a signal; what is killed ends with all that it started."""
    children = _descendants(process.pid) if number == signal.SIGKILL else ()
    for one in (process.pid, *children):
        with suppress(ProcessLookupError):
            os.kill(one, number)
    process.wait()


def _descendants(process: int) -> list[int]:
    told = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    return [one for child in map(int, told) for one in (child, *_descendants(child))]

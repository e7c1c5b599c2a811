"""How a program is asked for its version: alone, walled in as for a document, and with little time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from noarkit.safe.sandbox import Completed, Limits
from noarkit.safe.workplace import temporary_folder

Run = Callable[[Sequence[str], Path, Path, Limits], Completed]
_USUAL = Limits(cpu_s=10, wall_s=60)


def ask_version(program: str, switch: str, run: Run, limits: Limits = _USUAL) -> Completed | None:
    """What a program answers to its switch for versions; None where it is not there."""
    path = shutil.which(program)
    if path is None:
        return None
    with temporary_folder(f"{Path(program).name}-version") as folder:
        return run([path, switch], folder, folder, limits)

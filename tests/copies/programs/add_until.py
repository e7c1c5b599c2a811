"""Adds copies to an archive, and is killed at a step: `add_until.py ARCHIVE COPIES STEP`.

Steps are before and after each change of the archive and each write of the journal. Step 0 is never reached; the number
of steps is printed at the end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import noarkit
from noarkit.api.adding import derive_archive, unfinished_addition
from noarkit.archive.http import HttpArchive
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal

STEPS: tuple[tuple[type, str], ...] = (
    (HttpArchive, "transaction"),
    (HttpArchive, "upload"),
    (Journal, "adopt"),
    (Journal, "lease"),
    (Journal, "record"),
    (RunFolder, "write_plan"),
)


def main() -> None:
    archive, copies, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            step()
            result = method(*args, **more)
            step()
            return result

        return call

    for owner, name in STEPS:
        setattr(owner, name, around(getattr(owner, name)))
    begun = unfinished_addition(Path(copies))
    if begun is not None:
        noarkit.ingest(begun, archive=archive, workers=0)
    result = derive_archive(copies, add=True, archive=archive)
    if result.run is not None:
        noarkit.ingest(result.run, archive=archive, workers=0)
    print(count)


if __name__ == "__main__":
    main()

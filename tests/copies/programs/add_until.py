"""Adds copies to an archive, and is killed after a step: `add_until.py ARCHIVE COPIES STEP`.

Steps are `write_plan` (the plan stands), `upload` (of a copy), `record` (of an outcome), and `send` and `transaction`:
before and after the archive is told of a version. No step kills at `none`.
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
from noarkit.archive.values import Save
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal

STEPS: tuple[tuple[type, str], ...] = (
    (HttpArchive, "transaction"),
    (HttpArchive, "upload"),
    (Journal, "record"),
    (RunFolder, "write_plan"),
)


def main() -> None:
    archive, copies, last = sys.argv[1:]

    def step(name: str) -> None:
        if name == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(method: Callable[..., Any]) -> Callable[..., Any]:
        name = method.__name__

        def call(*args: Any, **more: Any) -> Any:
            is_of_copies = name != "transaction" or any(
                isinstance(action, Save) and action.type == "Dokumentversjon" for action in args[1]
            )
            if name == "transaction" and is_of_copies:
                step("send")
            result = method(*args, **more)
            if is_of_copies:
                step(name)
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


if __name__ == "__main__":
    main()

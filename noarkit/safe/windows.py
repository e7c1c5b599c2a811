r"""Paths and waiting as Windows has them; on every other system these do nothing.

A path of more than 259 characters, and a name that ends in a dot or a blank or is a device (`NUL.txt`), can be reached
there only as `\\?\C:\…`, whole and with backslashes. A file that another program has open (a scanner for viruses, an
index, a backup) can for a moment neither be replaced nor removed.
"""

from __future__ import annotations

import ntpath
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_Result = TypeVar("_Result")
_PREFIX = "\\\\?\\"
_DEVICES = "\\\\.\\"
_OPEN_ELSEWHERE = frozenset({5, 32, 33})  # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
_NAPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def long_path(path: Path | str | bytes) -> str | bytes | Path:
    """A path that Windows takes at any length and with any name; on every other system the path itself."""
    return extended(os.fsdecode(path)) if sys.platform == "win32" else path


def extended(path: str) -> str:
    r"""A path of Windows in the form without a limit, which is taken as it is written.

    >>> print(extended("C:\\Saker\\2019/1 .txt"), extended("\\\\tjener\\felles\\sak"))
    \\?\C:\Saker\2019\1 .txt \\?\UNC\tjener\felles\sak
    """
    if path.startswith((_PREFIX, _DEVICES)):
        return path
    whole = path.replace("/", "\\")
    drive, rest = ntpath.splitdrive(whole)
    if not (drive and rest.startswith("\\")):
        whole = os.path.abspath(whole)  # noqa: PTH100  # as text: a Path would drop what makes it literal
        drive, rest = ntpath.splitdrive(whole)
    # `..` and `.` mean nothing in this form, and are taken away; blanks and dots at the end of a name stay
    steps: list[str] = []
    for step in rest.split("\\"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    home = f"{_PREFIX}UNC\\{drive[2:]}" if drive.startswith("\\\\") else f"{_PREFIX}{drive}"
    return f"{home}\\" + "\\".join(steps)


def while_open_elsewhere(
    step: Callable[[], _Result],
    *,
    windows: bool = sys.platform == "win32",
    sleep: Callable[[float], None] = time.sleep,
) -> _Result:
    """Does a step that Windows refuses while another program has the file open: again for some seconds, then its fault.

    On every other system it is done once.
    """
    for nap_s in _NAPS_S if windows else ():
        try:
            return step()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _OPEN_ELSEWHERE:
                raise
            sleep(nap_s)
    return step()

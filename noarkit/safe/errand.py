"""A command of others', run under limits by a keeper of its own that outlives it, and what became of it.

Where there is no keeper (Windows), the time that passes is the only limit, and what the command started is ended
with it then; its memory, its processor time and the bytes it writes are not limited there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TypedDict

from noarkit.safe.signals import kill_tree, own_session

_KEEPER = Path(__file__).with_name("keeper.py")
_OF_PYTHON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_OF_WINDOWS = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "PATHEXT", "COMSPEC", "PROGRAMFILES")
_MOST_OUTPUT = 64 * 1024


class Errand(TypedDict):
    """What to run, and what it may use. With `progress`, the times count from the last new file in that folder."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    user: int | None
    cpu_s: float
    wall_s: float
    memory_bytes: int
    output_bytes: int
    processes: int
    counted: list[str]
    progress: str | None
    most_files: int


class Account(TypedDict):
    """What became of it. `stopped` says which limit was met: cpu, wall, memory, output, processes."""

    exit_code: int
    stopped: str | None
    stdout: str
    stderr: str
    cpu_s: float
    wall_s: float
    peak_bytes: int
    peak_virtual_bytes: int


def run_errand(errand: Errand) -> Account:
    """Hands a command to a keeper of its own, and waits for its account."""
    if sys.platform == "win32":
        return _run_without_keeper(errand)
    with subprocess.Popen(  # noqa: S603  # our own interpreter, our own script
        [sys.executable, "-I", "-S", str(_KEEPER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: os.environ[name] for name in _OF_PYTHON if name in os.environ},
        **own_session(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101  # they are pipes
        try:
            process.stdin.write(json.dumps(errand).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.read()
        finally:
            process.stdin.close()  # where we were interrupted: everything ends
            process.wait()
        if not answer:  # killed from outside, with all below it
            return _no_account(process.stderr.read().decode("utf-8", "replace") if process.stderr else "")
    account: Account = json.loads(answer)
    return account


def _run_without_keeper(errand: Errand) -> Account:
    system = {name: os.environ[name] for name in _OF_WINDOWS if name in os.environ}
    began = time.monotonic()
    stopped = None
    with subprocess.Popen(  # noqa: S603  # as every errand: a program of the configuration, its words made by us
        errand["command"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=errand["folder"],
        env={**errand["environment"], **system},
        **own_session(),
    ) as process:
        try:
            out, err = process.communicate(timeout=errand["wall_s"] * errand["most_files"])
        except BaseException as error:
            kill_tree(process.pid)
            out, err = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            stopped = "wall"
    account = _no_account(err[-_MOST_OUTPUT:].decode("utf-8", "replace"))
    account["exit_code"], account["stopped"] = process.returncode, stopped
    account["stdout"], account["wall_s"] = out[-_MOST_OUTPUT:].decode("utf-8", "replace"), time.monotonic() - began
    return account


def _no_account(stderr: str) -> Account:
    return Account(
        exit_code=-9, stopped=None, stdout="", stderr=stderr, cpu_s=0, wall_s=0, peak_bytes=0, peak_virtual_bytes=0
    )
